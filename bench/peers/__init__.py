# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The peers: a row each in PEERS, and a module with

    def create(folder: Path, options: dict[str, Any]) -> Peer

that is imported only in the worker process of that peer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bench.graph import Graph

if TYPE_CHECKING:  # this module is read before there is an environment with NumPy
    from bench.data import Array
    from bench.networks import Network


@dataclass(frozen=True)
class Program:
    call: Callable[[], Any]  # runs once, to the end
    fetch: Callable[[Any], Array]  # the result as an array, from what call returned
    keep: Any = None  # what both point into


class Unsupported(Exception):
    """The peer has no way to express this workload; the text says why."""


class Peer(Protocol):
    def prepare(self, graph: Graph, data: list[Array]) -> Program:
        """Compiles. The data's arrays stay alive and unchanged as long as the program does.

        May use any core and any time. Raises Unsupported.
        """

    def prepare_network(self, network: Network) -> Program:
        """The same of a whole network; only where the row says so."""


@dataclass(frozen=True)
class PeerRow:
    key: str
    title: str
    module: str  # in bench.peers
    options: dict[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()  # requirements for pip
    index: str = ""  # a package index to try before the usual one
    constant_weights: bool = False  # weights are known beforehand and may be packed then
    opt_in: bool = False
    operations: bool = True  # takes part with workloads.py
    networks: bool = False  # takes part with networks.py
    takes_isa: bool = True  # can be told to do without AVX-512
    prepares_pinned: bool = False  # its threads return to the cores that they were prepared on
    reference: bool = False  # no opponent: ours and the stock lowering
    color: str = "#888888"
    marker: str = "o"


_TORCH_ONLY = ("torch==2.15.0",)
_TORCH = {"packages": _TORCH_ONLY, "index": "https://download.pytorch.org/whl/cpu"}
_IREE = ("iree-base-compiler==3.13.0", "iree-base-runtime==3.13.0")
_ORT = ("onnxruntime==1.32.0", "onnx==1.23.2")
_OPENVINO = ("openvino==2026.4.1", "onnx==1.23.2")
# What makes the files of networks, whoever takes part.
NETWORK_PACKAGES = (*_TORCH_ONLY, "torch-mlir==20261001", "transformers==5.24.0", "onnx==1.23.2", "onnxscript==0.7.2")
NETWORK_INDEX = _TORCH["index"]

PEERS = (
    PeerRow("ours", "TGraph", "mlir", {"side": "ours"}, networks=True, reference=True, color="#d62728", marker="D"),
    PeerRow(
        "analytic",
        "TGraph, analytic rule",
        "mlir",
        {"side": "analytic"},
        operations=False,
        networks=True,
        reference=True,
        color="#f7b6d2",
        marker="d",
    ),
    PeerRow(
        "ours-winograd",
        "TGraph, `reassociate`",
        "mlir",
        {"side": "ours", "flags": ["--reassociate"]},
        operations=False,
        networks=True,
        reference=True,
        color="#d62728",
        marker="*",
    ),
    PeerRow(
        "stock", "stock MLIR", "mlir", {"side": "stock"}, networks=True, reference=True, color="#7f7f7f", marker="x"
    ),
    PeerRow("openblas", "OpenBLAS", "openblas", color="#1f77b4", marker="s"),
    PeerRow("iree", "IREE", "iree", packages=_IREE, networks=True, color="#9edae5", marker="v"),
    PeerRow("iree-dt", "IREE dt", "iree", {"data_tiling": True}, _IREE, networks=True, color="#17becf", marker="^"),
    PeerRow(
        "eager", "PyTorch eager", "torch", {"compiled": False}, **_TORCH, networks=True, color="#ff7f0e", marker="o"
    ),
    PeerRow("inductor", "inductor", "torch", {"compiled": True}, **_TORCH, networks=True, color="#ffbb78", marker="o"),
    PeerRow(
        "ort",
        "ONNX Runtime",
        "onnxruntime",
        takes_isa=False,
        packages=_ORT,
        networks=True,
        color="#2ca02c",
        marker="P",
    ),
    PeerRow(
        "openvino",
        "OpenVINO",
        "openvino",
        takes_isa=False,
        packages=_OPENVINO,
        prepares_pinned=True,
        networks=True,
        color="#9467bd",
        marker="X",
    ),
    PeerRow(
        "halide",
        "Halide",
        "halide",
        takes_isa=False,
        packages=("halide==21.0.0",),
        opt_in=True,
        color="#8c564b",
        marker="<",
    ),
    PeerRow(
        "tvm",
        "TVM",
        "tvm",
        takes_isa=False,
        packages=(
            "apache-tvm==0.27.0.post1",
            "apache-tvm-ffi==0.1.14.post0",  # later ones crash when a database is saved
            "onnx==1.23.2",
            "cloudpickle>=2",  # this and the next two MetaSchedule imports without asking for them
            "psutil>=5",
            "xgboost-cpu>=3",
        ),
        opt_in=True,
        color="#e377c2",
        marker=">",
    ),
    PeerRow("ours-cw", "TGraph", "mlir", {"side": "ours"}, constant_weights=True, reference=True),
    PeerRow(
        "inductor-cw",
        "inductor",
        "torch",
        {"compiled": True},
        **_TORCH,
        operations=False,
        networks=True,
        constant_weights=True,
        color="#ffbb78",
        marker="o",
    ),
    PeerRow(
        "ort-cw",
        "ONNX Runtime",
        "onnxruntime",
        takes_isa=False,
        packages=_ORT,
        networks=True,
        constant_weights=True,
        color="#2ca02c",
        marker="P",
    ),
    PeerRow(
        "openvino-cw",
        "OpenVINO",
        "openvino",
        takes_isa=False,
        packages=_OPENVINO,
        prepares_pinned=True,
        networks=True,
        constant_weights=True,
        color="#9467bd",
        marker="X",
    ),
)
BY_KEY = {p.key: p for p in PEERS}


def describe(row: PeerRow) -> str:
    return f"{row.title} (constant weights)" if row.constant_weights else row.title


def create(row: PeerRow, folder: Path, options: dict[str, Any]) -> Peer:
    """In a worker: imports the peer's module."""
    import importlib

    module = importlib.import_module(f"bench.peers.{row.module}")
    return module.create(folder, {**row.options, "constant_weights": row.constant_weights, **options})
