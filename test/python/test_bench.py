# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/ without its peers: programs, results, summaries, tables. What needs NumPy, ONNX or matplotlib is skipped
where they are missing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from bench import cli, linalg, network_table, networks, results, summary, table
from bench.peers import BY_KEY, PEERS, PeerRow
from bench.workloads import BY_KEY as WORKLOADS
from bench.workloads import Workload

STAMPS = {("fc", "ours"): "1", ("fc", "iree"): "1", ("fc", "iree-dt"): "1", ("fc", "ort"): "1", ("fc", "ort-cw"): "1"}


def put_round(path: Path, workload: str = "fc", machine: str = "m", peak: float = 100.0, **times: float) -> None:
    found = {peer.replace("_", "-"): {"stamp": "1", "median_us": t} for peer, t in times.items()}
    results.append(
        path, {"kind": "round", "workload": workload, "machine": machine, "peak_gflops": peak, "times": found}
    )


def put_program(path: Path, peer: str, stamp: str = "1", error: str | None = None, **more: object) -> None:
    results.append(path, {"kind": "program", "workload": "fc", "peer": peer, "stamp": stamp, "error": error, **more})


# ---- programs ----


@pytest.mark.parametrize(
    ("key", "gflop"), [("matmul-512", 0.268435), ("conv-224-k7", 0.236028), ("depthwise", 0.005419), ("mlp", 0.085590)]
)
def test_flops(key: str, gflop: float) -> None:
    assert WORKLOADS[key].graph().flops * 1e-9 == pytest.approx(gflop, rel=1e-4)


def test_keys_are_unique() -> None:
    assert len(BY_KEY) == len(PEERS)
    assert len({w.title for w in WORKLOADS.values()}) == len(WORKLOADS)


def test_linalg_text() -> None:
    text = linalg.write(WORKLOADS["conv-7-k3"].graph())
    assert "linalg.conv_2d_nchw_fchw" in text
    assert "tensor<1x512x7x7xf32> to tensor<1x512x9x9xf32>" in text
    assert text.count("func.func") == 1


def test_linalg_grouping() -> None:
    assert linalg.grouping((128, 12, 64), (128, 768)) == [[0], [1, 2]]
    assert linalg.grouping((2, 3, 4), (24,)) == [[0, 1, 2]]
    with pytest.raises(ValueError, match="does not join"):
        linalg.grouping((4, 3), (3, 4))


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_programs_are_valid(workload: Workload) -> None:
    mlir_opt = shutil.which("mlir-opt-22") or shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")
    if not mlir_opt:
        pytest.skip("there is no mlir-opt")
    import subprocess

    subprocess.run([mlir_opt, "-o", os.devnull], input=linalg.write(workload.graph()), text=True, check=True)


@pytest.mark.parametrize("key", ["resnet-block", "bert-block", "mlp", "depthwise"])
def test_onnx_is_valid(key: str) -> None:
    pytest.importorskip("numpy")
    onnx = pytest.importorskip("onnx")
    from bench import onnx_model
    from bench.data import make_data

    graph = WORKLOADS[key].graph()
    for constants in (None, make_data(graph)):
        model = onnx.load_from_string(onnx_model.write(graph, constants))
        onnx.checker.check_model(model, full_check=True)
        inputs = [p for p in graph.parameters if constants is None or not p.is_weight]
        assert len(model.graph.input) == len(inputs)


def test_data_and_reference() -> None:
    np = pytest.importorskip("numpy")
    from bench.data import make_data, relative_error
    from bench.reference import evaluate

    graph = WORKLOADS["matmul-128"].graph()
    data = make_data(graph)
    assert all(d.ctypes.data % 64 == 0 and d.dtype == np.float32 for d in data)
    assert all((a == b).all() for a, b in zip(data, make_data(graph), strict=True))
    reference = evaluate(graph, data)
    assert relative_error(data[0] @ data[1], reference) < 1e-5
    wrong = reference.copy()
    wrong[3, 4] += 1
    assert relative_error(wrong, reference) > 1e-2
    wrong[3, 4] = np.nan
    assert relative_error(wrong, reference) == float("inf")


def test_reference_of_a_convolution() -> None:
    np = pytest.importorskip("numpy")
    from bench.graph import Graph
    from bench.reference import evaluate

    graph = Graph()
    graph.conv(graph.input(1, 2, 5, 5), graph.weight(3, 2, 3, 3), 2, 1)
    x, w = (np.random.default_rng(0).normal(size=p.value.shape).astype(np.float32) for p in graph.parameters)
    result = evaluate(graph, [x, w])
    assert result.shape == (1, 3, 3, 3)
    # the corner sees no padding but above and to the left
    assert result[0, 1, 0, 0] == pytest.approx(float((x[0, :, :2, :2] * w[1, :, 1:, 1:]).sum()), rel=1e-5)
    assert result[0, 2, 1, 2] == pytest.approx(float((x[0, :, 1:4, 3:] * w[2, :, :, :2]).sum()), rel=1e-5)


# ---- results: stop and go on ----


def test_results_go_on(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "r.jsonl"
    assert results.load(path, STAMPS, "m") == {}
    put_round(path, ours=10, iree=20)
    with path.open("a") as file:
        file.write('{"kind": "round", "workl')  # stopped while it wrote
    put_round(path, ours=11, iree=19)
    put_round(path, machine="other", ours=1, iree=1)
    measured = results.load(path, STAMPS, "m")["fc"]
    assert [r.times for r in measured.rounds] == [{"ours": 10, "iree": 20}, {"ours": 11, "iree": 19}]
    assert measured.count("iree") == 2 and measured.count("ort") == 0


def test_results_of_other_versions_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    put_round(path, ours=10, iree=20)
    put_program(path, "iree", error="old", stamp="0")
    new = {**STAMPS, ("fc", "iree"): "2"}
    measured = results.load(path, new, "m")["fc"]
    assert measured.count("ours") == 1 and measured.count("iree") == 0
    assert measured.failure("iree") is None


@pytest.mark.parametrize("text", ["nonsense\n", '{"a": 1}\n', "[]\n"])
def test_results_file_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    with pytest.raises(results.BadResults, match="r.jsonl:1"):
        results.load(path, STAMPS, "m")


def test_is_complete(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    from bench import measure

    path = tmp_path / "r.jsonl"
    rows = [BY_KEY["ours"], BY_KEY["iree"], BY_KEY["ort"]]

    def complete(rounds: int = 3) -> bool:
        return measure.is_complete(WORKLOADS["fc"], rows, results.load(path, STAMPS, "m")["fc"], rounds)

    for _ in range(3):
        put_round(path, ours=10, iree=20)
    assert not complete()  # ort was never tried
    for peer in ("ours", "iree"):
        put_program(path, peer)
    put_program(path, "ort", error="no such thing", unsupported=True)
    assert complete()
    assert not complete(rounds=5)
    put_program(path, "ort", error="it crashed")
    assert not complete()  # a failure is tried again


# ---- summaries ----


def test_interval() -> None:
    nine = summary.median_interval([float(i) for i in range(9)])
    assert (nine.median, nine.low, nine.high) == (4, 1, 7)  # 96.1 % by order statistics
    few = summary.median_interval([3.0, 1.0, 2.0])
    assert (few.median, few.low, few.high) == (2, 1, 3)
    one = summary.median_interval([5.0])
    assert (one.median, one.low, one.high) == (5, 5, 5)


@pytest.fixture
def made(tmp_path: Path) -> summary.Summary:
    path = tmp_path / "r.jsonl"
    for i in range(7):
        slow = 10.0 if i == 3 else 1.0  # a round that was disturbed altogether
        put_round(path, ours=100 * slow, iree=300 * slow, iree_dt=200 * slow, ort=90 * slow, ort_cw=50 * slow)
    put_program(path, "iree", error="it crashed at last")
    return summary.summarize([WORKLOADS["fc"], WORKLOADS["mlp"]], results.load(path, STAMPS, "m"))


def test_summary(made: summary.Summary) -> None:
    (line,) = made.lines
    assert line.gflops["ours"] == pytest.approx(4096e3 / 100e-6 * 1e-9)
    assert line.ratio["iree"].median == 3 and line.ratio["iree"].high == 3
    assert line.best == "ort"  # constant weights are no opponent of weights as arguments
    assert line.best_iree == "iree-dt"
    assert made.peak_gflops == 100
    assert made.peers(True) == ["ort-cw"]


def test_geometric_mean() -> None:
    assert summary.geometric_mean([0.5, 2.0]) == pytest.approx(1)


def test_markdown(made: summary.Summary) -> None:
    text = table.markdown(made, {"machine": "test"})
    row = next(line for line in text.splitlines() if line.startswith("| fc 1x2048x1000"))
    assert "| ONNX Runtime | 0.90 [0.90, 0.90] | 2.00 [2.00, 2.00] |" in row
    assert "| **46** |" in row
    assert "| ours : best peer of each, single operations | 0.90 | 1 |" in text
    assert "constant weights, which may be packed" in text
    assert "- fc 1x2048x1000, IREE: it crashed at last" in text


def test_csv_and_json(made: summary.Summary) -> None:
    rows = table.to_csv(made).splitlines()
    assert rows[0].split(",")[:4] == ["workload", "peer", "gflops", "time_over_ours"]
    assert len(rows) == 6
    content = json.loads(table.to_json(made, {"machine": "test"}))
    assert content["means"]["ours : IREE's better setting, single operations"] == pytest.approx(2)
    assert [r["peer"] for r in content["results"] if r["best_peer"]] == ["ort"]


def test_chart(made: summary.Summary, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench import chart

    paths = [tmp_path / "c.png", tmp_path / "c.svg"]
    chart.draw(made, paths)
    assert paths[0].read_bytes()[:4] == b"\x89PNG"
    assert "</svg>" in paths[1].read_text()


# ---- the command line ----


def test_choices() -> None:
    assert [w.key for w in cli.choose_workloads(["mlp", "fc"])] == ["fc", "mlp"]
    assert [p.key for p in cli.choose_peers("iree")] == ["ours", "iree"]
    keys = [p.key for p in cli.choose_peers(None)]
    assert "tvm" not in keys and "ort-cw" in keys
    assert "tvm" in [p.key for p in cli.choose_peers(None, with_tvm=True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nothing"], "no workload 'nothing'"), (["--peers", "gcc"], "there is no 'gcc'")],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err


def test_bad_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--rounds", "0"])
    assert "--rounds" in capsys.readouterr().err


# ---- workers ----


def settings(tmp_path: Path, tgraph: str):
    from bench import measure

    return measure.Settings(
        rounds=2, sample_ms=1, core=0, priority=0, prepare_s=300, folder=tmp_path, results=tmp_path / "r.jsonl",
        lock=tmp_path / "lock", seed=0, options={"tgraph": tgraph, "isa": "host"},
    )  # fmt: skip


def test_a_peer_that_does_not_start_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numpy")
    from bench import measure

    row = PeerRow("ours", "TGraph", "mlir")
    with measure.crew_of([row], settings(tmp_path, "/no/such/tool")) as crew:
        assert crew.start(row) is None
        assert crew.start(row) is None  # and not tried again
    assert capsys.readouterr().err.count("TGraph is left out") == 1


def test_race(tmp_path: Path) -> None:
    """Ours against stock and OpenBLAS, if it is there: compiled, compared, timed, stored, and nothing left to do."""
    pytest.importorskip("numpy")
    tgraph = Path(os.environ.get("TGRAPH_BUILD", Path(__file__).resolve().parents[2] / "build")) / "bin" / "tgraph"
    if not tgraph.exists() or not shutil.which("cc") or sys.platform != "linux":
        pytest.skip("needs the tool and cc")
    from bench import measure

    rows = [BY_KEY["ours"], BY_KEY["stock"], BY_KEY["openblas"]]
    work = WORKLOADS["matmul-128"]
    stamps = {(work.key, row.key): "1" for row in rows}
    s = settings(tmp_path, str(tgraph))
    with measure.crew_of(rows, s) as crew:
        measure.run_races([measure.Race(work, crew, stamps, "m", results.Measured())], measure.Lock(s.lock))
    measured = results.load(s.results, stamps, "m")[work.key]
    assert measured.failure("ours") is None and measured.failure("stock") is None
    assert measured.count("ours") == 2 and measured.count("stock") == 2
    assert measured.programs["ours"]["max_rel_error"] < 1e-5
    usable = [row for row in rows if row.key in measured.programs]
    assert measure.is_complete(work, usable, measured, 2)


# ---- networks ----


@pytest.fixture
def network(tmp_path: Path) -> networks.Network:
    """The files of a network, as small as can be: y = x w."""
    np = pytest.importorskip("numpy")
    folder = tmp_path / "networks" / "resnet18"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    w, x = (rng.normal(size=s).astype(np.float32) for s in ((8, 4), (3, 8)))
    t = ["tensor<8x4xf32>", "tensor<3x8xf32>", "tensor<3x4xf32>"]
    (folder / "program.mlir").write_text(
        f"func.func @main(%w: {t[0]}, %x: {t[1]}) -> {t[2]} {{\n  %z = arith.constant 0.0 : f32\n"
        f"  %e = tensor.empty() : {t[2]}\n  %i = linalg.fill ins(%z : f32) outs(%e : {t[2]}) -> {t[2]}\n"
        f"  %r = linalg.matmul ins(%x, %w : {t[1]}, {t[0]}) outs(%i : {t[2]}) -> {t[2]}\n  return %r : {t[2]}\n}}\n"
    )
    np.savez(folder / "arguments.npz", a0=w, a1=x)
    np.save(folder / "result.npy", x.astype(np.float64) @ w)
    parameters = [{"name": "m.w", "is_weight": True}, {"name": "x", "is_weight": False}]
    facts = {"flops": 192, "result_shape": [3, 4], "parameters": parameters, "onnx_inputs": ["x", "m.w"], "stamp": "s"}
    (folder / "facts.json").write_text(json.dumps(facts))
    return networks.Network("resnet18", folder)


def test_network_files(network: networks.Network) -> None:
    assert networks.find("resnet18", network.folder.parent, "s") is not None
    assert networks.find("resnet18", network.folder.parent, "other versions") is None
    assert networks.find("resnet50", network.folder.parent, "s") is None
    assert networks.stamp("torch 1") != networks.stamp("torch 2")
    assert [d.shape for d in network.data()] == [(8, 4), (3, 8)]
    path, inputs = network.onnx(constant_weights=True)
    assert path.name == "model.onnx" and list(inputs) == ["x"]
    path, inputs = network.onnx(constant_weights=False)
    assert path.name == "inputs.onnx" and {n: d.shape for n, d in inputs.items()} == {"x": (3, 8), "m.w": (8, 4)}


def test_race_of_a_network(network: networks.Network, tmp_path: Path) -> None:
    tgraph = Path(os.environ.get("TGRAPH_BUILD", Path(__file__).resolve().parents[2] / "build")) / "bin" / "tgraph"
    if not tgraph.exists() or not shutil.which("cc") or sys.platform != "linux":
        pytest.skip("needs the tool and cc")
    from bench import measure

    rows = [BY_KEY["ours"], BY_KEY["analytic"], BY_KEY["stock"]]
    stamps = {("resnet18", row.key): "1" for row in rows}
    s = settings(tmp_path, str(tgraph))
    with measure.crew_of(rows, s) as crew:
        race = measure.Race(networks.BY_KEY["resnet18"], crew, stamps, "m", results.Measured())
        measure.run_races([race], measure.Lock(s.lock))
    measured = results.load(s.results, stamps, "m")["resnet18"]
    assert [measured.failure(row.key) for row in rows] == [None] * 3
    assert measured.programs["stock"]["max_rel_error"] < 1e-5
    assert measured.count("analytic") == 2


@pytest.fixture
def raced(tmp_path: Path) -> tuple[summary.Summary, summary.Summary]:
    path = tmp_path / "n.jsonl"
    for _ in range(7):
        put_round(path, "resnet18", ours=20_000, stock=900_000, ort=30_000, ort_cw=10_000)
    measured = results.load(path, {("resnet18", p): "1" for p in ("ours", "stock", "ort", "ort-cw")}, "m")
    made = [
        summary.summarize([networks.BY_KEY["resnet18"]], measured, lambda row: 2 * 10**9, base)
        for base in ("ours", "ort-cw")
    ]
    return made[0], made[1]


def test_network_tables(raced: tuple[summary.Summary, summary.Summary]) -> None:
    made, other = raced
    text = network_table.markdown(made, made, "ours", {"machine": "test"}).splitlines()
    assert "| TGraph | **20.0 ms** | 1.00 |" in text
    assert "| ONNX Runtime | 30.0 ms, 1.50 [1.50, 1.50] | 1.50 |" in text
    assert "| stock MLIR | 900 ms, 45.00 [45.00, 45.00] | 45.00 |" in text
    assert text.count("| TGraph | 20.0 ms | 1.00 |") == 1  # beside those who know the weights
    assert "| ONNX Runtime | **10.0 ms, 0.50 [0.50, 0.50]** | 0.50 |" in text
    assert "GFLOP of contractions and convolutions: ResNet-18 2.00" in text
    rows = network_table.records(made, other, "ort-cw")
    assert {r["peer"]: (r["weights"], r["base"], r["time_over_base"]) for r in rows} == {
        "ours": ("arguments", "ours", 1.0),
        "stock": ("arguments", "ours", 45.0),
        "ort": ("arguments", "ours", 1.5),
        "ort-cw": ("beforehand", "ort-cw", 1.0),
    }
    assert table.rows_to_csv(rows).splitlines()[1].startswith("resnet18,ours,arguments,20.0,100.0,ours,1.0")


def test_network_chart(raced: tuple[summary.Summary, summary.Summary], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from bench import chart

    chart.draw(raced[0], [tmp_path / "n.svg"], constant_too=True)
    text = (tmp_path / "n.svg").read_text()
    assert "ONNX Runtime (constant weights)" in text and "known beforehand" in text


def test_choices_of_networks(capsys: pytest.CaptureFixture[str]) -> None:
    assert [n.key for n in cli.choose_networks(["vit-base", "resnet18"])] == ["resnet18", "vit-base"]
    keys = [p.key for p in cli.choose_peers(None, of_networks=True)]
    assert "analytic" in keys and "inductor-cw" in keys and "openblas" not in keys
    assert not {"analytic", "inductor-cw"} & {p.key for p in cli.choose_peers(None)}
    assert cli.main(["--networks", "mlp"]) == 2
    assert "no network 'mlp'" in capsys.readouterr().err
