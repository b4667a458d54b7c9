# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The training code's tests; they need model/train/requirements.txt."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without NumPy or PyTorch the tests of the training code are left out."""
    if not collection_path.name.startswith("test_training"):
        return None
    try:
        import numpy  # noqa: F401
        import torch  # noqa: F401
    except ImportError:
        return True
    return None


@pytest.fixture
def tile_folder(tmp_path: Path) -> Path:
    """Made-up kernels of six families whose fastest configuration a column gives away."""
    import numpy as np

    from model.train.export import TARGETS, random_graph

    rng = np.random.default_rng(3)
    for i in range(12):
        graph = random_graph(rng, 4)
        features = rng.normal(size=(40, 6)).astype(np.float32)
        ratio = np.exp(0.5 * features[:, 1] + 0.3 * np.abs(features[:, 2]) + 0.01 * rng.normal(size=40))
        np.savez_compressed(
            tmp_path / f"kernel-{i}.npz",
            node_feat=graph.node_feat,
            node_opcode=graph.opcode.astype(np.uint8),
            edge_index=graph.edges,
            config_feat=np.zeros((40, 24), np.float32),
            config_runtime=1000 * ratio,
            config_runtime_normalizers=np.full(40, 1000.0),
            features=features,
            feature_names=np.array([f"column_{k}" for k in range(6)]),
            feature_versions=np.arange(6, dtype=np.uint64),
            ratio_ci=np.full(40, 0.005, np.float32),
            target=np.array(list(TARGETS.values())),
            target_names=np.array(list(TARGETS)),
            kernel=np.array(f"kernel-{i}"),
            family=np.array(f"family-{i // 2}"),
            analytic_config=np.int64(0),
        )
    return tmp_path
