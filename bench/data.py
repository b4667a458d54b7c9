# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data of a workload: the same in every process."""

from __future__ import annotations

import numpy as np

from bench.graph import Graph

Array = np.ndarray


def aligned(array: Array) -> Array:
    """A copy whose first element lies at a multiple of 64 bytes."""
    nbytes = array.nbytes
    block = np.zeros(nbytes + 64, np.uint8)
    start = -block.ctypes.data % 64
    copy = block[start : start + nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def make_data(graph: Graph, seed: int = 1) -> list[Array]:
    """An f32 array for each parameter."""
    random = np.random.default_rng(seed)
    return [
        aligned((p.center + p.spread * random.standard_normal(p.value.shape)).astype(np.float32))
        for p in graph.parameters
    ]


def relative_error(result: Array, reference: Array) -> float:
    """The largest difference over the largest value; infinite where the shape or a value is wrong."""
    if result.size != reference.size or not np.isfinite(result).all():
        return float("inf")
    return float(np.abs(result.reshape(reference.shape) - reference).max() / np.abs(reference).max())
