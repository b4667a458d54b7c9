# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A graph as an ONNX model: the input of ONNX Runtime, OpenVINO and TVM."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from bench.data import Array
from bench.graph import Graph, Node


class Writer:
    def __init__(self) -> None:
        self.nodes: list = []
        self.initializers: list = []
        self.names: dict[int, str] = {}

    def constant(self, array: Array) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, inputs: list[str], **attributes: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"{op}_{name}", **attributes))
        return name


Emitter = Callable[[Writer, Node, list[str]], str]


def _plain(op: str) -> Emitter:
    return lambda w, n, names: w.node(op, names)


def _conv(w: Writer, n: Node, names: list[str]) -> str:
    x, kernel = n.inputs
    a = n.attributes
    group = x.shape[1] if n.op == "depthwise" else 1
    return w.node(
        "Conv",
        names,
        strides=[a["stride"]] * 2,
        pads=[a["pad"]] * 4,
        kernel_shape=list(kernel.shape[2:]),
        dilations=[1, 1],
        group=group,
    )


def _bias(w: Writer, n: Node, names: list[str]) -> str:
    trailing = len(n.output.shape) - 1 - n.attributes["axis"]
    if trailing:
        shape = np.array([-1] + [1] * trailing, np.int64)
        names = [names[0], w.node("Reshape", [names[1], w.constant(shape)])]
    return w.node("Add", names)


EMITTERS: dict[str, Emitter] = {
    "matmul": _plain("MatMul"),
    "conv": _conv,
    "depthwise": _conv,
    "bias": _bias,
    "add": _plain("Add"),
    "relu": _plain("Relu"),
    "gelu": _plain("Gelu"),
    "scale": lambda w, n, names: w.node("Mul", [*names, w.constant(np.float32(n.attributes["factor"]).reshape(()))]),
    "softmax": lambda w, n, names: w.node("Softmax", names, axis=-1),
    "layernorm": lambda w, n, names: w.node("LayerNormalization", names, axis=-1, epsilon=n.attributes["epsilon"]),
    "reshape": lambda w, n, names: w.node("Reshape", [*names, w.constant(np.array(n.output.shape, np.int64))]),
    "transpose": lambda w, n, names: w.node("Transpose", names, perm=list(n.attributes["permutation"])),
}


def _fold_conv_biases(graph: Graph) -> tuple[set[int], dict[int, int]]:
    """Biases behind convolutions become the convolution's third input, as every exporter writes them.

    The nodes (by their outputs' index) that vanish, and the bias of each convolution.
    """
    producers = {n.output.index: n for n in graph.nodes}
    gone: set[int] = set()
    biases: dict[int, int] = {}
    for node in graph.nodes:
        producer = producers.get(node.inputs[0].index)
        if node.op == "bias" and producer and producer.op in ("conv", "depthwise"):
            gone.add(node.output.index)
            biases[producer.output.index] = node.inputs[1].index
    return gone, biases


def write(graph: Graph, constants: list[Array] | None = None) -> bytes:
    """A model with the inputs x0, w1, ...; constants: the data, of which the weights go into the model."""
    writer, inputs = Writer(), []
    for i, p in enumerate(graph.parameters):
        writer.names[p.value.index] = p.name
        if constants is not None and p.is_weight:
            writer.initializers.append(numpy_helper.from_array(constants[i], p.name))
        else:
            inputs.append(helper.make_tensor_value_info(p.name, TensorProto.FLOAT, p.value.shape))
    gone, biases = _fold_conv_biases(graph)
    for node in graph.nodes:
        names = [writer.names[v.index] for v in node.inputs]
        if node.output.index in biases:
            names.append(writer.names[biases[node.output.index]])
        writer.names[node.output.index] = (
            names[0] if node.output.index in gone else EMITTERS[node.op](writer, node, names)
        )
    writer.nodes.append(helper.make_node("Identity", [writer.names[graph.result.index]], ["result"]))
    output = helper.make_tensor_value_info("result", TensorProto.FLOAT, graph.result.shape)
    body = helper.make_graph(writer.nodes, "workload", inputs, [output], writer.initializers)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 20)])
    model.ir_version = 9
    return model.SerializeToString()
