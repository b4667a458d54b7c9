# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls tool-from-python.mlir from Python with arrays that need no NumPy; prints what came back."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from frontend import compiled  # noqa: E402

compiled.numpy = None  # the same with and without it


class Matrix:
    def __init__(self, rows: list[list[float]], ctype: type = ctypes.c_float, typestr: str = "<f4") -> None:
        shape = (len(rows), len(rows[0]))
        self.data = (ctype * (shape[0] * shape[1]))(*[x for row in rows for x in row])
        address = ctypes.addressof(self.data)
        self.__array_interface__ = {"shape": shape, "typestr": typestr, "data": (address, False), "strides": None}


def rows(result: compiled.Result) -> list[list[float]]:
    interface = result.__array_interface__
    (height, width), (down, right) = interface["shape"], interface["strides"]
    address = interface["data"][0]
    at = ctypes.c_float.from_address
    return [[at(address + i * down + j * right).value for j in range(width)] for i in range(height)]


program = compiled.compile_mlir(sys.argv[1], tool=Path(sys.argv[2]), options=["--model", "analytic"])
print("signature:", *program.arguments, "->", *program.results)
a, b = Matrix([[1, 2, 3], [4, 5, 6]]), Matrix([[1, 0], [0, 1], [1, 1]])
freed: list[int] = []
free = program.free
program.free = lambda address: (freed.append(address), free(address))
product, same, count = program(a, b, 7)
print("product:", rows(product), "argument:", rows(same), "count:", count)
print("freed:", len(freed))
del product
print("freed:", len(freed))
call = program.bind(a, b, 7)
for _ in range(5):
    call.run()
print("freed:", len(freed))
a.data[0] = 10
print("bound:", rows(call()[0]))
for wrong in ((a, b), (a, a, 7), (Matrix([[1, 2, 3], [4, 5, 6]], ctypes.c_double, "<f8"), b, 7)):
    try:
        program(*wrong)
    except TypeError as error:
        print("error:", error)
try:
    compiled.compile_mlir("/no/such.mlir", tool=Path(sys.argv[2]))
except compiled.BuildError as error:
    print("error:", error)
