# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The results file: JSON lines that are only ever appended to, so that a run that was stopped goes on.

  {"kind": "program", "workload", "peer", "stamp", "error", "unsupported", "max_rel_error", "compile_s"}
  {"kind": "round", "workload", "machine", "peak_gflops", "times": {PEER: {"stamp", "median_us", "best_us", "calls"}}}

A stamp names what was measured: versions and the program. What has another stamp than now is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Stamps = Mapping[tuple[str, str], str]  # (workload, peer) -> stamp


class BadResults(Exception):
    pass


@dataclass
class Round:
    times: dict[str, float]  # peer -> microseconds
    peak_gflops: float


@dataclass
class Measured:
    """What the file holds of a workload, as far as it is of the present."""

    rounds: list[Round] = field(default_factory=list)
    programs: dict[str, dict[str, Any]] = field(default_factory=dict)  # peer -> the latest attempt

    def count(self, peer: str) -> int:
        return sum(peer in r.times for r in self.rounds)

    def failure(self, peer: str) -> str | None:
        return self.programs.get(peer, {}).get("error")


def append(path: Path, record: Mapping[str, Any]) -> None:
    """A line that a stopped run left unfinished is closed first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(record) + "\n"
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            file.seek(-1, 2)
            if file.read(1) != b"\n":
                text = "\n" + text
    with path.open("a") as file:
        file.write(text)


def _records(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    records = []
    lines = path.read_text().split("\n")
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            if not line.startswith('{"kind": '):
                raise BadResults(f"{path}:{number}: no line of a results file: {error}") from None
            continue  # cut off when a run was stopped
        if not isinstance(record, dict) or record.get("kind") not in ("program", "round"):
            raise BadResults(f"{path}:{number}: no record of a results file")
        records.append(record)
    return records


def load(path: Path, stamps: Stamps, machine: str) -> dict[str, Measured]:
    """By workload; only what was measured on this machine and has the given stamps."""
    found: dict[str, Measured] = {}
    for record in _records(path):
        workload = record["workload"]
        measured = found.setdefault(workload, Measured())
        if record["kind"] == "program":
            if stamps.get((workload, record["peer"])) == record["stamp"]:
                measured.programs[record["peer"]] = record
        elif record["machine"] == machine:
            times = {
                peer: time["median_us"]
                for peer, time in record["times"].items()
                if stamps.get((workload, peer)) == time["stamp"]
            }
            if times:
                measured.rounds.append(Round(times, record["peak_gflops"]))
    return found
