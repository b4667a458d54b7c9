# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy's .npz files, as strictly as model/npz.h reads them: both accept the same files and name the same fault.

`numpy.load` takes the last of two arrays with one name, pickles, other byte orders and types that nobody here
writes; and it says of a broken file neither its name nor the key.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

END, ENTRY, LOCAL = struct.Struct("<IHHHHIIH"), struct.Struct("<IHHHHHHIIIHHHHHII"), struct.Struct("<IHHHHHIIIHH")
END_MAGIC, ENTRY_MAGIC, LOCAL_MAGIC = 0x06054B50, 0x02014B50, 0x04034B50
STORED, DEFLATED = 0, 8
MOST_DEFLATED = 1032  # deflate never does better than 1032 to 1; more is a forged size
MAX_RANK, MAX_EXTENT, MAX_TEXT = 6, 1 << 40, 1 << 20
ANY = -1
KINDS = {"b": "bool", "i": "integer", "u": "integer", "f": "float", "U": "unicode"}
SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8)}

SPACE = r"[ \n]*"
HEADER_ITEM = re.compile(
    rf"{SPACE}(?:'descr':{SPACE}'(?P<order>[<|])(?P<kind>[biufU]){SPACE}(?P<size>[0-9]+){SPACE}'"
    rf"|'shape':{SPACE}\((?P<shape>[0-9, \n]*)\)|'fortran_order':{SPACE}(?P<fortran>True|False))"
)
SHAPE = re.compile(rf"{SPACE}|(?:{SPACE}[0-9]+{SPACE},)+(?:{SPACE}[0-9]+)?{SPACE}")


@dataclass
class _Entry:
    name: str
    method: int
    flags: int
    crc: int
    packed: int
    size: int
    place: int  # of its own header
    start: int = 0  # of the packed bytes


class _Zip:
    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data
        self.directory, self.directory_size, self.count = self._find_directory()
        self.entries = sorted(self._read_directory(), key=lambda entry: entry.place)
        for before, entry in zip(self.entries, self.entries[1:], strict=False):
            if entry.place < before.start + before.packed:
                raise self.fault(f"shares bytes with {before.name}", entry.name)

    def fault(self, text: str, key: str | None = None) -> ValueError:
        return ValueError(f"{self.path}: {key}: {text}" if key is not None else f"{self.path}: {text}")

    def _find_directory(self) -> tuple[int, int, int]:
        data, last = self.data, len(self.data) - END.size
        if last < 0:
            raise self.fault(f"not an .npz file ({len(data)} bytes)")
        for back in range(min(last, 0xFFFF) + 1):
            magic, _, _, _, count, size, offset, comment = END.unpack_from(data, last - back)
            if magic == END_MAGIC and comment == back:
                break
        else:
            raise self.fault("not an .npz file, or a truncated one: no zip directory at its end")
        if count == 0xFFFF or offset == 0xFFFFFFFF:
            raise self.fault("zip64 archives are not supported")
        if offset + size > last - back:
            raise self.fault("the zip directory lies outside of the file")
        return offset, size, count

    def _read_directory(self) -> list[_Entry]:
        at, end = self.directory, self.directory + self.directory_size
        entries = []
        for _ in range(self.count):
            if end - at < ENTRY.size or ENTRY.unpack_from(self.data, at)[0] != ENTRY_MAGIC:
                raise self.fault("the zip directory is broken")
            row = ENTRY.unpack_from(self.data, at)
            flags, method, (crc, packed, size), lengths, place = row[3], row[4], row[7:10], row[10:13], row[16]
            behind = at + ENTRY.size + sum(lengths)
            if behind > end:
                raise self.fault("the zip directory is broken")
            name = self.data[at + ENTRY.size : at + ENTRY.size + lengths[0]]
            if b"\0" in name:
                raise self.fault("a name in the zip directory holds a NUL")
            entry = _Entry(name.decode(errors="surrogateescape"), method, flags, crc, packed, size, place)
            if 0xFFFFFFFF in (packed, size):
                raise self.fault("zip64 entries are not supported", entry.name)
            self._locate(entry, name)
            entries.append(entry)
            at = behind
        if at != end:
            raise self.fault("the zip directory is broken")
        return entries

    def _locate(self, entry: _Entry, name: bytes) -> None:
        """Finds the packed bytes; the header in front of them must say what the directory says."""
        if entry.place > self.directory - LOCAL.size:
            raise self.fault("lies outside of the file", entry.name)
        row = LOCAL.unpack_from(self.data, entry.place)
        if row[0] != LOCAL_MAGIC:
            raise self.fault("no zip entry where the directory says", entry.name)
        behind_name = entry.place + LOCAL.size + row[9]
        entry.start = behind_name + row[10]
        if entry.start > self.directory - entry.packed:
            raise self.fault("truncated", entry.name)
        if self.data[entry.place + LOCAL.size : behind_name] != name:
            raise self.fault("has another name in the directory than at its place", entry.name)
        if row[3] != entry.method:
            raise self.fault("has another zip method in the directory than at its place", entry.name)

    def unpack(self, entry: _Entry) -> bytes:
        if entry.flags & 1:
            raise self.fault("encrypted", entry.name)
        if entry.method not in (STORED, DEFLATED):
            raise self.fault(f"unknown zip method {entry.method}", entry.name)
        forged = entry.size != entry.packed if entry.method == STORED else entry.size // MOST_DEFLATED > entry.packed
        if forged:
            raise self.fault(f"impossible size {entry.size}", entry.name)
        content = self.data[entry.start : entry.start + entry.packed]
        if entry.method == DEFLATED:
            content = self._inflate(entry, content)
        if zlib.crc32(content) != entry.crc:
            raise self.fault("wrong checksum", entry.name)
        return content

    def _inflate(self, entry: _Entry, packed: bytes) -> bytes:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            content = inflate.decompress(packed, entry.size + 1)
        except zlib.error:
            raise self.fault("broken deflate data", entry.name) from None
        if not inflate.eof or inflate.unused_data or len(content) != entry.size:
            raise self.fault("broken deflate data", entry.name)
        return content


def _parse_header(text: str) -> tuple[str, str, int, bool, list[int]] | None:
    """Order, kind, size, column-major and shape of the dictionary in an .npy; None when it is another one."""
    start = re.match(SPACE + "{", text)
    found: dict[str, str] = {}
    at, closed = start.end() if start else 0, False
    while start and not closed:
        item = HEADER_ITEM.match(text, at)
        if item:
            fresh = {name: value for name, value in item.groupdict().items() if value is not None}
            if found.keys() & fresh.keys():
                return None
            found |= fresh
            at = item.end()
            comma = re.compile(SPACE + ",").match(text, at)
            at = comma.end() if comma else at
        close = re.compile(SPACE + "}").match(text, at)
        if not close and not (item and comma):
            return None
        closed, at = close is not None, close.end() if close else at
    if not closed or text[at:].strip(" \n") or len(found) != 5:
        return None
    shape = found["shape"]
    if not SHAPE.fullmatch(shape):
        return None
    if max(map(len, re.findall("[0-9]+", shape + found["size"])), default=0) > 100:
        return None
    extents = [int(word) for word in shape.split(",") if word.strip(" \n")]
    if len(extents) > MAX_RANK or any(extent >= MAX_EXTENT for extent in extents):
        return None
    return found["order"], found["kind"], int(found["size"]), found["fortran"] == "True", extents


def _parse_array(path: str, key: str, data: bytes) -> np.ndarray:
    def fault(text: str) -> ValueError:
        return ValueError(f"{path}: {key}: {text}")

    if len(data) < 12 or data[:6] != b"\x93NUMPY" or data[6] not in (1, 2) or data[7]:
        raise fault("not an .npy array of version 1 or 2")
    start = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:start], "little")
    if length > len(data) - start:
        raise fault("the header is longer than the array")
    header = _parse_header(data[start : start + length].decode("latin1"))
    if header:
        order, kind, size, fortran, shape = header
        known = 1 <= size <= MAX_TEXT if kind == "U" else size in SIZES[kind]
    if not header or not known or (order == "|" and size != 1):
        raise fault("unreadable header, or a type other than little-endian bool, integer, f4, f8, unicode")
    count = 0 if 0 in shape else 1
    for extent in shape if count else ():
        if extent > MAX_EXTENT // count:
            raise fault("the shape has too many elements")
        count *= extent
    width = 4 * size if kind == "U" else size
    if count * width != len(data) - start - length:
        left = len(data) - start - length
        raise fault(f"the shape needs {count} items of {width} bytes, the file has {left} bytes")
    flat = np.frombuffer(data, f"<{kind}{size}" if kind != "b" else "u1", count, start + length)
    if kind == "b":
        if (flat > 1).any():
            i = int(np.argmax(flat > 1))
            raise fault(f"item {i} is {flat[i]}, expected 0 or 1")
        flat = flat.astype(bool)
    return flat.reshape(shape, order="F" if fortran else "C")


class Npz:
    """The arrays of a file, and checked access to them as of tg_npz_get_*."""

    def __init__(self, path: Path | str) -> None:
        self.path = str(path)
        try:
            data = Path(path).read_bytes()
        except OSError as cause:
            raise ValueError(f"{path}: {cause.strerror}") from None
        archive = _Zip(self.path, data)
        self.arrays: dict[str, np.ndarray] = {}
        for entry in archive.entries:
            if not entry.name.endswith(".npy") or len(entry.name) <= 4:
                continue
            content, key = archive.unpack(entry), entry.name[:-4]
            if key in self.arrays:
                raise archive.fault("key occurs twice", key)
            self.arrays[key] = _parse_array(self.path, key, content)

    def __contains__(self, key: str) -> bool:
        return key in self.arrays

    def fault(self, key: str, text: str) -> ValueError:
        return ValueError(f"{self.path}: {key}: {text}")

    def check(self, key: str, good: bool, text: str) -> None:
        if not good:
            raise self.fault(key, text)

    def get(self, key: str, shape: Sequence[int]) -> np.ndarray:
        """The array of a key that must exist; ANY accepts every extent."""
        if key not in self.arrays:
            raise self.fault(key, "missing")
        array = self.arrays[key]
        self.check(key, array.ndim == len(shape), f"has {array.ndim} dimensions, expected {len(shape)}")
        for d, (have, want) in enumerate(zip(array.shape, shape, strict=True)):
            self.check(key, want in (ANY, have), f"dimension {d} is {have}, expected {want}")
        return array

    def _typed(self, key: str, shape: Sequence[int], kinds: str, expected: str) -> np.ndarray:
        array = self.get(key, shape)
        kind = array.dtype.kind
        self.check(key, kind in kinds, f"holds {KINDS[kind]} items, expected {expected}")
        return array

    def numbers(self, key: str, shape: Sequence[int], dtype: type = np.float64) -> np.ndarray:
        with np.errstate(over="ignore"):
            return self._typed(key, shape, "biuf", "numbers").astype(dtype)

    def integers(self, key: str, shape: Sequence[int], low: int = -(1 << 63), high: int = (1 << 63) - 1) -> np.ndarray:
        array = self._typed(key, shape, "biu", "integers")
        flat = array.reshape(-1)
        if flat.size and not (int(flat.min()) >= low and int(flat.max()) <= high):
            wrong = next(i for i, value in enumerate(flat) if not low <= int(value) <= high)
            raise self.fault(key, f"item {wrong} is {int(flat[wrong])}, outside of {low}..{high}")
        return array.astype(np.int64)

    def unsigned(self, key: str, shape: Sequence[int]) -> np.ndarray:
        return self._typed(key, shape, "u", "unsigned integers").astype(np.uint64)

    def texts(self, key: str, shape: Sequence[int]) -> list[str]:
        """Of rank 1, or one text of rank 0."""
        array = self._typed(key, shape, "U", "unicode").reshape(-1)
        codes = array.view("<u4").reshape(len(array), -1) if array.size else np.zeros((0, 1), np.uint32)
        surrogate = (codes >= 0xD800) & (codes < 0xE000)
        used = np.cumsum(codes[:, ::-1] != 0, 1)[:, ::-1] > 0  # up to the last character
        wrong = (surrogate | (codes >= 0x110000) | ((codes == 0) & used)).any(1)
        if wrong.any():
            raise self.fault(key, f"item {int(np.argmax(wrong))} is not text")
        return [str(text) for text in array]
