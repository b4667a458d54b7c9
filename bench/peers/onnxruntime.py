# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's CPU provider, its arguments and result bound beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from bench import onnx_model
from bench.data import Array
from bench.graph import Graph, Shape
from bench.networks import Network
from bench.peers import Program


class OnnxRuntime:
    def __init__(self, constant_weights: bool) -> None:
        self.constant_weights = constant_weights

    def _program(self, model: str | bytes, inputs: Mapping[str, Array], shape: Shape) -> Program:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, array in inputs.items():
            binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(array))
        result = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, np.float32)
        binding.bind_ortvalue_output("result", result)
        run, raw = session._sess.run_with_iobinding, binding._iobinding
        return Program(lambda: run(raw, None), lambda _: result.numpy(), (binding, inputs))

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        model = onnx_model.write(graph, data if self.constant_weights else None)
        pairs = zip(graph.parameters, data, strict=True)
        inputs = {p.name: d for p, d in pairs if not (self.constant_weights and p.is_weight)}
        return self._program(model, inputs, graph.result.shape)

    def prepare_network(self, network: Network) -> Program:
        path, inputs = network.onnx(self.constant_weights)
        return self._program(str(path), inputs, network.result_shape)


def create(folder: Path, options: dict[str, Any]) -> OnnxRuntime:
    return OnnxRuntime(options["constant_weights"])
