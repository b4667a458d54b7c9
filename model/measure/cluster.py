# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the kernels of programs on the machines of a Ray cluster.

  python -m model.measure.cluster NET.mlir[.gz]... -o DIR

Every machine with a CPU for Ray measures one kernel at a time with its own `tgraph`; the data of a target (avx512,
avx2) go to DIR/TARGET. The same command goes on where it was stopped. See model/measure/README.md.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import ray
from ray import cloudpickle
from ray.exceptions import RayActorError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from model.measure import worker
from model.measure.work import Kernel, Ledger, list_kernels
from model.measure.worker import Machine, Outcome, Worker

GOOD, FAILED, BAD_INPUT, STOPPED = 0, 1, 2, 130
NODE_SECONDS = 2.0  # between looks at the cluster's nodes
START_SECONDS = 60.0  # a machine that hasn't answered by then isn't waited for at the end
PASSED_ON = ("configs", "max_gflop", "seed", "core", "model")  # options of tgraph measure


@dataclass
class Seat:
    """The actor of a node, and what it is at."""

    node: str
    actor: ray.actor.ActorHandle
    since: float
    answer: ray.ObjectRef | None = None
    machine: Machine | None = None  # None: it hasn't said yet
    kernel: Kernel | None = None


class Run:
    def __init__(self, options: argparse.Namespace, kernels: Sequence[Kernel], build: tuple[str, ...]) -> None:
        self.options, self.kernels, self.build = options, kernels, build
        self.tgraph = shlex.split(options.tgraph)
        self.ledgers: dict[str, Ledger] = {}
        self.seats: dict[str, Seat] = {}
        self.unusable: set[str] = set()  # nodes that can't measure
        self.contents: dict[Path, ray.ObjectRef] = {}
        self.start = self.last_seen = time.monotonic()
        self.last_look = self.last_line = -1e9

    # ---- machines

    def look_for_nodes(self) -> None:
        """An actor for each living node that has a CPU for Ray and none of ours yet."""
        now = time.monotonic()
        if now - self.last_look < NODE_SECONDS:
            return
        self.last_look = now
        for node in ray.nodes():
            name, cpus = node["NodeID"], node["Resources"].get("CPU", 0)
            if node["Alive"] and cpus >= 1 and name not in self.seats and name not in self.unusable:
                self.open_seat(name, min(cpus, 2))

    def open_seat(self, node: str, cpus: float) -> None:
        """Two CPUs, where there are: one compiles, one times."""
        place = NodeAffinitySchedulingStrategy(node, soft=False)
        actor_class = ray.remote(Worker).options(num_cpus=cpus, max_restarts=0, scheduling_strategy=place)
        actor = actor_class.remote(self.tgraph, self.options.target, tool_options(self.options), self.options.minutes)
        self.seats[node] = Seat(node, actor, time.monotonic(), answer=actor.describe.remote())

    def close_seat(self, seat: Seat, reason: str) -> None:
        """The actor or its machine is gone: what it was at goes to another one."""
        del self.seats[seat.node]
        ray.kill(seat.actor)
        if seat.machine is None:
            self.unusable.add(seat.node)
        elif seat.kernel:
            self.ledgers[seat.machine.target].fail(seat.kernel, f"{seat.machine.host}: {reason}")
            say(f"{seat.machine.host}: {reason}; {seat.kernel.name} waits for another machine")

    def welcome(self, seat: Seat, machine: Machine) -> None:
        if machine.build != self.build:
            self.refuse(seat, f"{machine.host}: its tgraph is {machine.build}, here it is {self.build}")
            return
        seat.machine = machine
        if machine.target not in self.ledgers:
            folder = self.options.output / machine.target
            ledger = Ledger(folder, self.kernels, self.options.attempts, self.options.retry_failed)
            self.ledgers[machine.target] = ledger
            say(f"{folder}: {ledger.planned} of {ledger.total} kernels to measure, {ledger.failed} given up before")

    def refuse(self, seat: Seat, reason: str) -> None:
        say(f"not used: {reason}")
        self.close_seat(seat, reason)

    # ---- work

    def give_work(self) -> None:
        for seat in self.seats.values():
            if seat.machine is None or seat.answer is not None:
                continue
            seat.kernel = self.ledgers[seat.machine.target].take(seat.node)
            if seat.kernel:
                names = [path.name for path in seat.kernel.programs]
                contents = [self.content(path) for path in seat.kernel.programs]
                seat.answer = seat.actor.measure.remote(seat.kernel.hash, names, *contents)

    def content(self, path: Path) -> ray.ObjectRef:
        if path not in self.contents:
            self.contents[path] = ray.put(path.read_bytes())
        return self.contents[path]

    def take_answers(self) -> None:
        waiting = {seat.answer: seat for seat in self.seats.values() if seat.answer is not None}
        if not waiting:
            time.sleep(0.2)
            return
        ready, _ = ray.wait(list(waiting), num_returns=len(waiting), timeout=0.2)
        for answer in ready:
            self.take_answer(waiting[answer])

    def take_answer(self, seat: Seat) -> None:
        answer, seat.answer = seat.answer, None
        try:
            value = ray.get(answer)
        except RayActorError:
            self.close_seat(seat, "the worker died")
        except RayTaskError as fault:
            if seat.machine is None:
                self.refuse(seat, str(fault.cause))
            else:
                self.ledgers[seat.machine.target].fail(seat.kernel, f"{seat.machine.host}: {fault.cause}")
        except RayError as fault:  # what it sent got lost
            self.close_seat(seat, str(fault).splitlines()[0])
        else:
            if seat.machine is None:
                self.welcome(seat, Machine(**value))
            else:
                self.ledgers[seat.machine.target].finish(seat.kernel, Outcome(**value))

    # ---- the whole

    def is_finished(self) -> bool:
        now = time.monotonic()
        starting = any(s.machine is None and now - s.since < START_SECONDS for s in self.seats.values())
        if self.ledgers and not any(ledger.left for ledger in self.ledgers.values()):
            return not starting
        wanted = {target for target, ledger in self.ledgers.items() if ledger.left}
        helpers = {seat.machine.target for seat in self.seats.values() if seat.machine}
        if starting or wanted & helpers:
            self.last_seen = now
        return now - self.last_seen > self.options.wait

    def show(self) -> None:
        now = time.monotonic()
        if now - self.last_line < (0.5 if sys.stderr.isatty() else 30):
            return
        self.last_line = now
        ledgers = self.ledgers.values()
        kept, left, failed = (sum(getattr(ledger, n) for ledger in ledgers) for n in ("kept", "left", "failed"))
        machines = Counter(seat.machine.target for seat in self.seats.values() if seat.machine)
        rate = kept / max(now - self.start, 1e-9) * 60
        eta = f"{left / rate:.0f} min left" if rate else "time left unknown"
        text = ", ".join(f"{count} {target}" for target, count in sorted(machines.items())) or "none"
        line = f"{kept} kernels measured, {left} to go, {failed} failed; machines: {text}; {rate:.2f} a minute, {eta}"
        print(f"\r{line:110}" if sys.stderr.isatty() else line, end="", file=sys.stderr)
        if not sys.stderr.isatty():
            print(file=sys.stderr, flush=True)

    def measure(self) -> int:
        while not self.is_finished():
            self.look_for_nodes()
            self.give_work()
            self.take_answers()
            self.show()
        self.last_line = -1e9
        self.show()
        if not self.ledgers:
            say("no machine of the cluster can measure")
            return BAD_INPUT
        ledgers = self.ledgers.values()
        left = sum(ledger.left for ledger in ledgers)
        if left:
            say(f"no machine is left for {left} kernels; the same command goes on")
        failed = [str(ledger.folder / "failures.jsonl") for ledger in ledgers if ledger.failed]
        if failed:
            say(f"kernels without data: see {', '.join(failed)}")
        return FAILED if left or failed else GOOD


def say(text: str) -> None:
    end = "\n" if not sys.stderr.isatty() else f"{'':{max(0, 110 - len(text))}}\n"
    print(("\r" if sys.stderr.isatty() else "") + text, end=end, file=sys.stderr, flush=True)


def tool_options(options: argparse.Namespace) -> list[str]:
    """The options of tgraph measure that were given."""
    given = [(name, getattr(options, name)) for name in PASSED_ON]
    return [part for name, value in given if value is not None for part in (f"--{name.replace('_', '-')}", value)]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="model.measure.cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", type=Path, nargs="+", metavar="NET.mlir[.gz]")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--address", help="of the cluster (default: RAY_ADDRESS, one that runs here, or a new one)")
    parser.add_argument("--tgraph", default="tgraph", help="the tool's path or command on every machine")
    parser.add_argument("--target", default="host", help="measure for this target (default: each for its own)")
    parser.add_argument("--kernels", metavar="REGEX", help="only kernels whose name contains a match")
    for name in PASSED_ON:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="X", help="as of tgraph measure")
    parser.add_argument("--attempts", type=int, default=3, help="of a kernel, then it is given up (default 3)")
    parser.add_argument("--retry-failed", action="store_true", help="try once more what was given up before")
    parser.add_argument("--minutes", type=float, default=60, help="for a kernel at most (default 60)")
    parser.add_argument("--wait", type=float, default=60, help="seconds to wait for machines when none is left")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    tgraph = shlex.split(options.tgraph)
    only = ["--kernels", options.kernels] if options.kernels else []
    try:
        listed = [part for part in ("max_gflop",) if getattr(options, part) is not None]
        limits = [part for name in listed for part in ("--max-gflop", getattr(options, name))]
        kernels = list_kernels(tgraph, options.programs, [*only, *limits])
        build = worker.read_machine(tgraph, options.target).build
        options.output.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, RuntimeError) as fault:
        print(f"cluster: {fault}", file=sys.stderr)
        return BAD_INPUT
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    cloudpickle.register_pickle_by_value(worker)
    ray.init(address=options.address, log_to_driver=False, logging_level="error")
    try:
        return Run(options, kernels, build).measure()
    except KeyboardInterrupt:
        say("stopped; the same command goes on with what is left")
        return STOPPED
    finally:
        ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
