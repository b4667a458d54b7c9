# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is to be measured for which target: the list, its results, and what failed.

The folder is the state. `DIR/TARGET/kernel-HASH.npz` is what `tgraph measure` writes; `DIR/TARGET/failures.jsonl`
has its lines about candidates, and one with the key "attempts" for each kernel that was given up.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from model.measure.worker import Outcome, last_line
from model.train import dataset
from model.train.npz import Npz

LONGEST_SOURCES = 448  # of 511 characters, which the tool may have cut


@dataclass(frozen=True)
class Kernel:
    hash: str
    name: str
    programs: tuple[Path, ...]  # the first gives it its family


@dataclass
class Task:
    kernel: Kernel
    reasons: list[str] = field(default_factory=list)  # of the attempts that failed
    seats: set[str] = field(default_factory=set)  # where they were made


def program_name(path: Path) -> str:
    """As the tool names a program: "dir/resnet18.linalg.mlir.gz" is "resnet18.linalg"."""
    return path.name.split(".mlir")[0]


def list_kernels(tgraph: Sequence[str], programs: Sequence[Path], options: Sequence[str]) -> list[Kernel]:
    """The distinct kernels, families taking turns, each with the programs that hold it."""
    command = [*tgraph, "measure", "--list", "--json", *map(str, programs), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(last_line(done.stderr) or f"{' '.join(command)}: exit status {done.returncode}")
    kernels = []
    for row in json.loads(done.stdout):
        names = set(row["programs"].split(","))
        whole = len(row["programs"]) < LONGEST_SOURCES
        holders = [path for path in programs if program_name(path) in names] if whole else programs
        kernels.append(Kernel(row["hash"], row["kernel"], tuple(holders)))
    return kernels


class Ledger:
    """The work for one target."""

    def __init__(self, folder: Path, kernels: Sequence[Kernel], attempts: int, retry_failed: bool) -> None:
        self.folder, self.attempts = folder, attempts
        folder.mkdir(parents=True, exist_ok=True)
        given_up = set() if retry_failed else self._read_given_up()
        self.waiting: deque[Task] = deque()
        self.running: dict[str, Task] = {}
        self.total, self.kept, self.failed = len(kernels), 0, 0
        for kernel in kernels:
            if self._path(kernel).exists():
                continue
            if kernel.hash in given_up:
                self.failed += 1
                continue
            self.waiting.append(Task(kernel))
        self.planned = len(self.waiting)

    @property
    def left(self) -> int:
        return len(self.waiting) + len(self.running)

    def _path(self, kernel: Kernel) -> Path:
        return self.folder / f"kernel-{kernel.hash}.npz"

    def _read_given_up(self) -> set[str]:
        path, result = self.folder / "failures.jsonl", set()
        for line in path.read_text().splitlines() if path.exists() else []:
            try:
                row = json.loads(line)
            except ValueError:  # half a line of somebody who was killed
                continue
            if "attempts" in row:
                result.add(row["hash"])
        return result

    def _append_failures(self, lines: str) -> None:
        with (self.folder / "failures.jsonl").open("a") as file:
            file.write(lines)

    def take(self, seat: str) -> Kernel | None:
        """The next kernel for a worker: rather one that it hasn't failed at."""
        while self.waiting:
            fresh = (i for i, task in enumerate(self.waiting) if seat not in task.seats)
            i = next(fresh, 0)
            task = self.waiting[i]
            del self.waiting[i]
            if self._path(task.kernel).exists():  # somebody else measures into the same folder
                self.planned -= 1
                continue
            task.seats.add(seat)
            self.running[task.kernel.hash] = task
            return task.kernel
        return None

    def finish(self, kernel: Kernel, outcome: Outcome) -> None:
        """Keeps what a worker sends, or counts the attempt."""
        if outcome.data is None:
            self.fail(kernel, f"{outcome.host}: {outcome.reason}", outcome.failures)
            return
        fault = self._keep(kernel, outcome.data)
        if fault:
            self.fail(kernel, f"{outcome.host}: {fault}")
            return
        del self.running[kernel.hash]
        self.kept += 1
        if outcome.failures:
            self._append_failures(outcome.failures)

    def _keep(self, kernel: Kernel, data: bytes) -> str:
        """Writes the file beside its place, reads it, and renames it; what is wrong with it, or ""."""
        path = self._path(kernel)
        beside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        beside.write_bytes(data)
        try:
            dataset.read_tile(beside)
            found = f"{int(Npz(beside).unsigned('kernel_hash', ())):016x}"
            if found != kernel.hash:
                return f"sent the kernel {found}"
            beside.replace(path)
        except ValueError as fault:
            return str(fault).replace(str(beside), path.name)
        finally:
            beside.unlink(missing_ok=True)
        return ""

    def fail(self, kernel: Kernel, reason: str, failures: str = "") -> None:
        """An attempt came to nothing: another worker's turn, or it is given up."""
        task = self.running.pop(kernel.hash)
        task.reasons.append(reason)
        if len(task.reasons) < self.attempts:
            self.waiting.appendleft(task)
            return
        self.failed += 1
        row = {"kernel": kernel.name, "hash": kernel.hash, "attempts": len(task.reasons), "status": reason}
        self._append_failures(failures + json.dumps(row | {"reasons": task.reasons}) + "\n")
