# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TGraph's code and the stock lowering's: `tgraph object`, linked to a shared library and called through ctypes."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from bench import linalg
from bench.data import Array
from bench.graph import Graph
from bench.peers import Program


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed with status {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def _runtime_flags(tgraph: str) -> list[str]:
    """MLIR's runtime library lies where the tool's libMLIR does."""
    found = re.search(r"=> (\S+)/lib(?:MLIR|LLVM)\S*", _run(["ldd", tgraph]))
    folder = str(Path(found.group(0)[3:]).resolve().parent) if found else None
    if not folder or not (Path(folder) / "libmlir_c_runner_utils.so").exists():
        return []
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--as-needed", "-lmlir_c_runner_utils"]


def _descriptor(address: int, shape: tuple[int, ...]) -> ctypes.Array:
    """A memref as the C interface passes it: allocated, aligned, offset, sizes, strides."""
    strides = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
    fields = [address, address, 0, *shape, *strides]
    return (ctypes.c_int64 * len(fields))(*fields)


class MlirPeer:
    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder, self.options = folder, options
        self.tgraph: str = options["tgraph"]
        self.flags = _runtime_flags(self.tgraph)
        libc = ctypes.CDLL(None)
        self.free = libc.free
        self.free.argtypes, self.free.restype = [ctypes.c_void_p], None

    def _build(self, graph: Graph, data: list[Array]) -> Path:
        constant = self.options["constant_weights"]
        source, target = self.folder / "program.mlir", self.folder / "program.o"
        source.write_text(linalg.write(graph, data if constant else None))
        command = [self.tgraph, "object", "--json", "--side", self.options["side"], str(source), "-o", str(target)]
        command += ["--target", self.options["isa"]]
        facts = json.loads(_run(command))
        library = self.folder / f"program-{facts['hash']}.so"
        _run(["cc", "-shared", "-o", str(library), str(target), *self.flags, "-lm"])
        return library

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        library = ctypes.CDLL(str(self._build(graph, data)))
        constant = self.options["constant_weights"]
        shape = graph.result.shape
        result = _descriptor(0, shape)
        arguments = [
            _descriptor(d.ctypes.data, d.shape)
            for p, d in zip(graph.parameters, data, strict=True)
            if not (constant and p.is_weight)
        ]
        slots = (ctypes.c_void_p * (len(arguments) + 1))(*[ctypes.addressof(d) for d in (result, *arguments)])
        tg_call, free = library.tg_call, self.free
        tg_call.argtypes, tg_call.restype = [ctypes.c_void_p], None
        slots_at = ctypes.cast(slots, ctypes.c_void_p)

        def call() -> None:
            tg_call(slots_at)
            free(result[0])

        def fetch(_: None) -> Array:
            tg_call(slots_at)
            count = int(np.prod(shape))
            values = np.ctypeslib.as_array((ctypes.c_float * count).from_address(result[1])).copy()
            free(result[0])
            return values.reshape(shape)

        call.keep = (slots, arguments, library)  # type: ignore[attr-defined]
        return Program(call, fetch)


def create(folder: Path, options: dict[str, Any]) -> MlirPeer:
    return MlirPeer(folder, options)
