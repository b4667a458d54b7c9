# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenVINO's CPU plugin: one stream, one thread, arguments and result set beforehand, f32 kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino

from bench import onnx_model
from bench.data import Array, aligned
from bench.graph import Graph, Shape
from bench.networks import Network
from bench.peers import Program

_SETTINGS = {
    "INFERENCE_NUM_THREADS": 1,
    "NUM_STREAMS": 1,
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    "ENABLE_CPU_PINNING": False,
}


class OpenVino:
    def __init__(self, constant_weights: bool) -> None:
        self.core = openvino.Core()
        self.constant_weights = constant_weights

    def _program(self, model: str | bytes, inputs: Mapping[str, Array], shape: Shape) -> Program:
        compiled = self.core.compile_model(self.core.read_model(model), "CPU", _SETTINGS)
        request = compiled.create_infer_request()
        for name, array in inputs.items():
            request.set_tensor(name, openvino.Tensor(array, shared_memory=True))
        result = aligned(np.zeros(shape, np.float32))
        request.set_tensor("result", openvino.Tensor(result, shared_memory=True))
        start, wait = request.start_async, request.wait

        def call() -> None:
            start()
            wait()

        return Program(call, lambda _: result, inputs)

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        model = onnx_model.write(graph, data if self.constant_weights else None)
        pairs = zip(graph.parameters, data, strict=True)
        inputs = {p.name: d for p, d in pairs if not (self.constant_weights and p.is_weight)}
        return self._program(model, inputs, graph.result.shape)

    def prepare_network(self, network: Network) -> Program:
        path, inputs = network.onnx(self.constant_weights)
        return self._program(str(path), inputs, network.result_shape)


def create(folder: Path, options: dict[str, Any]) -> OpenVino:
    return OpenVino(options["constant_weights"])
