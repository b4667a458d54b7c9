# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The card of a set of measurements, as Markdown.

python -m model.train.card --data model/data > docs/data.md
"""

from __future__ import annotations

import argparse
import collections
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from model.train import dataset, metrics
from model.train.dataset import TileKernel

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# The measurements in model/data

Made by `tgraph measure` from real networks and, where the family is an operation, single ones (test/Inputs/README.md
names their origin); this page is printed by
`python -m model.train.card --data model/data > docs/data.md`. Every row below counts kernels, which are distinct
operations, not uses. *Spread* is the median over kernels of the slowest tiled configuration over the best; *rule* and
*stock* are the geometric means of the analytic rule's choice at measuring and of the stock lowering over the best.
"""


def geomean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values if v > 0 and math.isfinite(v)]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def operation(kernel: TileKernel) -> str:
    return kernel.kernel.split(".")[1] if kernel.kernel.count(".") > 1 else kernel.kernel


def machine(kernel: TileKernel) -> str:
    bits, registers = kernel.target.get("vector_bits", 0), kernel.target.get("vector_registers", 0)
    return f"{registers} registers of {bits} bits"


def row(name: str, kernels: Sequence[TileKernel]) -> str:
    ratios = [np.exp(k.label) for k in kernels]
    tiled = [k.features[:, 0] > 0 for k in kernels]
    spread = [float(r[t].max() / r.min()) for r, t in zip(ratios, tiled, strict=True) if t.any()]
    rule = [float(r[k.analytic] / r.min()) for k, r in zip(kernels, ratios, strict=True) if k.analytic >= 0]
    stock = [float(r[~t][0] / r.min()) for r, t in zip(ratios, tiled, strict=True) if (~t).any()]
    configurations = sum(len(r) for r in ratios)
    return (
        f"| {name} | {len(kernels)} | {configurations} | {np.median(spread):.2f} | {geomean(rule):.3f} "
        f"| {geomean(stock):.1f} |"
    )


def table(title: str, groups: dict[str, list[TileKernel]]) -> list[str]:
    lines = ["", f"| {title} | kernels | configurations | spread | rule | stock |", "|---|---|---|---|---|---|"]
    return lines + [row(name, groups[name]) for name in sorted(groups)]


def group(kernels: Sequence[TileKernel], key) -> dict[str, list[TileKernel]]:
    groups: dict[str, list[TileKernel]] = collections.defaultdict(list)
    for kernel in kernels:
        groups[key(kernel)].append(kernel)
    return dict(groups)


def ceiling(kernels: Sequence[TileKernel]) -> tuple[float, int]:
    """Mean tau of a second measurement against the first, and over how many kernels."""
    taus = []
    for kernel in kernels:
        if kernel.rerun is None:
            continue
        both = np.isfinite(kernel.rerun)
        taus.append(metrics.tau_b(kernel.label[both], kernel.rerun[both]))
    good = [t for t in taus if math.isfinite(t)]
    return (sum(good) / len(good) if good else math.nan), len(good)


def failures(kernels: Sequence[TileKernel]) -> tuple[int, int]:
    """Candidates that failed, and the kernels that they belong to."""
    counts = []
    for kernel in kernels:
        with np.load(kernel.path) as data:
            counts.append(len(data["failed_status"]) if "failed_status" in data else 0)
    return sum(counts), sum(c > 0 for c in counts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="model.train.card", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    kernels = dataset.find_tiles(parser.parse_args().data)
    tau, measured_twice = ceiling(kernels)
    failed, failed_kernels = failures(kernels)
    intervals = np.concatenate([k.ci for k in kernels])
    print(HEAD)
    configurations = sum(len(k.label) for k in kernels)
    print(f"- {len(kernels)} kernels, {configurations} configurations that computed the right result")
    print(f"- {failed} candidates failed, in {failed_kernels} kernels; the files hold the reasons (`failed_status`)")
    print(f"- noise ceiling: tau {tau:.3f} of a second measurement against the first, {measured_twice} kernels")
    print(f"- half width of the 95 % interval of a ratio: median {100 * np.median(intervals):.2f} %")
    print("\n".join(table("operation", group(kernels, operation))))
    print("\n".join(table("machine", group(kernels, machine))))
    print("\n".join(table("family", group(kernels, lambda kernel: kernel.family))))


if __name__ == "__main__":
    main()
