# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Losses over the configurations of one graph. Lower scores are faster."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

MARGIN = 0.01  # log runtimes closer than this are ties


def pair_weights(label: Tensor, ci: Tensor, emphasis: float = 0.0, tie: float = MARGIN, depth: float = 0.1) -> Tensor:
    """(C, C), positive at [i, j] where j is slower than i by more than the measurement's doubt.

    `emphasis` raises the pairs whose faster member is within about `depth` of the best.
    """
    difference = label[None, :] - label[:, None]
    apart = difference > torch.clamp(torch.maximum(ci[None, :], ci[:, None]), min=tie)
    near_best = torch.exp(-(label - label.min()) / depth)
    return apart * (1 + emphasis * near_best[:, None])


def pairwise_hinge(score: Tensor, weight: Tensor, margin: float = 1.0) -> Tensor:
    """Mean of max(0, margin - (slower's score - faster's)). score (..., C) -> (...)"""
    difference = score[..., None, :] - score[..., :, None]
    loss = F.relu(margin - difference) * weight
    return loss.sum((-1, -2)) / weight.sum().clamp(min=1e-9)


def pairwise_logistic(score: Tensor, weight: Tensor, scale: float = 1.0) -> Tensor:
    """Mean of log(1 + exp(-scale * difference)): no flat part."""
    difference = score[..., None, :] - score[..., :, None]
    loss = F.softplus(-scale * difference) * weight
    return loss.sum((-1, -2)) / weight.sum().clamp(min=1e-9)


def list_mle(score: Tensor, label: Tensor) -> Tensor:
    """Negative log likelihood of the true order, per configuration."""
    ordered = -score[..., torch.argsort(label)]
    after = torch.logcumsumexp(ordered.flip(-1), -1).flip(-1)
    return (after - ordered).mean(-1)


def centred_regression(score: Tensor, label: Tensor) -> Tensor:
    """Huber loss of the labels, both relative to their mean over the set."""
    wanted = (label - label.mean()).expand_as(score)
    return F.smooth_l1_loss(score - score.mean(-1, keepdim=True), wanted, reduction="none", beta=0.3).mean(-1)


def ranks(label: Tensor) -> Tensor:
    """0 for the fastest to 1 for the slowest: a runtime a hundred times the best counts no more than the last."""
    return torch.argsort(torch.argsort(label)).float() / max(1, len(label) - 1)


def combined(score: Tensor, label: Tensor, ci: Tensor, weights: dict[str, float]) -> Tensor:
    """Sum of the named losses, weighted; (..., C) -> (...)."""
    pairs = pair_weights(label, ci, weights.get("emphasis", 0.0), weights.get("tie", MARGIN))
    total = torch.zeros(score.shape[:-1])
    if weight := weights.get("hinge", 0.0):
        total = total + weight * pairwise_hinge(score, pairs, weights.get("margin", 1.0))
    if weight := weights.get("logistic", 0.0):
        total = total + weight * pairwise_logistic(score, pairs, weights.get("scale", 1.0))
    if weight := weights.get("listmle", 0.0):
        total = total + weight * list_mle(score, label)
    if weight := weights.get("regression", 0.0):
        total = total + weight * centred_regression(score, label)
    if weight := weights.get("rank", 0.0):
        total = total + weight * centred_regression(score, ranks(label))
    return total
