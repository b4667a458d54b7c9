# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls tool-prepack-python.mlir with weights that are packed once; prints what came back."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from frontend import compiled  # noqa: E402

compiled.numpy = None  # the same with and without it


class Matrix:
    def __init__(self, height: int, width: int, value: float) -> None:
        self.data = (ctypes.c_float * (height * width))(*[value] * (height * width))
        address = ctypes.addressof(self.data)
        self.__array_interface__ = {"shape": (height, width), "typestr": "<f4", "data": (address, False)}


def corner(result: compiled.Result) -> float:
    return ctypes.c_float.from_address(result.__array_interface__["data"][0]).value


options = ["--prepack", "--weights", "1", "--target", "avx2"]
program = compiled.compile_mlir(sys.argv[1], tool=Path(sys.argv[2]), options=options)
x, w = Matrix(100, 96, 1), Matrix(96, 144, 0.5)
call = program.bind(x, w)
print("first:", corner(call()[0]))
w.data[:] = [2] * len(w.data)
x.data[:] = [3] * len(x.data)
print("another input:", corner(call()[0]))
print("bound anew:", corner(program(x, w)[0]))


MALLINFO = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in MALLINFO]


def allocated() -> int:
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


before = allocated()
for _ in range(200):
    program.prepack(call.slots)
print("kept after 200 more packings:", (allocated() - before) // (96 * 144 * 4))
