# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halide, scheduled by its Adams2019 autoscheduler; programs of one operation only.

Halide's dimensions are listed from the most minor one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import halide as hl
import numpy as np

from bench.data import Array, aligned
from bench.graph import Graph, Node
from bench.peers import Program, Unsupported


def _matmul(node: Node, a: Any, b: Any) -> Any:
    k = hl.RDom([(0, node.inputs[0].shape[-1])])
    names = [hl.Var(f"v{i}") for i in range(len(node.output.shape))]
    column, row, batch = names[0], names[1], names[2:]
    total = hl.Func("total")
    total[*names] = 0.0
    total[*names] += a[k, row, *batch] * b[column, k, *batch]
    return total, names


def _window(node: Node, x: Any, w: Any) -> Any:
    _, depth, height, width = node.inputs[1].shape
    stride, pad = node.attributes["stride"], node.attributes["pad"]
    names = [hl.Var(f"v{i}") for i in range(4)]
    column, row, channel, image = names
    padded = hl.BoundaryConditions.constant_exterior(x, 0.0) if pad else x
    r = hl.RDom([(0, width), (0, height), (0, depth)])
    source = channel if node.op == "depthwise" else r.z
    total = hl.Func("total")
    total[*names] = 0.0
    total[*names] += (
        padded[column * stride + r.x - pad, row * stride + r.y - pad, source, image] * w[r.x, r.y, r.z, channel]
    )
    return total, names


FUNCTIONS: dict[str, Callable[..., Any]] = {"matmul": _matmul, "conv": _window, "depthwise": _window}


class Halide:
    def __init__(self) -> None:
        folders = sorted(Path(hl.__file__).parent.glob("lib*"))
        plugins = [p for folder in folders for p in folder.glob("libautoschedule_adams2019.so")]
        hl.load_plugin(str(plugins[0]) if plugins else "autoschedule_adams2019")
        self.target = hl.get_host_target()

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        if len(graph.nodes) != 1 or graph.nodes[0].op not in FUNCTIONS:
            raise Unsupported("only single operations are written in Halide")
        node = graph.nodes[0]
        total, names = FUNCTIONS[node.op](node, *[hl.Buffer(d) for d in data])
        out = hl.Func("out")
        out[*names] = total[*names]
        out.set_estimates([(0, extent) for extent in reversed(node.output.shape)])
        pipeline = hl.Pipeline(out)
        pipeline.apply_autoscheduler(self.target, hl.AutoschedulerParams("Adams2019", {"parallelism": "1"}))
        pipeline.compile_jit(self.target)
        result = aligned(np.zeros(node.output.shape, np.float32))
        buffer = hl.Buffer(result)
        return Program(lambda: pipeline.realize(buffer), lambda _: result)


def create(folder: Path, options: dict[str, Any]) -> Halide:
    return Halide()
