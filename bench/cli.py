# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: see `bench/run --help` and README.md."""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO

from bench import environment, networks
from bench.networks import NETWORKS, NetworkRow
from bench.peers import BY_KEY as PEERS_BY_KEY
from bench.peers import NETWORK_INDEX, NETWORK_PACKAGES, PEERS, PeerRow
from bench.workloads import BY_KEY as WORKLOADS_BY_KEY
from bench.workloads import WORKLOADS, Workload

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "bench" / "work"
BUILT = ROOT / "build" / "bin" / "tgraph"


class BadInput(Exception):
    pass


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Runs TGraph's code against other compilers and libraries: one core, one thread, all in turns. "
        "Installs the peers into bench/.venv first. A run that was stopped goes on where it was.",
        epilog="workloads: "
        + ", ".join(WORKLOADS_BY_KEY)
        + ". networks: "
        + ", ".join(networks.BY_KEY)
        + ". peers: "
        + ", ".join(PEERS_BY_KEY)
        + ".",
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="keys of workloads (default: all)")
    parser.add_argument("--networks", action="store_true", help="whole networks: the keys are those of networks")
    parser.add_argument("--peers", metavar="KEY,...", help="only these, and ours (default: all but the opt-in ones)")
    parser.add_argument("--halide", action="store_true", help="Halide as well (schedules by adams2019)")
    parser.add_argument("--tvm", action="store_true", help="TVM as well (minutes of tuning for each workload)")
    parser.add_argument("--trials", type=int, default=64, help="of TVM's tuning (default 64)")
    parser.add_argument(
        "--isa",
        choices=("host", "avx2"),
        default="host",
        help="avx2: without AVX-512; peers that can't be told are left out",
    )
    parser.add_argument("--rounds", type=int, help="(default 15, of networks 9)")
    parser.add_argument("--sample-ms", type=float, default=20, help="of each peer in each round (default 20)")
    parser.add_argument("--core", type=int, default=min(1, (os.cpu_count() or 1) - 1), help="to time on (default 1)")
    parser.add_argument("--priority", type=int, default=0, help="nice value while timing; below 0 needs root")
    parser.add_argument("--lock", type=Path, help="file to lock while timing, for at most about a minute at a time")
    parser.add_argument(
        "--group", type=int, default=1, help="workloads prepared before any of them is timed (default 1)"
    )
    parser.add_argument("--prepare-seconds", type=float, default=3600, help="limit for a compilation (default 3600)")
    parser.add_argument("--seed", type=int, default=0, help="of the orders in the rounds")
    parser.add_argument(
        "--tgraph", type=Path, default=BUILT, help="the tool (default build/bin/tgraph, made if need be)"
    )
    parser.add_argument(
        "--results", type=Path, default=FOLDER / "results.jsonl", help="(default bench/work/results.jsonl)"
    )
    parser.add_argument(
        "--output", type=Path, default=FOLDER, metavar="DIR", help="for table and chart (default bench/work)"
    )
    parser.add_argument("--no-install", action="store_true", help="take what bench/.venv holds")
    parser.add_argument("--report", action="store_true", help="measure nothing: table and chart of what there is")
    parser.add_argument("--fresh", action="store_true", help="put the results file aside and start over")
    found = parser.parse_args(arguments)
    found.rounds = (9 if found.networks else 15) if found.rounds is None else found.rounds
    if min(found.rounds, found.trials, found.group) < 1 or not 0.1 <= found.sample_ms <= 10_000:
        parser.error("--rounds, --trials and --group are at least 1, --sample-ms lies between 0.1 and 10000")
    if not 0 <= found.core < (os.cpu_count() or 1):
        parser.error(f"--core: this machine has the cores 0 to {(os.cpu_count() or 1) - 1}")
    return found


def choose_workloads(keys: list[str]) -> list[Workload]:
    for key in keys:
        if key not in WORKLOADS_BY_KEY:
            raise BadInput(f"there is no workload '{key}', but {', '.join(WORKLOADS_BY_KEY)}")
    return [w for w in WORKLOADS if not keys or w.key in keys]


def choose_networks(keys: list[str]) -> list[NetworkRow]:
    for key in keys:
        if key not in networks.BY_KEY:
            raise BadInput(f"there is no network '{key}', but {', '.join(networks.BY_KEY)}")
    return [n for n in NETWORKS if not keys or n.key in keys]


def choose_peers(
    text: str | None, with_halide: bool = False, with_tvm: bool = False, of_networks: bool = False
) -> list[PeerRow]:
    wanted = {p.key for p in PEERS if not p.opt_in}
    if text is not None:
        wanted = {key.strip() for key in text.split(",")} | {"ours"}
        for key in sorted(wanted):
            if key not in PEERS_BY_KEY:
                raise BadInput(f"--peers: there is no '{key}', but {', '.join(PEERS_BY_KEY)}")
    wanted |= {key for key, flag in (("halide", with_halide), ("tvm", with_tvm)) if flag}
    return [p for p in PEERS if p.key in wanted and (p.networks if of_networks else p.operations)]


def _build_tool(path: Path) -> None:
    if path.exists():
        return
    if path != BUILT:
        raise BadInput(f"--tgraph: there is no {path}")
    for command in (
        ["scripts/install"],
        ["cmake", "--preset", "default"],
        ["cmake", "--build", "--preset", "default", "--target", "tgraph_tool"],
    ):
        environment.say(f"bench: {' '.join(command)}")
        if subprocess.run(command, cwd=ROOT, stdout=sys.stderr).returncode:
            raise BadInput(f"{command[0]} failed, see above")


def _file_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def _machine() -> str:
    """The model of the CPU and what vectors it has."""
    text = Path("/proc/cpuinfo").read_text()
    fields = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    flags = set(fields.get("flags", "").split())
    vectors = "AVX-512" if "avx512f" in flags else "AVX2" if "avx2" in flags else "128 bit"
    return f"{fields.get('model name', platform.machine())}, {vectors}"


def _openblas_version() -> str:
    name = ctypes.util.find_library("openblas")
    if not name:
        return "no OpenBLAS"
    library = ctypes.CDLL(name)
    library.openblas_get_config.restype = library.openblas_get_corename.restype = ctypes.c_char_p
    version = " ".join(library.openblas_get_config().decode().split()[:2])
    return f"{version} for {library.openblas_get_corename().decode()}"


def _peer_versions(rows: list[PeerRow], tgraph: Path, trials: int) -> dict[str, str]:
    """What a peer's results depend on; a peer that can't run is not in it."""
    found: dict[str, str] = {}
    for row in rows:
        if row.module == "mlir":
            found[row.key] = f"tgraph {_file_hash(tgraph)}"
            continue
        if row.module == "openblas":
            found[row.key] = _openblas_version()
            continue
        version = environment.versions(row)
        if version:
            found[row.key] = version + (f", {trials} trials" if row.module == "tvm" else "")
    return found


def _stamps(chosen: list[Workload | NetworkRow], versions: dict[str, str]) -> dict[tuple[str, str], str]:
    from bench import linalg

    stamps = {}
    for w in chosen:
        if isinstance(w, NetworkRow):
            program = networks.stamp(_network_versions())
        else:
            program = hashlib.sha256(linalg.write(w.graph()).encode()).hexdigest()[:12]
        stamps.update({(w.key, key): f"{version}; program {program}" for key, version in versions.items()})
    return stamps


def _network_versions() -> str:
    row = PeerRow("networks", "the networks' maker", "", packages=NETWORK_PACKAGES)
    versions = environment.versions(row)
    if versions is None:
        raise BadInput("the networks can't be made without it")
    return versions


def _write_networks(chosen: list[NetworkRow]) -> None:
    """In processes of their own: they need much memory, and PyTorch."""
    from bench import crew

    stamp, folder = networks.stamp(_network_versions()), FOLDER / "networks"
    for row in chosen:
        if networks.find(row.key, folder, stamp):
            continue
        environment.say(f"bench: making {row.title}")
        command = [sys.executable, "-m", "bench.network_files", row.key, str(folder / row.key), stamp]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **crew.ENVIRONMENT}, capture_output=True, text=True)
        if done.returncode:
            raise BadInput(f"{row.title} can't be made: {done.stderr.strip()[-600:]}")


def _claim_folder() -> IO[str]:
    """As long as the file is open no other run uses bench/work: two would disturb each other."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    claim = (FOLDER / "in-use").open("a")
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"another bench/run is measuring in {FOLDER}") from None
    return claim


def _report(a: argparse.Namespace, chosen: list[Workload], measured: dict, facts: dict[str, str]) -> None:
    from bench import chart, summary, table

    made = summary.summarize(chosen, measured)
    if not made.lines:
        raise BadInput(f"{a.results} holds nothing of these workloads that fits the present versions")
    a.output.mkdir(parents=True, exist_ok=True)
    text = table.markdown(made, facts)
    (a.output / "table.md").write_text(text)
    (a.output / "table.csv").write_text(table.to_csv(made))
    (a.output / "table.json").write_text(table.to_json(made, facts))
    chart.draw(made, [a.output / "chart.png", a.output / "chart.svg"])
    print(text)
    print(f"bench: written to {a.output}: table.md, table.csv, table.json, chart.png, chart.svg", file=sys.stderr)


def _report_networks(a: argparse.Namespace, chosen: list[NetworkRow], measured: dict, facts: dict[str, str]) -> None:
    from bench import chart, network_table, summary, table

    def flops(row: NetworkRow) -> int:
        return networks.Network(row.key, FOLDER / "networks" / row.key).flops

    chosen = [row for row in chosen if row.key in measured and measured[row.key].count(summary.OURS)]
    if not chosen:
        raise BadInput(f"{a.results} holds nothing of these networks that fits the present versions")
    made = summary.summarize(chosen, measured, flops)
    packed_key = network_table.OURS_PACKED
    base = packed_key if packed_key in made.peers(True) else summary.OURS
    packed = summary.summarize(chosen, measured, flops, base)
    a.output.mkdir(parents=True, exist_ok=True)
    text, rows = network_table.markdown(made, packed, base, facts), network_table.records(made, packed, base)
    (a.output / "networks.md").write_text(text)
    (a.output / "networks.csv").write_text(table.rows_to_csv(rows))
    (a.output / "networks.json").write_text(network_table.to_json(rows, facts, made.peak_gflops))
    chart.draw(made, [a.output / "networks.png", a.output / "networks.svg"], constant_too=True)
    print(text)
    print(f"bench: written to {a.output}: networks.md, .csv, .json, .png, .svg", file=sys.stderr)


def _measure(a: argparse.Namespace, chosen: list[Workload] | list[NetworkRow], rows: list[PeerRow]) -> int:
    from bench import crew as crews
    from bench import measure, results

    os.environ.update(crews.ISA_ENVIRONMENT[a.isa])  # OpenBLAS's version names the core that it chose
    tgraph = a.tgraph.resolve()
    versions = _peer_versions(rows, tgraph, a.trials)
    rows = [row for row in rows if row.key in versions and (row.takes_isa or a.isa == "host")]
    stamps, machine = _stamps(chosen, versions), _machine() + (", told to use AVX2" if a.isa == "avx2" else "")
    if a.fresh and a.results.exists() and not a.report:
        a.results.replace(a.results.with_suffix(".old.jsonl"))
    claim = None if a.report else _claim_folder()
    try:
        measured = results.load(a.results, stamps, machine)
    except results.BadResults as error:
        raise BadInput(str(error)) from None
    if claim:
        settings = measure.Settings(
            a.rounds, a.sample_ms, a.core, a.priority, a.prepare_seconds, FOLDER, a.results, a.lock, a.seed,
            {"tgraph": str(tgraph), "isa": a.isa, "trials": a.trials, "cache": str(FOLDER / "tuned")},
        )  # fmt: skip
        lock = measure.Lock(a.lock)
        if a.networks:
            _write_networks(chosen)
        with measure.crew_of(rows, settings) as crew:
            races = []
            for workload in chosen:
                present = measured.setdefault(workload.key, results.Measured())
                if not measure.is_complete(workload, rows, present, a.rounds):
                    races.append(measure.Race(workload, crew, stamps, machine, present))
            for start in range(0, len(races), a.group):
                measure.run_races(races[start : start + a.group], lock)
        claim.close()
    parts = {part for version in versions.values() for part in version.split(", ")}
    facts = {"machine": machine, "versions": ", ".join(sorted(parts))}
    (_report_networks if a.networks else _report)(a, chosen, measured, facts)
    return 0


def main(arguments: list[str]) -> int:
    try:
        a = _parse(arguments)
        chosen = (choose_networks if a.networks else choose_workloads)(a.workloads)
        rows = choose_peers(a.peers, a.halide, a.tvm, a.networks)
        if not environment.inside():
            maker = PeerRow("", "the networks", "", packages=NETWORK_PACKAGES, index=NETWORK_INDEX)
            if not a.no_install and not environment.ensure([*rows, maker] if a.networks else rows):
                return 1
            if not environment.PYTHON.exists():
                raise BadInput(f"there is no {environment.PYTHON}; run without --no-install")
            run = [str(environment.PYTHON), str(ROOT / "bench" / "run"), *arguments]
            os.execv(run[0], run)
        if not shutil.which("cc"):
            raise BadInput("there is no C compiler cc, which links the measured code")
        _build_tool(a.tgraph)
        return _measure(a, chosen, rows)
    except (BadInput, OSError) as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nbench: stopped; the same command goes on from here", file=sys.stderr)
        return 130
