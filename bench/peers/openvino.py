# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""OpenVINO's CPU plugin: one stream, one thread, arguments and result set beforehand, f32 kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino

from bench import onnx_model
from bench.data import Array, aligned
from bench.graph import Graph
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

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        model = self.core.read_model(onnx_model.write(graph, data if self.constant_weights else None))
        request = self.core.compile_model(model, "CPU", _SETTINGS).create_infer_request()
        for p, d in zip(graph.parameters, data, strict=True):
            if not (self.constant_weights and p.is_weight):
                request.set_tensor(p.name, openvino.Tensor(d, shared_memory=True))
        result = aligned(np.zeros(graph.result.shape, np.float32))
        request.set_tensor("result", openvino.Tensor(result, shared_memory=True))
        start, wait = request.start_async, request.wait

        def call() -> None:
            start()
            wait()

        return Program(call, lambda _: result)


def create(folder: Path, options: dict[str, Any]) -> OpenVino:
    return OpenVino(options["constant_weights"])
