# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of a few tensor operations, from which every peer's own form is made.

Everything is f32 and row-major; images are NCHW, their weights FCHW (depthwise: C1HW).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    index: int
    shape: Shape


@dataclass(frozen=True)
class Parameter:
    name: str
    value: Value
    is_weight: bool
    spread: float  # standard deviation of the data
    center: float  # mean of the data


@dataclass(frozen=True)
class Node:
    op: str  # a key of linalg.EMITTERS, onnx_model.EMITTERS, reference.FUNCTIONS, peers/torch.FUNCTIONS
    inputs: tuple[Value, ...]
    output: Value
    attributes: dict[str, Any]


@dataclass
class Graph:
    parameters: list[Parameter] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    count: int = 0

    def _value(self, shape: Shape) -> Value:
        self.count += 1
        return Value(self.count - 1, shape)

    def _node(self, op: str, inputs: tuple[Value, ...], shape: Shape, **attributes: Any) -> Value:
        self.nodes.append(Node(op, inputs, self._value(shape), attributes))
        return self.nodes[-1].output

    def _parameter(self, kind: str, shape: Shape, spread: float, center: float) -> Value:
        value = self._value(shape)
        self.parameters.append(Parameter(f"{kind}{len(self.parameters)}", value, kind == "w", spread, center))
        return value

    def input(self, *shape: int) -> Value:
        return self._parameter("x", shape, 1.0, 0.0)

    def weight(self, *shape: int, fan_in: int = 1, center: float = 0.0) -> Value:
        return self._parameter("w", shape, 1 / math.sqrt(fan_in), center)

    @property
    def result(self) -> Value:
        return self.nodes[-1].output

    @property
    def flops(self) -> int:
        """Of the contractions and convolutions: two for each multiplication."""
        return sum(_FLOPS[n.op](n) for n in self.nodes if n.op in _FLOPS)

    # ---- operations ----

    def matmul(self, a: Value, b: Value) -> Value:
        """(M, K) x (K, N), or the same with one leading batch dimension on both."""
        return self._node("matmul", (a, b), (*a.shape[:-1], b.shape[-1]))

    def conv(self, x: Value, w: Value, stride: int = 1, pad: int = 0) -> Value:
        return self._node("conv", (x, w), _image(x, w, stride, pad), stride=stride, pad=pad)

    def depthwise(self, x: Value, w: Value, stride: int = 1, pad: int = 0) -> Value:
        return self._node("depthwise", (x, w), _image(x, w, stride, pad), stride=stride, pad=pad)

    def bias(self, x: Value, b: Value, axis: int) -> Value:
        """b (n) along that axis of x."""
        return self._node("bias", (x, b), x.shape, axis=axis % len(x.shape))

    def add(self, a: Value, b: Value) -> Value:
        return self._node("add", (a, b), a.shape)

    def relu(self, x: Value) -> Value:
        return self._node("relu", (x,), x.shape)

    def gelu(self, x: Value) -> Value:
        """With erf."""
        return self._node("gelu", (x,), x.shape)

    def scale(self, x: Value, factor: float) -> Value:
        return self._node("scale", (x,), x.shape, factor=factor)

    def softmax(self, x: Value) -> Value:
        """Along the last axis."""
        return self._node("softmax", (x,), x.shape)

    def layernorm(self, x: Value, gamma: Value, beta: Value) -> Value:
        """Along the last axis."""
        return self._node("layernorm", (x, gamma, beta), x.shape, epsilon=1e-5)

    def reshape(self, x: Value, *shape: int) -> Value:
        """Splits dimensions or joins neighbours, not both at once."""
        return self._node("reshape", (x,), shape)

    def transpose(self, x: Value, *permutation: int) -> Value:
        return self._node("transpose", (x,), tuple(x.shape[p] for p in permutation), permutation=permutation)

    # ---- what networks are made of ----

    def dense(self, x: Value, width: int) -> Value:
        depth = x.shape[-1]
        return self.bias(self.matmul(x, self.weight(depth, width, fan_in=depth)), self.weight(width, fan_in=4), -1)

    def norm(self, x: Value) -> Value:
        width = x.shape[-1]
        return self.layernorm(x, self.weight(width, fan_in=25, center=1.0), self.weight(width, fan_in=25))

    def conv_bias(self, x: Value, channels: int, kernel: int, pad: int) -> Value:
        """A batch norm that has been folded into its convolution."""
        depth = x.shape[1]
        w = self.weight(channels, depth, kernel, kernel, fan_in=depth * kernel * kernel)
        return self.bias(self.conv(x, w, 1, pad), self.weight(channels, fan_in=4), 1)


def _image(x: Value, w: Value, stride: int, pad: int) -> Shape:
    n, _, *size = x.shape
    return (n, w.shape[0], *((s + 2 * pad - k) // stride + 1 for s, k in zip(size, w.shape[2:], strict=True)))


def _contraction_flops(node: Node) -> int:
    return 2 * math.prod(node.output.shape) * node.inputs[0].shape[-1]


def _window_flops(node: Node) -> int:
    return 2 * math.prod(node.output.shape) * math.prod(node.inputs[1].shape[1:])


_FLOPS: dict[str, Callable[[Node], int]] = {
    "matmul": _contraction_flops,
    "conv": _window_flops,
    "depthwise": _window_flops,
}
