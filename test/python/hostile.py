# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data files that must not be read, each a change of a good one; C and Python are asked about all of them.

python test/python/hostile.py DIR writes them (and `large_*.npz` with --large: 100 MB to time a reader with).
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGET = {"vector_bits": 512, "vector_registers": 32, "l1_nbytes": 32768, "cores": 1}
CONFIGS = 5


@dataclass
class Case:
    name: str
    content: bytes
    key: str  # that the message must name, "" where no key can be known
    fault: str  # a part of the message


def tile_arrays() -> dict[str, np.ndarray]:
    """A good tile file with every key that is looked at."""
    rng = np.random.default_rng(0)
    return {
        "node_feat": rng.random((3, 140)).astype(np.float32),
        "node_opcode": np.array([1, 2, 3], np.uint8),
        "edge_index": np.array([[1, 0], [2, 1]]),
        "config_feat": np.zeros((CONFIGS, 24), np.float32),
        "config_runtime": np.arange(1.0, 1 + CONFIGS),
        "config_runtime_normalizers": np.full(CONFIGS, 2.0),
        "config_runtime_rerun": np.full(CONFIGS, np.nan),
        "features": rng.random((CONFIGS, 2)).astype(np.float32),
        "feature_names": np.array(["one", "two"]),
        "feature_versions": np.arange(2, dtype=np.uint64),
        "knobs": np.ones((CONFIGS, 1), np.int64),
        "knob_names": np.array(["tiled"]),
        "ratio_ci": np.zeros(CONFIGS, np.float32),
        "target": np.array(list(TARGET.values())),
        "target_names": np.array(list(TARGET)),
        "kernel": np.array("k"),
        "family": np.array("f"),
        "analytic_config": np.int64(0),
        "chosen_config": np.int64(-1),
    }


def layout_arrays() -> dict[str, np.ndarray]:
    tile = tile_arrays()
    graph = {key: tile[key] for key in ("node_feat", "node_opcode", "edge_index", "config_runtime")}
    return graph | {
        "node_config_ids": np.array([0, 2]),
        "node_config_feat": np.zeros((CONFIGS, 2, 18), np.int8),
        "run_config_index": np.array([0, 4, 1], np.int32),
        "run_runtime": np.array([1, 2, 3]),
        "knob_names": tile["knob_names"],
        "node_knobs": np.zeros((CONFIGS, 2, 1), np.int64),
        "feature_names": tile["feature_names"],
        "node_features": np.zeros((CONFIGS, 2, 2), np.float32),
        "config_names": np.array(["analytic", "", "", "", ""]),
        "graph": np.array("g"),
    }


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), version=(1, 0))
    return file.getvalue()


def raw_npy(header: str, data: bytes = b"", version: int = 1) -> bytes:
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode("latin1") + data


def archive(arrays: dict[str, np.ndarray | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """As numpy writes it, but bytes stand for the content of an entry as it is."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive_file:
        for key, value in arrays.items():
            content = value if isinstance(value, bytes) else npy(value)
            archive_file.writestr(zipfile.ZipInfo(f"{key}.npy"), content, compress_type=method)
    return file.getvalue()


class Bytes:
    """A zip whose fields are changed by place."""

    def __init__(self, content: bytes) -> None:
        self.data = bytearray(content)
        self.end = self.data.rindex(b"PK\x05\x06")
        self.directory = struct.unpack_from("<I", self.data, self.end + 16)[0]

    def entry(self, key: str) -> int:
        """Where the directory's row of a key is."""
        return self.data.index(f"{key}.npy".encode(), self.directory) - 46

    def local(self, key: str) -> int:
        return struct.unpack_from("<I", self.data, self.entry(key) + 42)[0]

    def put(self, at: int, layout: str, value: int) -> bytes:
        struct.pack_into(layout, self.data, at, value)
        return bytes(self.data)


def _zip_cases() -> list[Case]:
    good = archive(tile_arrays())
    stored = archive(tile_arrays(), zipfile.ZIP_STORED)

    def changed(where: Callable[[Bytes], int], layout: str, value: int, base: bytes = good) -> bytes:
        content = Bytes(base)
        return content.put(where(content), layout, value)

    def flipped(base: bytes) -> bytes:
        content = Bytes(base)
        content.data[content.local("features") + 60] ^= 0x55
        return bytes(content.data)

    def overlapping() -> bytes:
        content = Bytes(good)
        content.put(content.entry("knobs") + 42, "<I", content.local("features"))
        return bytes(content.data)

    def same_place() -> bytes:
        """Two rows of the directory with one name: the second is a copy of the first."""
        content = Bytes(archive({"features": tile_arrays()["features"], "features2": tile_arrays()["features"]}))
        row = bytes(content.data[content.entry("features") : content.entry("features2")])
        second = content.entry("features2")
        tail = bytearray(content.data[content.end :])
        struct.pack_into("<I", tail, 12, 2 * len(row))
        return bytes(content.data[:second]) + row + bytes(tail)

    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as file:
        for value in (1, 2):
            file.writestr(zipfile.ZipInfo("knobs.npy"), npy(np.array([value])))
    bomb = Bytes(good)
    bomb.put(bomb.entry("features") + 24, "<I", 0x7FFFFFFF)
    return [
        Case("empty", b"", "", "not an .npz file"),
        Case("text", b"no zip at all, but longer than its directory", "", "not an .npz file"),
        Case("cut", good[:-30], "", "truncated"),
        Case("cut_early", good[:200], "", "truncated"),
        Case("directory_outside", changed(lambda z: z.end + 16, "<I", 0x7FFFFFFF), "", "outside of the file"),
        Case("directory_broken", changed(lambda z: z.directory, "<I", 0), "", "zip directory is broken"),
        Case("directory_longer", changed(lambda z: z.end + 10, "<H", 3), "", "zip directory is broken"),
        Case("zip64_count", changed(lambda z: z.end + 10, "<H", 0xFFFF), "", "zip64"),
        Case("zip64_offset", changed(lambda z: z.end + 16, "<I", 0xFFFFFFFF), "", "zip64"),
        Case("zip64_size", changed(lambda z: z.entry("knobs") + 24, "<I", 0xFFFFFFFF), "knobs", "zip64"),
        Case("place_outside", changed(lambda z: z.entry("knobs") + 42, "<I", 0x7FFFFFFF), "knobs", "outside"),
        Case("place_wrong", changed(lambda z: z.entry("knobs") + 42, "<I", 3), "knobs", "no zip entry"),
        Case("packed_longer", changed(lambda z: z.entry("chosen_config") + 20, "<I", 9999), "chosen_config", "trunc"),
        Case("overlap_packed", changed(lambda z: z.entry("knobs") + 20, "<I", 400), "knob_names", "shares bytes"),
        Case("overlap_place", overlapping(), "knobs", "another name"),
        Case("overlap_same", same_place(), "features", "shares bytes"),
        Case("twice", twice.getvalue(), "knobs", "twice"),
        Case("name_differs", changed(lambda z: z.local("knobs") + 30, "<B", 0x78), "knobs", "another name"),
        Case("method_differs", changed(lambda z: z.local("knobs") + 8, "<H", 0), "knobs", "another zip method"),
        Case("encrypted", changed(lambda z: z.entry("knobs") + 8, "<H", 1), "knobs", "encrypted"),
        Case("crc", changed(lambda z: z.entry("knobs") + 16, "<I", 1), "knobs", "checksum"),
        Case("bytes_changed", flipped(stored), "features", "checksum"),
        Case("deflate_changed", changed(lambda z: z.local("features") + 43, "<B", 0xFF), "features", "deflate"),
        Case("size_small", changed(lambda z: z.entry("features") + 24, "<I", 20), "features", "deflate"),
        Case("bomb", bytes(bomb.data), "features", "impossible size"),
        Case("stored_size", changed(lambda z: z.entry("knobs") + 24, "<I", 1, stored), "knobs", "impossible size"),
        Case("lzma", archive(tile_arrays(), zipfile.ZIP_LZMA), "node_feat", "unknown zip method 14"),
        Case("bzip2", archive(tile_arrays(), zipfile.ZIP_BZIP2), "node_feat", "unknown zip method 12"),
    ]


def _npy_cases() -> list[Case]:
    floats = np.zeros((CONFIGS, 2), np.float32)
    many, data = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 2), }", floats.tobytes()
    contents = {
        "magic": (b"\x92NUMPY" + npy(floats)[6:], "not an .npy array"),
        "version_3": (raw_npy(many, data)[:6] + b"\3" + raw_npy(many, data)[7:], "not an .npy array"),
        "header_long": (raw_npy(many)[:8] + b"\xff\xff" + raw_npy(many)[10:], "longer than the array"),
        "header_text": (raw_npy("nothing", data), "unreadable header"),
        "header_cut": (raw_npy(many[:-4], data), "unreadable header"),
        "header_more": (raw_npy(many + "x", data), "unreadable header"),
        "header_twice": (raw_npy("{'descr': '<f4', " + many[1:], data), "unreadable header"),
        "header_partial": (raw_npy("{'descr': '<f4', 'shape': (5, 2), }", data), "unreadable header"),
        "big_endian": (npy(floats.astype(">f4")), "little-endian"),
        "half": (npy(floats.astype("<f2")), "little-endian"),
        "complex": (npy(floats.astype("<c8")), "little-endian"),
        "bytes_text": (npy(np.array([b"ab"])), "little-endian"),
        "object": (raw_npy(many.replace("<f4", "|O"), data), "little-endian"),
        "structured": (npy(np.zeros(2, [("a", "<f4")])), "little-endian"),
        "date": (npy(np.zeros(2, "<M8[s]")), "little-endian"),
        "no_order": (raw_npy(many.replace("<f4", "=f4"), data), "little-endian"),
        "short": (raw_npy(many, data[:-1]), "shape needs 10 items of 4 bytes"),
        "long": (raw_npy(many, data + b"x"), "shape needs 10 items of 4 bytes"),
        "negative": (raw_npy(many.replace("5,", "-5,"), data), "unreadable header"),
        "huge": (raw_npy(many.replace("5, 2", "1000000, 1000000, 1000000"), data), "too many elements"),
        "huge_extent": (raw_npy(many.replace("5,", "1" + 30 * "0" + ","), data), "unreadable header"),
        "overflow": (raw_npy(many.replace("5, 2", "2147483648, 2147483648, 4"), data), "too many elements"),
        "rank_7": (npy(np.zeros((1,) * 7, np.float32)), "unreadable header"),
        "text_empty": (raw_npy(many.replace("<f4", "<U0")), "unreadable header"),
    }
    cases = [
        Case(f"npy_{name}", archive(tile_arrays() | {"features": content}), "features", fault)
        for name, (content, fault) in contents.items()
    ]
    truth = raw_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", bytes([0, 1, 7]))
    return [*cases, Case("npy_bool", archive(tile_arrays() | {"node_opcode": truth}), "node_opcode", "expected 0 or 1")]


def _content_cases() -> list[Case]:
    surrogate = raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", struct.pack("<2I", 65, 0xD800))
    beyond = raw_npy("{'descr': '<U1', 'fortran_order': False, 'shape': (2,), }", struct.pack("<2I", 65, 0x110000))
    inside = raw_npy("{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }", struct.pack("<4I", 65, 66, 0, 67))
    nan_feature = np.zeros((CONFIGS, 2), np.float32)
    nan_feature[3, 1] = np.nan
    node_feat = tile_arrays()["node_feat"]
    infinite = node_feat.copy()
    infinite[2, 7] = np.inf
    names = np.array(list(TARGET))
    tile = [
        ("node_feat", node_feat[:, :139], "dimension 1 is 139, expected 140"),
        ("node_feat", node_feat[:0], "no nodes"),
        ("node_feat", infinite, "not finite"),
        ("node_feat", node_feat.astype(np.float64) * 1e300, "not finite"),
        ("node_feat", node_feat[0], "has 1 dimensions, expected 2"),
        ("node_feat", node_feat.astype("U"), "holds unicode items"),
        ("node_opcode", np.array([0, 1]), "dimension 0 is 2, expected 3"),
        ("node_opcode", np.array([0, 1, 121]), "item 2 is 121"),
        ("node_opcode", np.array([0, -1, 1]), "item 1 is -1"),
        ("node_opcode", np.array([0.0, 1.0, 2.0]), "holds float items, expected integers"),
        ("edge_index", np.array([[1, 1]]), "row 0 is (1, 1)"),
        ("edge_index", np.array([[1, 0], [3, 0]]), "row 1 is (3, 0) with 3 nodes"),
        ("edge_index", np.array([[1, -1]]), "item 1 is -1"),
        ("edge_index", np.array([[1 << 40, 0]]), "outside of 0.."),
        ("edge_index", np.array([1, 0]), "has 1 dimensions"),
        ("config_feat", np.zeros((CONFIGS, 23), np.float32), "expected 24"),
        ("config_feat", np.zeros((CONFIGS + 1, 24), np.float32), "expected 5"),
        ("config_runtime", np.array([1.0, 2, 0, 4, 5]), "item 2 is 0"),
        ("config_runtime", np.array([1.0, 2, -3, 4, 5]), "item 2 is -3"),
        ("config_runtime", np.array([1.0, 2, np.nan, 4, 5]), "item 2 is nan"),
        ("config_runtime", np.array([1.0, 2, np.inf, 4, 5]), "item 2 is inf"),
        ("config_runtime", np.ones((CONFIGS, 1)), "has 2 dimensions"),
        ("config_runtime_normalizers", np.ones(4), "dimension 0 is 4, expected 5"),
        ("config_runtime_normalizers", np.zeros(CONFIGS), "item 0 is 0"),
        ("config_runtime_rerun", np.ones(3), "dimension 0 is 3"),
        ("ratio_ci", np.ones(3), "dimension 0 is 3"),
        ("features", nan_feature, "row 3, column 1 is not finite"),
        ("features", np.zeros((CONFIGS, 3), np.float32), "dimension 1 is 3, expected 2"),
        ("feature_names", np.array([1, 2]), "holds integer items, expected unicode"),
        ("feature_names", surrogate, "item 1 is not text"),
        ("feature_names", beyond, "item 1 is not text"),
        ("feature_names", inside, "item 1 is not text"),
        ("feature_versions", np.arange(2), "holds integer items, expected unsigned integers"),
        ("feature_versions", np.arange(3, dtype=np.uint64), "dimension 0 is 3"),
        ("knobs", np.ones((CONFIGS, 2), np.int64), "dimension 1 is 2, expected 1"),
        ("knobs", np.full((CONFIGS, 1), 1 << 63, np.uint64), "item 0 is"),
        ("knobs", np.ones((CONFIGS, 1)), "holds float items"),
        ("knob_names", np.array("tiled"), "has 0 dimensions"),
        ("target", np.array([512, 32, 32768]), "dimension 0 is 4, expected 3", "target_names"),
        ("target", np.array([500, 32, 32768, 1]), "not a power of two"),
        ("target", np.array([512, 32, 32768, 0]), "outside of 1..65536"),
        ("target", np.array([512, 32, -1, 1]), "l1_nbytes"),
        ("target_names", np.array([*names[:3], "speed"]), "unknown column 'speed'"),
        ("target_names", np.array([*names[:3], "cpu"]), "unknown column 'cpu'"),
        ("kernel", np.array(["k"]), "has 1 dimensions, expected 0"),
        ("family", np.array(3), "holds integer items"),
        ("analytic_config", np.int64(CONFIGS), "item 0 is 5, outside of -1..4"),
        ("chosen_config", np.int64(-2), "item 0 is -2"),
    ]
    layout = [
        ("node_config_ids", np.array([0, 3]), "item 1 is 3"),
        ("node_config_ids", np.array([0, 1, 2]), "dimension 1 is 2, expected 3", "node_config_feat"),
        ("node_config_feat", np.full((CONFIGS, 2, 18), 6, np.int8), "item 0 is 6, outside of -2..5"),
        ("node_config_feat", np.full((CONFIGS, 2, 18), -3, np.int16), "item 0 is -3"),
        ("node_config_feat", np.zeros((CONFIGS, 2, 17), np.int8), "dimension 2 is 17"),
        ("node_config_feat", np.zeros((CONFIGS, 36), np.int8), "has 2 dimensions"),
        ("config_runtime", np.ones(4), "dimension 0 is 5, expected 4", "node_config_feat"),
        ("run_config_index", np.array([0, 5, 1]), "item 1 is 5"),
        ("run_config_index", np.array([0, 1]), "dimension 0 is 2"),
        ("run_runtime", np.array([1, 0, 3]), "item 1 is 0"),
        ("node_knobs", np.zeros((CONFIGS, 2, 2), np.int64), "dimension 2 is 2, expected 1"),
        ("node_features", np.zeros((CONFIGS, 3, 2), np.float32), "dimension 1 is 3, expected 2"),
        ("node_features", np.full((CONFIGS, 2, 2), np.nan, np.float32), "row 0, column 0 is not finite"),
        ("config_runtime_normalizers", np.ones(4), "dimension 0 is 4, expected 5"),
        ("config_names", np.array(["analytic"]), "dimension 0 is 1, expected 5"),
        ("graph", np.array(["g"]), "has 1 dimensions"),
    ]
    cases = []
    for kind, good, rows in (("tile", tile_arrays(), tile), ("layout", layout_arrays(), layout)):
        for i, (key, value, fault, *other) in enumerate(rows):
            named = other[0] if other else key  # two keys disagree: the second is named
            cases.append(Case(f"{kind}_{key}_{i}", archive(good | {key: value}), named, fault))
    for missing in ("node_feat", "node_opcode", "edge_index", "config_runtime", "config_feat"):
        rest = {key: value for key, value in tile_arrays().items() if key != missing}
        cases.append(Case(f"tile_without_{missing}", archive(rest), missing, "missing"))
    return cases


def hostile() -> list[Case]:
    return _zip_cases() + _npy_cases() + _content_cases()


def unusual() -> dict[str, bytes]:
    """Files that look odd and are right: they must be read."""
    tile = tile_arrays()
    version_2 = io.BytesIO()
    np.lib.format.write_array(version_2, tile["features"], version=(2, 0))
    header = "{'shape':(5,2),'fortran_order':False,'descr':'<f4'}\n"
    column_major = {"features": np.asfortranarray(tile["features"]), "node_feat": np.asfortranarray(tile["node_feat"])}
    file = io.BytesIO(archive(tile))
    with zipfile.ZipFile(file, "a") as more:
        more.writestr("README", "no array")
        more.comment = b"a comment"
    return {
        "stored": archive(tile, zipfile.ZIP_STORED),
        "column_major": archive(tile | column_major),
        "version_2": archive(tile | {"features": version_2.getvalue()}),
        "header_other_order": archive(tile | {"features": raw_npy(header, tile["features"].tobytes())}),
        "more_entries": file.getvalue(),
        "more_keys": archive(tile | {"anything": np.ones((2, 0, 3)), "word": np.array("\U0001f600")}),
        "small_integers": archive(tile | {"edge_index": np.array([[1, 0]], np.int8), "knobs": np.ones((5, 1), bool)}),
        "no_edges": archive(tile | {"edge_index": np.zeros((0, 2), np.int64)}),
        "layout": archive(layout_arrays()),
        "arrays": archive({"a": np.arange(3)}),
        "nothing": archive({}),
    }


def _repeated(array: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([array] * -(-rows // len(array)))[:rows]


def large_layout(nbytes: int) -> dict[str, np.ndarray]:
    """The measured layouts of an AlexNet, again and again."""
    with np.load(ROOT / "test/Inputs/tpugraphs/alexnet_full.npz") as data:
        arrays = {key: data[key] for key in data if not key.startswith("run_")}
    rows = nbytes // arrays["node_config_feat"][0].nbytes
    return arrays | {key: _repeated(arrays[key], rows) for key in ("node_config_feat", "config_runtime")}


def large_tile(nbytes: int) -> dict[str, np.ndarray]:
    """The configurations of all kernels in model/data/avx512, as those of one kernel."""
    keys = ["config_feat", "config_runtime", "config_runtime_normalizers", "features", "knobs", "ratio_ci"]
    parts: dict[str, list[np.ndarray]] = {key: [] for key in keys}
    for path in sorted((ROOT / "model/data/avx512").glob("*.npz")):
        with np.load(path) as data:
            arrays = {key: data[key] for key in tile_arrays() if key in data}
            for key in keys:
                parts[key].append(arrays[key])
    whole = {key: np.concatenate(values) for key, values in parts.items()}
    rows = nbytes // sum(values[0].nbytes for values in whole.values())
    arrays.pop("config_runtime_rerun", None)
    return arrays | {key: _repeated(values, rows) for key, values in whole.items()}


def large_random(nbytes: int) -> dict[str, np.ndarray]:
    """Numbers that deflate finds next to nothing in: the worst that a reader can meet."""
    return {"numbers": np.random.default_rng(0).normal(size=nbytes // 4).astype(np.float32)}


def write_large(folder: Path, megabytes: int = 100) -> list[Path]:
    """Files to time a reader with, deflated and stored."""
    paths = []
    for make in (large_layout, large_tile, large_random):
        arrays = make(1_000_000 * megabytes)
        for name, write in (("deflated", np.savez_compressed), ("stored", np.savez)):
            paths.append(folder / f"{make.__name__}_{name}.npz")
            write(paths[-1], **arrays)
    return paths


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if "--large" in sys.argv[2:]:
        write_large(folder)
        return
    for case in hostile():
        (folder / f"{case.name}.npz").write_bytes(case.content)


if __name__ == "__main__":
    main()
