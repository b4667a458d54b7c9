# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Both readers of data files, C (`tgraph info`) and Python, on the same files."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

np = pytest.importorskip("numpy", reason="NumPy isn't installed (model/train/requirements.txt)")

import hostile  # noqa: E402

from model.train import dataset  # noqa: E402
from model.train.npz import Npz  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("TGRAPH_BUILD", ROOT / "build")) / "bin/tgraph"
CASES = hostile.hostile()
UNUSUAL = hostile.unusual()
needs_tool = pytest.mark.skipif(not TOOL.exists(), reason=f"{TOOL} isn't built")


def ask_c(*paths: Path) -> tuple[int, list[dict], str]:
    done = subprocess.run([TOOL, "info", "--json", *paths], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def refuse_python(path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        dataset.read_any(path)
    return str(caught.value)


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What C says of each hostile file; one process reads them all and says something of every one."""
    folder = tmp_path_factory.mktemp("hostile")
    paths = [folder / f"{case.name}.npz" for case in CASES]
    for path, case in zip(paths, CASES, strict=True):
        path.write_bytes(case.content)
    status, read, said = ask_c(*paths)
    assert status == 2 and not read
    lines = [line.removeprefix("tgraph: error: ") for line in said.splitlines()]
    assert len(lines) == len(paths)
    return {path.stem: line for path, line in zip(paths, lines, strict=True)}


def assert_names(message: str, path: str, case: hostile.Case) -> None:
    assert path in message
    assert f": {case.key}" in message
    assert case.fault in message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_python_refuses(tmp_path: Path, case: hostile.Case) -> None:
    path = tmp_path / f"{case.name}.npz"
    path.write_bytes(case.content)
    assert_names(refuse_python(path), str(path), case)


@needs_tool
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_c_refuses_in_the_same_words(tmp_path: Path, messages: dict[str, str], case: hostile.Case) -> None:
    path = tmp_path / f"{case.name}.npz"
    path.write_bytes(case.content)
    said = messages[case.name]
    assert_names(said, f"{case.name}.npz", case)
    own = refuse_python(path).replace(f"{path}: ", "")
    assert said.split(f"{case.name}.npz: ", 1)[1].replace("-nan", "nan") == own


@pytest.mark.parametrize("name", UNUSUAL)
def test_python_reads(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"{name}.npz"
    path.write_bytes(UNUSUAL[name])
    with np.load(path) as expected:
        found = Npz(path).arrays
        assert found.keys() == {key for key in expected if key != "README"}
        for key, array in found.items():
            assert (
                array.dtype == expected[key].dtype
                and np.array_equal(array, expected[key], equal_nan=False)
                or (np.array_equal(array, expected[key], equal_nan=True))
            )
    dataset.read_any(path)


@needs_tool
def test_c_reads(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.npz" for name in UNUSUAL]
    for path in paths:
        path.write_bytes(UNUSUAL[path.stem])
    status, read, said = ask_c(*paths)
    assert status == 0, said
    for path, row in zip(paths, read, strict=True):
        expected = {"layout": "layouts", "arrays": "arrays", "nothing": "arrays"}.get(path.stem, "tiles")
        assert row["holds"] == expected
        assert {a["key"] for a in row["arrays"]} == set(Npz(path).arrays)


@needs_tool
def test_every_cut_and_many_changes_get_one_verdict(tmp_path: Path) -> None:
    """A small file, shortened and with single bytes changed: both read it or both refuse it in the same words."""
    good = hostile.archive({"a": np.arange(3, dtype=np.int16), "b": np.array(["x", "yz"])})
    rng = np.random.default_rng(0)
    contents = [good[:cut] for cut in range(0, len(good), 7)]
    for at in range(len(good)):
        content = bytearray(good)
        content[at] ^= 1 << int(rng.integers(8))
        contents.append(bytes(content))
    paths = [tmp_path / f"{i}.npz" for i in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    _, read, said = ask_c(*paths)
    by_c = {Path(row["file"]).name: "" for row in read}
    for line in said.splitlines():
        path, fault = line.removeprefix("tgraph: error: ").split(": ", 1)
        by_c[Path(path).name] = fault
    assert len(by_c) == len(paths)
    for path in paths:
        try:
            dataset.read_any(path)
            by_python = ""
        except ValueError as fault:
            by_python = str(fault).removeprefix(f"{path}: ")
        assert by_c[path.name].isascii() and by_c[path.name] == by_python or not by_python.isascii(), path.name


@needs_tool
@pytest.mark.parametrize("megabytes", [20])
def test_reading_takes_at_most_twice_the_content(tmp_path: Path, megabytes: int) -> None:
    """The time isn't asserted: docs/limits.md has it."""
    for path in hostile.write_large(tmp_path, megabytes):
        status, (row,), said = ask_c(path)
        assert status == 0, said
        assert row["content_nbytes"] > 0.9e6 * megabytes
        assert row["peak_nbytes"] < 2.1 * row["content_nbytes"] + 4e6
