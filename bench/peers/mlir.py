# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TGraph's code and the stock lowering's: `tgraph object`, called through frontend/compiled.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench import linalg
from bench.data import Array
from bench.graph import Graph
from bench.networks import Network
from bench.peers import Program
from frontend.compiled import CompiledProgram, build_library


class MlirPeer:
    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        self.folder, self.options = folder, options
        self.tool = Path(options["tgraph"])
        if not self.tool.exists():
            raise RuntimeError(f"there is no {self.tool}")

    def _prepare(self, source: Path, arguments: list[Array]) -> Program:
        settings = ["--side", self.options["side"], "--target", self.options["isa"], *self.options.get("flags", [])]
        call = CompiledProgram(*build_library(source, self.folder, self.tool, settings)).bind(*arguments)
        return Program(call.run, lambda _: call()[0])

    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        constant = self.options["constant_weights"]
        source = self.folder / "program.mlir"
        source.write_text(linalg.write(graph, data if constant else None))
        pairs = zip(graph.parameters, data, strict=True)
        return self._prepare(source, [d for p, d in pairs if not (constant and p.is_weight)])

    def prepare_network(self, network: Network) -> Program:
        return self._prepare(network.mlir, network.data())


def create(folder: Path, options: dict[str, Any]) -> MlirPeer:
    return MlirPeer(folder, options)
