# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures on kernels that were not trained on.

Families held out in turn, with the rivals:
  python -m model.train.evaluate --config model/train/tile.toml --data DIR --folds 5 --seeds 5
A trained network on data:
  python -m model.train.evaluate --network RUN/network.pt --data DIR
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from model.train import dataset, metrics
from model.train.dataset import TileKernel, make_folds
from model.train.train import load_config, load_network, score_tiles, train_tile

Scorer = Callable[[TileKernel], np.ndarray | None]  # None: the rival chooses, it doesn't rank
COLUMNS = ["tau", "tau_ceiling", "top1", "top5", "top10", "slowdown1", "slowdown5", "pair_accuracy"]


def random_scorer(seed: int) -> Scorer:
    rng = np.random.default_rng(seed)
    return lambda kernel: rng.random(len(kernel.label))


def _rank_targets(kernels: Sequence[TileKernel]) -> np.ndarray:
    """Ranks within each kernel, scaled to 0..1."""
    return np.concatenate([np.argsort(np.argsort(k.label)) / max(1, len(k.label) - 1) for k in kernels])


def ridge_scorer(kernels: Sequence[TileKernel], penalty: float = 1.0) -> Scorer:
    """Ridge regression of the rank on the configuration's columns."""
    x = np.concatenate([k.features for k in kernels]).astype(float)
    mean, deviation = x.mean(0), np.maximum(x.std(0), 1e-9)
    x = (x - mean) / deviation
    y = _rank_targets(kernels)
    weight = np.linalg.solve(x.T @ x + penalty * np.eye(x.shape[1]), x.T @ (y - y.mean()))
    return lambda kernel: np.clip((kernel.features - mean) / deviation, -8, 8) @ weight


def lightgbm_scorer(kernels: Sequence[TileKernel], seed: int) -> Scorer | None:
    """Boosted trees on the rank, where the package is installed."""
    try:
        import lightgbm
    except ImportError:
        return None
    model = lightgbm.LGBMRegressor(n_estimators=300, num_leaves=31, random_state=seed, n_jobs=1, verbose=-1)
    model.fit(np.concatenate([k.features for k in kernels]), _rank_targets(kernels))
    return lambda kernel: model.predict(kernel.features)


def estimate_scorer(kernels: Sequence[TileKernel]) -> Scorer | None:
    """The analytic rule's own cost, where the columns have it."""
    names = kernels[0].feature_names
    if "estimate" not in names:
        return None
    column = names.index("estimate")
    return lambda kernel: kernel.features[:, column]


def analytic_row(kernel: TileKernel) -> dict[str, float]:
    """The one configuration that the analytic rule chooses (label 0: the default of the measurement)."""
    chosen = kernel.label[kernel.analytic] if kernel.analytic >= 0 else 0.0
    slowdown = math.exp(chosen - kernel.label.min()) - 1
    return {"top1": 1 / (1 + slowdown), "slowdown1": slowdown}


def evaluate(kernels: Sequence[TileKernel], scorer: Scorer) -> list[dict[str, float]]:
    """A row of metrics for each kernel."""
    rows = []
    for kernel in kernels:
        score = scorer(kernel)
        if score is None:
            rows.append(analytic_row(kernel))
            continue
        row = metrics.all_metrics(score, np.exp(kernel.label), kernel.ci)
        rows.append(row | {"tau_ceiling": metrics.tau_ceiling(kernel.label, kernel.rerun)})
    return rows


def mean_row(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means over the kernels; the slowdown as a geometric mean as well."""
    result = {}
    for name in COLUMNS:
        values = [row[name] for row in rows if not math.isnan(row.get(name, math.nan))]
        result[name] = float(np.mean(values)) if values else math.nan
    slow = [math.log1p(row["slowdown1"]) for row in rows]
    result["geomean_slowdown1"] = math.expm1(float(np.mean(slow)))
    return result


def rivals(kernels: Sequence[TileKernel], config: dict, seed: int) -> dict[str, Scorer]:
    """Every rival, trained on `kernels`; see also the column "analytic" of held_out."""
    without_graph = copy.deepcopy(config)
    without_graph["net"]["use_graph"] = False
    result: dict[str, Scorer | None] = {
        "random": random_scorer(seed),
        "analytic rule": lambda kernel: None,
        "estimate": estimate_scorer(kernels),
        "ridge": ridge_scorer(kernels),
        "lightgbm": lightgbm_scorer(kernels, seed),
    }
    mlp = train_tile(kernels, without_graph, seed)
    result["mlp"] = lambda kernel: score_tiles(mlp, mlp.prepare(kernel))
    return {name: scorer for name, scorer in result.items() if scorer}


def held_out(
    kernels: Sequence[TileKernel], config: dict, seeds: int, folds: int, with_rivals: bool
) -> dict[str, list[dict[str, float]]]:
    """Means over all kernels, each scored while its family is held out: a row for each seed."""
    result: dict[str, list[dict[str, float]]] = {}
    for seed in range(seeds):
        rows: dict[str, list[dict[str, float]]] = {}
        for families in make_folds(kernels, folds):
            fit, test = dataset.split_families(kernels, families)
            net = train_tile(fit, config, seed)
            scorers: dict[str, Scorer] = {"tgraph": lambda kernel, net=net: score_tiles(net, net.prepare(kernel))}
            if with_rivals:
                scorers |= rivals(fit, config, seed)
            for name, scorer in scorers.items():
                rows.setdefault(name, []).extend(evaluate(test, scorer))
            done = mean_row(rows["tgraph"])
            print(
                f"seed {seed}, held out {', '.join(families)}: {len(fit)} kernels trained on, {len(test)} tested; "
                f"so far top1 {done['top1']:.3f}, tau {done['tau']:.3f}",
                file=sys.stderr,
                flush=True,
            )
        for name, graphs in rows.items():
            result.setdefault(name, []).append(mean_row(graphs))
    return result


def print_table(result: dict[str, list[dict[str, float]]]) -> None:
    """Mean over the seeds, and the deviation behind it where there are several."""
    columns = [*COLUMNS, "geomean_slowdown1"]
    print(f"{'':14}" + "".join(f"{name:>19}" for name in columns))
    for name, seeds in result.items():
        cells = []
        for column in columns:
            values = np.array([row[column] for row in seeds])
            text = "-" if np.isnan(values).all() else f"{values.mean():.3f}"
            if len(values) > 1 and text != "-":
                text += f" +-{values.std(ddof=1):.3f}"
            cells.append(f"{text:>19}")
        print(f"{name:14}" + "".join(cells))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="model.train.evaluate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--config", type=Path, help="train on all but the held-out families with these settings")
    parser.add_argument("--network", type=Path, help="network.pt, scored as it is")
    parser.add_argument("--folds", type=int, default=5, help="groups of families held out in turn; 0 = one by one")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    if bool(options.config) == bool(options.network):
        parser.error("give --config (held-out families) or --network (a trained one)")
    try:
        kernels = dataset.find_tiles(options.data)
        if options.network:
            net, _ = load_network(options.network)
            rows = evaluate(kernels, lambda kernel: score_tiles(net, net.prepare(kernel)))
            for kernel, row in zip(kernels, rows, strict=True):
                print(f"{kernel.kernel:40} " + "  ".join(f"{n} {row[n]:.3f}" for n in COLUMNS))
            result = {"tgraph": [mean_row(rows)]}
        else:
            config = load_config(options.config, options.set)
            result = held_out(kernels, config, options.seeds, options.folds, not options.no_rivals)
    except (OSError, ValueError, KeyError) as fault:
        print(f"evaluate: {fault}", file=sys.stderr)
        return 2
    print_table(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
