# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenBLAS of the system, through ctypes; matmuls only."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.data import Array, aligned
from bench.graph import Graph
from bench.peers import Program, Unsupported

_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112


class OpenBlas:
    def __init__(self) -> None:
        name = ctypes.util.find_library("openblas")
        if not name:
            raise RuntimeError("there is no libopenblas (Debian: libopenblas-dev)")
        self.library = ctypes.CDLL(name)
        self.library.openblas_set_num_threads(1)
        self.library.openblas_get_config.restype = ctypes.c_char_p
        self.version: str = self.library.openblas_get_config().decode()

    def _gemm(self, m: int, n: int, k: int) -> Callable[[int, int, int], None]:
        """Takes the addresses of both factors and of the result."""
        integer, real, pointer = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
        if m == 1:
            function = self.library.cblas_sgemv
            function.argtypes = [*[integer] * 4, real, pointer, integer, pointer, integer, real, pointer, integer]
            return lambda a, b, c: function(_ROW_MAJOR, _TRANSPOSED, k, n, 1, b, n, a, 1, 0, c, 1)
        function = self.library.cblas_sgemm
        function.argtypes = [*[integer] * 6, real, pointer, integer, pointer, integer, real, pointer, integer]
        return lambda a, b, c: function(_ROW_MAJOR, _AS_IT_IS, _AS_IT_IS, m, n, k, 1, a, k, b, n, 0, c, n)

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        if [n.op for n in graph.nodes] != ["matmul"]:
            raise Unsupported("OpenBLAS has matmuls only")
        a, b = data
        result = aligned(np.zeros(graph.result.shape, np.float32))
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        gemm = self._gemm(m, n, k)
        places = [
            tuple(v.ctypes.data + i * v.nbytes // count for v in (a, b, result))
            for count in (a.shape[0] if a.ndim == 3 else 1,)
            for i in range(count)
        ]

        def call() -> None:
            for place in places:
                gemm(*place)

        return Program(call, lambda _: result)


def create(folder: Path, options: dict[str, Any]) -> OpenBlas:
    return OpenBlas()
