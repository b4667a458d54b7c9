# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PyTorch module as linalg on tensors, with every parameter an argument: through torch.export and torch-mlir."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import InputKind
from torch_mlir import compiler_utils, ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_decomp_util import get_decomposition_table
from torch_mlir.extras.fx_importer import FxImporter

_KINDS = {
    InputKind.PARAMETER: "parameter",
    InputKind.BUFFER: "buffer",
    InputKind.CONSTANT_TENSOR: "constant",
    InputKind.USER_INPUT: "input",
}


@dataclass(frozen=True)
class Argument:
    """Of the exported function, in order."""

    kind: str  # a value of _KINDS
    name: str  # as in the module's state_dict, or of the input
    tensor: torch.Tensor


@dataclass(frozen=True)
class Exported:
    mlir: str
    arguments: list[Argument]

    def arrays(self) -> list[Any]:
        """The arguments as NumPy arrays over the module's own memory."""
        return [a.tensor.detach().contiguous().numpy() for a in self.arguments]

    def weights(self) -> str:
        """The arguments that stay the same from call to call, as the option `weights` takes them: 0-160,163."""
        return _ranges([i for i, a in enumerate(self.arguments) if a.kind != "input"])

    def write(self, path: Path) -> None:
        """The program, and beside it what is known of its arguments: for the tgraph tool."""
        path.write_text(self.mlir)
        arguments = [
            {"index": i, "kind": a.kind, "name": a.name, "shape": list(a.tensor.shape), "dtype": str(a.tensor.dtype)}
            for i, a in enumerate(self.arguments)
        ]
        path.with_suffix(".json").write_text(json.dumps({"args": arguments}, indent=1) + "\n")


def _ranges(numbers: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _arguments(program: torch.export.ExportedProgram, inputs: Sequence[torch.Tensor]) -> list[Argument]:
    """In the order of the graph's placeholders."""
    found, left = [], list(inputs)
    for spec in program.graph_signature.input_specs:
        kind = _KINDS.get(spec.kind)
        if kind is None:
            raise ValueError(f"an input of kind {spec.kind.name} can't be exported: {spec.arg.name}")
        if kind == "input":
            found.append(Argument(kind, spec.arg.name, left.pop(0)))
            continue
        held = program.state_dict if spec.target in program.state_dict else program.constants
        found.append(Argument(kind, spec.target, held[spec.target]))
    return found


def export(module: torch.nn.Module, inputs: Sequence[torch.Tensor], function: str = "main") -> Exported:
    """module: in evaluation mode, taking and giving tensors. Shapes are those of the inputs."""
    with torch.no_grad():
        program = torch.export.export(module.eval(), tuple(inputs)).run_decompositions(get_decomposition_table())
    if program.graph_signature.buffers_to_mutate:
        raise ValueError("the module writes to its buffers, which a function of tensors can't do")
    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    # Unlike the other ways of importing, this one makes an argument of everything, and not a constant.
    importer.import_stateless_graph(program.graph, func_name=function)
    compiler_utils.run_pipeline_with_repro_report(
        importer.module,
        "builtin.module(func.func(torch-match-quantized-custom-ops),"
        "torchdynamo-export-to-torch-backend-pipeline{extra-library=})",
        "lowering to torch's backend form",
    )
    linalg = compiler_utils.OutputType.LINALG_ON_TENSORS
    lowered = compiler_utils.lower_mlir_module(False, linalg, importer.module)
    return Exported(str(lowered) + "\n", _arguments(program, inputs))
