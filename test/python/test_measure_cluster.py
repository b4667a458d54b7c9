# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measuring over Ray, with several nodes on this machine."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="NumPy isn't installed (model/measure/requirements.txt)")
pytest.importorskip("ray", reason="Ray isn't installed (model/measure/requirements.txt)")

from model.measure import cluster, worker  # noqa: E402
from model.measure.work import Kernel, Ledger  # noqa: E402
from model.measure.worker import Outcome  # noqa: E402
from model.train import dataset  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = sorted((ROOT / "model/data/avx512").glob("*.npz"))[0]
FAKE = shlex.join([sys.executable, str(Path(__file__).parent / "fake_tgraph.py")])
BUILD = Path(os.environ.get("TGRAPH_BUILD", ROOT / "build"))


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the stand-in; the nodes' processes know it from their environment."""
    folder = tmp_path_factory.mktemp("fake")
    shutil.copy(TEMPLATE, folder / "template.npz")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FAKE_TGRAPH", str(folder))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_niceness", "0")
        yield folder


@pytest.fixture(scope="module")
def nodes(fake: Path) -> Iterator[object]:
    """A head that measures nothing, and two nodes that do."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(2):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture(autouse=True)
def fresh_log(fake: Path) -> None:
    (fake / "log").unlink(missing_ok=True)


def write_program(folder: Path, names: list[str]) -> tuple[Path, dict[str, str]]:
    kernels = {f"{i:016x}": name for i, name in enumerate(names, 1)}
    path = folder / "net.mlir"
    path.write_text("".join(f"{key} {name}\n" for key, name in kernels.items()))
    return path, kernels


def read_log(fake: Path) -> list[list[str]]:
    path = fake / "log"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def stored(folder: Path) -> set[str]:
    return {path.stem.removeprefix("kernel-") for path in folder.glob("kernel-*.npz")}


def measure(program: Path, out: Path, nodes: object, *more: str) -> int:
    return cluster.main([str(program), "-o", str(out), "--address", nodes.address, "--tgraph", FAKE, *more])


def test_a_second_run_does_what_is_left(tmp_path: Path, fake: Path, nodes: object) -> None:
    program, kernels = write_program(tmp_path, ["a", "b", "bad", "c"])
    out = tmp_path / "out"
    assert measure(program, out, nodes, "--attempts", "1") == cluster.FAILED
    lost = sorted(stored(out / "avx512"))[0]
    (out / f"avx512/kernel-{lost}.npz").unlink()
    (fake / "log").unlink()
    assert measure(program, out, nodes, "--attempts", "1") == cluster.FAILED
    assert [row[1] for row in read_log(fake) if row[0] == "start"] == [lost]
    assert stored(out / "avx512") == {key for key, name in kernels.items() if name != "bad"}
    (fake / "log").unlink()
    measure(program, out, nodes, "--attempts", "1", "--retry-failed")
    assert [kernels[row[1]] for row in read_log(fake) if row[0] == "start"] == ["bad"]


def test_bad_input_is_told(tmp_path: Path, fake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cluster.main([str(tmp_path / "none.mlir"), "-o", str(tmp_path / "out"), "--tgraph", FAKE]) == 2
    assert "none.mlir" in capsys.readouterr().err
    assert cluster.main([str(tmp_path / "none.mlir"), "-o", str(tmp_path / "out"), "--tgraph", "no-such-tool"]) == 2
    assert "no-such-tool" in capsys.readouterr().err


@pytest.mark.skipif(not (BUILD / "bin/tgraph").exists(), reason=f"{BUILD}/bin/tgraph isn't built")
def test_the_tool_itself_on_a_node(tmp_path: Path, nodes: object) -> None:
    program = ROOT / "test/passes/tool-measure.mlir"
    arguments = [str(program), "-o", str(tmp_path), "--address", nodes.address, "--configs", "3", "--core", "0"]
    assert cluster.main([*arguments, "--tgraph", str(BUILD / "bin/tgraph")]) == cluster.GOOD
    (path,) = tmp_path.glob("*/kernel-*.npz")
    kernel = dataset.read_tile(path)
    assert kernel.kernel == "tool-measure.matmul.16x16_16" and len(kernel.label) >= 2
    with np.load(path) as data:
        assert str(data["sources"]) == "tool-measure"


def test_a_node_dies_and_nothing_is_lost(
    tmp_path: Path, fake: Path, nodes: object, capsys: pytest.CaptureFixture[str]
) -> None:
    program, kernels = write_program(tmp_path, [f"k{i}" for i in range(12)] + ["bad"])
    victim = nodes.list_all_nodes()[-1]

    def kill_later() -> None:
        while sum(row[0] == "end" for row in read_log(fake)) < 3:
            time.sleep(0.05)
        nodes.remove_node(victim, allow_graceful=False)

    killer = threading.Thread(target=kill_later)
    killer.start()
    status = measure(program, tmp_path / "out", nodes, "--attempts", "2", "--wait", "20")
    killer.join()
    assert status == cluster.FAILED  # of the bad kernel alone
    good = {key for key, name in kernels.items() if name != "bad"}
    folder = tmp_path / "out/avx512"
    assert stored(folder) == good
    assert {p.name for p in folder.iterdir()} == {f"kernel-{k}.npz" for k in good} | {"failures.jsonl"}
    for path in folder.glob("*.npz"):
        assert dataset.read_tile(path).kernel == kernels[path.stem.removeprefix("kernel-")]
    rows = [json.loads(line) for line in (folder / "failures.jsonl").read_text().splitlines()]
    assert [(row["kernel"], row["attempts"]) for row in rows] == [("bad", 2)]
    assert "nothing to store" in rows[0]["status"]
    log = read_log(fake)
    ends = Counter(row[1] for row in log if row[0] == "end")
    both = {row[2] for row in log}
    assert len(both) >= 2, "only one node took part"
    # What the dead node had finished but not yet handed over is all that may have run to its end twice.
    assert sum(count - 1 for count in ends.values()) <= 1
    said = capsys.readouterr().err
    assert "the worker died; k" in said and "12 kernels measured, 0 to go, 1 failed" in said


# ---- the ledger alone


def make_ledger(folder: Path, count: int = 2, **more: object) -> Ledger:
    kernels = [Kernel(f"{i:016x}", f"k{i}", ()) for i in range(count)]
    return Ledger(folder, kernels, **({"attempts": 2, "retry_failed": False} | more))


def test_another_worker_is_asked_first(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, 1)
    kernel = ledger.take("a")
    assert kernel and ledger.take("b") is None
    ledger.fail(kernel, "no luck")
    assert ledger.take("b") == kernel
    ledger.fail(kernel, "no luck either")
    assert ledger.left == 0 and ledger.failed == 1
    assert make_ledger(tmp_path, 1).left == 0
    assert make_ledger(tmp_path, 1, retry_failed=True).left == 1


def test_a_kernel_that_failed_here_waits_for_others(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, 2, attempts=3)
    first = ledger.take("a")
    ledger.fail(first, "no luck")
    assert ledger.take("a") != first
    assert ledger.take("a") == first  # nobody else is there


@pytest.mark.parametrize("data", [b"", b"no zip", TEMPLATE.read_bytes()[:-40]])
def test_what_is_no_data_file_is_not_kept(tmp_path: Path, data: bytes) -> None:
    ledger = make_ledger(tmp_path, 1, attempts=1)
    kernel = ledger.take("a")
    ledger.finish(kernel, Outcome(data, "", "", "host"))
    assert not stored(tmp_path) and ledger.failed == 1
    assert "host: " in json.loads((tmp_path / "failures.jsonl").read_text())["status"]


def test_the_data_of_another_kernel_are_not_kept(tmp_path: Path) -> None:
    ledger = make_ledger(tmp_path, 1, attempts=1)
    ledger.finish(ledger.take("a"), Outcome(TEMPLATE.read_bytes(), "", "", "host"))
    assert not stored(tmp_path)
    assert "sent the kernel" in (tmp_path / "failures.jsonl").read_text()


def test_a_killed_worker_leaves_no_child() -> None:
    code = (
        "import subprocess, sys, time; from model.measure.worker import become_tool;"
        "child = subprocess.Popen(['sleep', '60'], preexec_fn=become_tool); print(child.pid, flush=True);"
        "time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    for _ in range(100):
        stat = Path(f"/proc/{child}/stat")
        if not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z":
            return
        time.sleep(0.05)
    raise AssertionError("the child lives on")


def test_the_last_line_is_the_reason() -> None:
    assert worker.last_line("a\n\n b\rc  \n\n") == "c"
    assert worker.last_line("") == ""
