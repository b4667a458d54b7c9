# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The summary as Markdown, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from bench.peers import BY_KEY, describe
from bench.summary import OURS, Interval, Line, Summary, geometric_mean


def _number(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}"


def _ratio(interval: Interval | None) -> str:
    return f"{interval.median:.2f} [{interval.low:.2f}, {interval.high:.2f}]" if interval else ""


def _rows(header: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [f"| {' | '.join(r)} |" for r in (header, ["---"] * len(header), *rows)]


def _gflops(line: Line, peers: list[str]) -> list[str]:
    """The fastest one in bold."""
    best = max((line.gflops[p] for p in peers if p in line.gflops), default=None)
    return [
        f"**{_number(line.gflops[p])}**" if line.gflops.get(p) == best and best else _number(line.gflops.get(p))
        for p in peers
    ]


def _main_table(summary: Summary) -> list[str]:
    peers = summary.peers(False)
    header = ["workload", *[BY_KEY[p].title for p in peers], "best peer", "ours : best peer", "ours : better IREE"]
    rows = []
    for line in summary.lines:
        best, title = line.best, line.workload.title
        named = BY_KEY[best].title if best else ""
        ratios = [_ratio(line.ratio_of(p)) for p in (best, line.best_iree)]
        rows.append([title, *_gflops(line, peers), named, *ratios])
    return _rows(header, rows)


def _constant_table(summary: Summary) -> list[str]:
    peers = summary.peers(True)
    lines = [line for line in summary.lines if any(p in line.gflops for p in peers)]
    header = ["workload", *[BY_KEY[p].title for p in peers]]
    return _rows(header, ([line.workload.title, *_gflops(line, peers)] for line in lines))


Pick = Callable[[Line], Interval | None]


def _mean(summary: Summary, pick: Pick, single: bool) -> tuple[float, int]:
    intervals = [pick(line) for line in summary.lines if line.workload.single or not single]
    values = [i.median for i in intervals if i]
    return geometric_mean(values), len(values)


def means(summary: Summary) -> list[tuple[str, float, int]]:
    """What, the geometric mean of the ratios, of how many workloads."""
    picks: list[tuple[str, Pick]] = [
        ("ours : best peer of each", lambda line: line.ratio_of(line.best)),
        ("ours : IREE's better setting", lambda line: line.ratio_of(line.best_iree)),
    ]
    picks += [
        (f"ours : {describe(BY_KEY[p])}", lambda line, p=p: line.ratio_of(p)) for p in summary.peers(False) if p != OURS
    ]
    found = []
    for text, pick in picks:
        found.append((text + ", single operations", *_mean(summary, pick, True)))
        found.append((text + ", all workloads", *_mean(summary, pick, False)))
    return [f for f in found if f[2]]


def markdown(summary: Summary, facts: dict[str, str]) -> str:
    text = [f"{name}: {value}  " for name, value in facts.items()]
    text += [
        f"peak: {summary.peak_gflops:.0f} GFLOP/s of a loop of fused multiply-adds, measured between the rounds",
        "",
        "GFLOP/s (medians over the rounds), f32, one thread; nothing is packed beforehand. The ratios are the peer's "
        "time over ours in the same round: above 1, ours is faster; median and the interval that covers the true "
        "median with 95 %.",
        "",
        *_main_table(summary),
        "",
        *_rows(
            ["geometric mean of the ratios", "", "workloads"], ([t, f"{v:.2f}", str(n)] for t, v, n in means(summary))
        ),
    ]
    if summary.peers(True):
        text += ["", "The same with constant weights, which may be packed beforehand:", "", *_constant_table(summary)]
    failures = [
        f"- {line.workload.title}, {describe(BY_KEY[p])}: {error}"
        for line in summary.lines
        for p, error in line.failures.items()
        if p in BY_KEY
    ]
    if failures:
        text += ["", "Failed:", "", *failures]
    return "\n".join(text) + "\n"


def records(summary: Summary) -> list[dict[str, Any]]:
    found = []
    for line in summary.lines:
        for peer, gflops in line.gflops.items():
            ratio = line.ratio_of(peer)
            found.append(
                {
                    "workload": line.workload.key,
                    "peer": peer,
                    "gflops": round(gflops, 3),
                    "time_over_ours": round(ratio.median, 4) if ratio else None,
                    "low": round(ratio.low, 4) if ratio else None,
                    "high": round(ratio.high, 4) if ratio else None,
                    "rounds": line.rounds,
                    "best_peer": peer == line.best,
                }
            )
    return found


def rows_to_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return out.getvalue()


def to_csv(summary: Summary) -> str:
    return rows_to_csv(records(summary))


def to_json(summary: Summary, facts: dict[str, str]) -> str:
    content = {
        "facts": facts,
        "peak_gflops": summary.peak_gflops if math.isfinite(summary.peak_gflops) else None,
        "means": {text: value for text, value, _ in means(summary)},
        "results": records(summary),
    }
    return json.dumps(content, indent=1) + "\n"
