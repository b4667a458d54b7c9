# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a graph means, in NumPy and double precision: every peer's result is compared with it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.data import Array
from bench.graph import Graph, Node


def _windows(x: Array, w: Array, a: dict[str, Any]) -> Array:
    """(n, c, height, width, kernel height, kernel width)"""
    pad = [(0, 0), (0, 0), (a["pad"],) * 2, (a["pad"],) * 2]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, pad), w.shape[2:], axis=(2, 3))
    return windows[:, :, :: a["stride"], :: a["stride"]]


def _conv(a: dict[str, Any], x: Array, w: Array) -> Array:
    return np.tensordot(_windows(x, w, a), w, axes=((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)


def _bias(a: dict[str, Any], x: Array, b: Array) -> Array:
    return x + b.reshape([-1 if i == a["axis"] else 1 for i in range(x.ndim)])


def _softmax(a: dict[str, Any], x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _layernorm(a: dict[str, Any], x: Array, gamma: Array, beta: Array) -> Array:
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + a["epsilon"]) * gamma + beta


FUNCTIONS: dict[str, Callable[..., Array]] = {
    "matmul": lambda a, x, y: x @ y,
    "conv": _conv,
    "depthwise": lambda a, x, w: np.einsum("ncyxkl,ckl->ncyx", _windows(x, w, a), w[:, 0]),
    "bias": _bias,
    "add": lambda a, x, y: x + y,
    "relu": lambda a, x: np.maximum(x, 0),
    "gelu": lambda a, x: x / 2 * (1 + np.vectorize(math.erf)(x * math.sqrt(0.5))),
    "scale": lambda a, x: x * a["factor"],
    "softmax": _softmax,
    "layernorm": _layernorm,
    "transpose": lambda a, x: x.transpose(a["permutation"]),
}


def _apply(node: Node, inputs: list[Array]) -> Array:
    if node.op == "reshape":
        return inputs[0].reshape(node.output.shape)
    return FUNCTIONS[node.op](node.attributes, *inputs)


def evaluate(graph: Graph, data: list[Array]) -> Array:
    values: dict[int, Array] = {
        p.value.index: d.astype(np.float64) for p, d in zip(graph.parameters, data, strict=True)
    }
    for node in graph.nodes:
        values[node.output.index] = _apply(node, [values[v.index] for v in node.inputs])
    return values[graph.result.index]
