# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process for one peer: compiles on the other cores, runs pinned to one, answers requests on its standard input.

Every request and every answer is a JSON object on a line:
  {"do": "prepare", "workload": KEY}             ->  {"error": null, "max_rel_error": X, "compile_s": S}
  {"do": "run", "workload": KEY, "sample_s": S}  ->  {"median_us": X, "best_us": X, "calls": N}
  {"do": "drop", "workload": KEY}                ->  {}
or {"error": TEXT}.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench import networks, peers, workloads
from bench.data import Array, make_data, relative_error

TOLERANCE = 1e-4  # of the largest value
_SLOW_S = 0.25  # a call that takes longer is a sample of its own


def _threads() -> list[int]:
    return [int(p.name) for p in Path("/proc/self/task").iterdir()]


def place(cores: set[int], priority: int) -> None:
    """Every thread of this process: a peer may compute in a thread of its own."""
    for thread in _threads():
        with contextlib.suppress(OSError):  # it may have ended
            os.sched_setaffinity(thread, cores)
            os.setpriority(os.PRIO_PROCESS, thread, priority)


def _check_placed(cores: set[int]) -> None:
    """Raises when a thread runs elsewhere: its times would be of other cores."""
    for thread in _threads():
        with contextlib.suppress(ProcessLookupError):
            if os.sched_getaffinity(thread) - cores:
                raise RuntimeError(f"a thread of this peer does not stay on core {sorted(cores)}")


def _check(program: peers.Program, reference: Array) -> tuple[float, float]:
    """One run: its error, and the seconds that it took."""
    start = time.perf_counter()
    returned = program.call()
    seconds = time.perf_counter() - start
    error = relative_error(program.fetch(returned), reference)
    if not error <= TOLERANCE:
        raise ArithmeticError(f"the result is wrong: error {error:.1e} of the largest value")
    return error, seconds


def _first_lines(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}".strip()
    return " ".join(text.split())[:600]


class Worker:
    def __init__(self, row: peers.PeerRow, core: int, priority: int, folder: Path, options: dict[str, Any]) -> None:
        self.row, self.core, self.priority, self.folder = row, core, priority, folder
        self.usual_priority = os.getpriority(os.PRIO_PROCESS, 0)
        self.others = set(range(os.cpu_count() or 1)) - {core} or {core}
        place(self.others, self.usual_priority)
        self.peer = peers.create(row, folder, options)
        self.programs: dict[str, tuple[peers.Program, list[Array]]] = {}  # with the data that they point into

    def _compile(self, key: str) -> tuple[peers.Program, list[Array], Array]:
        """The program, the data that it points into, and what it should compute."""
        if key in networks.BY_KEY:
            network = networks.Network(key, self.folder.parent / "networks" / key)
            return self.peer.prepare_network(network), [], np.load(network.folder / "result.npy")
        graph = workloads.BY_KEY[key].graph()
        data = make_data(graph)
        return self.peer.prepare(graph, data), data, np.load(self.folder.parent / f"{key}.npy")

    def prepare(self, key: str) -> dict[str, Any]:
        self.drop(key)
        place({self.core} if self.row.prepares_pinned else self.others, self.usual_priority)
        start = time.perf_counter()
        program, data, reference = self._compile(key)
        compiled = time.perf_counter() - start
        error, seconds = _check(program, reference)
        if seconds < _SLOW_S:  # a second run must be right as well
            error, _ = _check(program, reference)
        self.programs[key] = program, data
        return {"error": None, "max_rel_error": error, "compile_s": compiled}

    def drop(self, key: str) -> dict[str, Any]:
        if self.programs.pop(key, None):
            gc.collect()
        return {}

    def run(self, key: str, sample_s: float) -> dict[str, Any]:
        """A few warm calls for sample_s seconds; the first call only warms up, unless it is slow."""
        program, _ = self.programs[key]
        place({self.core}, self.priority)
        gc.disable()
        call, clock = program.call, time.perf_counter_ns
        times = [_time(call, clock)]
        if times[0] < _SLOW_S * 1e9:
            end = clock() + int(sample_s * 0.2e9)
            while clock() < end:
                call()
            times = [_time(call, clock) for _ in range(3)]
            end = clock() + int(sample_s * 1e9) - sum(times)
            while clock() < end:
                times.append(_time(call, clock))
        gc.enable()
        _check_placed({self.core})
        return {"median_us": statistics.median(times) / 1e3, "best_us": min(times) / 1e3, "calls": len(times)}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        kind, key = request["do"], request["workload"]
        try:
            if kind == "prepare":
                return self.prepare(key)
            return self.run(key, request["sample_s"]) if kind == "run" else self.drop(key)
        except peers.Unsupported as error:
            return {"error": str(error), "unsupported": True}
        except Exception as error:  # what a peer raises is a result, not our end
            return {"error": _first_lines(error)}


def _end_with_parent() -> None:
    """A run that is killed leaves no worker behind in the midst of a compilation (Linux)."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _time(call: Callable[[], Any], clock: Callable[[], int]) -> int:
    start = clock()
    call()
    return clock() - start


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--core", type=int, required=True)
    parser.add_argument("--priority", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--options", type=json.loads, required=True)
    arguments = parser.parse_args()
    _end_with_parent()
    # Libraries print to the standard output: it becomes the log, and the answers go to a copy of it.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def send(answer: dict[str, Any]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        worker = Worker(
            peers.BY_KEY[arguments.peer], arguments.core, arguments.priority, arguments.folder, arguments.options
        )
    except Exception as error:
        send({"error": _first_lines(error)})
        return
    send({"error": None})
    for line in sys.stdin:
        send(worker.answer(json.loads(line)))


if __name__ == "__main__":
    main()
