# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tile and layout files as arrays; model/dataset.h names every key."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MODEL = Path(__file__).resolve().parent.parent
FIRST_LAYOUT_COLUMN = 134
NODE_LAYOUT_COUNT = 6
CONFIG_LAYOUT_COUNT = 18
OPCODE_COUNT = 121


def node_feature_names() -> list[str]:
    """The columns of node_feat, from the table that the C code is made of."""
    text = (MODEL / "node_features.def").read_text()
    return re.findall(r"^NODE_FEATURE\((\w+),", text, re.MULTILINE)


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


def _check(path: Path, name: str, good: bool, fault: str) -> None:
    if not good:
        raise ValueError(f"{path}: {name}: {fault}")


def _graph(path: Path, data: np.lib.npyio.NpzFile) -> Graph:
    node_feat = data["node_feat"].astype(np.float32)
    opcode = data["node_opcode"].astype(np.int64)
    edges = data["edge_index"].astype(np.int64).reshape(-1, 2)
    width = len(node_feature_names())
    _check(path, "node_feat", node_feat.ndim == 2 and node_feat.shape[1] == width, f"expected {width} columns")
    _check(path, "node_feat", bool(np.isfinite(node_feat).all()), "not finite")
    in_range = opcode.shape == node_feat.shape[:1] and ((opcode >= 0) & (opcode < OPCODE_COUNT)).all()
    _check(path, "node_opcode", bool(in_range), "wrong shape or code")
    ordered = (edges[:, 1] >= 0) & (edges[:, 1] < edges[:, 0]) & (edges[:, 0] < len(opcode))
    _check(path, "edge_index", bool(ordered.all()), "expected v < u < nodes")
    return Graph(node_feat, opcode, edges)


def read_tile(path: Path) -> TileKernel:
    """A tile file of this project, or one of TpuGraphs (its 24 columns as features)."""
    with np.load(path) as data:
        graph = _graph(path, data)
        runtime = data["config_runtime"].astype(float)
        normalizer = data["config_runtime_normalizers"].astype(float)
        positive = runtime.shape == normalizer.shape and (runtime > 0).all() and (normalizer > 0).all()
        _check(path, "config_runtime", bool(positive), "runtimes must be positive")
        if "features" in data:
            features = data["features"].astype(np.float32)
            names = [str(name) for name in data["feature_names"]]
        else:
            features, names = data["config_feat"].astype(np.float32), tile_feature_names()
        fits = features.shape == (len(runtime), len(names)) and np.isfinite(features).all()
        _check(path, "features", bool(fits), "wrong shape or not finite")
        versions = [int(v) for v in data["feature_versions"]] if "feature_versions" in data else [0] * len(names)
        rerun = None
        if "config_runtime_rerun" in data:
            with np.errstate(invalid="ignore"):
                rerun = np.log(data["config_runtime_rerun"].astype(float) / normalizer)
        target = {}
        if "target" in data:
            target = {str(n): int(v) for n, v in zip(data["target_names"], data["target"], strict=True)}
        return TileKernel(
            path=str(path),
            kernel=str(data["kernel"]) if "kernel" in data else path.stem,
            family=str(data["family"]) if "family" in data else path.stem,
            graph=graph,
            features=features,
            feature_names=names,
            feature_versions=versions,
            label=np.log(runtime / normalizer),
            ci=data["ratio_ci"].astype(float) if "ratio_ci" in data else np.zeros(len(runtime)),
            rerun=rerun,
            target=target,
            analytic=int(data["analytic_config"]) if "analytic_config" in data else -1,
        )


def read_layout(path: Path) -> LayoutGraph:
    """A layout file of this project, or one of TpuGraphs."""
    with np.load(path) as data:
        config_feat = data["node_config_feat"].astype(np.int8)
        ids = data["node_config_ids"].astype(np.int64)
        graph = _graph(path, data)
        fits = config_feat.ndim == 3 and config_feat.shape[1:] == (len(ids), CONFIG_LAYOUT_COUNT)
        _check(path, "node_config_feat", fits, "wrong shape")
        runtime = data["config_runtime"].astype(float)
        _check(path, "config_runtime", len(runtime) == len(config_feat) and (runtime > 0).all(), "must be positive")
        layout = LayoutGraph(str(path), graph, ids, config_feat, np.log(runtime))
        if "config_runtime_normalizers" in data:
            normalizer = data["config_runtime_normalizers"].astype(float)
            layout.label = np.log(runtime / normalizer)
            if "config_runtime_rerun" in data:
                with np.errstate(invalid="ignore"):
                    layout.rerun = np.log(data["config_runtime_rerun"].astype(float) / normalizer)
        if "node_features" in data:
            layout.features = data["node_features"].astype(np.float32)
            layout.feature_names = [str(n) for n in data["feature_names"]]
            fits = layout.features.shape == (*config_feat.shape[:2], len(layout.feature_names))
            _check(path, "node_features", fits and bool(np.isfinite(layout.features).all()), "wrong shape or values")
        layout.name = str(data["graph"]) if "graph" in data else path.stem
        layout.family = str(data["family"]) if "family" in data else path.stem
        layout.ci = data["ratio_ci"].astype(float) if "ratio_ci" in data else None
        layout.config_names = [str(n) for n in data["config_names"]] if "config_names" in data else []
        layout.analytic = int(data["analytic_config"]) if "analytic_config" in data else -1
        layout.chosen = int(data["chosen_config"]) if "chosen_config" in data else -1
        return layout


def find_tiles(folders: Sequence[Path]) -> list[TileKernel]:
    """All tile files below the folders, in the order of their paths."""
    paths = sorted({p for folder in folders for p in ([folder] if folder.is_file() else folder.rglob("*.npz"))})
    kernels = []
    for path in paths:
        with np.load(path) as data:
            is_tile = "config_feat" in data
        if is_tile:
            kernels.append(read_tile(path))
    if not kernels:
        raise ValueError(f"no tile files in {', '.join(map(str, folders))}")
    names = kernels[0].feature_names
    for kernel in kernels:
        _check(Path(kernel.path), "feature_names", kernel.feature_names == names, "differ from the first file's")
        same = kernel.feature_versions == kernels[0].feature_versions
        _check(Path(kernel.path), "feature_versions", same, "differ from the first file's")
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


def write_log(path: Path, row: dict[str, object]) -> None:
    """Appends a row to a CSV file, with its header first."""
    fresh = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, row)
        if fresh:
            writer.writeheader()
        writer.writerow(row)
