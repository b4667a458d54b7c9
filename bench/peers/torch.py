# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch, eager and through TorchInductor (which needs a C++ compiler); weights are arguments, or frozen by the
compiler."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._inductor.config
import torch.nn.functional as functional

from bench.data import Array
from bench.graph import Graph, Node
from bench.networks import Network
from bench.peers import Program

Tensor = torch.Tensor


def _window(a: dict[str, Any], x: Tensor, w: Tensor, b: Tensor | None = None) -> Tensor:
    groups = x.shape[1] // w.shape[1]
    return functional.conv2d(x, w, b, stride=a["stride"], padding=a["pad"], groups=groups)


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "matmul": lambda a, x, y: torch.matmul(x, y),
    "conv": _window,
    "depthwise": _window,
    "bias": lambda a, x, b: x + b.reshape([-1] + [1] * (x.ndim - 1 - a["axis"])),
    "add": lambda a, x, y: x + y,
    "relu": lambda a, x: torch.relu(x),
    "gelu": lambda a, x: functional.gelu(x),
    "scale": lambda a, x: x * a["factor"],
    "softmax": lambda a, x: torch.softmax(x, -1),
    "layernorm": lambda a, x, g, b: functional.layer_norm(x, x.shape[-1:], g, b, a["epsilon"]),
    "reshape": lambda a, x: x.reshape(a["shape"]),
    "transpose": lambda a, x: x.permute(a["permutation"]),
    # a bias with what is in front of it, as a module would call it
    "conv+bias": lambda a, x, w, b: _window(a, x, w, b),
    "matmul+bias": lambda a, x, y, b: torch.addmm(b, x, y),
}
Step = tuple[Callable[..., Tensor], dict[str, Any], list[int], int]


def _steps(graph: Graph) -> list[Step]:
    """The nodes in order: function, attributes, indices of the inputs, index of the output."""
    producers = {n.output.index: n for n in graph.nodes}
    fused: dict[int, Node] = {}
    for node in graph.nodes:
        producer = producers.get(node.inputs[0].index)
        if node.op == "bias" and producer and producer.op + "+bias" in FUNCTIONS:
            fused[producer.output.index] = node
    steps: list[Step] = []
    gone = {n.output.index for n in fused.values()}
    for node in graph.nodes:
        if node.output.index in gone:
            continue
        inputs, op, output = [v.index for v in node.inputs], node.op, node.output
        if output.index in fused:
            bias = fused[output.index]
            inputs, op, output = [*inputs, bias.inputs[1].index], op + "+bias", bias.output
        steps.append((FUNCTIONS[op], {**node.attributes, "shape": node.output.shape}, inputs, output.index))
    return steps


class Torch:
    def __init__(self, compiled: bool, isa: str, constant_weights: bool) -> None:
        self.compiled = compiled
        torch._inductor.config.freezing = constant_weights
        self.count = 0
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        if compiled and isa == "avx2":
            torch._inductor.config.cpp.simdlen = 256
        if compiled and not (shutil.which("g++") or shutil.which("clang++")):
            raise RuntimeError("TorchInductor needs a C++ compiler, and there is neither g++ nor clang++")

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        steps, result = _steps(graph), graph.result.index
        places = [p.value.index for p in graph.parameters]

        def forward(*tensors: Tensor) -> Tensor:
            values = dict(zip(places, tensors, strict=True))
            for function, attributes, inputs, output in steps:
                values[output] = function(attributes, *[values[i] for i in inputs])
            return values[result]

        # The compiler keeps what it compiled by code object, and gives up on one that has too many forms.
        self.count += 1
        forward.__code__ = forward.__code__.replace(co_name=f"forward_{self.count}")
        function = torch.compile(forward, dynamic=False) if self.compiled else forward
        tensors = [torch.from_numpy(d) for d in data]
        function(*tensors)
        return Program(lambda: function(*tensors), lambda t: t.numpy())

    def prepare_network(self, network: Network) -> Program:
        """A module of the same parameters, with PyTorch's own attention."""
        from bench.network_files import make_input, make_module

        module, x = make_module(network.row, "sdpa"), make_input(network.row)
        function = torch.compile(module, dynamic=False) if self.compiled else module
        function(x)
        return Program(lambda: function(x), lambda t: t.numpy())


def create(folder: Path, options: dict[str, Any]) -> Torch:
    return Torch(options["compiled"], options["isa"], options["constant_weights"])
