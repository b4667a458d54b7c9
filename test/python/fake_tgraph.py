# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stands for `tgraph` in the tests of model.measure: a program is a list of kernels, measuring is copying a file.

Each line of a program is HASH NAME; a NAME with "bad" in it never works. FAKE_TGRAPH names a folder with the data of
any kernel (template.npz); what is measured is noted in `log` there.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ["FAKE_TGRAPH"])


def note(*words: object) -> None:
    with (FOLDER / "log").open("a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def read_kernels(paths: list[Path]) -> dict[str, str]:
    return dict(line.split() for path in paths for line in path.read_text().splitlines())


def write_data(path: Path, kernel: str, name: str) -> None:
    with np.load(FOLDER / "template.npz") as data:
        content = {key: data[key] for key in data}
    content |= {"kernel_hash": np.uint64(int(kernel, 16)), "kernel": np.array(name)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **content)


def main() -> int:
    arguments = sys.argv[1:]
    if arguments[0] == "info":
        registers = {"vector_bits": 512, "vector_registers": 32, "cpu": "x86-64-v4"}
        print(json.dumps({"version": "0", "llvm": "22", "model": {}, "target": registers}))
        return 0
    kernels = read_kernels([Path(word) for word in arguments if word.endswith(".mlir")])
    if "--list" in arguments:
        print(json.dumps([{"hash": h, "kernel": name, "programs": "net"} for h, name in kernels.items()]))
        return 0
    kernel = arguments[arguments.index("--hash") + 1]
    out = Path(arguments[arguments.index("-o") + 1])
    note("start", kernel, os.getppid())
    time.sleep(float(os.environ.get("FAKE_SECONDS", "0.2")))
    if "bad" in kernels[kernel]:
        print("tgraph: nothing to store, 0 of 3 candidates work", file=sys.stderr)
        return 1
    write_data(out / f"kernel-{kernel}.npz", kernel, kernels[kernel])
    note("end", kernel, os.getppid())
    return 0


if __name__ == "__main__":
    sys.exit(main())
