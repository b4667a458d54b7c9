# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The card's pictures; they need matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np

from model.train.dataset import TileKernel

matplotlib.use("Agg")
# The same data give the same bytes.
matplotlib.rcParams |= {"svg.hashsalt": "tgraph", "svg.fonttype": "none", "font.size": 9}
import matplotlib.pyplot as plt  # noqa: E402

Groups = dict[str, list[TileKernel]]


def spread(kernel: TileKernel) -> float:
    """Slowest tiled configuration over the fastest."""
    tiled = kernel.label[kernel.features[:, 0] > 0]
    return float(np.exp(tiled.max() - tiled.min())) if len(tiled) else np.nan


def best(kernel: TileKernel) -> float:
    """Best measured over the analytic rule's choice: 1 where the rule chose it."""
    rule = kernel.label[kernel.analytic] if kernel.analytic >= 0 else 0.0
    return float(np.exp(kernel.label.min() - rule))


def _values(groups: Groups, measure: Callable[[TileKernel], float]) -> dict[str, np.ndarray]:
    found = {name: np.array([measure(kernel) for kernel in groups[name]]) for name in sorted(groups)}
    finite = {name: values[np.isfinite(values)] for name, values in found.items()}
    return {f"{name} ({len(values)})": np.sort(values) for name, values in finite.items() if len(values)}


def _save(figure: plt.Figure, axes: plt.Axes, path: Path) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(color="#eeeeee")
    axes.set_axisbelow(True)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_spread(path: Path, groups: Groups) -> None:
    values = _values(groups, spread)
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.3 * len(values)), layout="constrained")
    axes.boxplot(
        list(values.values())[::-1], orientation="horizontal", tick_labels=list(values)[::-1], whis=(5, 95), sym=""
    )
    axes.set_xscale("log")
    ticks = [1, 1.5, 2, 3, 5, 10, 20, 50, 100]
    most = max(np.percentile(v, 95) for v in values.values())
    axes.set_xticks([t for t in ticks if t <= 1.3 * most], [f"{t:g}" for t in ticks if t <= 1.3 * most])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("slowest over fastest tiled configuration (box: half of the kernels, whiskers: 90 %)")
    _save(figure, axes, path)


def draw_best(path: Path, groups: Groups) -> None:
    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for name, values in _values(groups, best).items():
        share = 100 * np.arange(1, len(values) + 1) / len(values)
        axes.step(np.concatenate([values[:1], values]), np.concatenate([[0], share]), where="post", label=name, lw=1.3)
    axes.set_xlim(left=max(0.4, axes.get_xlim()[0]), right=1.002)
    axes.set_ylim(0, 100)
    axes.set_xlabel("best measured time over that of the analytic rule's choice")
    axes.set_ylabel("share of the kernels, %")
    axes.legend(frameon=False, loc="upper left", fontsize=8)
    _save(figure, axes, path)
