# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole networks: a row each. Architectures of the transformers library, made from a configuration with random
parameters, so that nothing is downloaded. What the peers read is written by network_files.py."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from bench.data import Array

SEED = 1


@dataclass(frozen=True)
class NetworkRow:
    key: str
    title: str
    make: Callable[[dict[str, Any]], torch.nn.Module]  # more entries of the configuration -> a module of tensors
    tokens: int = 0  # the input is a row of so many tokens; 0: an image of 224 x 224


def _vision(name: str, **settings: Any) -> Callable[[dict[str, Any]], torch.nn.Module]:
    def make(more: dict[str, Any]) -> torch.nn.Module:
        import transformers

        config = getattr(transformers, name + "Config")(num_labels=1000, **settings, **more)
        return getattr(transformers, name + "ForImageClassification")(config)

    return make


def _text(name: str, **settings: Any) -> Callable[[dict[str, Any]], torch.nn.Module]:
    def make(more: dict[str, Any]) -> torch.nn.Module:
        import transformers

        config = getattr(transformers, name + "Config")(**settings, **more)
        return getattr(transformers, name + "Model")(config, add_pooling_layer=False)

    return make


_RESNET18 = {"layer_type": "basic", "depths": [2, 2, 2, 2], "hidden_sizes": [64, 128, 256, 512]}

NETWORKS = (
    NetworkRow("resnet18", "ResNet-18", _vision("ResNet", **_RESNET18)),
    NetworkRow("resnet50", "ResNet-50", _vision("ResNet")),
    NetworkRow("mobilenet-v2", "MobileNetV2", _vision("MobileNetV2")),
    NetworkRow("bert-base", "BERT-base, 128 tokens", _text("Bert"), tokens=128),
    NetworkRow("vit-base", "ViT-base", _vision("ViT")),
)
BY_KEY = {n.key: n for n in NETWORKS}


@dataclass(frozen=True)
class Parameter:
    """An argument of the program."""

    name: str
    is_weight: bool


class Network:
    """The files of one: program.mlir and .json, arguments.npz, result.npy, facts.json; model.onnx with the weights,
    inputs.onnx with weights as inputs."""

    def __init__(self, key: str, folder: Path) -> None:
        self.row, self.folder = BY_KEY[key], folder
        facts = json.loads((folder / "facts.json").read_text())
        self.flops: int = facts["flops"]
        self.result_shape = tuple(facts["result_shape"])
        self.stamp: str = facts["stamp"]
        self.onnx_inputs: list[str] = facts["onnx_inputs"]
        self.parameters = [Parameter(p["name"], p["is_weight"]) for p in facts["parameters"]]

    @property
    def mlir(self) -> Path:
        return self.folder / "program.mlir"

    def data(self) -> list[Array]:
        """An array for each parameter."""
        import numpy as np

        from bench.data import aligned

        with np.load(self.folder / "arguments.npz") as file:
            return [aligned(file[f"a{i}"]) for i in range(len(self.parameters))]

    def onnx(self, constant_weights: bool) -> tuple[Path, dict[str, Array]]:
        """The model, and its inputs by name."""
        arrays = dict(zip((p.name for p in self.parameters), self.data(), strict=True))
        if constant_weights:
            return self.folder / "model.onnx", {p.name: arrays[p.name] for p in self.parameters if not p.is_weight}
        return self.folder / "inputs.onnx", {name: arrays[name] for name in self.onnx_inputs}


def stamp(versions: str) -> str:
    """What the files depend on."""
    root = Path(__file__).resolve().parents[1]
    sources = ("bench/networks.py", "bench/network_files.py", "frontend/export.py")
    text = versions.encode() + b"".join((root / name).read_bytes() for name in sources)
    return hashlib.sha256(text).hexdigest()[:12]


def find(key: str, folder: Path, wanted: str) -> Network | None:
    """What was written before, if it is of the present."""
    if not (folder / key / "facts.json").exists():
        return None
    network = Network(key, folder / key)
    return network if network.stamp == wanted else None
