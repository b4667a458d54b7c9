# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import math

import numpy as np
import pytest

from model.train import metrics


def brute_tau_b(a: np.ndarray, b: np.ndarray) -> float:
    agree = disagree = only_a = only_b = 0
    for i in range(len(a)):
        for j in range(i):
            x, y = np.sign(a[i] - a[j]), np.sign(b[i] - b[j])
            agree += x * y > 0
            disagree += x * y < 0
            only_a += x == 0 and y != 0
            only_b += y == 0 and x != 0
    return (agree - disagree) / math.sqrt((agree + disagree + only_a) * (agree + disagree + only_b))


@pytest.mark.parametrize("seed", range(5))
def test_tau_b_against_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 6, 30), rng.integers(0, 6, 30)
    assert metrics.tau_b(a, b) == pytest.approx(brute_tau_b(a, b), abs=1e-12)


def test_constant_rankings_are_nan() -> None:
    assert math.isnan(metrics.tau_b(np.ones(4), np.arange(4)))
    assert math.isnan(metrics.tau_b(np.arange(1), np.arange(1)))


def test_equal_scores_are_taken_slowest_first() -> None:
    assert metrics.top_k_score(np.zeros(3), np.array([1.0, 4.0, 2.0]), 1) == 0.25


def test_pairs_within_the_doubt_do_not_count() -> None:
    score, runtime = np.array([2.0, 1.0, 3.0]), np.array([1.0, 1.005, 2.0])
    assert metrics.pair_accuracy(score, runtime) == 1
    assert math.isnan(metrics.pair_accuracy(score, runtime, np.array([0.0, 0.0, 1.0])))
