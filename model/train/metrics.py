# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rank metrics within one graph, as model/metrics.h defines them."""

from __future__ import annotations

import math

import numpy as np


def _tied_pairs(*keys: np.ndarray) -> int:
    _, counts = np.unique(np.stack(keys, 1), axis=0, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def _exchanges(values: np.ndarray) -> int:
    """Number of pairs i < j with values[i] > values[j]."""
    ranks = np.unique(values, return_inverse=True)[1].ravel()
    tree = [0] * (int(ranks.max(initial=0)) + 2)
    total = 0
    for seen, rank in enumerate(ranks.tolist()):
        not_above, at = 0, rank + 1
        while at:
            not_above += tree[at]
            at &= at - 1
        total += seen - not_above
        at = rank + 1
        while at < len(tree):
            tree[at] += 1
            at += at & -at
    return total


def tau_b(a: np.ndarray, b: np.ndarray) -> float:
    """Kendall's tau-b; NaN when a ranking is constant."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    total = len(a) * (len(a) - 1) // 2
    if not total:
        return math.nan
    tied_a, tied_b, tied_both = _tied_pairs(a), _tied_pairs(b), _tied_pairs(a, b)
    if total in (tied_a, tied_b):
        return math.nan
    discordant = _exchanges(b[np.lexsort((b, a))])
    difference = total - tied_a - tied_b + tied_both - 2 * discordant
    return difference / math.sqrt(total - tied_a) / math.sqrt(total - tied_b)


def top_k_score(score: np.ndarray, runtime: np.ndarray, k: int) -> float:
    """Best runtime / best among the k best scores; equal scores slowest first."""
    order = np.lexsort((-np.asarray(runtime), np.asarray(score)))
    return float(np.min(runtime) / np.min(np.asarray(runtime)[order[:k]]))


def top_k_slowdown(score: np.ndarray, runtime: np.ndarray, k: int) -> float:
    """Best among the k best scores / best runtime - 1."""
    return 1 / top_k_score(score, runtime, k) - 1


def pair_accuracy(score: np.ndarray, runtime: np.ndarray, ci: np.ndarray | None = None) -> float:
    """Share of the pairs ordered rightly, pairs within max(0.01, ci) left out."""
    score, log_runtime = np.asarray(score, float), np.log(np.asarray(runtime, float))
    margin = np.maximum(0.01, np.zeros(len(score)) if ci is None else np.asarray(ci, float))
    pairs, right = 0, 0.0
    for i in range(len(score) - 1):
        difference = log_runtime[i] - log_runtime[i + 1 :]
        apart = np.abs(difference) > np.maximum(margin[i], margin[i + 1 :])
        order = np.sign(score[i] - score[i + 1 :])[apart]
        pairs += int(apart.sum())
        right += float((order == np.sign(difference[apart])).sum()) + 0.5 * float((order == 0).sum())
    return right / pairs if pairs else math.nan


def tau_ceiling(first: np.ndarray, second: np.ndarray | None) -> float:
    """tau-b of two runs of the same configurations; NaN without a second run."""
    if second is None:
        return math.nan
    both = ~(np.isnan(first) | np.isnan(second))
    return tau_b(first[both], second[both])


def all_metrics(score: np.ndarray, runtime: np.ndarray, ci: np.ndarray | None = None) -> dict[str, float]:
    """The row that evaluation prints for one graph."""
    return {
        "tau": tau_b(score, runtime),
        "top1": top_k_score(score, runtime, 1),
        "top5": top_k_score(score, runtime, 5),
        "top10": top_k_score(score, runtime, 10),
        "slowdown1": top_k_slowdown(score, runtime, 1),
        "slowdown5": top_k_slowdown(score, runtime, 5),
        "pair_accuracy": pair_accuracy(score, runtime, ci),
    }
