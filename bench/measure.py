# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Workload after workload: every peer prepares it, then they take turns in rounds."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench import results
from bench.crew import Handle, WorkerDied
from bench.data import make_data
from bench.networks import NetworkRow
from bench.peers import PeerRow, describe
from bench.reference import evaluate
from bench.workloads import Workload

# Who takes this many times longer than the fastest, and this long, runs in the first rounds only.
_SLOW_RATIO, _SLOW_US, SLOW_ROUNDS = 10, 200_000, 3
_RUN_S = 600  # without an answer to a run a worker counts as hung
_LOCK_S = 45  # held at a time, and a round
_PAUSE_S = 0.3  # in which another process may take the lock


@dataclass(frozen=True)
class Settings:
    rounds: int
    sample_ms: float
    core: int
    priority: int
    prepare_s: float
    folder: Path
    results: Path
    lock: Path | None
    seed: int
    options: dict[str, Any]  # for the peers


class Lock:
    """A file lock that several benchmarks of a machine share; given away at times."""

    def __init__(self, path: Path | None) -> None:
        self.file = path.open("a") if path else None
        self.since: float | None = None

    def hold(self) -> None:
        if not self.file:
            return
        if self.since is not None and time.monotonic() - self.since > _LOCK_S:
            self.release()
            time.sleep(_PAUSE_S)
        if self.since is None:
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()

    def release(self) -> None:
        if self.file and self.since is not None:
            fcntl.flock(self.file, fcntl.LOCK_UN)
            self.since = None


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def note(text: str) -> None:
    print(("\r\x1b[K" if sys.stderr.isatty() else "") + text, file=sys.stderr, flush=True)


class Crew:
    """The workers, one per peer; who dies is started again for the next workload."""

    def __init__(self, rows: list[PeerRow], settings: Settings) -> None:
        self.rows, self.settings = rows, settings
        self.handles: dict[str, Handle] = {}
        self.broken: dict[str, str] = {}  # peers that don't start

    def start(self, row: PeerRow) -> Handle | None:
        if row.key in self.broken:
            return None
        if row.key not in self.handles:
            s = self.settings
            handle = Handle(row.key, s.core, s.priority, s.folder / row.key, s.options)
            try:
                error = handle.wait(s.prepare_s)["error"]
            except WorkerDied as died:
                error = str(died)
            if error:
                handle.stop()
                self.broken[row.key] = error
                note(f"bench: {describe(row)} is left out: {error}")
                return None
            self.handles[row.key] = handle
        return self.handles[row.key]

    def lose(self, key: str) -> None:
        handle = self.handles.pop(key, None)
        if handle:
            handle.stop()

    def stop(self) -> None:
        for key in list(self.handles):
            self.lose(key)


@contextlib.contextmanager
def crew_of(rows: list[PeerRow], settings: Settings) -> Iterator[Crew]:
    crew = Crew(rows, settings)
    try:
        yield crew
    finally:
        crew.stop()


def measure_peak(tgraph: str, isa: str, core: int, priority: int) -> float:
    """GFLOP/s of the core in this moment."""

    def pin() -> None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {core})
            os.setpriority(os.PRIO_PROCESS, 0, priority)

    command = [tgraph, "info", "--json", "--target", isa]
    done = subprocess.run(command, capture_output=True, check=True, text=True, preexec_fn=pin)
    return float(json.loads(done.stdout)["peak_gflops"])


class Race:
    """One workload."""

    def __init__(
        self,
        workload: Workload | NetworkRow,
        crew: Crew,
        stamps: results.Stamps,
        machine: str,
        measured: results.Measured,
    ) -> None:
        self.workload, self.crew, self.settings = workload, crew, crew.settings
        self.stamps, self.machine, self.measured = stamps, machine, measured
        self.random = random.Random(f"{self.settings.seed} {workload.key} {len(measured.rounds)}")
        self.latest: dict[str, float] = {}  # peer -> microseconds
        self.ready: dict[str, Handle] = {}  # those that have prepared

    def stamp(self, key: str) -> str:
        return self.stamps[self.workload.key, key]

    def _write_reference(self) -> None:
        if isinstance(self.workload, NetworkRow):
            return  # among its files
        path = self.settings.folder / f"{self.workload.key}.npy"
        graph = self.workload.graph()
        np.save(path, evaluate(graph, make_data(graph)))

    def _record_program(self, row: PeerRow, answer: dict[str, Any]) -> None:
        record = {"kind": "program", "workload": self.workload.key, "peer": row.key, "stamp": self.stamp(row.key)}
        results.append(self.settings.results, {**record, **answer})
        self.measured.programs[row.key] = answer
        if answer["error"] and not answer.get("unsupported"):
            note(f"bench: {self.workload.key}: {describe(row)} failed: {answer['error']}")

    def prepare(self, pinned: bool) -> None:
        """pinned: those peers that prepare on the core that is measured; otherwise all the others."""
        if not pinned:
            self._write_reference()
        for row in self.crew.rows:
            handle = self.crew.start(row) if row.prepares_pinned == pinned else None
            if not handle:
                continue
            progress(f"{self.workload.key}: {describe(row)} prepares")
            try:
                answer = handle.ask(self.settings.prepare_s, do="prepare", workload=self.workload.key)
            except WorkerDied as died:
                answer = {"error": str(died)}
                self.crew.lose(row.key)
            self._record_program(row, answer)
            if not answer["error"]:
                self.ready[row.key] = handle

    def _present(self) -> list[str]:
        """Who is prepared and has not died since."""
        return [key for key, handle in self.ready.items() if self.crew.handles.get(key) is handle]

    def _is_slow(self, key: str) -> bool:
        time_us = self.latest.get(key, 0)
        return time_us > _SLOW_US and time_us > _SLOW_RATIO * min(self.latest.values())

    def wanted(self) -> list[str]:
        """Who lacks rounds; where anyone does, the whole field runs, so that ratios are of one round."""
        ready = self._present()
        lacking = [
            key
            for key in ready
            if self.measured.count(key) < (SLOW_ROUNDS if self._is_slow(key) else self.settings.rounds)
        ]
        if not lacking:
            return []
        return [key for key in ready if key in lacking or not self._is_slow(key)]

    def round(self, keys: list[str], peak: float) -> None:
        self.random.shuffle(keys)
        times: dict[str, dict[str, Any]] = {}
        for key in keys:
            request = {"do": "run", "workload": self.workload.key, "sample_s": self.settings.sample_ms * 1e-3}
            try:
                answer = self.ready[key].ask(_RUN_S, **request)
            except WorkerDied as died:
                answer = {"error": str(died)}
                self.crew.lose(key)
            if "error" in answer:
                del self.ready[key]
                row = next(r for r in self.crew.rows if r.key == key)
                self._record_program(row, answer)
                continue
            times[key] = {"stamp": self.stamp(key), **answer}
            self.latest[key] = answer["median_us"]
        record = {"kind": "round", "workload": self.workload.key, "machine": self.machine, "peak_gflops": peak}
        results.append(self.settings.results, {**record, "times": times})
        self.measured.rounds.append(results.Round({k: t["median_us"] for k, t in times.items()}, peak))

    def take_turns(self, lock: Lock) -> None:
        options = self.settings.options
        lock.hold()
        self.prepare(pinned=True)
        number = 0
        while keys := self.wanted():
            lock.hold()
            number += 1
            progress(f"{self.workload.key}: round {number} of {self.settings.rounds}")
            peak = measure_peak(options["tgraph"], options["isa"], self.settings.core, self.settings.priority)
            self.round(keys, peak)
        for key in self._present():
            self.ready[key].ask(60, do="drop", workload=self.workload.key)


def run_races(races: list[Race], lock: Lock) -> None:
    """All are prepared first: the lock is then held for measuring alone."""
    for race in races:
        note(f"bench: {race.workload.title}")
        race.prepare(pinned=False)
    try:
        for race in races:
            race.take_turns(lock)
    finally:
        lock.release()


def is_complete(workload: Workload | NetworkRow, rows: list[PeerRow], measured: results.Measured, rounds: int) -> bool:
    """Every peer has its rounds or can't have any; the slow ones have fewer."""
    for row in rows:
        program = measured.programs.get(row.key)
        if program is None:
            return False
        if program["error"]:
            if not program.get("unsupported"):
                return False  # a failure is tried again
            continue
        if measured.count(row.key) < min(rounds, SLOW_ROUNDS):
            return False
    return any(measured.count(row.key) >= rounds for row in rows)
