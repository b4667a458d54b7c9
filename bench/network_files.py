# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what the peers read of a network: python -m bench.network_files KEY FOLDER STAMP. Needs PyTorch."""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch.utils.flop_counter import FlopCounterMode

from bench.networks import BY_KEY, SEED, NetworkRow
from frontend.export import Exported, export


class _Plain(torch.nn.Module):
    """Takes and gives tensors alone."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)[0]


def _randomize(module: torch.nn.Module) -> None:
    """Normalisations that do something: as they are made they neither scale nor shift."""
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if name.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
        elif name.endswith("running_mean") or (name.endswith("bias") and tensor.ndim == 1):
            tensor.normal_(0.0, 0.1)
        elif tensor.ndim == 1 and tensor.is_floating_point():
            tensor.uniform_(0.8, 1.2)


def make_module(row: NetworkRow, attention: str) -> torch.nn.Module:
    """The same parameters each time. attention: "eager" is made of plain operations, "sdpa" is PyTorch's own."""
    torch.manual_seed(SEED)
    has_attention = "resnet" not in row.key and "mobilenet" not in row.key
    module = _Plain(row.make({"attn_implementation": attention} if has_attention else {})).eval()
    with torch.no_grad():
        _randomize(module)
    return module.requires_grad_(False)


def make_input(row: NetworkRow) -> torch.Tensor:
    generator = torch.Generator().manual_seed(SEED)
    if row.tokens:
        return torch.randint(0, 30_000, (1, row.tokens), generator=generator)
    return torch.randn(1, 3, 224, 224, generator=generator)


def _write_onnx(module: torch.nn.Module, x: torch.Tensor, path: Path, optimize: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.getLogger("torch.onnx").setLevel(logging.ERROR)
        torch.onnx.export(
            module, (x,), str(path), input_names=["x"], output_names=["result"], dynamo=True, external_data=False,
            optimize=optimize, verbose=False,
        )  # fmt: skip


def _write_onnx_of_inputs(module: torch.nn.Module, x: torch.Tensor, path: Path) -> list[str]:
    """The weights become inputs; as the exporter's optimizer computes with them it is left out."""
    _write_onnx(module, x, path, optimize=False)
    model = onnx.load(path)
    weights = {name for name, _ in [*module.named_parameters(), *module.named_buffers()]}
    kept = [t for t in model.graph.initializer if t.name not in weights]
    moved = [t for t in model.graph.initializer if t.name in weights]
    model.graph.input.extend(onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in moved)
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    onnx.save(model, path)
    return [i.name for i in model.graph.input]


def _facts(exported: Exported, flops: int, result: np.ndarray) -> dict[str, Any]:
    return {
        "flops": flops,  # of contractions and convolutions
        "result_shape": list(result.shape),
        "parameters": [{"name": a.name, "is_weight": a.kind != "input"} for a in exported.arguments],
    }


def write(row: NetworkRow, folder: Path, stamp: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    module, x = make_module(row, "eager"), make_input(row)
    exported = export(module, [x])
    exported.write(folder / "program.mlir")
    np.savez(folder / "arguments.npz", **{f"a{i}": a for i, a in enumerate(exported.arrays())})
    _write_onnx(module, x, folder / "model.onnx", optimize=True)
    onnx_inputs = _write_onnx_of_inputs(module, x, folder / "inputs.onnx")
    with torch.no_grad():
        with FlopCounterMode(display=False) as counter:
            module(x)
        result = module.double()(x.double() if x.is_floating_point() else x).numpy()
    np.save(folder / "result.npy", result)
    facts = {**_facts(exported, counter.get_total_flops(), result), "onnx_inputs": onnx_inputs, "stamp": stamp}
    (folder / "facts.json").write_text(json.dumps(facts, indent=1) + "\n")  # last: whoever sees it sees all


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("key", choices=list(BY_KEY))
    parser.add_argument("folder", type=Path)
    parser.add_argument("stamp")
    arguments = parser.parse_args()
    write(BY_KEY[arguments.key], arguments.folder, arguments.stamp)


if __name__ == "__main__":
    main()
