# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The walk-through: PyTorch -> linalg -> TGraph -> Python. test/passes/tool-from-python.mlir has the part without
PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("TGRAPH_BUILD", ROOT / "build")) / "bin" / "tgraph"

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")
np = pytest.importorskip("numpy")

from frontend import compiled, export  # noqa: E402

needs_tool = pytest.mark.skipif(not TOOL.exists() or not shutil.which("cc"), reason="needs the tool and cc")


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)
        self.dense = torch.nn.Linear(8, 5)
        self.register_buffer("shift", torch.randn(5))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.dense(features) + self.shift, features * y


@pytest.fixture(scope="module")
def exported() -> export.Exported:
    torch.manual_seed(0)
    return export.export(Small(), (torch.randn(2, 3, 12, 10), torch.randn(8)))


def test_arguments(exported: export.Exported) -> None:
    kinds = [a.kind for a in exported.arguments]
    assert kinds == ["parameter"] * 6 + ["buffer"] * 4 + ["input"] * 2
    assert [a.name for a in exported.arguments][-3:] == ["norm.num_batches_tracked", "x", "y"]
    assert exported.weights() == "0-9"
    signature = next(line for line in exported.mlir.splitlines() if "func.func @main" in line)
    assert signature.count("tensor<8x3x3x3xf32>") == 1 and "-> (tensor<2x5xf32>, tensor<2x8xf32>)" in signature


def test_side_file(exported: export.Exported, tmp_path: Path) -> None:
    exported.write(tmp_path / "net.mlir")
    arguments = json.loads((tmp_path / "net.json").read_text())["args"]
    assert arguments[0] == {
        "index": 0, "kind": "parameter", "name": "conv.weight", "shape": [8, 3, 3, 3], "dtype": "torch.float32"
    }  # fmt: skip


def test_a_module_that_writes_to_its_buffers_is_refused() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.count += 1
            return x + self.count

    with pytest.raises(ValueError, match="writes to its buffers"):
        export.export(Counter(), (torch.randn(3),))


@needs_tool
def test_results_are_equal(exported: export.Exported, tmp_path: Path) -> None:
    exported.write(tmp_path / "net.mlir")
    program = compiled.compile_mlir(tmp_path / "net.mlir", tmp_path, TOOL, ["--model", "analytic"])
    torch.manual_seed(0)
    module = Small().eval()
    for seed in (1, 2):
        torch.manual_seed(seed)
        x, y = torch.randn(2, 3, 12, 10), torch.randn(8)
        expected = module(x, y)
        results = program(*exported.arrays()[:-2], x.numpy(), y.numpy())
        for result, tensor in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, tensor.detach().numpy(), rtol=1e-4, atol=1e-5)


@needs_tool
def test_arrays_with_gaps_are_copied(exported: export.Exported, tmp_path: Path) -> None:
    exported.write(tmp_path / "net.mlir")
    program = compiled.compile_mlir(tmp_path / "net.mlir", tmp_path, TOOL, ["--model", "analytic"])
    arrays = exported.arrays()
    expected = program(*arrays)
    arrays[-2] = np.asfortranarray(arrays[-2])
    np.testing.assert_array_equal(program(*arrays)[0], expected[0])


@needs_tool
def test_example(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import torch\n\n\ndef make():\n    return torch.nn.Linear(20, 30), (torch.randn(4, 20),)\n"
    )
    command = [sys.executable, str(ROOT / "examples" / "from_pytorch.py"), "--module", str(tmp_path / "mine.py")]
    command += ["--tgraph", str(TOOL), "--folder", str(tmp_path / "work"), "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "weights: 0-1" in done.stdout and "times as fast" in done.stdout
    assert (tmp_path / "work" / "program.json").exists()
