# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from model.train import dataset, export, losses, tgw
from model.train.networks import LayoutNet, LayoutSettings, Standard, prune
from model.train.train import build_tile, score_tiles


def make_layout_net(**settings: object) -> LayoutNet:
    names = dataset.node_feature_names()[: dataset.FIRST_LAYOUT_COLUMN]
    nodes = export._random_standard(np.random.default_rng(0), names, True, 8)
    return LayoutNet(LayoutSettings(width=8, squeezed=4, **settings), nodes).eval()


def test_target_columns_are_standardised_by_name(tile_folder: Path) -> None:
    """Two machines, so that the columns count; files may list them in any order."""
    kernels = dataset.find_tiles([tile_folder])
    for kernel in kernels[::2]:
        kernel.target = {name: 2 * value for name, value in kernel.target.items()}
    net = build_tile(kernels, {})
    mean, scale = dict(zip(net.targets.names, net.targets.mean, strict=True)), net.targets.scale
    for kernel in kernels[:2]:
        expected = [(np.log2(kernel.target[n]) - mean[n]) * s for n, s in zip(net.targets.names, scale, strict=True)]
        assert np.allclose(net.prepare(kernel).target, expected, atol=1e-5)


@pytest.mark.parametrize("cross", [False, True])
def test_tile_scores_follow_their_configuration(tile_folder: Path, cross: bool) -> None:
    kernels = dataset.find_tiles([tile_folder])
    net = build_tile(kernels, {"cross_attention": cross, "instance_norm": cross})
    tile = net.prepare(kernels[0])
    straight = score_tiles(net, tile)
    order = np.random.default_rng(1).permutation(len(straight))
    tile.config = tile.config[order]
    assert np.allclose(score_tiles(net, tile), straight[order], atol=1e-5)


@torch.no_grad()
def test_layout_scores_follow_their_configuration() -> None:
    rng = np.random.default_rng(2)
    net = make_layout_net()
    layout = net.prepare(export.random_graph(rng, 12), np.array([3, 7]))
    configs = rng.integers(-1, 5, (9, 2, 18)).astype(np.int8)
    order = rng.permutation(9)
    assert torch.allclose(net(layout, configs)[order], net(layout, configs[order]), atol=1e-5)


def test_pruning_keeps_chosen_nodes_and_their_neighbours() -> None:
    graph = dataset.Graph(
        np.arange(5, dtype=np.float32)[:, None].repeat(140, 1),
        np.arange(5),
        np.array([[1, 0], [2, 1], [3, 2], [4, 3]]),
    )
    pruned, ids = prune(graph, np.array([3]))
    assert pruned.opcode.tolist() == [2, 3, 4]
    assert pruned.edges.tolist() == [[1, 0], [2, 1]]
    assert ids.tolist() == [1]


def test_constant_columns_are_dropped() -> None:
    matrix = np.array([[1.0, 5.0, 1e9], [2.0, 5.0, 1e9], [3.0, 5.0, 1e9]])
    standard = Standard.fit(matrix, ["a", "b", "c"], [1, 2, 3], False, 8)
    assert standard.names == ["a"] and standard.versions == [1]
    assert standard(matrix).mean().abs() < 1e-6


def test_ties_are_outside_of_pair_losses() -> None:
    label, ci = torch.tensor([0.0, 0.005, 1.0]), torch.tensor([0.0, 0.0, 0.5])
    apart = losses.pair_weights(label, ci) > 0
    assert apart.tolist() == [[False, False, True], [False, False, True], [False, False, False]]
    assert not losses.pair_weights(label, torch.full((3,), 2.0)).any()


@pytest.mark.parametrize("name", ["hinge", "logistic", "listmle", "regression"])
def test_the_right_order_costs_less(name: str) -> None:
    label, ci = torch.linspace(0, 1, 5), torch.zeros(5)
    right = losses.combined(label, label, ci, {name: 1.0, "margin": 0.1})
    wrong = losses.combined(-label, label, ci, {name: 1.0, "margin": 0.1})
    assert right < wrong


def test_weights_survive_a_round(tmp_path: Path) -> None:
    weights = tgw.Weights(
        card={"name": "x"},
        settings={"tile.width": 3},
        columns=[("tile.config", "a", 2**64 - 1)],
        tensors={"t": np.arange(6, dtype=np.float32).reshape(2, 3)},
    )
    tgw.write(tmp_path / "w.tgw", weights)
    again = tgw.read(tmp_path / "w.tgw")
    assert again.card == weights.card and again.settings == weights.settings
    assert again.columns == weights.columns
    assert np.array_equal(again.tensors["t"], weights.tensors["t"])
    assert list(tmp_path.iterdir()) == [tmp_path / "w.tgw"]


def test_a_broken_weights_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.tgw"
    tgw.write(path, tgw.Weights(tensors={"t": np.zeros(2, np.float32)}))
    body = bytearray(path.read_bytes())
    body[60] ^= 1
    path.write_bytes(body)
    with pytest.raises(ValueError, match="broken"):
        tgw.read(path)


def test_stored_vectors_are_those_of_the_code(tmp_path: Path) -> None:
    """The C tests compare with files; they must be what the networks give today."""
    export.write_test_vectors(tmp_path)
    stored = Path(__file__).resolve().parents[1] / "model/vectors"
    for path in tmp_path.glob("*.npz"):
        with np.load(path) as fresh, np.load(stored / path.name) as old:
            for key in fresh:
                same = fresh[key].dtype.kind == "U" or np.allclose(fresh[key], old[key], atol=1e-5, equal_nan=True)
                assert same, f"{path.name}: {key}"
