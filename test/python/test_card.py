# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The card of the measurements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="NumPy isn't installed (model/train/requirements.txt)")

import hostile  # noqa: E402

from model.train import card, dataset  # noqa: E402

FAMILIES = 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two kernels of each family; the last of all has the shape of the second family's first."""
    for i in range(2 * FAMILIES):
        arrays = hostile.tile_arrays()
        arrays["node_feat"][0, 0] = i if i < 2 * FAMILIES - 1 else 2
        arrays |= {"kernel": np.array(f"f{i // 2}.matmul.{i}"), "family": np.array(f"f{i // 2}")}
        arrays["features"][:, 0] = 1
        if i == 3:
            status = [
                "run: stopped at its time limit",
                "compare: result 0 differs by 3e-2",
                "compare: result 1 differs by 0.5",
            ]
            arrays["failed_status"] = np.array(status)
        (tmp_path / f"{i:02}.npz").write_bytes(hostile.archive(arrays))
    return tmp_path


def test_no_family_and_no_shape_is_in_two_parts(folder: Path) -> None:
    kernels = dataset.find_tiles([folder])
    parts = dataset.split_three(kernels)
    assert all(parts) and dataset.shared_shapes(*parts) == 0
    families = [{kernel.family for kernel in part} for part in parts]
    assert sum(map(len, families)) == len(set().union(*families)) == FAMILIES
    assert sum(map(len, parts)) == len(kernels) - 1  # the twin
    assert dataset.shared_shapes(kernels[2:3], kernels[-1:]) == 1
    with pytest.raises(ValueError, match="three ways"):
        dataset.split_three(kernels[:4])


def test_equal_causes_are_counted_together(folder: Path) -> None:
    reasons, kernels = card.failures(dataset.find_tiles([folder]))
    assert kernels == 1 and reasons["compare: result N differs by N"] == 2 and reasons.total() == 3
    assert any("| 2 | 40.00 % |" in line for line in card.failure_table(reasons, 2))


def test_only_pairs_that_are_apart_count_for_the_ceiling(folder: Path) -> None:
    kernel = dataset.find_tiles([folder])[0]
    kernel.label = np.log(np.array([1.0, 1.005, 2.0, 3.0, 4.0]))
    kernel.rerun = np.log(np.array([1.005, 1.0, 2.0, 4.0, 3.0]))  # a tie and a real pair change places
    found = card.ceiling([kernel])
    assert found.pairs == 9 and found.agreement == pytest.approx(8 / 9)
    kernel.rerun[4] = np.nan
    assert card.ceiling([kernel]).pairs == 5


def test_the_page_has_every_part(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert card.main(["--data", str(folder)]) == 0
    text = capsys.readouterr().out
    for part in ("noise ceiling", "| failed candidates |", "| training |", "| test |", "| operation |", "| family |"):
        assert part in text
    assert max(map(len, text.splitlines())) <= 130
    assert card.main(["--data", str(folder / "none")]) == 2
    assert "no tile files" in capsys.readouterr().err


def test_pictures_are_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib isn't installed (model/train/requirements.txt)")
    kernels = dataset.find_tiles([folder])
    lines = [card.card(kernels, tmp_path / name) for name in ("one", "two")]
    shown = re.findall(r"\((one/[^)]*)\)", "\n".join(lines[0]))
    assert shown == ["one/spread.svg", "one/best.svg"]
    for name in ("spread.svg", "best.svg"):
        content = (tmp_path / "one" / name).read_bytes()
        assert content == (tmp_path / "two" / name).read_bytes() and len(content) < 60_000
