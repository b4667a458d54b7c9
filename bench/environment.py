# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/.venv and what is installed into it. Standard library only: it runs before there is an environment."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from bench.peers import PeerRow, describe

FOLDER = Path(__file__).resolve().parent / ".venv"
PYTHON = FOLDER / "bin" / "python"
BASE = ("numpy>=2", "matplotlib>=3.9")


def inside() -> bool:
    return Path(sys.prefix).resolve() == FOLDER.resolve()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _pip(requirements: Iterable[str], index: str = "") -> str | None:
    """None when all are there, otherwise pip's last words."""
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if index:
        command += ["--index-url", index, "--retries", "0", "--timeout", "20"]
    done = subprocess.run([*command, *requirements], stdout=sys.stderr, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return None
    lines = [line for line in done.stderr.strip().splitlines() if line.startswith("ERROR")]
    return (lines[-1] if lines else done.stderr.strip()[-300:]) or f"status {done.returncode}"


def _missing(requirements: Iterable[str]) -> list[str]:
    """Asked in the environment itself, which this process may not be in."""
    listing = subprocess.run(
        [str(PYTHON), "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    present = {line.lower().split("+")[0] for line in listing.split()}  # torch==2.9.1+cpu is torch==2.9.1
    names = {line.split("==")[0] for line in present}
    return [r for r in requirements if r.lower() not in present and (">=" not in r or r.split(">=")[0] not in names)]


def ensure(rows: Iterable[PeerRow]) -> bool:
    """Makes the environment and installs what is missing. A peer that can't be installed is said so and left out."""
    if not PYTHON.exists():
        say(f"bench: making the environment {FOLDER}")
        try:
            venv.create(FOLDER, with_pip=True)
        except (subprocess.CalledProcessError, OSError) as error:
            say(f"bench: error: {FOLDER} can't be made (Debian: python3-venv): {error}")
            return False
    missing = _missing(BASE)
    problem = _pip(missing) if missing else None
    if problem:
        say(f"bench: error: {', '.join(missing)} can't be installed: {problem}")
        return False
    tried: set[tuple[str, ...]] = set()
    for row in rows:
        missing = _missing(row.packages) if row.packages and row.packages not in tried else []
        tried.add(row.packages)
        if not missing:
            continue
        say(f"bench: installing {', '.join(missing)} for {row.title}")
        if row.index and _pip(missing, row.index) is None:
            continue
        if row.index:
            say("bench: not found in the small index; taking the usual one, which may be much larger")
        problem = _pip(missing)
        if problem:
            say(f"bench: {row.title} is left out: pip: {problem}")
    return True


def versions(row: PeerRow) -> str | None:
    """In the environment: the installed versions of the peer's packages, or None where one is missing."""
    found = []
    for requirement in row.packages:
        name = re.split("[=>]=", requirement)[0]
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            say(f"bench: {describe(row)} is left out: {name} is not installed in {FOLDER}")
            return None
    return ", ".join(found)
