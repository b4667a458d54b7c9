# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks' summary as Markdown, CSV and JSON: a row for each peer, a column for each network."""

from __future__ import annotations

import json
from typing import Any

from bench.peers import BY_KEY
from bench.summary import OURS, Line, Summary, geometric_mean

OURS_PACKED = "ours-prepack"
_BESIDE = (OURS, "ours-winograd")  # who is shown beside those that know the weights


def _milliseconds(value_us: float) -> str:
    value = value_us * 1e-3
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(line: Line, peer: str, base: str) -> str:
    if peer not in line.median_us:
        return ""
    text = f"{_milliseconds(line.median_us[peer])} ms"
    ratio = line.ratio.get(peer)
    return text if peer == base or not ratio else f"{text}, {ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"


def _mean(summary: Summary, peer: str) -> str:
    ratios = [line.ratio[peer].median for line in summary.lines if peer in line.ratio]
    return f"{geometric_mean(ratios):.2f}" if len(ratios) == len(summary.lines) else ""


def _group(summary: Summary, peers: list[str], base: str) -> list[str]:
    """The fastest of each network in bold."""
    header = ["", *[line.workload.title for line in summary.lines], "geometric mean"]
    rows = [header, ["---"] * len(header)]
    ratio = [{p: line.ratio[p].median for p in peers if p in line.ratio} for line in summary.lines]
    best = [min(of, key=of.__getitem__) for of in ratio]
    for peer in peers:
        cells = [_cell(line, peer, base) for line in summary.lines]
        cells = [f"**{cell}**" if peer == b else cell for cell, b in zip(cells, best, strict=True)]
        rows.append([BY_KEY[peer].title, *cells, _mean(summary, peer)])
    return [f"| {' | '.join(row)} |" for row in rows]


def _size(summary: Summary) -> str:
    parts = [
        f"{line.workload.title} {line.gflops[OURS] * line.median_us[OURS] * 1e-6:.2f}"
        for line in summary.lines
        if OURS in line.gflops
    ]
    return "GFLOP of contractions and convolutions: " + ", ".join(parts)


def markdown(summary: Summary, packed: Summary, base: str, facts: dict[str, str]) -> str:
    """packed: the same rounds, with ratios over base, which knows the weights beforehand if it can."""
    text = [f"{name}: {value}  " for name, value in facts.items()]
    text += [
        f"peak: {summary.peak_gflops:.0f} GFLOP/s of a loop of fused multiply-adds, measured between the rounds  ",
        _size(summary),
        "",
        "Medians over the rounds, f32, one thread, batch 1. Behind a time: the peer's time over TGraph's in the same "
        "round (above 1: TGraph is faster), median and the interval that covers the true median with 95 %.",
        "",
        "Weights are arguments: transposed, packed and folded in every call, if at all. (PyTorch's are the module's, "
        "which it leaves as they are.) `reassociate` allows Winograd's algorithm.",
        "",
        *_group(summary, summary.peers(False), OURS),
    ]
    constant = packed.peers(True)
    if constant:
        beside = [p for p in _BESIDE if base == OURS and p in packed.peers(False)] + constant
        text += [
            "",
            "Weights are known beforehand, and may be transposed, packed, and batch norms folded into them"
            + ("; TGraph's are not, but arguments as above:" if base == OURS else ":"),
            "",
            *_group(packed, beside, base),
        ]
    failures = [
        f"- {line.workload.title}, {BY_KEY[p].title}: {error}"
        for line in summary.lines
        for p, error in line.failures.items()
        if p in BY_KEY
    ]
    return "\n".join([*text, *(["", "Failed:", "", *failures] if failures else [])]) + "\n"


def records(summary: Summary, packed: Summary, base: str) -> list[dict[str, Any]]:
    found = []
    for line, other in zip(summary.lines, packed.lines, strict=True):
        for peer, time in line.median_us.items():
            constant = BY_KEY[peer].constant_weights
            ratio = (other if constant else line).ratio.get(peer)
            found.append(
                {
                    "network": line.workload.key,
                    "peer": peer,
                    "weights": "beforehand" if constant else "arguments",
                    "ms": round(time * 1e-3, 4),
                    "gflops": round(line.gflops[peer], 3),
                    "base": base if constant else OURS,
                    "time_over_base": round(ratio.median, 4) if ratio else None,
                    "low": round(ratio.low, 4) if ratio else None,
                    "high": round(ratio.high, 4) if ratio else None,
                    "rounds": line.rounds,
                }
            )
    return found


def to_json(rows: list[dict[str, Any]], facts: dict[str, str], peak_gflops: float) -> str:
    return json.dumps({"facts": facts, "peak_gflops": peak_gflops, "results": rows}, indent=1) + "\n"
