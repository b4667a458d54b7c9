# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime's CPU provider, its arguments and result bound beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from bench import onnx_model
from bench.data import Array
from bench.graph import Graph
from bench.peers import Program


class OnnxRuntime:
    def __init__(self, constant_weights: bool) -> None:
        self.constant_weights = constant_weights

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        model = onnx_model.write(graph, data if self.constant_weights else None)
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for p, d in zip(graph.parameters, data, strict=True):
            if not (self.constant_weights and p.is_weight):
                binding.bind_ortvalue_input(p.name, onnxruntime.OrtValue.ortvalue_from_numpy(d))
        result = onnxruntime.OrtValue.ortvalue_from_shape_and_type(graph.result.shape, np.float32)
        binding.bind_ortvalue_output("result", result)
        run, raw = session._sess.run_with_iobinding, binding._iobinding
        return Program(lambda: run(raw, None), lambda _: result.numpy())


def create(folder: Path, options: dict[str, Any]) -> OnnxRuntime:
    return OnnxRuntime(options["constant_weights"])
