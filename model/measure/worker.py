# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a machine of the cluster does: tell what it is, and measure one kernel at a time. (Where several workers share
a machine, `tgraph measure` itself sees to it that one at a time is on the core.)

Nothing but the standard library is imported: Ray sends this module's code to machines that have Python, Ray and
`tgraph`, but not the repository.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

TARGETS = {(512, 32): "avx512", (256, 16): "avx2"}  # bits and number of the vector registers
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Machine:
    host: str
    target: str  # name of the folder of its data
    build: tuple[str, ...]  # versions of the tool, of LLVM, of the features: must be equal everywhere


@dataclass(frozen=True)
class Outcome:
    data: bytes | None  # the kernel's .npz; None: there is none
    failures: str  # lines about candidates that failed
    reason: str  # why there are no data
    host: str


def read_machine(tgraph: Sequence[str], target: str) -> Machine:
    """As `tgraph info` describes this machine, or the target that it is told to measure for."""
    command = [*tgraph, "info", "--json", "--target", target]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {last_line(done.stderr) or f'exit status {done.returncode}'}")
    facts = json.loads(done.stdout)
    registers = (facts["target"]["vector_bits"], facts["target"]["vector_registers"])
    build = (facts["version"], facts["llvm"], facts["model"].get("schema_hash", ""))
    return Machine(platform.node(), TARGETS.get(registers) or facts["target"]["cpu"], build)


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.replace("\r", "\n").splitlines() if line.strip()]
    return lines[-1] if lines else ""


def become_tool() -> None:
    """In a child before it becomes the tool: a worker that is killed leaves nobody who goes on timing, and what is
    timed has the usual priority, which Ray lowers (only root may raise it: see RAY_worker_niceness in README.md)."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, min(0, os.getpriority(os.PRIO_PROCESS, 0)))


class Worker:
    """The actor of one machine; it answers with plain dictionaries. `options` go to `tgraph measure` as they are."""

    def __init__(self, tgraph: Sequence[str], target: str, options: Sequence[str], minutes: float) -> None:
        self.tgraph, self.target, self.options, self.seconds = list(tgraph), target, list(options), 60 * minutes
        self.host = platform.node()

    def describe(self) -> dict[str, object]:
        """A Machine."""
        return asdict(read_machine(self.tgraph, self.target))

    def measure(self, kernel: str, names: Sequence[str], *programs: bytes) -> dict[str, object]:
        """One kernel by its hash, out of files of these names and contents: an Outcome."""
        with tempfile.TemporaryDirectory(prefix="tgraph-measure-") as folder:
            paths = []
            for i, (name, content) in enumerate(zip(names, programs, strict=True)):
                path = Path(folder) / str(i) / name
                path.parent.mkdir()
                path.write_bytes(content)
                paths.append(str(path))
            out = Path(folder) / "out"
            return asdict(self._collect(out, kernel, self._run([*paths, "-o", str(out), "--hash", kernel])))

    def _run(self, arguments: Sequence[str]) -> str:
        """Runs the tool; the last thing that it said, "" when it was content."""
        command = [*self.tgraph, "measure", *arguments, "--target", self.target, *self.options]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                timeout=self.seconds,
                preexec_fn=become_tool,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not finished after {self.seconds / 60:g} minutes"
        if not done.returncode:
            return ""
        said = last_line(done.stderr) or "no message"
        kind = f"signal {-done.returncode}" if done.returncode < 0 else f"exit status {done.returncode}"
        return f"{kind}: {said}"

    def _collect(self, out: Path, kernel: str, fault: str) -> Outcome:
        path, failures = out / f"kernel-{kernel}.npz", out / "failures.jsonl"
        lines = failures.read_text() if failures.exists() else ""
        if path.exists():
            return Outcome(path.read_bytes(), lines, "", self.host)
        return Outcome(None, lines, fault or "the tool wrote no data", self.host)
