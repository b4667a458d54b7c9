# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IREE's llvm-cpu on its synchronous local device, from the same linalg that TGraph gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import iree.compiler.tools as compiler
import iree.runtime as runtime
import numpy as np

from bench import linalg
from bench.data import Array
from bench.graph import Graph
from bench.networks import Network
from bench.peers import Program

_FLAGS = [
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
]


class Iree:
    def __init__(self, data_tiling: bool, isa: str) -> None:
        cpu = {"host": "host", "avx2": "x86-64-v3"}[isa]
        self.flags = [*_FLAGS, f"--iree-llvmcpu-target-cpu={cpu}", *["--iree-opt-data-tiling"] * data_tiling]
        self.config = runtime.Config("local-sync")

    def _program(self, binary: bytes, data: list[Array]) -> Program:
        instance, device = self.config.vm_instance, self.config.device
        module = runtime.VmModule.copy_buffer(instance, binary)
        context = runtime.VmContext(instance, [self.config.default_vm_modules[0], module])
        function = module.lookup_function("main")
        views = [runtime.asdevicearray(device, d)._buffer_view for d in data]
        arguments = runtime.VmVariantList(len(views))
        for view in views:
            arguments.push_ref(view)

        def call() -> runtime.VmVariantList:
            results = runtime.VmVariantList(1)
            context.invoke(function, arguments, results)
            return results

        def fetch(results: runtime.VmVariantList) -> Array:
            view = results.get_as_object(0, runtime.HalBufferView)
            return np.asarray(runtime.DeviceArray(device, view, implicit_host_transfer=True))

        return Program(call, fetch, (module, views, data))

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        return self._program(compiler.compile_str(linalg.write(graph), extra_args=self.flags), data)

    def prepare_network(self, network: Network) -> Program:
        return self._program(compiler.compile_file(str(network.mlir), extra_args=self.flags), network.data())


def create(folder: Path, options: dict[str, Any]) -> Iree:
    return Iree(options.get("data_tiling", False), options["isa"])
