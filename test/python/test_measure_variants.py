# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels at other sizes: what is written, and that `tgraph measure` takes it."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from model.measure import variants
from model.measure.variants import Kernel, Network, matmul

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("TGRAPH_BUILD", ROOT / "build")) / "bin/tgraph"
needs_tool = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} isn't built")
QK = Kernel("batch_matmul", "", (12, 128, 64), (12, 64, 128), (12, 128, 128))
FFN = Kernel("matmul", "", (128, 768), (768, 3072), (128, 3072), ((1, (1, 0)),))
BERT = Network("bert", Counter({QK: 12, FFN: 24, matmul(1, 1000, 768): 1}))


def listed(*paths: Path) -> list[dict]:
    command = [TOOL, "measure", "--list", "--json", "--max-gflop", "1e9", *paths]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_batch_multiplies_what_is_no_weight() -> None:
    assert variants.with_batch(FFN, 4) == Kernel("matmul", "", (512, 768), (768, 3072), (512, 3072), FFN.turned)
    assert variants.with_batch(QK, 4) == Kernel("batch_matmul", "", (48, 128, 64), (48, 64, 128), (48, 128, 128))
    image = variants.conv(3, 64, 56, 56, 3)
    assert variants.with_batch(image, 16).a == (16, 3, 58, 58) and variants.with_batch(image, 16).b == image.b


def test_tokens_are_known_from_the_attention() -> None:
    assert BERT.tokens == 128
    assert Network("mlp", Counter({FFN: 1})).tokens is None
    assert variants.with_tokens(QK, 128, 197) == Kernel(
        "batch_matmul", "", (12, 197, 64), (12, 64, 197), (12, 197, 197)
    )
    assert variants.with_tokens(FFN, 128, 64).c == (64, 3072)
    assert variants.with_tokens(matmul(1, 1000, 768), 128, 64) is None


def test_files_bear_the_family_and_nothing_that_is_there_already() -> None:
    files = dict(variants.variants(BERT, [1, 4], [128, 64]))
    assert {name.split("_")[0] for name in files} == {"bert"}
    assert files["bert_batch1"] == [] and files["bert_tokens128"] == []
    assert len(files["bert_batch4"]) == 3 and len(files["bert_tokens64"]) == 2


def test_work_is_counted() -> None:
    assert matmul(10, 20, 30).gflop == pytest.approx(2e-9 * 6000)
    assert variants.conv(3, 64, 56, 56, 7, 2).gflop == pytest.approx(2e-9 * 64 * 56 * 56 * 3 * 49)


@needs_tool
def test_the_tool_lists_every_kernel_under_its_family(tmp_path: Path) -> None:
    net = ROOT / "test/Inputs/resnet18.linalg.mlir.gz"
    arguments = [str(net), "-o", str(tmp_path), "--batch", "1,2", "--tokens", "64", "--odd", "--max-gflop", "2"]
    assert variants.main([*arguments, "--tgraph", str(TOOL)]) == 0
    paths = sorted(tmp_path.glob("*.mlir"))
    assert {p.name.split("_")[0] for p in paths} == {"resnet", *(name.split("_")[0] for name in variants.odd())}
    for path in paths:
        rows = listed(path)
        assert len(rows) == path.read_text().count("func.func"), path.name
        assert {row["family"] for row in rows} == {path.name.split("_")[0]}
        assert all(row["gflop"] <= 2 for row in rows)
    own = {row["hash"] for row in listed(net)}
    assert not own & {row["hash"] for row in listed(tmp_path / "resnet_batch2.mlir")}


@needs_tool
def test_texts_of_the_tool_are_written_again_as_they_were(tmp_path: Path) -> None:
    """Parsed and written, a kernel is the same kernel: transposed operands, strides and all."""
    nets = [ROOT / "test/Inputs/resnet18.linalg.mlir.gz", tmp_path / "turned.mlir"]
    variants.write_program(nets[1], [FFN, QK, variants.conv(3, 8, 9, 9, 3, 2)])
    before = listed(*nets)
    kernels = [variants.parse_kernel(row["mlir"]) for row in before]
    assert None not in kernels
    variants.write_program(tmp_path / "again.mlir", kernels)
    assert {row["hash"] for row in listed(tmp_path / "again.mlir")} == {row["hash"] for row in before}


def test_bad_input_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert variants.main(["-o", str(tmp_path)]) == 2
    assert "--odd" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        variants.main(["-o", str(tmp_path), "--batch", "0"])
    assert "positive" in capsys.readouterr().err
