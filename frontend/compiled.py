# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MLIR program as a Python function: `tgraph object`, linked to a shared library, called with arrays.

    program = compile_mlir("net.mlir")
    result, = program(x, w)

Needs cc and the tool, and no NumPy: an array is whatever has `__array_interface__`. Arguments that lie row-major
without gaps are passed as they are. A result lies in the memory that the code allocated, which is freed with the last
array that looks at it; it's a NumPy array where there is NumPy.
"""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

try:
    import numpy
except ImportError:
    numpy = None

ROOT = Path(__file__).resolve().parents[1]
TOOL = ROOT / "build" / "bin" / "tgraph"

# MLIR's name -> how `__array_interface__` writes it. NumPy has no bf16: its bits are passed and returned.
_DTYPES = {
    "f32": "<f4",
    "f64": "<f8",
    "f16": "<f2",
    "bf16": "<u2",
    "i1": "|b1",
    "i8": "|i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "index": "<i8",
}
_SCALARS = {"<f4": ctypes.c_float, "<f8": ctypes.c_double, "|b1": ctypes.c_bool, "|i1": ctypes.c_int8}
_SCALARS |= {"<i2": ctypes.c_int16, "<i4": ctypes.c_int32, "<i8": ctypes.c_int64}
_SCALARS |= {"<f2": ctypes.c_uint16, "<u2": ctypes.c_uint16}  # their bits
_GLOBAL_MARK = 0xDEADBEEF  # "allocated" of a result that is a constant of the program


class BuildError(Exception):
    """A command failed; the text is what it said."""


@dataclass(frozen=True)
class Type:
    dtype: str  # MLIR's name
    shape: tuple[int, ...] | None  # None: a scalar; -1: known at run time

    @property
    def typestr(self) -> str:
        return _DTYPES[self.dtype]

    @property
    def itemsize(self) -> int:
        return int(self.typestr[2:])

    @property
    def nbytes(self) -> int:
        """Of what the C interface passes: a descriptor, or the scalar itself."""
        return self.itemsize if self.shape is None else 8 * (3 + 2 * len(self.shape))

    def __str__(self) -> str:
        return "x".join([*("?" if n < 0 else str(n) for n in self.shape or ()), self.dtype])


def _run(command: Sequence[str | Path]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        raise BuildError(f"there is no program {command[0]}") from None
    if done.returncode:
        raise BuildError(done.stderr.strip()[-2000:] or f"{command[0]} failed with status {done.returncode}")
    return done.stdout


def _runtime_flags(tool: Path) -> list[str]:
    """MLIR's runtime library lies where the tool's libMLIR does."""
    found = re.search(r"=> (\S+/lib(?:MLIR|LLVM)\S*)", _run(["ldd", tool]))
    folder = Path(found[1]).resolve().parent if found else None
    if not folder or not (folder / "libmlir_c_runner_utils.so").exists():
        return []
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--as-needed", "-lmlir_c_runner_utils"]


def build_library(source: Path, folder: Path, tool: Path = TOOL, options: Iterable[str] = ()) -> tuple[Path, dict]:
    """The shared library, and what the tool said of it. Its name is the code's hash: a library that is loaded already
    is never written over."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "program.o"
    facts = json.loads(_run([tool, "object", "--json", *options, source, "-o", target]))
    library = folder / f"program-{facts['hash']}.so"
    _run(["cc", "-shared", "-o", library, target, *_runtime_flags(tool), "-lm"])
    target.unlink()
    return library, facts


class _Memory:
    """A block that the code allocated; an array over it keeps it."""

    def __init__(self, address: int, free: Callable[[int], None]) -> None:
        self.address, self.free = address, free

    def __del__(self) -> None:
        self.free(self.address)


class Result:
    """What the code wrote, where it lies; NumPy makes an array of it without a copy."""

    def __init__(self, type_: Type, fields: Sequence[int], keep: Any) -> None:
        rank, itemsize = len(type_.shape or ()), type_.itemsize
        self.keep = keep
        self.__array_interface__ = {
            "version": 3,
            "typestr": type_.typestr,
            "shape": tuple(fields[3 : 3 + rank]),
            "strides": tuple(n * itemsize for n in fields[3 + rank : 3 + 2 * rank]),
            "data": (fields[1] + fields[2] * itemsize, False),
        }


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return strides[::-1]


def _interface(index: int, value: Any, type_: Type) -> tuple[Any, dict[str, Any]]:
    """The array to keep, and its interface. A wrong type or shape is said, never converted: it would hide mistakes."""
    if numpy is not None:
        value = numpy.asarray(value)
    interface = value.__array_interface__
    shape, want = tuple(interface["shape"]), type_.shape or ()
    fits = len(shape) == len(want) and all(w in (n, -1) for n, w in zip(shape, want, strict=True))
    if interface["typestr"] != type_.typestr or not fits:
        raise TypeError(f"argument {index} is {type_}, but got {interface['typestr']} of shape {shape}")
    strides, gapless = interface.get("strides"), [n * type_.itemsize for n in _row_major(shape)]
    if strides and any(n > 1 and s != g for n, s, g in zip(shape, strides, gapless, strict=True)):
        if numpy is None:
            raise TypeError(f"argument {index} is not row-major without gaps")
        value = numpy.ascontiguousarray(value)
        interface = value.__array_interface__
    return value, interface


def _as_argument(index: int, value: Any, type_: Type) -> tuple[Any, Any, int]:
    """What keeps the data, what is passed (both to keep), and the address of the data."""
    if type_.shape is None:
        kept = _SCALARS[type_.typestr](value)
        return value, kept, 0
    value, interface = _interface(index, value, type_)
    address, shape = interface["data"][0], tuple(interface["shape"])
    fields = [address, address, 0, *shape, *_row_major(shape)]
    return value, (ctypes.c_int64 * len(fields))(*fields), address


def _offsets(types: Sequence[Type]) -> list[int]:
    """Where each result lies in the block that the code fills, and the block's size: a C struct of them all."""
    offsets, at = [], 0
    for t in types:
        align = 8 if t.shape is not None else t.itemsize
        at = -(-at // align) * align
        offsets.append(at)
        at += t.nbytes
    return [*offsets, at]


class Call:
    """A program with its arguments, which are looked at anew in every run. With the option --prepack the weights among
    them are packed here, once: the panels are the library's, so the call that was bound last decides."""

    def __init__(self, program: CompiledProgram, values: Sequence[Any]) -> None:
        if len(values) != len(program.arguments):
            raise TypeError(f"the program takes {len(program.arguments)} arguments, but got {len(values)}")
        self.program = program
        made = [_as_argument(i, v, t) for i, (v, t) in enumerate(zip(values, program.arguments, strict=True))]
        self.kept = [(value, passed) for value, passed, _ in made]
        self.borrowed = {address for _, _, address in made} | {0, _GLOBAL_MARK}
        self.offsets = _offsets(program.results)
        self.block = (ctypes.c_int64 * (self.offsets[-1] // 8 + 1))()
        slots = [ctypes.addressof(passed) for _, passed in self.kept]
        is_scalar = len(program.results) == 1 and program.results[0].shape is None
        slots.insert(len(slots) if is_scalar else 0, ctypes.addressof(self.block))
        self.slots = (ctypes.c_void_p * len(slots))(*slots)
        tensors = [i for i, t in enumerate(program.results) if t.shape is not None]
        self.allocated_at = [self.offsets[i] // 8 for i in tensors]
        if program.prepack is not None:
            program.prepack(self.slots)

    def _owned(self) -> set[int]:
        """Blocks to free, each once: a result may be an argument, a constant, or another one's memory."""
        return {self.block[at] for at in self.allocated_at} - self.borrowed

    def run(self) -> None:
        """Once, and frees what the results own: for timing."""
        self.program.function(self.slots)
        for address in self._owned():
            self.program.free(address)

    def _result(self, index: int, memory: dict[int, _Memory]) -> Any:
        type_, offset = self.program.results[index], self.offsets[index]
        if type_.shape is None:
            return _SCALARS[type_.typestr].from_buffer(self.block, offset).value
        fields = self.block[offset // 8 : (offset + type_.nbytes) // 8]
        result = Result(type_, fields, (memory.get(fields[0], self.kept), self.program))
        return result if numpy is None else numpy.asarray(result)

    def __call__(self) -> list[Any]:
        """Arrays, and numbers where results are scalars."""
        self.program.function(self.slots)
        memory = {address: _Memory(address, self.program.free) for address in self._owned()}
        return [self._result(i, memory) for i in range(len(self.program.results))]


class CompiledProgram:
    """The library's function with its signature."""

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self.facts = facts
        self.arguments, self.results = (
            [Type(t["dtype"], tuple(t["shape"]) if "shape" in t else None) for t in facts[key]]
            for key in ("arguments", "results")
        )
        self.library = ctypes.CDLL(str(path))
        self.function = self.library.tg_call
        self.function.argtypes, self.function.restype = [ctypes.c_void_p], None
        self.prepack = getattr(self.library, "tg_prepack", None)
        if self.prepack is not None:
            self.prepack.argtypes, self.prepack.restype = [ctypes.c_void_p], None
        self.free = ctypes.CDLL(None).free
        self.free.argtypes, self.free.restype = [ctypes.c_void_p], None

    def bind(self, *values: Any) -> Call:
        return Call(self, values)

    def __call__(self, *values: Any) -> list[Any]:
        return Call(self, values)()


def compile_mlir(
    source: str | Path, folder: str | Path | None = None, tool: Path = TOOL, options: Iterable[str] = ()
) -> CompiledProgram:
    """source: a file .mlir or .mlir.gz, whose function is @main or the only public one. folder: for the library, a
    temporary one by default. options: of `tgraph object`."""
    if folder is not None:
        return CompiledProgram(*build_library(Path(source), Path(folder), tool, options))
    with tempfile.TemporaryDirectory(prefix="tgraph-") as made:  # a library that is loaded needs no file
        return CompiledProgram(*build_library(Path(source), Path(made), tool, options))
