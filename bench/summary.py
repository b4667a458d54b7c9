# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounds -> medians of ratios with their intervals, and the geometric means."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from bench.networks import NetworkRow
from bench.peers import BY_KEY, PEERS
from bench.results import Measured
from bench.workloads import Workload

OURS = "ours"
IREE = ("iree", "iree-dt")


@dataclass(frozen=True)
class Interval:
    median: float
    low: float
    high: float


def median_interval(values: list[float]) -> Interval:
    """The narrowest symmetric interval of order statistics that covers the median with 95 %.

    All values where they are too few for that (below 6).
    """
    values = sorted(values)
    count = len(values)
    # From the k-th smallest to the k-th largest: missed with twice the chance of fewer than k heads in n tosses.
    k, tail = 1, 0.5**count
    while k < count // 2:
        tail += math.comb(count, k) * 0.5**count
        if 2 * tail > 0.05:
            break
        k += 1
    return Interval(statistics.median(values), values[k - 1], values[count - k])


@dataclass(frozen=True)
class Line:
    """A workload: GFLOP/s of each peer, and its time over ours (above 1: ours is faster)."""

    workload: Workload | NetworkRow
    median_us: dict[str, float]
    gflops: dict[str, float]
    ratio: dict[str, Interval]
    failures: dict[str, str]
    rounds: int

    @property
    def best(self) -> str | None:
        """The fastest opponent that gets the weights as arguments, as ours does."""
        opponents = [p for p in self.ratio if not BY_KEY[p].reference and not BY_KEY[p].constant_weights]
        return min(opponents, key=lambda p: self.ratio[p].median, default=None)

    @property
    def best_iree(self) -> str | None:
        return min((p for p in IREE if p in self.ratio), key=lambda p: self.ratio[p].median, default=None)

    def ratio_of(self, peer: str | None) -> Interval | None:
        return self.ratio.get(peer) if peer else None


@dataclass(frozen=True)
class Summary:
    lines: list[Line]
    peak_gflops: float

    def peers(self, constant_weights: bool) -> list[str]:
        """Those that have a result, in the order of the table of peers."""
        seen = {p for line in self.lines for p in line.gflops}
        return [p.key for p in PEERS if p.key in seen and p.constant_weights == constant_weights]


def summarize_workload(workload: Workload | NetworkRow, measured: Measured, flops: int, base: str = OURS) -> Line:
    """base: whose time the ratios are over."""
    times: dict[str, list[float]] = {}
    ratios: dict[str, list[float]] = {}
    together = [r for r in measured.rounds if base in r.times]
    for round_ in together or measured.rounds:
        for peer, time in round_.times.items():
            times.setdefault(peer, []).append(time)
            if base in round_.times:
                ratios.setdefault(peer, []).append(time / round_.times[base])
    medians = {peer: statistics.median(t) for peer, t in times.items()}
    return Line(
        workload,
        medians,
        {peer: flops / t * 1e-3 for peer, t in medians.items()},
        {peer: median_interval(r) for peer, r in ratios.items()},
        {peer: p["error"] for peer, p in measured.programs.items() if p["error"] and not p.get("unsupported")},
        len(together),
    )


def summarize(
    chosen: Iterable[Workload | NetworkRow],
    measured: Mapping[str, Measured],
    flops: Callable[[Any], int] = lambda w: w.graph().flops,
    base: str = OURS,
) -> Summary:
    present = [w for w in chosen if w.key in measured and measured[w.key].rounds]
    peaks = [r.peak_gflops for w in present for r in measured[w.key].rounds]
    lines = [summarize_workload(w, measured[w.key], flops(w), base) for w in present]
    return Summary(lines, statistics.median(peaks) if peaks else math.nan)


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(v) for v in values]
    return math.exp(statistics.fmean(logs)) if logs else math.nan
