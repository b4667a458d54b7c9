# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parent's side of the workers."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

# One thread everywhere, none that spins, and freed memory that stays with the process: so no peer pays for fresh
# pages in every call.
ENVIRONMENT = {
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVM_NUM_THREADS", "HL_NUM_THREADS"), "1"
    ),
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "KMP_BLOCKTIME": "0",
    "OMP_WAIT_POLICY": "PASSIVE",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(2047 << 20),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "PYTHONPATH": str(ROOT),
}

# What keeps a library from AVX-512 (the compilers take it as an option).
ISA_ENVIRONMENT = {
    "host": {},
    "avx2": {
        "OPENBLAS_CORETYPE": "Haswell",
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}


class WorkerDied(Exception):
    pass


class Handle:
    """A worker process. Ask with tell and wait, one request at a time."""

    def __init__(self, key: str, core: int, priority: int, folder: Path, options: dict[str, Any]) -> None:
        self.key, self.folder = key, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.log = folder / "log.txt"
        command = [sys.executable, "-m", "bench.worker", "--peer", key, "--core", str(core)]
        command += ["--priority", str(priority), "--folder", str(folder), "--options", json.dumps(options)]
        narrowed = ISA_ENVIRONMENT[options["isa"]]
        environment = {**os.environ, **ENVIRONMENT, **narrowed, "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor")}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment, cwd=ROOT
            )

    def tell(self, **request: Any) -> None:
        assert self.process.stdin
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # wait says so

    def wait(self, seconds: float) -> dict[str, Any]:
        assert self.process.stdout
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        if not ready:
            self.stop()
            raise WorkerDied(f"no answer within {seconds:.0f} s; its log is {self.log}")
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            raise WorkerDied(f"the process ended with status {status}; its log is {self.log}")
        return json.loads(line)

    def ask(self, seconds: float, **request: Any) -> dict[str, Any]:
        self.tell(**request)
        return self.wait(seconds)

    def stop(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                try:
                    stream.close()
                except BrokenPipeError:
                    pass
        self.process.kill()
        self.process.wait()
