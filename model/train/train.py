# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a network: python -m model.train.train --config model/train/tile.toml --data DIR --out DIR

Writes OUT/checkpoint.pt (after every epoch; --resume goes on from it),
OUT/network.pt (the best epoch's network, for export and evaluation) and
OUT/log.csv.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from model.train import dataset, losses, metrics
from model.train.dataset import LayoutGraph, TileKernel
from model.train.networks import LayoutNet, LayoutSettings, Standard, TileInput, TileNet, TileSettings, fit_nodes


def seed_everything(seed: int) -> np.random.Generator:
    random.seed(seed)
    torch.manual_seed(seed)
    return np.random.default_rng(seed)


def cosine(step: int, steps: int, warm_up: float) -> float:
    """Share of the learning rate at a step: a linear start, then half a cosine."""
    start = max(1, int(steps * warm_up))
    if step < start:
        return (step + 1) / start
    return 0.5 * (1 + math.cos(math.pi * (step - start) / max(1, steps - start)))


def build_tile(kernels: Sequence[TileKernel], net: dict) -> TileNet:
    """A fresh network, its columns standardised over `kernels`."""
    settings = TileSettings(**net)
    targets = sorted({name for k in kernels for name in k.target}) if settings.use_target else []
    log2 = np.log2(np.maximum([[float(k.target.get(n, 1)) for n in targets] for k in kernels], 1))
    return TileNet(
        settings,
        fit_nodes([k.graph for k in kernels], settings.node_log1p, settings.node_limit),
        Standard.fit(log2.reshape(len(kernels), -1), targets, [0] * len(targets), False, settings.config_limit),
        Standard.fit(
            np.concatenate([k.features for k in kernels]),
            kernels[0].feature_names,
            kernels[0].feature_versions,
            settings.config_log1p,
            settings.config_limit,
        ),
    )


def split_validation(
    kernels: Sequence[TileKernel], share: float, rng: np.random.Generator
) -> tuple[list[TileKernel], list[TileKernel]]:
    """Whole families where there are at least four, else single shapes."""
    if not share:
        return list(kernels), []
    by_family = len({k.family for k in kernels}) >= 4
    keys = {id(k): k.family if by_family else k.graph.shape_key for k in kernels}
    order = sorted(set(keys.values()))
    rng.shuffle(order)
    chosen: set[str] = set()
    count = 0
    for key in order[: max(1, len(order) // 2)]:
        if count >= share * len(kernels):
            break
        chosen.add(key)
        count += sum(value == key for value in keys.values())
    held = [k for k in kernels if keys[id(k)] in chosen]
    shapes = {k.graph.shape_key for k in held}
    return [k for k in kernels if keys[id(k)] not in chosen and k.graph.shape_key not in shapes], held


@torch.no_grad()
def score_tiles(net: TileNet, tile: TileInput) -> np.ndarray:
    net.eval()
    return net(tile).mean(0).numpy()


def validate_tiles(net: TileNet, kernels: Sequence[TileKernel]) -> dict[str, float]:
    """Means over the kernels; graphs where a metric means nothing are left out."""
    several = [k for k in kernels if len(k.label) > 1]
    rows = [metrics.all_metrics(score_tiles(net, net.prepare(k)), np.exp(k.label), k.ci) for k in several]
    if not rows:
        return {"tau": math.nan, "top1": math.nan}
    return {name: float(np.nanmean([row[name] for row in rows])) for name in rows[0]}


@dataclass
class Progress:
    """Where training stands: everything that a resumed run needs."""

    net: TileNet
    optimizer: torch.optim.Optimizer
    rng: np.random.Generator
    epoch: int = 0
    best: float = -math.inf
    best_epoch: int = 0
    best_state: dict | None = None

    def save(self, path: Path, config: dict) -> None:
        temporary = path.with_suffix(".tmp")
        state = {
            "config": config,
            "net": self.net,
            "optimizer": self.optimizer.state_dict(),
            "rng": self.rng.bit_generator.state,
            "torch": torch.get_rng_state(),
            "epoch": self.epoch,
            "best": (self.best, self.best_epoch, self.best_state),
        }
        torch.save(state, temporary)
        temporary.replace(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, weights_only=False)
        self.net.load_state_dict(state["net"].state_dict())
        self.optimizer.load_state_dict(state["optimizer"])
        self.rng.bit_generator.state = state["rng"]
        torch.set_rng_state(state["torch"])
        self.epoch = state["epoch"]
        self.best, self.best_epoch, self.best_state = state["best"]


def start_from_ridge(net: TileNet, tiles: list[TileInput], kernels: Sequence[TileKernel], bag: np.ndarray) -> None:
    """Sets each head's straight line to the ridge regression of the ranks over its kernels, and the rest to
    nothing: with few kernels the line is hard to beat, and training then adds what it misses."""
    for head in range(net.settings.heads):
        chosen = [i for i in range(len(kernels)) if bag[i, head]]
        xs, ys = [], []
        for i in chosen:
            x = tiles[i].config.double()
            y = losses.ranks(torch.from_numpy(kernels[i].label)).double()
            xs.append(x - x.mean(0))
            ys.append(y - y.mean())
        x, y = torch.cat(xs), torch.cat(ys)
        penalty = 1e-3 * len(x) * torch.eye(x.shape[1], dtype=torch.float64)
        with torch.no_grad():
            net.skip.weight[head] = torch.linalg.solve(x.T @ x + penalty, x.T @ y).float()
    with torch.no_grad():
        net.heads.weight[-1].zero_()


def tile_epoch(
    at: Progress, tiles: list[TileInput], kernels: Sequence[TileKernel], bag: np.ndarray, config: dict, steps: int
) -> float:
    """One pass over the kernels; bag (kernels, heads): who learns from whom."""
    train = config["train"]
    at.net.train()
    order = at.rng.permutation(len(kernels))
    total = 0.0
    for first in range(0, len(order), train["kernels"]):
        step = at.epoch * math.ceil(len(order) / train["kernels"]) + first // train["kernels"]
        for group in at.optimizer.param_groups:
            group["lr"] = train["learning_rate"] * cosine(step, steps, train["warm_up"])
        at.optimizer.zero_grad()
        for i in order[first : first + train["kernels"]]:
            count = len(kernels[i].label)
            rows = torch.from_numpy(at.rng.permutation(count)[: train["configs"]])
            label = torch.from_numpy(kernels[i].label).float()[rows]
            ci = torch.from_numpy(kernels[i].ci).float()[rows]
            loss = losses.combined(at.net(tiles[i], rows), label, ci, config["loss"])
            loss = (loss * torch.from_numpy(bag[i])).mean()
            loss.backward()
            total += float(loss.detach())
        torch.nn.utils.clip_grad_norm_(at.net.parameters(), 5.0)
        at.optimizer.step()
    at.epoch += 1
    return total / len(kernels)


def train_tile(
    kernels: Sequence[TileKernel], config: dict, seed: int, out: Path | None = None, resume: bool = False
) -> TileNet:
    """Trains on `kernels`, a part of them for early stopping; returns the best epoch's network."""
    if not kernels:
        raise ValueError("no kernels to train on: every family, or every shape, is held out")
    train = config["train"]
    rng = seed_everything(seed)
    fit, held = split_validation(kernels, train["validation"], rng)
    net = build_tile(fit, config["net"])
    optimizer = torch.optim.AdamW(net.parameters(), lr=train["learning_rate"], weight_decay=train["weight_decay"])
    at = Progress(net, optimizer, rng)
    bag = (rng.random((len(fit), net.settings.heads)) < train["bag"]).astype(np.float32) / train["bag"]
    bag[:, ~bag.any(axis=0)] = 1.0  # a head that drew no kernel of a small set learns from all
    if out and resume and (out / "checkpoint.pt").exists():
        at.load(out / "checkpoint.pt")
    tiles = [net.prepare(k) for k in fit]
    if net.skip is not None and not at.epoch:
        start_from_ridge(net, tiles, fit, bag)
    steps = train["epochs"] * math.ceil(len(fit) / train["kernels"])
    while at.epoch < train["epochs"]:
        start = time.monotonic()
        loss = tile_epoch(at, tiles, fit, bag, config, steps)
        row = {"epoch": at.epoch, "loss": round(loss, 5)}
        if held:
            figures = validate_tiles(net, held)
            row |= {name: round(value, 4) for name, value in figures.items()}
            figure = figures["tau"] + figures["top1"]
            if not figure <= at.best:
                at.best, at.best_epoch = figure, at.epoch
                at.best_state = {k: v.clone() for k, v in net.state_dict().items()}
        if out:
            row["seconds"] = round(time.monotonic() - start, 2)
            dataset.write_log(out / "log.csv", row)
            at.save(out / "checkpoint.pt", config)
            print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        if held and train["patience"] and at.epoch - at.best_epoch >= train["patience"]:
            break
    if at.best_state:
        net.load_state_dict(at.best_state)
    net.eval()
    return net


@torch.no_grad()
def score_layouts(net: LayoutNet, graph: LayoutGraph, rows: np.ndarray, size: int) -> np.ndarray:
    """Scores in sets of the training size, as the network was trained."""
    net.eval()
    prepared = net.prepare(graph.graph, graph.config_ids)
    parts = [net(prepared, graph.config_feat[rows[i : i + size]]) for i in range(0, len(rows), size)]
    return torch.cat(parts).numpy()


def train_layout(graph: LayoutGraph, config: dict, seed: int, out: Path | None = None) -> tuple[LayoutNet, dict]:
    """Trains on a share of one graph's configurations; figures are over unseen ones."""
    train = config["train"]
    rng = seed_everything(seed)
    settings = LayoutSettings(**config["net"])
    net = LayoutNet(settings, fit_nodes([graph.graph], settings.node_log1p, settings.node_limit))
    order = rng.permutation(len(graph.label))
    test, rest = order[: train["test"]], order[train["test"] :]
    chosen = rest[: int(len(rest) * train["labels"])]
    label, ci = torch.from_numpy(graph.label).float(), torch.zeros(train["configs"])
    optimizer = torch.optim.AdamW(net.parameters(), lr=train["learning_rate"], weight_decay=train["weight_decay"])
    prepared = net.prepare(graph.graph, graph.config_ids)
    per_epoch = len(chosen) // train["configs"]
    steps, step, start = train["epochs"] * per_epoch, 0, time.monotonic()
    net.train()
    while step < steps and time.monotonic() - start < 60 * train["minutes"]:
        if step % per_epoch == 0:
            chosen = rng.permutation(chosen)
        at = step % per_epoch * train["configs"]
        rows = chosen[at : at + train["configs"]]
        for group in optimizer.param_groups:
            group["lr"] = train["learning_rate"] * cosine(step, steps, train["warm_up"])
        loss = losses.combined(net(prepared, graph.config_feat[rows]), label[rows], ci, config["loss"])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        step += 1
        if out and step % 10 == 0:
            row = {"step": step, "loss": round(float(loss.detach()), 5), "seconds": round(time.monotonic() - start, 1)}
            dataset.write_log(out / "log.csv", row)
            print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    score = score_layouts(net, graph, test, train["configs"])
    figures = metrics.all_metrics(score, np.exp(graph.label[test]))
    return net, {"steps": step, "labels": len(chosen), **figures}


def save_network(path: Path, net: TileNet | LayoutNet, card: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"net": net, "card": card}, path)


def load_network(path: Path) -> tuple[TileNet | LayoutNet, dict]:
    state = torch.load(path, weights_only=False)
    state["net"].eval()
    return state["net"], state["card"]


def load_config(path: Path, settings: Sequence[str] = ()) -> dict:
    """The file's settings, changed by lines like train.epochs=5."""
    config = tomllib.loads(path.read_text())
    for setting in settings:
        name, equals, value = setting.partition("=")
        section, _, key = name.partition(".")
        if not equals or not key or section not in config:
            raise ValueError(f"--set {setting}: expected SECTION.KEY=VALUE")
        config[section][key] = tomllib.loads(f"v = {value}")["v"]
    return config


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="model.train.train", description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, required=True, help="a .toml file, e.g. model/train/tile.toml")
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders or files of measured data")
    parser.add_argument("--out", type=Path, required=True, help="folder of checkpoint, network and log")
    parser.add_argument("--hold-out", nargs="*", default=[], metavar="FAMILY", help="families not to train on")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--resume", action="store_true", help="go on from OUT/checkpoint.pt")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    try:
        config = load_config(options.config, options.set)
        options.out.mkdir(parents=True, exist_ok=True)
        if not options.resume:
            (options.out / "log.csv").unlink(missing_ok=True)
        if config["network"] == "layout":
            graph = dataset.read_layout(options.data[0])
            net, figures = train_layout(graph, config, options.seed, options.out)
            card = {"data": options.data[0].name, "seed": options.seed, "config": config, "figures": figures}
        else:
            kernels, test = dataset.split_families(dataset.find_tiles(options.data), options.hold_out)
            net = train_tile(kernels, config, options.seed, options.out, options.resume)
            figures = validate_tiles(net, test) if test else {}
            families = sorted({k.family for k in kernels})
            configs = sum(len(k.label) for k in kernels)
            card = {"kernels": len(kernels), "configurations": configs, "families": families}
            card |= {"seed": options.seed, "config": config, "held_out": options.hold_out, "figures": figures}
    except (OSError, ValueError, KeyError) as fault:
        print(f"train: {fault}", file=sys.stderr)
        return 2
    card["figures"] = {name: round(value, 4) for name, value in card["figures"].items()}
    save_network(options.out / "network.pt", net, card)
    print(f"wrote {options.out / 'network.pt'}: {card['figures']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
