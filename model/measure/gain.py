# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How much there is to win: the best measured configuration against the analytic rule's and the best named one.

    python -m model.measure.gain --data model/data > docs/gain.md

The best of many noisy measurements looks better than it is. So a configuration is chosen by its median over one half of
the rounds and scored by its median over the other half, both ways round, and the two results are averaged.
"""

from __future__ import annotations

import argparse
import collections
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception -->
# How much there is to win

Printed by `python -m model.measure.gain --data model/data > docs/gain.md`. A configuration is chosen by its median over
every second round of the measurement and scored by its median over the others, and the other way round. *Rule* is how
many times as fast the best configuration is as the analytic rule's choice, *named* the same against the best of the
named ones (kernels: stock and rule; graphs: the rule with each way of choosing orders of tensors, and what the pass
chooses by default), each a geometric mean with the tenth and the ninetieth percentile over kernels or graphs; *10 %*
is the share of them where the best is at least 1.1 times as fast as the rule's. Only configurations with ten rounds
at least take part.
"""

MINIMUM_ROUNDS = 10


@dataclass(frozen=True)
class Gain:
    group: str
    rule: float  # log(rule's time / best's time), scored on rounds that didn't choose
    named: float  # the same against the best named configuration
    chosen: float  # log(rule's time / the default choice's time), NaN where it wasn't measured


def halves(samples: np.ndarray, names: list[str], chosen: int) -> Gain | None:
    """samples: (C, R) log(candidate / rule), NaN = no sample."""
    enough = np.isfinite(samples).sum(axis=1) >= MINIMUM_ROUNDS
    enough |= np.array([n == "analytic" for n in names])  # it is what the others are compared with
    if enough.sum() < 2:
        return None
    samples = np.where(np.array([n == "analytic" for n in names])[:, None], 0.0, samples)[enough]
    named = np.array([n != "" for n in names])[enough]
    medians = [np.nanmedian(samples[:, half::2], axis=1) for half in (0, 1)]
    best, of_named = [], []
    for choose, score in (medians, medians[::-1]):
        best.append(score[np.argmin(choose)])
        of_named.append(score[np.argmin(np.where(named, choose, np.inf))])
    # where the best is chosen anew it can't be worse than not choosing: the rule stays when it was the best
    rule, against = -float(np.mean(best)), float(np.mean(of_named)) - float(np.mean(best))
    pick = math.nan
    if chosen >= 0 and enough[chosen]:
        pick = -float(np.mean([m[int(enough[:chosen].sum())] for m in medians]))
    return Gain("", rule, against, pick)


def read(path: Path) -> tuple[bool, Gain] | None:
    """Is it a graph, and what there is to win; None where the file has no samples."""
    with np.load(path) as data:
        if "samples" not in data or "config_names" not in data:
            return None
        names = [str(n) for n in data["config_names"]]
        chosen = int(data["chosen_config"]) if "chosen_config" in data else -1
        gain = halves(data["samples"].astype(float), names, chosen)
        if gain is None:
            return None
        is_graph = "node_config_feat" in data
        kernel = str(data["graph" if is_graph else "kernel"])
        family = str(data["family"]) if "family" in data else ""
        group = family if is_graph else kernel.split(".")[1]
        if not is_graph and "target" in data:
            registers = dict(zip(map(str, data["target_names"]), data["target"], strict=True))["vector_registers"]
            group += f", {registers} registers"
        return is_graph, Gain(group, gain.rule, gain.named, gain.chosen)


def spread(values: Iterable[float]) -> str:
    v = np.array([x for x in values if math.isfinite(x)])
    if len(v) == 0:
        return "—"
    return f"{math.exp(v.mean()):.3f} [{math.exp(np.quantile(v, 0.1)):.2f}, {math.exp(np.quantile(v, 0.9)):.2f}]"


def table(title: str, gains: list[Gain]) -> list[str]:
    groups = collections.defaultdict(list)
    for gain in gains:
        groups[gain.group].append(gain)
    lines = ["", f"| {title} | number | rule | named | 10 % | chosen against rule |", "|---|---|---|---|---|---|"]
    for name, members in [*sorted(groups.items()), ("**all**", gains)]:
        over = np.mean([g.rule >= math.log(1.1) for g in members])
        lines.append(
            f"| {name} | {len(members)} | {spread(g.rule for g in members)} | {spread(g.named for g in members)} "
            f"| {over:.0%} | {spread(g.chosen for g in members)} |"
        )
    return lines


def sums(folders: list[Path]) -> list[str]:
    """What a graph takes against the sum of its kernels, each measured alone."""
    alone: dict[tuple[int, int], float] = {}
    graphs = []
    for path in sorted(p for folder in folders for p in folder.rglob("*.npz")):
        with np.load(path) as data:
            if "target" not in data:
                continue
            registers = int(dict(zip(map(str, data["target_names"]), data["target"], strict=True))["vector_registers"])
            if "kernel_hash" in data:
                alone[registers, int(data["kernel_hash"])] = float(data["config_runtime_normalizers"][0])
            elif "node_kernel_hash" in data:
                whole = float(data["config_runtime_normalizers"][0])
                hashes = [int(h) for h in data["node_kernel_hash"] if h]
                graphs.append((str(data["graph"]), registers, hashes, whole))
    rows = []
    for name, registers, hashes, whole in sorted(graphs):
        known = [alone[registers, h] for h in hashes if (registers, h) in alone]
        if hashes and len(known) == len(hashes):
            rows.append(f"| {name} | {len(hashes)} | {whole * 1e-3:.0f} | {sum(known) / whole:.2f} |")
    if not rows:
        return []
    return [
        "",
        "## The sum of the kernels against the whole",
        "",
        "The rule's configurations: kernels measured alone, their operands in the caches as far as they fit, against",
        "the graph measured as a whole, with everything between the kernels. Graphs whose kernels were all measured.",
        "",
        "| graph | kernels | whole (µs) | sum / whole |",
        "|---|---|---|---|",
        *rows,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    folders = parser.parse_args().data
    found = [read(p) for folder in folders for p in sorted(folder.rglob("*.npz"))]
    kernels = [g for kind, g in filter(None, found) if not kind]
    graphs = [g for kind, g in filter(None, found) if kind]
    lines = [HEAD.rstrip()]
    if kernels:
        lines += table("kernels", kernels)
    if graphs:
        lines += table("graphs", graphs)
    lines += sums(folders)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
