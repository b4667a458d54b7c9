# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The .tgw weights format; model/weights.h describes it byte by byte."""

from __future__ import annotations

import json
import os
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MAGIC = b"\x89TGW\r\n\x1a\n"
VERSION = 1
HASH_START = 14695981039346656037


def hash_text(value: int, text: str) -> int:
    """FNV-1a over the UTF-8 bytes, 64 bits (tg_hash_text)."""
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 & 0xFFFFFFFFFFFFFFFF
    return value


@dataclass
class Weights:
    """What a .tgw file holds."""

    card: dict = field(default_factory=dict)
    settings: dict[str, float] = field(default_factory=dict)
    columns: list[tuple[str, str, int]] = field(default_factory=list)  # scope, name, version
    tensors: dict[str, np.ndarray] = field(default_factory=dict)  # float32


def _table(weights: Weights) -> tuple[bytes, int]:
    lines = [f"set {name} {value:.17g}\n" for name, value in weights.settings.items()]
    schema = HASH_START
    for scope, name, version in weights.columns:
        if " " in name or "\n" in name or not name:
            raise ValueError(f"column name {name!r} can't be written")
        line = f"{scope} {name} {version:016x}\n"
        schema = hash_text(schema, line)
        lines.append("column " + line)
    for name, tensor in weights.tensors.items():
        lines.append(" ".join(["tensor", name, *map(str, tensor.shape)]) + "\n")
    return "".join(lines).encode(), schema


def write(path: Path, weights: Weights) -> None:
    """Writes beside `path` and renames, so that a reader never sees half a file."""
    table, schema = _table(weights)
    card = (json.dumps(weights.card, indent=1, sort_keys=True) + "\n").encode()
    data = b"".join(np.ascontiguousarray(t, "<f4").tobytes() for t in weights.tensors.values())
    packed = zlib.compress(data, 9)
    header = struct.pack("<IIIIQQQ", VERSION, len(card), len(table), 0, len(packed), len(data), schema)
    body = MAGIC + header + card + table + packed
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(body + struct.pack("<I", zlib.crc32(body)))
    temporary.replace(path)


def read(path: Path) -> Weights:
    """Reads a file that `write` made; the C reader is the one that distrusts."""
    body = path.read_bytes()
    if body[:8] != MAGIC or zlib.crc32(body[:-4]) != struct.unpack("<I", body[-4:])[0]:
        raise ValueError(f"{path}: not a .tgw file, or a broken one")
    version, card_nbytes, table_nbytes, _, packed_nbytes, _, _ = struct.unpack("<IIIIQQQ", body[8:48])
    if version != VERSION:
        raise ValueError(f"{path}: format version {version}")
    table_start = 48 + card_nbytes
    packed_start = table_start + table_nbytes
    result = Weights(card=json.loads(body[48:table_start]))
    values = np.frombuffer(zlib.decompress(body[packed_start : packed_start + packed_nbytes]), "<f4")
    at = 0
    for line in body[table_start:packed_start].decode().splitlines():
        kind, *words = line.split(" ")
        if kind == "set":
            result.settings[words[0]] = float(words[1])
        elif kind == "column":
            result.columns.append((words[0], words[1], int(words[2], 16)))
        else:
            shape = tuple(map(int, words[1:]))
            count = int(np.prod(shape))
            result.tensors[words[0]] = values[at : at + count].reshape(shape)
            at += count
    return result
