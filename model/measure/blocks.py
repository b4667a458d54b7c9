# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the graphs of the layout collection that are no whole networks: blocks of several kernels, f32, as linalg.

    python -m model.measure.blocks -o DIR

A file is called FAMILY_SIZE.mlir: `tgraph measure --graphs` takes what stands before the first `_` as the family, by
which training, validation and test are split.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import linalg
from bench.graph import Graph, Value

Fill = Callable[[Graph], object]


def _conv(g: Graph, x: Value, channels: int, kernel: int, stride: int = 1) -> Value:
    fan_in = x.shape[1] * kernel * kernel
    y = g.conv(x, g.weight(channels, x.shape[1], kernel, kernel, fan_in=fan_in), stride, kernel // 2)
    return g.bias(y, g.weight(channels, fan_in=4), 1)


def _depthwise(g: Graph, x: Value, kernel: int, stride: int = 1) -> Value:
    weight = g.weight(x.shape[1], 1, kernel, kernel, fan_in=kernel * kernel)
    return g.bias(g.depthwise(x, weight, stride, kernel // 2), g.weight(x.shape[1], fan_in=4), 1)


def residual(batch: int, channels: int, size: int, depth: int) -> Fill:
    """ResNet's basic block, `depth` times."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        for _ in range(depth):
            x = g.relu(g.add(_conv(g, g.relu(_conv(g, x, channels, 3)), channels, 3), x))

    return fill


def bottleneck(batch: int, channels: int, size: int, stride: int) -> Fill:
    """1x1, 3x3 and 1x1 with a quarter of the channels inside; with a stride, a convolution on the short way."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        y = g.relu(_conv(g, x, channels // 4 * stride, 1))
        y = g.relu(_conv(g, y, channels // 4 * stride, 3, stride))
        y = _conv(g, y, channels * stride, 1)
        g.relu(g.add(y, x if stride == 1 else _conv(g, x, channels * stride, 1, stride)))

    return fill


def inverted(batch: int, channels: int, size: int, kernel: int, depth: int) -> Fill:
    """MobileNet's inverted bottleneck with six times the channels inside, `depth` times."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        for _ in range(depth):
            y = g.relu(_conv(g, x, 6 * channels, 1))
            y = g.relu(_depthwise(g, y, kernel))
            x = g.add(_conv(g, y, channels, 1), x)

    return fill


def separable(batch: int, channels: int, size: int, depth: int) -> Fill:
    """Depthwise and 1x1 in turn, as in the first MobileNet."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        for _ in range(depth):
            x = g.relu(_conv(g, g.relu(_depthwise(g, x, 3)), channels, 1))

    return fill


def plain(batch: int, channels: int, size: int, depth: int) -> Fill:
    """VGG: 3x3 convolutions one after the other, the first one doubles the channels."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        for _ in range(depth):
            x = g.relu(_conv(g, x, 2 * channels, 3))

    return fill


def fire(batch: int, channels: int, size: int) -> Fill:
    """SqueezeNet: narrow 1x1, then a wide 1x1 and a wide 3x3 side by side, summed up here."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        y = g.relu(_conv(g, x, channels // 4, 1))
        g.relu(g.add(_conv(g, y, channels, 1), _conv(g, y, channels, 3)))

    return fill


def convnext(batch: int, channels: int, size: int) -> Fill:
    """A depthwise 7x7, then two 1x1 with four times the channels between them."""

    def fill(g: Graph) -> None:
        x = g.input(batch, channels, size, size)
        y = _depthwise(g, x, 7)
        g.add(_conv(g, g.gelu(_conv(g, y, 4 * channels, 1)), channels, 1), x)

    return fill


def _attention(g: Graph, x: Value, heads: int) -> Value:
    tokens, width = x.shape
    depth = width // heads

    def split(permutation: tuple[int, ...]) -> Value:
        return g.transpose(g.reshape(g.dense(x, width), tokens, heads, depth), *permutation)

    q, k, v = split((1, 0, 2)), split((1, 2, 0)), split((1, 0, 2))
    mixed = g.matmul(g.softmax(g.scale(g.matmul(q, k), depth**-0.5)), v)
    return g.dense(g.reshape(g.transpose(mixed, 1, 0, 2), tokens, width), width)


def attention(tokens: int, width: int, heads: int) -> Fill:
    return lambda g: _attention(g, g.input(tokens, width), heads)


def encoder(tokens: int, width: int, heads: int) -> Fill:
    """A transformer's layer, normalised after each half."""

    def fill(g: Graph) -> None:
        x = g.input(tokens, width)
        y = g.norm(g.add(_attention(g, x, heads), x))
        g.norm(g.add(g.dense(g.gelu(g.dense(y, 4 * width)), width), y))

    return fill


def perceptron(rows: int, widths: tuple[int, ...]) -> Fill:
    def fill(g: Graph) -> None:
        x = g.input(rows, widths[0])
        for width in widths[1:-1]:
            x = g.relu(g.dense(x, width))
        g.dense(x, widths[-1])

    return fill


IMAGES = ((64, 56), (128, 28), (256, 14), (512, 7))


def programs() -> Iterator[tuple[str, Fill]]:
    """Name and content of every block."""
    for (channels, size), batch in itertools.product(IMAGES, (1, 4)):
        if batch == 1 or size < 28:
            yield f"residual_{batch}x{channels}x{size}", residual(batch, channels, size, 2 if size < 28 else 1)
    for (channels, size), stride in itertools.product(((256, 56), (512, 28), (1024, 14), (2048, 7)), (1, 2)):
        if stride == 1 or size > 7:
            yield f"bottleneck_{channels}x{size}s{stride}", bottleneck(1, channels, size, stride)
    for channels, size, kernel in ((24, 56, 3), (40, 28, 5), (32, 28, 3), (64, 14, 3), (112, 14, 5), (96, 14, 3)):
        yield f"inverted_{channels}x{size}k{kernel}", inverted(1, channels, size, kernel, 1 if size > 28 else 2)
    for channels, size, kernel in ((160, 7, 3), (192, 7, 5)):
        for batch in (1, 4):
            yield f"inverted_{batch}x{channels}x{size}k{kernel}", inverted(batch, channels, size, kernel, 2)
    for channels, size in ((64, 56), (128, 56), (256, 28), (512, 14), (1024, 7)):
        yield f"separable_{channels}x{size}", separable(1, channels, size, 2)
    for channels, size in ((32, 56), (64, 28), (128, 14), (256, 7), (64, 32), (24, 20)):
        yield f"plain_{channels}x{size}", plain(1, channels, size, 3)
    for channels, size in ((128, 55), (256, 27), (384, 13), (512, 13)):
        yield f"fire_{channels}x{size}", fire(1, channels, size)
    for channels, size in ((96, 56), (192, 28), (384, 14), (768, 7)):
        yield f"convnext_{channels}x{size}", convnext(1, channels, size)
    for tokens, width, heads in ((64, 256, 4), (128, 768, 12), (197, 192, 3), (197, 768, 12), (384, 512, 8)):
        yield f"attention_{tokens}x{width}h{heads}", attention(tokens, width, heads)
    for tokens, width, heads in ((32, 768, 12), (128, 512, 8), (197, 384, 6), (256, 256, 4), (49, 768, 24)):
        yield f"encoder_{tokens}x{width}h{heads}", encoder(tokens, width, heads)
    for rows, widths in (
        (1, (784, 512, 512, 10)),
        (64, (784, 512, 512, 10)),
        (128, (768, 3072, 768)),
        (13, (512, 256, 64, 1)),
        (512, (128, 256, 128)),
        (2048, (13, 512, 256, 64)),
    ):
        yield f"perceptron_{rows}x{'x'.join(map(str, widths))}", perceptron(rows, widths)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", dest="folder", type=Path, required=True, help="folder of the files; created")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, fill in programs():
        graph = Graph()
        fill(graph)
        (folder / f"{name}.mlir").write_text(linalg.write(graph))


if __name__ == "__main__":
    main()
