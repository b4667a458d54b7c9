#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch module, compiled by TGraph and called back: the walk-through of docs/from-pytorch.md.

python examples/from_pytorch.py                          # the network below
python examples/from_pytorch.py --module FILE.py         # yours: make() in it gives the module and a tuple of inputs
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from frontend.compiled import TOOL, BuildError, compile_mlir  # noqa: E402
from frontend.export import export  # noqa: E402

FOLDER = TOOL.parents[1] / "from-pytorch"


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.second(self.first(x)) + x)


def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    """A small residual network for images of 64 x 64."""
    torch.manual_seed(0)
    module = nn.Sequential(
        nn.Conv2d(3, 64, 7, stride=2, padding=3),
        nn.ReLU(),
        Block(64),
        nn.Conv2d(64, 128, 3, stride=2, padding=1),
        Block(128),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 10),
        nn.Softmax(-1),
    )
    return module, (torch.randn(1, 3, 64, 64),)


def load_make(path: Path) -> Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not spec or not spec.loader or not path.exists():
        sys.exit(f"error: {path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "make"):
        sys.exit(f"error: {path} has no function make()")
    return module.make


def median_time(call: Callable[[], object], seconds: float = 0.1) -> float:
    """Of warm calls."""
    call()
    times: list[float] = []
    while sum(times) < seconds:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def compare(results: list[np.ndarray], expected: tuple[torch.Tensor, ...]) -> float:
    """The largest difference over the largest value."""
    pairs = [(r, e.detach().numpy()) for r, e in zip(results, expected, strict=True)]
    return max(float(np.abs(r - e).max() / np.abs(e).max()) for r, e in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", type=Path, metavar="FILE.py", help="your own module")
    parser.add_argument("--tgraph", type=Path, default=TOOL, help="the tool (default build/bin/tgraph)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="for the files (default build/from-pytorch)")
    parser.add_argument("--rounds", type=int, default=9)
    a = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    module, inputs = (load_make(a.module) if a.module else make)()
    exported = export(module, inputs)
    a.folder.mkdir(parents=True, exist_ok=True)
    exported.write(a.folder / "program.mlir")
    print(f"{a.folder}/program.mlir: a function of {len(exported.arguments)} tensors, weights: {exported.weights()}")

    try:
        program = compile_mlir(a.folder / "program.mlir", a.folder, a.tgraph)
    except BuildError as error:
        sys.exit(f"error: {error}")
    facts = program.facts
    print(
        f"{facts['choices']} sums of products are tiled, {facts['left_alone']} were left alone; chosen in "
        f"{facts['select_ms']:.0f} ms, lowered in {facts['lower_ms']:.0f} ms, compiled in {facts['compile_ms']:.0f} ms"
    )

    call = program.bind(*exported.arrays())  # the module's own memory: nothing is copied
    expected = module(*inputs)
    error = compare(call(), expected if isinstance(expected, tuple) else (expected,))
    print(f"largest difference: {error:.1e} of the largest value")

    pairs = [(median_time(call.run), median_time(lambda: module(*inputs))) for _ in range(a.rounds)]
    ours, torchs = (statistics.median(times) * 1e3 for times in zip(*pairs, strict=True))
    ratio = statistics.median(t / o for o, t in pairs)
    print(f"TGraph {ours:.2f} ms, PyTorch eager {torchs:.2f} ms: {ratio:.2f} times as fast (one thread)")
    return 0 if error <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
