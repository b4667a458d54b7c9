# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two networks; model/infer_tile.c and model/infer_layout.c compute the same.

Lower scores are faster. Every addition to the published model is a field of a
settings class, so that an ablation is a line of a configuration file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.train import dataset
from model.train.dataset import Graph

OP_EMBEDDING = 16
LAYOUT_EMBEDDING = 4
LAYOUT_ROWS = 8
CONFIG_EMBEDDING = dataset.CONFIG_LAYOUT_COUNT * LAYOUT_EMBEDDING


@dataclass
class TileSettings:
    width: int = 64
    squeezed: int = 16
    heads: int = 4
    head_width: int = 32
    cross_attention: bool = False
    instance_norm: bool = False
    use_graph: bool = True  # off: an MLP over the configuration's columns
    use_target: bool = True
    skip: bool = True  # a straight line from the columns to each head
    node_log1p: bool = True
    node_limit: int = 8
    config_log1p: bool = False
    config_limit: int = 8


@dataclass
class LayoutSettings:
    width: int = 128
    squeezed: int = 16
    cross_attention: bool = True
    instance_norm: bool = True
    prune: bool = True
    dropout: float = 0.2
    node_log1p: bool = False
    node_limit: int = 1000000


@dataclass
class Standard:
    """Columns of a matrix, standardised: which ones are kept, and how."""

    names: list[str]
    versions: list[int]
    keep: np.ndarray  # (kept) i64
    mean: np.ndarray  # (kept) f32
    scale: np.ndarray  # (kept) f32
    log1p: bool
    limit: float

    @classmethod
    def fit(cls, matrix: np.ndarray, names: list[str], versions: list[int], log1p: bool, limit: float) -> Standard:
        """Drops the columns that are constant in `matrix` (rows, columns)."""
        values = signed_log1p(matrix) if log1p else matrix.astype(np.float64)
        deviation = values.std(0)
        keep = np.flatnonzero(deviation > 1e-6 * np.maximum(1, np.abs(values).max(0)))
        return cls(
            [names[i] for i in keep],
            [versions[i] for i in keep],
            keep,
            values.mean(0)[keep].astype(np.float32),
            (1 / deviation[keep]).astype(np.float32),
            log1p,
            limit,
        )

    def __call__(self, matrix: np.ndarray) -> Tensor:
        values = matrix[:, self.keep]
        values = signed_log1p(values) if self.log1p else values
        values = (values.astype(np.float32) - self.mean) * self.scale
        return torch.from_numpy(np.clip(values, -self.limit, self.limit))


def signed_log1p(values: np.ndarray) -> np.ndarray:
    return np.sign(values) * np.log1p(np.abs(values.astype(np.float64)))


class ChannelAttention(nn.Module):
    """x * sigmoid(W2 relu(W1 x))"""

    def __init__(self, width: int, squeezed: int):
        super().__init__()
        self.squeeze = nn.Linear(width, squeezed, bias=False)
        self.expand = nn.Linear(squeezed, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(self.expand(F.relu(self.squeeze(x))))


class CrossAttention(nn.Module):
    """concat(x, x * softmax over the configurations of x / T); configurations are dimension 0."""

    def __init__(self) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, x * torch.softmax(x / self.temperature, dim=0)], -1)


def instance_norm(x: Tensor) -> Tensor:
    """Over the nodes, which are the last dimension but one."""
    centred = x - x.mean(-2, keepdim=True)
    return centred / torch.sqrt(centred.square().mean(-2, keepdim=True) + 1e-5)


class Block(nn.Module):
    """A dense block, or with `graph` a graph block."""

    def __init__(self, into: int, out: int, squeezed: int, graph: bool, cross: bool, norm: bool):
        super().__init__()
        self.linear = nn.Linear(into, out)
        self.neighbour = nn.Linear(into, out, bias=False) if graph else None
        self.attention = ChannelAttention(out, squeezed)
        self.cross = CrossAttention() if cross else None
        self.norm = norm

    def forward(self, x: Tensor, mean: Tensor | None = None, dropout: float = 0.0) -> Tensor:
        """x: (..., N, into); mean: (N, N), the mean over each node's neighbours."""
        before = x
        if self.neighbour is not None:
            x = instance_norm(x) if self.norm else x
            y = self.linear(x) + self.neighbour(torch.matmul(mean, x))
        else:
            y = self.linear(x)
            y = instance_norm(y) if self.norm else y
        y = self.attention(y)
        y = self.cross(y) if self.cross is not None else y
        y = before + y if self.neighbour is not None else y
        return F.dropout(F.gelu(y), dropout, self.training)


def neighbour_mean(graph: Graph) -> Tensor:
    """(N, N) matrix that averages over the neighbours in both directions."""
    count = len(graph.opcode)
    matrix = np.zeros((count, count), np.float32)
    np.add.at(matrix, (graph.edges[:, 0], graph.edges[:, 1]), 1)
    np.add.at(matrix, (graph.edges[:, 1], graph.edges[:, 0]), 1)
    return torch.from_numpy(matrix / np.maximum(matrix.sum(1, keepdims=True), 1))


def layout_rows(values: np.ndarray) -> Tensor:
    """Rows of the layout embedding: a value v in -2..5 reads row v + 2."""
    return torch.from_numpy(np.clip(np.trunc(values), -2, 5).astype(np.int64) + 2)


@dataclass
class NodeInput:
    numeric: Tensor  # (N, kept)
    opcode: Tensor  # (N)
    layout: Tensor  # (N, 6)
    mean: Tensor  # (N, N)


class NodeEncoder(nn.Module):
    def __init__(self, standard: Standard):
        super().__init__()
        self.standard = standard
        self.op = nn.Embedding(dataset.OPCODE_COUNT, OP_EMBEDDING)
        self.layout = nn.Embedding(LAYOUT_ROWS, LAYOUT_EMBEDDING)
        self.width = len(standard.keep) + OP_EMBEDDING + dataset.NODE_LAYOUT_COUNT * LAYOUT_EMBEDDING

    def prepare(self, graph: Graph) -> NodeInput:
        return NodeInput(
            self.standard(graph.node_feat),
            torch.from_numpy(graph.opcode),
            layout_rows(graph.node_feat[:, dataset.FIRST_LAYOUT_COLUMN :]),
            neighbour_mean(graph),
        )

    def forward(self, node: NodeInput) -> Tensor:
        layout = self.layout(node.layout).flatten(-2)
        return torch.cat([node.numeric, self.op(node.opcode), layout], -1)


def fit_nodes(graphs: list[Graph], log1p: bool, limit: float) -> Standard:
    """Standardisation of the numeric node columns over the training graphs."""
    names = dataset.node_feature_names()[: dataset.FIRST_LAYOUT_COLUMN]
    rows = np.concatenate([g.node_feat for g in graphs])[:, : dataset.FIRST_LAYOUT_COLUMN]
    return Standard.fit(rows, names, [0] * len(names), log1p, limit)


class Heads(nn.Module):
    """An ensemble of three-layer perceptrons: (C, in) -> (heads, C)."""

    def __init__(self, heads: int, into: int, hidden: int):
        super().__init__()
        sizes = [(into, hidden), (hidden, hidden), (hidden, 1)]
        self.weight = nn.ParameterList(
            [nn.Parameter(torch.empty(heads, b, a).uniform_(-1, 1) / math.sqrt(a)) for a, b in sizes]
        )
        self.bias = nn.ParameterList([nn.Parameter(torch.zeros(heads, b)) for _, b in sizes])

    def forward(self, x: Tensor) -> Tensor:
        y = x.unsqueeze(0)
        for layer, (weight, bias) in enumerate(zip(self.weight, self.bias, strict=True)):
            y = torch.matmul(y, weight.transpose(-1, -2)) + bias.unsqueeze(-2)
            y = F.gelu(y) if layer < 2 else y
        return y.squeeze(-1)


@dataclass
class TileInput:
    node: NodeInput
    target: Tensor  # (T)
    config: Tensor  # (C, kept)


class TileNet(nn.Module):
    """One pass over a kernel's graph, its configurations as rows."""

    def __init__(self, settings: TileSettings, nodes: Standard, targets: Standard, configs: Standard):
        super().__init__()
        s, width = settings, settings.width
        self.settings, self.targets, self.configs = s, targets, configs
        self.encoder = NodeEncoder(nodes)
        into = self.encoder.width + len(targets.keep)
        self.dense = nn.ModuleList([Block(i, width, s.squeezed, False, False, s.instance_norm) for i in (into, width)])
        self.graph = nn.ModuleList([Block(width, width, s.squeezed, True, False, s.instance_norm) for _ in range(2)])
        self.config = nn.ModuleList([nn.Linear(len(configs.keep), width), nn.Linear(width, width)])
        self.join = nn.Linear(3 * width, width)
        self.cross = CrossAttention() if s.cross_attention else None
        self.heads = Heads(s.heads, 2 * width if s.cross_attention else width, s.head_width)
        self.skip = nn.Linear(len(configs.keep), s.heads, bias=False) if s.skip else None
        if self.skip is not None:
            nn.init.zeros_(self.skip.weight)

    def prepare(self, kernel: dataset.TileKernel) -> TileInput:
        names = sorted(kernel.target)  # the order that train.build_tile standardises
        log2 = np.log2(np.maximum([[float(kernel.target[n]) for n in names]], 1)) if names else np.zeros((1, 0))
        return TileInput(self.encoder.prepare(kernel.graph), self.targets(log2)[0], self.configs(kernel.features))

    def forward(self, tile: TileInput, rows: Tensor | None = None) -> Tensor:
        """(heads, C), or of the configurations `rows` alone."""
        x = self.encoder(tile.node)
        x = torch.cat([x, tile.target.expand(len(x), -1)], -1)
        for block in self.dense:
            x = block(x)
        for block in self.graph:
            x = block(x, tile.node.mean)
        pooled = torch.cat([x.mean(0), x.amax(0)])
        pooled = pooled if self.settings.use_graph else torch.zeros_like(pooled)
        c = tile.config if rows is None else tile.config[rows]
        straight = 0.0 if self.skip is None else self.skip(c).T
        for layer in self.config:
            c = F.gelu(layer(c))
        joined = F.gelu(self.join(torch.cat([pooled.expand(len(c), -1), c], -1)))
        return straight + self.heads(joined if self.cross is None else self.cross(joined))


def prune(graph: Graph, config_ids: np.ndarray) -> tuple[Graph, np.ndarray]:
    """The configurable nodes, their neighbours and the edges between them."""
    chosen = np.zeros(len(graph.opcode), bool)
    chosen[config_ids] = True
    u, v = graph.edges[:, 0], graph.edges[:, 1]
    keep = chosen.copy()
    keep[v[chosen[u]]] = True
    keep[u[chosen[v]]] = True
    number = np.cumsum(keep) - 1
    inside = keep[u] & keep[v]
    pruned = Graph(graph.node_feat[keep], graph.opcode[keep], number[graph.edges[inside]])
    return pruned, number[config_ids]


@dataclass
class LayoutInput:
    node: NodeInput
    config_ids: Tensor  # (K)


class LayoutNet(nn.Module):
    """TGraph: node states per configuration."""

    def __init__(self, settings: LayoutSettings, nodes: Standard):
        super().__init__()
        s, width = settings, settings.width
        self.settings = s
        state = 2 * width if s.cross_attention else width
        self.encoder = NodeEncoder(nodes)
        sizes = [(self.encoder.width + CONFIG_EMBEDDING, False), (state, False), (state, True), (state, True)]
        self.blocks = nn.ModuleList(
            [Block(i, width, s.squeezed, graph, s.cross_attention, s.instance_norm) for i, graph in sizes]
        )
        self.readout = nn.Linear(state, 1)

    def prepare(self, graph: Graph, config_ids: np.ndarray) -> LayoutInput:
        if self.settings.prune and len(config_ids):
            graph, config_ids = prune(graph, config_ids)
        return LayoutInput(self.encoder.prepare(graph), torch.from_numpy(config_ids))

    def forward(self, layout: LayoutInput, config_feat: np.ndarray) -> Tensor:
        """config_feat (C, K, 18) -> (C)"""
        fixed = self.encoder(layout.node)
        rows = torch.zeros(len(config_feat), len(fixed), dataset.CONFIG_LAYOUT_COUNT, dtype=torch.int64)
        rows[:, layout.config_ids] = layout_rows(config_feat)
        configs = self.encoder.layout(rows).flatten(-2)
        x = torch.cat([fixed.expand(len(config_feat), -1, -1), configs], -1)
        for block in self.blocks:
            graph = block.neighbour is not None
            x = block(x, layout.node.mean, self.settings.dropout if graph else 0.0)
        return self.readout(x.mean(1)).squeeze(-1)
