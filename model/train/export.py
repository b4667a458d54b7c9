# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks to a .tgw file, and the vectors that the C code is tested with.

python -m model.train.export --tile RUN/network.pt --layout RUN/network.pt --out model/weights.tgw
python -m model.train.export --test-vectors test/model/vectors
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from model.train import dataset, metrics, tgw
from model.train.networks import Block, LayoutNet, LayoutSettings, NodeEncoder, Standard, TileNet, TileSettings
from model.train.train import load_network, seed_everything

TARGETS = {
    "vector_bits": 512,
    "vector_registers": 32,
    "fma_per_cycle": 2,
    "l1_nbytes": 32768,
    "l2_nbytes": 1048576,
    "l3_nbytes": 33554432,
    "cores": 1,
}


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().numpy().astype(np.float32)


def _add_standard(weights: tgw.Weights, scope: str, prefix: str, standard: Standard) -> None:
    for name, version in zip(standard.names, standard.versions, strict=True):
        weights.columns.append((scope, name, version))
    if standard.names:
        weights.tensors[f"{prefix}_mean"] = standard.mean
        weights.tensors[f"{prefix}_scale"] = standard.scale


def _add_linear(weights: tgw.Weights, name: str, linear: nn.Linear) -> None:
    weights.tensors[f"{name}.weight"] = _array(linear.weight)
    weights.tensors[f"{name}.bias"] = _array(linear.bias)


def _add_encoder(weights: tgw.Weights, network: str, encoder: NodeEncoder) -> None:
    _add_standard(weights, f"{network}.node", f"{network}.node", encoder.standard)
    weights.settings[f"{network}.node_log1p"] = int(encoder.standard.log1p)
    weights.settings[f"{network}.node_limit"] = encoder.standard.limit
    weights.tensors[f"{network}.op"] = _array(encoder.op.weight)
    weights.tensors[f"{network}.layout"] = _array(encoder.layout.weight)


def _add_block(weights: tgw.Weights, name: str, block: Block) -> None:
    _add_linear(weights, name, block.linear)
    weights.tensors[f"{name}.squeeze"] = _array(block.attention.squeeze.weight)
    weights.tensors[f"{name}.expand"] = _array(block.attention.expand.weight)
    if block.neighbour is not None:
        weights.tensors[f"{name}.neighbour"] = _array(block.neighbour.weight)
    if block.cross is not None:
        weights.tensors[f"{name}.temperature"] = _array(block.cross.temperature).reshape(1)


def add_tile(weights: tgw.Weights, net: TileNet) -> None:
    """Everything of the network; model/infer_tile.c reads it."""
    s = net.settings
    if not s.use_graph:
        raise ValueError("a network without its graph is an ablation, not for export")
    weights.settings |= {
        "tile.width": s.width,
        "tile.heads": s.heads,
        "tile.head_width": s.head_width,
        "tile.cross_attention": int(s.cross_attention),
        "tile.instance_norm": int(s.instance_norm),
        "tile.skip": int(s.skip),
        "tile.config_log1p": int(s.config_log1p),
        "tile.config_limit": s.config_limit,
    }
    _add_encoder(weights, "tile", net.encoder)
    _add_standard(weights, "tile.target", "tile.target", net.targets)
    _add_standard(weights, "tile.config", "tile.config", net.configs)
    for kind, blocks in (("dense", net.dense), ("graph", net.graph)):
        for i, block in enumerate(blocks):
            _add_block(weights, f"tile.{kind}{i}", block)
    for i, linear in enumerate(net.config):
        _add_linear(weights, f"tile.config{i}", linear)
    _add_linear(weights, "tile.join", net.join)
    if net.skip is not None:
        weights.tensors["tile.skip"] = _array(net.skip.weight)
    if net.cross is not None:
        weights.tensors["tile.temperature"] = _array(net.cross.temperature).reshape(1)
    for i, (weight, bias) in enumerate(zip(net.heads.weight, net.heads.bias, strict=True)):
        weights.tensors[f"tile.head{i}.weight"] = _array(weight)
        weights.tensors[f"tile.head{i}.bias"] = _array(bias)


def add_layout(weights: tgw.Weights, net: LayoutNet) -> None:
    """Everything of the network; model/infer_layout.c reads it."""
    s = net.settings
    weights.settings |= {
        "layout.width": s.width,
        "layout.cross_attention": int(s.cross_attention),
        "layout.instance_norm": int(s.instance_norm),
        "layout.prune": int(s.prune),
    }
    _add_encoder(weights, "layout", net.encoder)
    for block, name in zip(net.blocks, ("dense0", "dense1", "graph0", "graph1"), strict=True):
        _add_block(weights, f"layout.{name}", block)
    _add_linear(weights, "layout.readout", net.readout)


def random_graph(rng: np.random.Generator, nodes: int) -> dataset.Graph:
    """Numbers of the kind that kernels have; every node but the first consumes one or two."""
    node_feat = rng.integers(0, 3, (nodes, 140)).astype(np.float32)
    node_feat[:, 21:40] = rng.integers(1, 512, (nodes, 19))
    node_feat[:, dataset.FIRST_LAYOUT_COLUMN :] = rng.integers(-1, 5, (nodes, 6))
    edges = [(u, v) for u in range(1, nodes) for v in set(rng.integers(0, u, 2).tolist())]
    return dataset.Graph(node_feat, rng.integers(0, 121, nodes), np.array(edges, np.int64).reshape(-1, 2))


def _graph_arrays(graph: dataset.Graph) -> dict[str, np.ndarray]:
    return {
        "node_feat": graph.node_feat,
        "node_opcode": graph.opcode.astype(np.uint8),
        "edge_index": graph.edges.astype(np.int32),
    }


@torch.no_grad()
def write_tile_vector(path: Path, net: TileNet, rng: np.random.Generator, target: dict[str, int]) -> None:
    """A kernel with its columns and the scores that PyTorch gives."""
    names = net.configs.names
    count = 37
    features = net.configs.mean + rng.normal(size=(count, len(names))) / net.configs.scale
    if net.configs.log1p:
        features = np.sign(features) * np.expm1(np.abs(features))
    full = np.zeros((count, int(net.configs.keep.max()) + 1), np.float32)
    full[:, net.configs.keep] = features
    graph = random_graph(rng, 5)
    kernel = dataset.TileKernel("", "", "", graph, full, [], [], np.zeros(count), np.zeros(count), None, target, -1)
    heads = net.eval()(net.prepare(kernel)).double()
    spread = (heads - heads.mean(1, keepdim=True)).std(0, unbiased=False)
    np.savez_compressed(
        path,
        **_graph_arrays(graph),
        features=full[:, net.configs.keep],
        feature_names=np.array(names),
        target=np.array(list(target.values()), np.int64),
        target_names=np.array(list(target)),
        scores=heads.mean(0).numpy(),
        spread=spread.numpy(),
    )


@torch.no_grad()
def write_layout_vector(path: Path, net: LayoutNet, rng: np.random.Generator) -> None:
    graph = random_graph(rng, 24)
    ids = np.sort(rng.permutation(24)[:5])
    config_feat = rng.integers(-1, 5, (19, 5, 18)).astype(np.int8)
    scores = net.eval()(net.prepare(graph, ids), config_feat)
    np.savez_compressed(
        path, **_graph_arrays(graph), node_config_ids=ids, node_config_feat=config_feat, scores=scores.numpy()
    )


def _random_standard(rng: np.random.Generator, names: list[str], log1p: bool, limit: float) -> Standard:
    """Every second column kept."""
    keep = np.arange(0, len(names), 2)
    mean = rng.normal(size=len(keep)).astype(np.float32)
    scale = rng.uniform(0.05, 1, len(keep)).astype(np.float32)
    kept = [names[i] for i in keep]
    return Standard(kept, [tgw.hash_text(tgw.HASH_START, n) for n in kept], keep, mean, scale, log1p, limit)


def write_test_vectors(folder: Path) -> None:
    """Small random networks, one for each combination of switches that matters."""
    folder.mkdir(parents=True, exist_ok=True)
    write_metrics_vector(folder / "metrics.npz")
    node_names = dataset.node_feature_names()[: dataset.FIRST_LAYOUT_COLUMN]
    config_names = [f"column_{i}" for i in range(9)]
    for cross in (False, True):
        for norm in (False, True):
            rng = seed_everything(100 + 2 * cross + norm)
            tile = TileSettings(8, 4, 3, 6, cross, norm, skip=not norm, config_log1p=norm)
            nodes = _random_standard(rng, node_names, True, 8)
            net = TileNet(
                tile,
                nodes,
                _random_standard(rng, list(TARGETS), False, 8),
                _random_standard(rng, config_names, norm, 8),
            )
            if net.skip is not None:
                torch.nn.init.normal_(net.skip.weight)
            layout = LayoutNet(LayoutSettings(8, 4, cross, norm, norm), nodes)
            weights = tgw.Weights(card={"name": "random"})
            add_tile(weights, net)
            add_layout(weights, layout)
            name = f"{'cross' if cross else 'plain'}_{'norm' if norm else 'raw'}"
            tgw.write(folder / f"{name}.tgw", weights)
            write_tile_vector(folder / f"{name}_tile.npz", net, rng, TARGETS)
            write_layout_vector(folder / f"{name}_layout.npz", layout, rng)


def write_metrics_vector(path: Path) -> None:
    """Scores and runtimes with ties, and the metrics of both implementations' agreement."""
    rng = seed_everything(5)
    runtime = np.exp(rng.normal(size=200) * 0.3)
    runtime[40:60] = runtime[60:80]
    score = np.round(np.log(runtime) + rng.normal(size=200) * 0.3, 1)
    ci = rng.uniform(0, 0.1, 200).astype(np.float32)
    again = runtime * np.exp(rng.normal(size=200) * 0.05)
    again[rng.random(200) < 0.5] = np.nan
    row = metrics.all_metrics(score, runtime, ci)
    row["tau_ceiling"] = metrics.tau_ceiling(runtime, again)
    values = np.array(list(row.values()))
    names = np.array(list(row))
    np.savez_compressed(path, score=score, runtime=runtime, ci=ci, again=again, names=names, values=values)


def export(tile: Path | None, layout: Path | None, out: Path, vectors: Path | None, name: str) -> None:
    weights = tgw.Weights(card={"name": name, "date": datetime.date.today().isoformat()})
    rng = seed_everything(7)
    if tile:
        net, weights.card["tile"] = load_network(tile)
        add_tile(weights, net)
        if vectors:
            write_tile_vector(vectors / "embedded_tile.npz", net, rng, TARGETS)
    if layout:
        net, weights.card["layout"] = load_network(layout)
        add_layout(weights, net)
        if vectors:
            write_layout_vector(vectors / "embedded_layout.npz", net, rng)
    if not weights.tensors:
        raise ValueError("nothing to export: give --tile, --layout or both")
    tgw.write(out, weights)
    print(f"wrote {out}: {sum(t.size for t in weights.tensors.values())} parameters, {out.stat().st_size} bytes")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="model.train.export", description=__doc__.splitlines()[0])
    parser.add_argument("--tile", type=Path, help="network.pt of the tile network")
    parser.add_argument("--layout", type=Path, help="network.pt of the layout network")
    parser.add_argument("--out", type=Path, default=Path("model/weights.tgw"))
    parser.add_argument("--vectors", type=Path, help="folder for embedded_*.npz, which belong to these weights")
    parser.add_argument("--name", default="tgraph")
    parser.add_argument("--test-vectors", type=Path, help="write the random networks of the C tests and stop")
    options = parser.parse_args(arguments)
    try:
        if options.test_vectors:
            write_test_vectors(options.test_vectors)
        else:
            export(options.tile, options.layout, options.out, options.vectors, options.name)
    except (OSError, ValueError) as fault:
        print(f"export: {fault}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
