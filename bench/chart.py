# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The summary as a picture: a row for each workload, a mark for each peer, a line at the core's peak."""

from __future__ import annotations

from pathlib import Path

from bench.peers import BY_KEY, describe
from bench.summary import OURS, Summary


def draw(summary: Summary, paths: list[Path], constant_too: bool = False) -> None:
    """Needs matplotlib. The format follows from each path's ending. constant_too: who knows the weights beforehand as
    well, with hollow marks."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "tgraph"  # the same data give the same bytes
    import matplotlib.pyplot as plt

    lines = summary.lines
    figure, axes = plt.subplots(figsize=(9, 1.4 + 0.36 * len(lines)), layout="constrained")
    height = {line.workload.key: len(lines) - 1 - i for i, line in enumerate(lines)}
    shown = [*summary.peers(False), *(summary.peers(True) if constant_too else [])]
    for line in lines:
        values = [line.gflops[p] for p in shown if p in line.gflops]
        axes.hlines(height[line.workload.key], min(values), max(values), color="#dddddd", linewidth=3, zorder=1)
    for peer in sorted(shown, key=lambda p: p == OURS):  # ours on top
        row = BY_KEY[peer]
        points = [(line.gflops[peer], height[line.workload.key]) for line in lines if peer in line.gflops]
        axes.scatter(
            *zip(*points, strict=True),
            **({"facecolors": "none", "edgecolors": row.color} if row.constant_weights else {"color": row.color}),
            marker=row.marker,
            s=75 if peer == OURS else 38,
            label=describe(row).replace("`", ""),
            zorder=4 if peer == OURS else 3,
            linewidths=1.2 if row.marker == "x" or row.constant_weights else 0,
        )
    axes.axvline(summary.peak_gflops, color="black", linewidth=0.9, linestyle="--", zorder=2)
    axes.text(summary.peak_gflops, len(lines) - 0.45, "peak", ha="center", va="bottom", fontsize=8)
    axes.set_yticks([height[line.workload.key] for line in lines], [line.workload.title for line in lines])
    axes.set_xlim(left=0)
    axes.set_ylim(-0.6, len(lines) - 0.4)
    axes.set_xlabel(
        "GFLOP/s, f32, one core, one thread, weights as arguments (right is better)"
        + ("\nhollow: weights known beforehand" if constant_too else "")
    )
    axes.grid(axis="x", color="#eeeeee", zorder=0)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    for path in paths:
        metadata = {"Date": None} if path.suffix == ".svg" else {}
        figure.savefig(path, dpi=150, metadata=metadata)
    plt.close(figure)
