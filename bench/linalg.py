# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph as linalg on tensors, in the form that torch-mlir exports: the input of TGraph, stock MLIR and IREE."""

from __future__ import annotations

from collections.abc import Callable

from bench.data import Array
from bench.graph import Graph, Node, Shape, Value


def tensor(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def _map(rank: int, results: list[str]) -> str:
    return f"affine_map<({', '.join(f'd{i}' for i in range(rank))}) -> ({', '.join(results)})>"


class Writer:
    """Collects lines; every method returns the name of what its line defines."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[int, str] = {}  # of the graph's values
        self._count = 0

    def line(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"%{self._count} = {text}")
        return f"%{self._count}"

    def name(self, value: Value) -> str:
        return self.names[value.index]

    def constant(self, value: float | str) -> str:
        return self.line(f"arith.constant {value if isinstance(value, str) else f'{value:.9e}'} : f32")

    def empty(self, shape: Shape) -> str:
        return self.line(f"tensor.empty() : {tensor(shape)}")

    def filled(self, shape: Shape, value: float | str) -> str:
        scalar, empty, t = self.constant(value), self.empty(shape), tensor(shape)
        return self.line(f"linalg.fill ins({scalar} : f32) outs({empty} : {t}) -> {t}")

    def named(self, op: str, inputs: list[Value | tuple[str, Shape]], out: str, shape: Shape, extra: str = "") -> str:
        pairs = [(self.name(v), v.shape) if isinstance(v, Value) else v for v in inputs]
        names, types = ", ".join(n for n, _ in pairs), ", ".join(tensor(s) for _, s in pairs)
        t = tensor(shape)
        return self.line(f"{op}{extra} ins({names} : {types}) outs({out} : {t}) -> {t}")

    def generic(
        self, inputs: list[tuple[str, Shape, list[int]]], shape: Shape, body: list[str], reduces: bool = False
    ) -> str:
        """One loop per dimension of the result, and of the last axis where that is summed up.

        inputs: name, shape, the loop of each dimension. body: lines over %a, %b, ...; the last one is the result's,
        %o the accumulator; constants are lines of their own. reduces: "add" and "maximum" start from 0 and -inf.
        """
        rank = len(shape) + reduces
        kinds = ["parallel"] * len(shape) + ["reduction"] * reduces
        maps = [_map(rank, [f"d{d}" for d in loops]) for _, _, loops in inputs]
        maps.append(_map(rank, [f"d{d}" for d in range(len(shape))]))
        start: float | str = "0xFF800000" if "maximum" in body[-1] else 0.0
        out, t = (self.filled(shape, start) if reduces else self.empty(shape)), tensor(shape)
        arguments = ", ".join(f"%{'abcd'[i]}: f32" for i in range(len(inputs)))
        names, types = ", ".join(n for n, _, _ in inputs), ", ".join(tensor(s) for _, s, _ in inputs)
        lines = [f"  %t{i} = {text}" for i, text in enumerate(body)]
        kinds_text = ", ".join(f'"{k}"' for k in kinds)
        return self.line(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds_text}]}} "
            f"ins({names} : {types}) outs({out} : {t}) {{\n^bb0({arguments}, %o: f32):\n"
            + "\n".join(lines)
            + f"\n  linalg.yield %t{len(body) - 1} : f32\n}} -> {t}"
        )

    def pointwise(self, values: list[Value | tuple[str, Shape]], body: list[str]) -> str:
        pairs = [(self.name(v), v.shape) if isinstance(v, Value) else v for v in values]
        return self.generic([(n, s, list(range(len(s)))) for n, s in pairs], pairs[0][1], body)


def _matmul(w: Writer, n: Node) -> str:
    op = "linalg.batch_matmul" if len(n.output.shape) == 3 else "linalg.matmul"
    return w.named(op, list(n.inputs), w.filled(n.output.shape, 0.0), n.output.shape)


def _padded(w: Writer, n: Node) -> tuple[str, Shape]:
    x, p = n.inputs[0], n.attributes["pad"]
    if p == 0:
        return w.name(x), x.shape
    shape = (*x.shape[:2], x.shape[2] + 2 * p, x.shape[3] + 2 * p)
    zero, ends = w.constant(0.0), f"[0, 0, {p}, {p}]"
    return w.line(
        f"tensor.pad {w.name(x)} low{ends} high{ends} {{\n^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
        f"  tensor.yield {zero} : f32\n}} : {tensor(x.shape)} to {tensor(shape)}"
    ), shape


def _window(op: str, w: Writer, n: Node, weights: Value | tuple[str, Shape]) -> str:
    s = n.attributes["stride"]
    extra = f" {{dilations = dense<1> : vector<2xi64>, strides = dense<{s}> : vector<2xi64>}}"
    image = _padded(w, n)
    return w.named(op, [image, weights], w.filled(n.output.shape, 0.0), n.output.shape, extra)


def _depthwise(w: Writer, n: Node) -> str:
    c, _, kh, kw = n.inputs[1].shape
    source = tensor(n.inputs[1].shape)
    weights = w.line(
        f"tensor.collapse_shape {w.name(n.inputs[1])} [[0, 1], [2], [3]] : {source} into {tensor((c, kh, kw))}"
    )
    return _window("linalg.depthwise_conv_2d_nchw_chw", w, n, (weights, (c, kh, kw)))


def _bias(w: Writer, n: Node) -> str:
    x, b = n.inputs
    every = list(range(len(x.shape)))
    inputs = [(w.name(x), x.shape, every), (w.name(b), b.shape, [n.attributes["axis"]])]
    return w.generic(inputs, x.shape, ["arith.addf %a, %b : f32"])


def _gelu(w: Writer, n: Node) -> str:
    half, one, root = w.constant(0.5), w.constant(1.0), w.constant(0.5**0.5)
    body = [
        f"arith.mulf %a, {root} : f32",
        "math.erf %t0 : f32",
        f"arith.addf %t1, {one} : f32",
        f"arith.mulf %t2, {half} : f32",
        "arith.mulf %a, %t3 : f32",
    ]
    return w.pointwise(list(n.inputs), body)


def _relu(w: Writer, n: Node) -> str:
    zero = w.constant(0.0)
    return w.pointwise(list(n.inputs), [f"arith.cmpf ugt, %a, {zero} : f32", f"arith.select %t0, %a, {zero} : f32"])


def _over_rows(w: Writer, x: tuple[str, Shape], op: str) -> tuple[str, Shape]:
    """The sum or maximum along the last axis."""
    shape = x[1][:-1]
    return w.generic([(*x, list(range(len(x[1]))))], shape, [f"arith.{op} %a, %o : f32"], reduces=True), shape


def _with_rows(w: Writer, x: tuple[str, Shape], row: tuple[str, Shape], op: str) -> tuple[str, Shape]:
    """op between x and a value for each row."""
    every = list(range(len(x[1])))
    return w.generic([(*x, every), (*row, every[:-1])], x[1], [f"arith.{op} %a, %b : f32"]), x[1]


def _softmax(w: Writer, n: Node) -> str:
    x = (w.name(n.inputs[0]), n.output.shape)
    below = _with_rows(w, x, _over_rows(w, x, "maximumf"), "subf")
    e = (w.pointwise([below], ["math.exp %a : f32"]), n.output.shape)
    return _with_rows(w, e, _over_rows(w, e, "addf"), "divf")[0]


def _layernorm(w: Writer, n: Node) -> str:
    x, gamma, beta = n.inputs
    width, epsilon = w.constant(float(x.shape[-1])), w.constant(n.attributes["epsilon"])
    pair = (w.name(x), x.shape)
    total = _over_rows(w, pair, "addf")
    mean = (w.pointwise([total], [f"arith.divf %a, {width} : f32"]), total[1])
    centered = _with_rows(w, pair, mean, "subf")
    squares = (w.pointwise([centered], ["arith.mulf %a, %a : f32"]), x.shape)
    body = [f"arith.divf %a, {width} : f32", f"arith.addf %t0, {epsilon} : f32", "math.rsqrt %t1 : f32"]
    factor = (w.pointwise([_over_rows(w, squares, "addf")], body), total[1])
    every = list(range(len(x.shape)))
    inputs = [(*_with_rows(w, centered, factor, "mulf"), every)]
    inputs += [(w.name(v), v.shape, every[-1:]) for v in (gamma, beta)]
    return w.generic(inputs, x.shape, ["arith.mulf %a, %b : f32", "arith.addf %t0, %c : f32"])


def grouping(fine: Shape, coarse: Shape) -> list[list[int]]:
    """Which neighbours of the finer shape make each dimension of the coarser one."""
    groups: list[list[int]] = []
    at = 0
    for extent in coarse:
        group, product = [], 1
        while not group or product < extent:
            product *= fine[at]
            group.append(at)
            at += 1
        groups.append(group)
        if product != extent:
            raise ValueError(f"{fine} does not join to {coarse}")
    if at != len(fine):
        raise ValueError(f"{fine} does not join to {coarse}")
    return groups


def _reshape(w: Writer, n: Node) -> str:
    source, target = n.inputs[0].shape, n.output.shape
    name, types = w.name(n.inputs[0]), f": {tensor(source)} into {tensor(target)}"
    if len(target) > len(source):
        return w.line(f"tensor.expand_shape {name} {grouping(target, source)} output_shape {list(target)} {types}")
    return w.line(f"tensor.collapse_shape {name} {grouping(source, target)} {types}")


def _transpose(w: Writer, n: Node) -> str:
    x, t = n.inputs[0], tensor(n.output.shape)
    return w.line(
        f"linalg.transpose ins({w.name(x)} : {tensor(x.shape)}) outs({w.empty(n.output.shape)} : {t}) "
        f"permutation = {list(n.attributes['permutation'])}"
    )


def _scale(w: Writer, n: Node) -> str:
    factor = w.constant(n.attributes["factor"])
    return w.pointwise(list(n.inputs), [f"arith.mulf %a, {factor} : f32"])


EMITTERS: dict[str, Callable[[Writer, Node], str]] = {
    "matmul": _matmul,
    "conv": lambda w, n: _window("linalg.conv_2d_nchw_fchw", w, n, n.inputs[1]),
    "depthwise": _depthwise,
    "bias": _bias,
    "add": lambda w, n: w.pointwise(list(n.inputs), ["arith.addf %a, %b : f32"]),
    "relu": _relu,
    "gelu": _gelu,
    "scale": _scale,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "reshape": _reshape,
    "transpose": _transpose,
}


def write(graph: Graph, constants: list[Array] | None = None) -> str:
    """The module's text; constants: the data, of which the weights go into the program."""
    writer, arguments = Writer(), []
    for i, p in enumerate(graph.parameters):
        t = tensor(p.value.shape)
        if constants is not None and p.is_weight:
            text = constants[i].astype("<f4").tobytes().hex().upper()
            writer.names[p.value.index] = writer.line(f'arith.constant dense<"0x{text}"> : {t}')
        else:
            writer.names[p.value.index] = f"%{p.name}"
            arguments.append(f"%{p.name}: {t}")
    for node in graph.nodes:
        writer.names[node.output.index] = EMITTERS[node.op](writer, node)
    result = tensor(graph.result.shape)
    body = "\n".join(writer.lines).replace("\n", "\n    ")
    return (
        f"module {{\n  func.func @main({', '.join(arguments)}) -> {result} {{\n    {body}\n"
        f"    return {writer.name(graph.result)} : {result}\n  }}\n}}\n"
    )
