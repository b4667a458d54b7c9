# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile and layout files as arrays; model/dataset.h names every key."""

from __future__ import annotations

import csv
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from model.train.npz import ANY, Npz

MODEL = Path(__file__).resolve().parent.parent
FIRST_LAYOUT_COLUMN = 134
NODE_LAYOUT_COUNT = 6
CONFIG_LAYOUT_COUNT = 18
OPCODE_COUNT = 121


def node_feature_names() -> list[str]:
    """The columns of node_feat, from the table that the C code is made of."""
    text = (MODEL / "node_features.def").read_text()
    return re.findall(r"^NODE_FEATURE\((\w+),", text, re.MULTILINE)


@functools.cache
def target_columns() -> dict[str, tuple[int, int, bool]]:
    """Least and largest value of each column of a target, and whether only powers of two will do."""
    text = (MODEL / "target.def").read_text()
    rows = re.findall(r'^TARGET\((\w+), "\w+", (\d+), (\d+), (true|false),', text, re.MULTILINE)
    return {name: (int(low), int(high), powers == "true") for name, low, high, powers in rows}


def tile_feature_names() -> list[str]:
    """The 24 columns of TpuGraphs' config_feat."""
    kinds = ("kernel_bounds", "output_bounds", "input_bounds")
    parts = ("0", "1", "2", "3", "4", "5", "sum", "product")
    return [f"{kind}_{part}" for kind in kinds for part in parts]


@dataclass
class Graph:
    node_feat: np.ndarray  # (N, 140) f32
    opcode: np.ndarray  # (N) i64
    edges: np.ndarray  # (E, 2) i64, row (u, v): u consumes v

    @property
    def shape_key(self) -> str:
        """Equal for kernels that are the same problem, wherever they come from."""
        digest = hashlib.sha256()
        for array in (self.node_feat.astype("<f4"), self.opcode.astype("<i8"), self.edges.astype("<i8")):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


@dataclass
class TileKernel:
    path: str
    kernel: str
    family: str
    graph: Graph
    features: np.ndarray  # (C, F) f32
    feature_names: list[str]
    feature_versions: list[int]  # 0 = unknown
    label: np.ndarray  # (C) f64, log(runtime / normaliser)
    ci: np.ndarray  # (C) f64, half width of the label's 95 % interval
    rerun: np.ndarray | None  # (C) f64 log ratio of a second run, NaN = none
    target: dict[str, int]
    analytic: int  # index of the analytic rule's choice, -1 = none


@dataclass
class LayoutGraph:
    path: str
    graph: Graph
    config_ids: np.ndarray  # (K) i64
    config_feat: np.ndarray  # (C, K, 18) i8
    label: np.ndarray  # (C) f64, log(runtime / normaliser), or log runtime where a file has no normalisers
    # Of the project's own files; empty, 0 or None in others.
    name: str = ""
    family: str = ""
    features: np.ndarray | None = None  # (C, K, F) f32, 0 for nodes that are no kernels
    feature_names: list[str] = field(default_factory=list)
    ci: np.ndarray | None = None  # (C) f64
    rerun: np.ndarray | None = None  # (C) f64 log ratio of a second run, NaN = none
    config_names: list[str] = field(default_factory=list)  # (C), "" = a random one
    analytic: int = -1
    chosen: int = -1


def _check_finite(npz: Npz, key: str, matrix: np.ndarray) -> np.ndarray:
    good = np.isfinite(matrix)
    if not good.all():
        row, column = np.argwhere(~good)[0]
        raise npz.fault(key, f"row {row}, column {column} is not finite")
    return matrix


def _graph(npz: Npz) -> Graph:
    node_feat = npz.numbers("node_feat", (ANY, len(node_feature_names())), np.float32)
    npz.check("node_feat", len(node_feat) > 0, "no nodes")
    nodes = len(node_feat)
    opcode = npz.integers("node_opcode", (nodes,), 0, OPCODE_COUNT - 1)
    edges = npz.integers("edge_index", (ANY, 2), 0, (1 << 31) - 1)
    wrong = (edges[:, 0] >= nodes) | (edges[:, 1] >= edges[:, 0])
    if wrong.any():
        row = int(np.argmax(wrong))
        u, v = edges[row]
        raise npz.fault("edge_index", f"row {row} is ({u}, {v}) with {nodes} nodes, expected v < u < nodes")
    if not np.isfinite(node_feat).all():
        node, column = np.argwhere(~np.isfinite(node_feat))[0]
        raise npz.fault("node_feat", f"node {node}, column {node_feature_names()[column]} is not finite")
    return Graph(node_feat, opcode, edges)


def _times(npz: Npz, key: str, count: int) -> np.ndarray:
    values = npz.numbers(key, (count,))
    good = (values > 0) & np.isfinite(values)
    if not good.all():
        i = int(np.argmin(good))
        raise npz.fault(key, f"item {i} is {values[i]:g}")
    return values


def _target(npz: Npz) -> dict[str, int]:
    """Columns that a file doesn't have are left out."""
    if "target" not in npz:
        return {}
    values = npz.integers("target", (ANY,))
    names = npz.texts("target_names", (len(values),))
    known = target_columns()
    for name, value in zip(names, values, strict=True):
        npz.check("target_names", name in known, f"unknown column '{name}'")
        low, high, powers = known[name]
        npz.check("target", low <= value <= high, f"{name}: {value} is outside of {low}..{high}")
        npz.check("target", not powers or value & (value - 1) == 0, f"{name}: {value} is not a power of two")
    return {name: int(value) for name, value in zip(names, values, strict=True)}


def _index(npz: Npz, key: str, count: int) -> int:
    """A configuration's number, -1 where the key isn't there."""
    return int(npz.integers(key, (), -1, count - 1)) if key in npz else -1


def _word(npz: Npz, key: str, default: str) -> str:
    return npz.texts(key, ())[0] if key in npz else default


def _tile(npz: Npz) -> TileKernel:
    graph = _graph(npz)
    runtime = _times(npz, "config_runtime", ANY)
    count = len(runtime)
    normalizer = _times(npz, "config_runtime_normalizers", count)
    names = tile_feature_names()
    features = _check_finite(npz, "config_feat", npz.numbers("config_feat", (count, len(names)), np.float32))
    versions = [0] * len(names)
    if "features" in npz:
        names = npz.texts("feature_names", (ANY,))
        features = _check_finite(npz, "features", npz.numbers("features", (count, len(names)), np.float32))
        has_versions = "feature_versions" in npz
        versions = [int(v) for v in npz.unsigned("feature_versions", (len(names),))] if has_versions else []
        versions = versions or [0] * len(names)
    if "knobs" in npz:
        npz.integers("knobs", (count, len(npz.texts("knob_names", (ANY,)))))
    target = _target(npz)
    rerun, ci = _reruns(npz, normalizer)
    analytic = _index(npz, "analytic_config", count)
    _index(npz, "chosen_config", count)
    stem = Path(npz.path).stem
    return TileKernel(
        path=npz.path,
        kernel=_word(npz, "kernel", stem),
        family=_word(npz, "family", stem),
        graph=graph,
        features=features,
        feature_names=names,
        feature_versions=versions,
        label=np.log(runtime / normalizer),
        ci=np.zeros(count) if ci is None else ci,
        rerun=rerun,
        target=target,
        analytic=analytic,
    )


def read_tile(path: Path) -> TileKernel:
    """A tile file of this project, or one of TpuGraphs (its 24 columns as features)."""
    return _tile(Npz(path))


def _node_columns(npz: Npz, count: int, nodes: int) -> tuple[np.ndarray | None, list[str]]:
    """Features of each kernel of a graph, and their names."""
    if "node_knobs" in npz:
        npz.integers("node_knobs", (count, nodes, len(npz.texts("knob_names", (ANY,)))))
    if "node_features" not in npz:
        return None, []
    names = npz.texts("feature_names", (ANY,))
    features = npz.numbers("node_features", (count, nodes, len(names)), np.float32)
    _check_finite(npz, "node_features", features.reshape(-1, max(1, len(names))))
    if "feature_versions" in npz:
        npz.unsigned("feature_versions", (len(names),))
    return features, names


def _reruns(npz: Npz, normalizer: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Log ratios of a second run, and the intervals' half widths."""
    count, rerun = len(normalizer), None
    if "config_runtime_rerun" in npz:
        with np.errstate(invalid="ignore", divide="ignore"):
            rerun = np.log(npz.numbers("config_runtime_rerun", (count,)) / normalizer)
    return rerun, npz.numbers("ratio_ci", (count,)) if "ratio_ci" in npz else None


def _layout(npz: Npz) -> LayoutGraph:
    graph = _graph(npz)
    ids = npz.integers("node_config_ids", (ANY,), 0, len(graph.opcode) - 1)
    runtime = _times(npz, "config_runtime", ANY)
    count, key = len(runtime), "config_runtime_normalizers"
    config_feat = npz.integers("node_config_feat", (count, len(ids), CONFIG_LAYOUT_COUNT), -2, 5).astype(np.int8)
    if "run_runtime" in npz:
        npz.integers("run_config_index", (len(_times(npz, "run_runtime", ANY)),), 0, count - 1)
    layout = LayoutGraph(npz.path, graph, ids, config_feat, np.log(runtime))
    layout.features, layout.feature_names = _node_columns(npz, count, len(ids))
    _target(npz)
    normalizer = _times(npz, key, count) if key in npz else np.ones(count)
    layout.label = np.log(runtime / normalizer)
    layout.rerun, layout.ci = _reruns(npz, normalizer)
    layout.analytic, layout.chosen = _index(npz, "analytic_config", count), _index(npz, "chosen_config", count)
    layout.config_names = npz.texts("config_names", (count,)) if "config_names" in npz else []
    stem = Path(npz.path).stem
    layout.name, layout.family = _word(npz, "graph", stem), _word(npz, "family", stem)
    return layout


def read_layout(path: Path) -> LayoutGraph:
    """A layout file of this project, or one of TpuGraphs."""
    return _layout(Npz(path))


def read_any(path: Path) -> TileKernel | LayoutGraph | None:
    """What the file holds; None: arrays of something else."""
    npz = Npz(path)
    if "node_config_feat" in npz:
        return _layout(npz)
    return _tile(npz) if "config_runtime_normalizers" in npz else None


def find_tiles(folders: Sequence[Path]) -> list[TileKernel]:
    """All tile files below the folders, in the order of their paths."""
    paths = sorted({p for folder in folders for p in ([folder] if folder.is_file() else folder.rglob("*.npz"))})
    kernels = []
    for path in paths:
        npz = Npz(path)
        if "config_runtime_normalizers" in npz and "node_config_feat" not in npz:
            kernels.append(_tile(npz))
    if not kernels:
        raise ValueError(f"no tile files in {', '.join(map(str, folders))}")
    for kernel in kernels:
        for key in ("feature_names", "feature_versions"):
            if getattr(kernel, key) != getattr(kernels[0], key):
                raise ValueError(f"{kernel.path}: {key}: differ from the first file's")
    return kernels


def split_families(kernels: Sequence[TileKernel], held_out: Sequence[str]) -> tuple[list[TileKernel], list[TileKernel]]:
    """Training and test kernels: no held-out family, and no held-out shape, is trained on."""
    unknown = set(held_out) - {k.family for k in kernels}
    if unknown:
        raise ValueError(f"no kernels of the families {', '.join(sorted(unknown))}")
    test = [k for k in kernels if k.family in held_out]
    shapes = {k.graph.shape_key for k in test}
    train = [k for k in kernels if k.family not in held_out and k.graph.shape_key not in shapes]
    return train, test


def make_folds(kernels: Sequence[TileKernel], count: int) -> list[list[str]]:
    """Families in `count` groups of about equally many kernels; 0 = one family a group."""
    sizes: dict[str, int] = {}
    for kernel in kernels:
        sizes[kernel.family] = sizes.get(kernel.family, 0) + 1
    order = sorted(sizes, key=lambda family: (-sizes[family], family))
    folds: list[list[str]] = [[] for _ in range(min(count, len(order)) if count else len(order))]
    for family in order:
        min(folds, key=lambda fold: (sum(sizes[f] for f in fold), len(fold))).append(family)
    return folds


def split_three(
    kernels: Sequence[TileKernel], folds: int = 5
) -> tuple[list[TileKernel], list[TileKernel], list[TileKernel]]:
    """Training, validation and test: the last two are a fold of families each. No shape is in two of them: what
    validation shares with test, and training with either, is left out."""
    groups = make_folds(kernels, folds)
    if len(groups) < 3:
        raise ValueError(f"{len(groups)} families can't be split three ways")
    rest, test = split_families(kernels, groups[0])
    train, validation = split_families(rest, [family for family in groups[1] if any(k.family == family for k in rest)])
    return train, validation, test


def shared_shapes(*parts: Sequence[TileKernel]) -> int:
    """How many kernel shapes are in more than one part."""
    counts = Counter(shape for part in parts for shape in {kernel.graph.shape_key for kernel in part})
    return sum(count > 1 for count in counts.values())


def write_log(path: Path, row: dict[str, object]) -> None:
    """Appends a row to a CSV file, with its header first."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if fresh:
            writer.writeheader()
        writer.writerow(row)
