# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The card of a set of measurements, as Markdown, and its pictures.

python -m model.train.card --data model/data --plots docs/data > docs/data.md
"""

from __future__ import annotations

import argparse
import collections
import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.train import dataset, metrics
from model.train.dataset import TileKernel
from model.train.npz import ANY, Npz

APART = 0.01  # closer pairs are ties

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# The measurements in model/data

Made by `tgraph measure` from real networks and, where the family is an operation, single ones (test/Inputs/README.md
names their origin); this page is printed by
`python -m model.train.card --data model/data --plots docs/data > docs/data.md`. Every row below counts kernels, which
are distinct operations, not uses. *Spread* is the median over kernels of the slowest tiled configuration over the best;
*rule* and *stock* are the geometric means of the analytic rule's choice at measuring and of the stock lowering over the
best.
"""


SPLIT = """
Families stay together: variants of a network are one. The test and the validation part are a fifth of the kernels each
(`dataset.split_three`; `evaluate` holds each fifth out in turn), and what shares a shape with a later part is left out
of an earlier one ({left_out} kernels here). This page isn't printed when a shape is in two parts.
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


@dataclass
class Ceiling:
    """How well a second measurement agrees with the first, over the kernels that have one."""

    kernels: int
    tau: float  # mean
    pairs: int  # that the first measurement has more than 1 % and its interval apart
    agreement: float  # share of them that the second orders the same


def ceiling(kernels: Sequence[TileKernel]) -> Ceiling:
    taus, pairs, agreeing = [], 0, 0.0
    for kernel in kernels:
        if kernel.rerun is None:
            continue
        both = np.isfinite(kernel.rerun)
        first, second, ci = kernel.label[both], kernel.rerun[both], kernel.ci[both]
        taus.append(metrics.tau_b(first, second))
        apart = np.abs(first[:, None] - first) > np.maximum(APART, np.maximum(ci[:, None], ci))
        count = int(apart.sum()) // 2
        if count:
            pairs += count
            agreeing += count * metrics.pair_accuracy(second, np.exp(first), ci)
    good = [t for t in taus if math.isfinite(t)]
    tau = sum(good) / len(good) if good else math.nan
    return Ceiling(len(good), tau, pairs, agreeing / pairs if pairs else math.nan)


def reason(status: str) -> str:
    """The kind of a failure: "run: stopped at its time limit" and "compare: result 0 differs by 3e-2" with the
    numbers left out, so that equal causes are counted together."""
    return re.sub(r"[-+]?\d[\d.]*(e[-+]?\d+)?", "N", status.splitlines()[0] if status else "unknown")[:100]


def failures(kernels: Sequence[TileKernel]) -> tuple[collections.Counter[str], int]:
    """Candidates that failed by reason, and the number of kernels that they belong to."""
    reasons: collections.Counter[str] = collections.Counter()
    failed_kernels = 0
    for kernel in kernels:
        npz = Npz(kernel.path)
        found = npz.texts("failed_status", (ANY,)) if "failed_status" in npz else []
        reasons.update(map(reason, found))
        failed_kernels += bool(found)
    return reasons, failed_kernels


def failure_table(reasons: collections.Counter[str], configurations: int) -> list[str]:
    if not reasons:
        return []
    tried = configurations + sum(reasons.values())
    lines = ["", "| failed candidates | number | share of all candidates |", "|---|---|---|"]
    return lines + [f"| {name} | {count} | {100 * count / tried:.2f} % |" for name, count in reasons.most_common()]


def split_table(kernels: Sequence[TileKernel]) -> list[str]:
    """Training, validation and test; that no shape is in two of them is checked here, not believed."""
    parts = dict(zip(("training", "validation", "test"), dataset.split_three(kernels), strict=True))
    shared = dataset.shared_shapes(*parts.values())
    if shared:
        raise ValueError(f"{shared} kernel shapes are in two parts of the split")
    left_out = len(kernels) - sum(map(len, parts.values()))
    lines = [SPLIT.format(left_out=left_out), "| part | kernels | configurations | families |", "|---|---|---|---|"]
    for name, part in parts.items():
        families = ", ".join(sorted({kernel.family for kernel in part}))
        lines.append(f"| {name} | {len(part)} | {sum(len(kernel.label) for kernel in part)} | {families} |")
    return lines


def pictures(folder: Path, groups: dict[str, list[TileKernel]]) -> list[str]:
    """Draws them, and the lines that show them."""
    from model.train import card_plots  # needs matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    card_plots.draw_spread(folder / "spread.svg", groups)
    card_plots.draw_best(folder / "best.svg", groups)
    return [
        "",
        f"![slowest tiled configuration over the fastest, a box for each operation]({folder.name}/spread.svg)",
        "",
        f"![best measured over the analytic rule's choice, cumulative over kernels]({folder.name}/best.svg)",
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="model.train.card", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--plots", type=Path, metavar="DIR", help="draw pictures into this folder and show them")
    options = parser.parse_args(arguments)
    try:
        kernels = dataset.find_tiles(options.data)
        lines = card(kernels, options.plots)
    except (OSError, ValueError) as fault:
        print(f"card: {fault}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def card(kernels: Sequence[TileKernel], plots: Path | None) -> list[str]:
    twice, (reasons, failed_kernels) = ceiling(kernels), failures(kernels)
    configurations = sum(len(k.label) for k in kernels)
    interval = 100 * np.median(np.concatenate([k.ci for k in kernels]))
    operations = group(kernels, operation)
    return [
        HEAD,
        f"- {len(kernels)} kernels, {configurations} configurations that computed the right result",
        f"- {reasons.total()} candidates failed, in {failed_kernels} kernels (`failed_status` in the files)",
        f"- noise ceiling: tau {twice.tau:.3f} of a second measurement against the first, {twice.kernels} kernels;",
        f"  of {twice.pairs} pairs of configurations more than 1 % and their intervals apart, the second measurement",
        f"  orders {100 * twice.agreement:.1f} % as the first",
        f"- half width of the 95 % interval of a ratio: median {interval:.2f} %",
        *failure_table(reasons, configurations),
        *(pictures(plots, operations) if plots else []),
        *split_table(kernels),
        *table("operation", operations),
        *table("machine", group(kernels, machine)),
        *table("family", group(kernels, lambda kernel: kernel.family)),
    ]


if __name__ == "__main__":
    sys.exit(main())
