# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads: a row each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.graph import Graph


@dataclass(frozen=True)
class Workload:
    key: str
    title: str
    single: bool  # one operation: counts for the geometric means
    fill: Callable[[Graph], object]

    def graph(self) -> Graph:
        graph = Graph()
        self.fill(graph)
        return graph


def matmul(m: int, n: int, k: int) -> Callable[[Graph], object]:
    return lambda g: g.matmul(g.input(m, k), g.weight(k, n, fan_in=k))


def batch_matmul(b: int, m: int, n: int, k: int) -> Callable[[Graph], object]:
    return lambda g: g.matmul(g.input(b, m, k), g.input(b, k, n))


def conv(depth: int, size: int, kernel: int, channels: int, stride: int, pad: int) -> Callable[[Graph], object]:
    fan_in = depth * kernel * kernel
    return lambda g: g.conv(
        g.input(1, depth, size, size), g.weight(channels, depth, kernel, kernel, fan_in=fan_in), stride, pad
    )


def depthwise(channels: int, size: int, kernel: int, pad: int) -> Callable[[Graph], object]:
    return lambda g: g.depthwise(
        g.input(1, channels, size, size), g.weight(channels, 1, kernel, kernel, fan_in=kernel * kernel), 1, pad
    )


def resnet_block(g: Graph) -> None:
    x = g.input(1, 64, 56, 56)
    y = g.relu(g.conv_bias(x, 64, 3, 1))
    g.relu(g.add(g.conv_bias(y, 64, 3, 1), x))


def bert_block(g: Graph) -> None:
    tokens, width, heads = 128, 768, 12
    depth = width // heads
    x = g.input(tokens, width)

    def split(permutation: tuple[int, ...]):
        return g.transpose(g.reshape(g.dense(x, width), tokens, heads, depth), *permutation)

    q, k, v = split((1, 0, 2)), split((1, 2, 0)), split((1, 0, 2))
    mixed = g.matmul(g.softmax(g.scale(g.matmul(q, k), depth**-0.5)), v)
    mixed = g.reshape(g.transpose(mixed, 1, 0, 2), tokens, width)
    y = g.norm(g.add(g.dense(mixed, width), x))
    g.norm(g.add(g.dense(g.gelu(g.dense(y, 4 * width)), width), y))


def mlp(g: Graph) -> None:
    x = g.input(64, 784)
    g.dense(g.relu(g.dense(g.relu(g.dense(x, 512)), 512)), 10)


# Sizes of matmuls are M x K x N in the titles.
WORKLOADS = (
    Workload("matmul-128", "matmul 128³", True, matmul(128, 128, 128)),
    Workload("matmul-256", "matmul 256³", True, matmul(256, 256, 256)),
    Workload("matmul-512", "matmul 512³", True, matmul(512, 512, 512)),
    Workload("matmul-1024", "matmul 1024³", True, matmul(1024, 1024, 1024)),
    Workload("matmul-128x768x3072", "matmul 128x768x3072", True, matmul(128, 3072, 768)),
    Workload("matmul-128x768x768", "matmul 128x768x768", True, matmul(128, 768, 768)),
    Workload("fc", "fc 1x2048x1000", True, matmul(1, 1000, 2048)),
    Workload("batch-matmul", "batch_matmul 12x128x64x128", True, batch_matmul(12, 128, 128, 64)),
    Workload("conv-56-k3", "conv 64, 56x56, k3 -> 64", True, conv(64, 56, 3, 64, 1, 1)),
    Workload("conv-14-k1", "conv 256, 14x14, k1 -> 1024", True, conv(256, 14, 1, 1024, 1, 0)),
    Workload("conv-7-k3", "conv 512, 7x7, k3 -> 512", True, conv(512, 7, 3, 512, 1, 1)),
    Workload("conv-224-k7", "conv 3, 224x224, k7 s2 -> 64", True, conv(3, 224, 7, 64, 2, 3)),
    Workload("depthwise", "depthwise 96, 56x56, k3", True, depthwise(96, 56, 3, 1)),
    Workload("resnet-block", "ResNet basic block, 64 at 56x56", False, resnet_block),
    Workload("bert-block", "BERT-base encoder block, 128 tokens", False, bert_block),
    Workload("mlp", "MLP 784-512-512-10, batch 64", False, mlp),
)
BY_KEY = {w.key: w for w in WORKLOADS}
