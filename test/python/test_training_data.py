# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from model.train import dataset, evaluate, train

ROOT = Path(__file__).resolve().parents[2]
TPU = ROOT / "test/Inputs/tpugraphs"
SMALL = ["net.width=16", "train.epochs=25", "train.learning_rate=1e-2"]


def change(path: Path, **arrays: np.ndarray) -> None:
    with np.load(path) as data:
        content = {key: data[key] for key in data}
    np.savez_compressed(path, **(content | arrays))


def test_files_of_tpugraphs_are_read() -> None:
    kernels = dataset.find_tiles([TPU])
    assert [len(k.label) for k in kernels] == [10, 579, 23]
    assert kernels[0].feature_names == dataset.tile_feature_names()
    assert dataset.read_layout(TPU / "alexnet_full.npz").config_feat.shape == (29905, 26, 18)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("edge_index", np.array([[0, 1]])),
        ("node_opcode", np.array([0, 1, 2, 121])),
        ("config_runtime", np.zeros(40)),
        ("features", np.full((40, 6), np.nan, np.float32)),
    ],
)
def test_wrong_arrays_name_file_and_key(tile_folder: Path, key: str, value: np.ndarray) -> None:
    path = tile_folder / "kernel-3.npz"
    change(path, **{key: value})
    with pytest.raises(ValueError, match=f"kernel-3.npz: {key}"):
        dataset.find_tiles([tile_folder])


def test_columns_must_agree_between_files(tile_folder: Path) -> None:
    change(tile_folder / "kernel-7.npz", feature_versions=np.full(6, 9, np.uint64))
    with pytest.raises(ValueError, match="kernel-7.npz: feature_versions"):
        dataset.find_tiles([tile_folder])


def test_no_family_and_no_shape_is_on_both_sides(tile_folder: Path) -> None:
    shutil.copy(tile_folder / "kernel-0.npz", tile_folder / "kernel-twin.npz")
    change(tile_folder / "kernel-twin.npz", family=np.array("family-5"))
    fit, test = dataset.split_families(dataset.find_tiles([tile_folder]), ["family-0"])
    assert {k.family for k in test} == {"family-0"}
    assert not {k.graph.shape_key for k in test} & {k.graph.shape_key for k in fit}
    with pytest.raises(ValueError, match="family-9"):
        dataset.split_families(fit, ["family-9"])


def test_folds_cover_every_family_once(tile_folder: Path) -> None:
    folds = evaluate.make_folds(dataset.find_tiles([tile_folder]), 4)
    assert sorted(family for fold in folds for family in fold) == [f"family-{i}" for i in range(6)]


def test_a_network_learns_and_is_resumed(tile_folder: Path, tmp_path: Path) -> None:
    config = train.load_config(ROOT / "model/train/tile.toml", SMALL)
    kernels, test = dataset.split_families(dataset.find_tiles([tile_folder]), ["family-1"])
    net = train.train_tile(kernels, config, 0)
    assert train.validate_tiles(net, test)["tau"] > 0.6
    out = tmp_path / "run"
    out.mkdir()
    config["train"]["epochs"] = 3
    train.train_tile(kernels, config, 0, out)
    config["train"]["epochs"] = 5
    train.train_tile(kernels, config, 0, out, resume=True)
    assert len((out / "log.csv").read_text().splitlines()) == 1 + 5


def test_training_repeats_itself(tile_folder: Path) -> None:
    config = train.load_config(ROOT / "model/train/tile.toml", [*SMALL, "train.epochs=3"])
    kernels = dataset.find_tiles([tile_folder])
    scores = []
    for _ in range(2):
        net = train.train_tile(kernels, config, 4)
        scores.append(train.score_tiles(net, net.prepare(kernels[0])))
    assert np.array_equal(scores[0], scores[1])


def test_commands_report_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = str(ROOT / "model/train/tile.toml")
    arguments = ["--config", config, "--data", str(tmp_path), "--out", str(tmp_path / "run")]
    assert train.main(arguments) == 2
    assert "no tile files" in capsys.readouterr().err
    assert train.main([*arguments, "--set", "nonsense"]) == 2
    assert "SECTION.KEY=VALUE" in capsys.readouterr().err
