# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the kernels of networks at other batch sizes and lengths, and kernels of odd shapes, as programs to measure.

  python -m model.measure.variants NET.mlir[.gz]... -o DIR --batch 1,4,16 --tokens 64,197,512 --odd

Matrix products and convolutions of f32 are taken. A file is called FAMILY_VARIANT.mlir: `tgraph measure` takes what
stands before the first `_` as the family, so a network and its variants stay on one side of every split.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Shape = tuple[int, ...]
OPERATION = re.compile(
    r"= linalg\.(?P<op>\w+)(?: (?P<attributes>\{[^}]*\}))? ins\((?P<a>%\w+), (?P<b>%\w+) : "
    r"tensor<(?P<a_type>\w+)>, tensor<(?P<b_type>\w+)>\) outs\(%\w+ : tensor<(?P<c_type>\w+)>\)"
)
TRANSPOSE = re.compile(r"(?P<name>%\w+) = linalg\.transpose .*permutation = \[(?P<order>[\d, ]+)\]")
PRODUCTS = ("matmul", "batch_matmul")


@dataclass(frozen=True)
class Kernel:
    """A named operation; `turned` says how an operand's tensor is transposed before it (operand, permutation)."""

    op: str
    attributes: str
    a: Shape
    b: Shape
    c: Shape
    turned: tuple[tuple[int, Shape], ...] = ()

    @property
    def gflop(self) -> float:
        """Of the named operations that are taken: the result times what is summed for an item of it."""
        if self.op in PRODUCTS:
            return 2e-9 * math.prod(self.c) * self.a[-1]
        filters = self.b[-1] if self.op.endswith(("hwcf", "wcf", "hwc", "wc")) else self.b[0]
        return 2e-9 * math.prod(self.c) * math.prod(self.b) / filters


@dataclass
class Network:
    """The kernels of one family, as many times as they are used, and what it takes for the number of tokens."""

    family: str
    uses: Counter[Kernel] = field(default_factory=Counter)

    @property
    def tokens(self) -> int | None:
        """The commonest number of rows that an attention has too; None: the family has no attention."""
        sides = {extent for kernel in self.uses if kernel.op == "batch_matmul" for extent in kernel.c[1:]}
        rows: Counter[int] = Counter()
        for kernel, uses in self.uses.items():
            if kernel.op == "matmul" and kernel.c[0] in sides and kernel.c[0] > 1:
                rows[kernel.c[0]] += uses
        return rows.most_common(1)[0][0] if rows else None


def parse_shape(text: str) -> Shape | None:
    """None: it isn't f32, or not static."""
    match = re.fullmatch(r"((?:\d+x)+)f32", text)
    return tuple(int(word) for word in match[1].split("x") if word) if match else None


def parse_kernel(text: str) -> Kernel | None:
    """The one operation in the text of a kernel, as `tgraph measure --list --json` gives it; None: not one of ours."""
    match = OPERATION.search(text)
    if not match:
        return None
    shapes = [parse_shape(match[name]) for name in ("a_type", "b_type", "c_type")]
    is_taken = match["op"] in PRODUCTS or re.match(r"(depthwise_)?conv_\dd_n", match["op"])
    if None in shapes or not is_taken or "map" in (match["attributes"] or ""):
        return None
    orders = {row["name"]: tuple(int(d) for d in row["order"].split(",")) for row in TRANSPOSE.finditer(text)}
    turned = tuple((i, orders[match[name]]) for i, name in enumerate("ab") if match[name] in orders)
    return Kernel(match["op"], match["attributes"] or "", *shapes, turned=turned)


def list_networks(tgraph: Sequence[str], programs: Sequence[Path]) -> list[Network]:
    command = [*tgraph, "measure", "--list", "--json", "--max-gflop", "1e9", *map(str, programs)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"{command[0]} failed")
    networks: dict[str, Network] = {}
    for row in json.loads(done.stdout):
        kernel = parse_kernel(row["mlir"])
        if kernel:
            networks.setdefault(row["family"], Network(row["family"])).uses[kernel] += row["uses"]
    return list(networks.values())


def with_batch(kernel: Kernel, batch: int) -> Kernel:
    """`batch` times as many images, sequences or rows; weights stay what they are."""

    def times(shape: Shape) -> Shape:
        return (shape[0] * batch, *shape[1:])

    b = times(kernel.b) if kernel.op == "batch_matmul" else kernel.b
    return Kernel(kernel.op, kernel.attributes, times(kernel.a), b, times(kernel.c), kernel.turned)


def with_tokens(kernel: Kernel, old: int, new: int) -> Kernel | None:
    """Sequences of another length: every extent of an attention that is the old one, the rows of other products."""

    def changed(shape: Shape, first: int) -> Shape:
        return tuple(new if i >= first and extent == old else extent for i, extent in enumerate(shape))

    if kernel.op == "batch_matmul":
        a, b, c = (changed(shape, 1) for shape in (kernel.a, kernel.b, kernel.c))
    elif kernel.op == "matmul" and kernel.c[0] == old:
        a, b, c = (new, kernel.a[1]), kernel.b, (new, kernel.c[1])
    else:
        return None
    other = Kernel(kernel.op, kernel.attributes, a, b, c, kernel.turned)
    return other if other != kernel else None


def variants(network: Network, batches: Iterable[int], lengths: Iterable[int]) -> Iterator[tuple[str, list[Kernel]]]:
    """Name and kernels of each file; what the network itself has isn't among them."""
    own = set(network.uses)
    for batch in batches:
        kernels = dict.fromkeys(with_batch(kernel, batch) for kernel in network.uses)
        yield f"{network.family}_batch{batch}", [kernel for kernel in kernels if kernel not in own]
    old = network.tokens
    for length in lengths if old else ():
        found = dict.fromkeys(with_tokens(kernel, old, length) for kernel in network.uses)
        yield f"{network.family}_tokens{length}", [kernel for kernel in found if kernel and kernel not in own]


def matmul(m: int, n: int, k: int) -> Kernel:
    return Kernel("matmul", "", (m, k), (k, n), (m, n))


def conv(channels: int, filters: int, height: int, width: int, window: int, stride: int = 1) -> Kernel:
    """A convolution whose image has height x width output pixels."""
    rows, columns = ((extent - 1) * stride + window for extent in (height, width))
    attributes = f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"
    shapes = (1, channels, rows, columns), (filters, channels, window, window), (1, filters, height, width)
    return Kernel("conv_2d_nchw_fchw", attributes, *shapes)


ODD_PRODUCTS = {  # (m, n, k): the result is m x n
    "odd-row_f32": ((1, 64, 64), (1, 1000, 2048), (1, 4096, 1024), (1, 777, 333), (1, 11008, 2048)),
    "odd-tall_f32": ((20000, 8, 16), (50000, 16, 3), (8192, 24, 24), (30000, 5, 64)),
    "odd-prime_f32": ((97, 101, 103), (251, 257, 263), (509, 127, 61), (13, 17, 4099)),
    "odd-shallow_f32": ((512, 512, 1), (512, 512, 2), (1024, 768, 3), (300, 900, 7)),
    "odd-narrow_f32": ((512, 1, 512), (512, 2, 512), (1000, 3, 700), (256, 7, 4096)),
}
ODD_IMAGES = {  # channels, filters, height and width of the result, window, stride
    "odd-image_f32": (
        (3, 32, 1, 997, 3, 1),
        (16, 24, 61, 7, 5, 1),
        (13, 29, 31, 37, 3, 1),
        (64, 64, 3, 3, 3, 1),
        (7, 64, 53, 53, 3, 2),
        (128, 5, 19, 23, 1, 1),
    ),
}


def odd() -> dict[str, list[Kernel]]:
    """A family for each kind of shape that networks hardly have."""
    products = {name: [matmul(*row) for row in rows] for name, rows in ODD_PRODUCTS.items()}
    return products | {name: [conv(*row) for row in rows] for name, rows in ODD_IMAGES.items()}


def type_of(shape: Shape) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def source_shape(kernel: Kernel, operand: int) -> Shape:
    """Of the tensor that is transposed into the operand: its dimension order[i] is the operand's dimension i."""
    shape = kernel.a if operand == 0 else kernel.b
    order = dict(kernel.turned).get(operand)
    if order is None:
        return shape
    source = [0] * len(shape)
    for i, dimension in enumerate(order):
        source[dimension] = shape[i]
    return tuple(source)


def write_function(name: str, kernel: Kernel) -> str:
    turned = dict(kernel.turned)
    lines, operands = [], []
    for i, (letter, shape) in enumerate(zip("ab", (kernel.a, kernel.b), strict=True)):
        operands.append(f"%{letter}_in" if i in turned else f"%{letter}")
        if i in turned:
            source, into = type_of(source_shape(kernel, i)), type_of(shape)
            order = ", ".join(map(str, turned[i]))
            lines.append(f"%{letter}_empty = tensor.empty() : {into}")
            lines.append(
                f"%{letter}_in = linalg.transpose ins(%{letter} : {source}) outs(%{letter}_empty : {into}) "
                f"permutation = [{order}]"
            )
    a, b, c = type_of(kernel.a), type_of(kernel.b), type_of(kernel.c)
    attributes = f" {kernel.attributes}" if kernel.attributes else ""
    lines += [
        "%zero = arith.constant 0.0 : f32",
        f"%empty = tensor.empty() : {c}",
        f"%init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}",
        f"%r = linalg.{kernel.op}{attributes} ins({', '.join(operands)} : {a}, {b}) outs(%init : {c}) -> {c}",
        f"return %r : {c}",
    ]
    arguments = ", ".join(f"%{letter}: {type_of(source_shape(kernel, i))}" for i, letter in enumerate("ab"))
    body = "".join(f"  {line}\n" for line in lines)
    return f"func.func @{name}({arguments}) -> {c} {{\n{body}}}\n"


def write_program(path: Path, kernels: Sequence[Kernel]) -> None:
    """A function for each kernel; the first is @main."""
    path.write_text("".join(write_function(f"k{i}" if i else "main", kernel) for i, kernel in enumerate(kernels)))


def numbers(text: str) -> list[int]:
    values = [int(word) for word in text.split(",") if word]
    if any(value < 1 for value in values):
        raise argparse.ArgumentTypeError("expected positive numbers, as in 1,4,16")
    return values


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="model.measure.variants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("programs", type=Path, nargs="*", metavar="NET.mlir[.gz]")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--batch", type=numbers, default=[], metavar="N,N,...", help="batch sizes")
    parser.add_argument("--tokens", type=numbers, default=[], metavar="N,N,...", help="lengths of sequences")
    parser.add_argument("--odd", action="store_true", help="kernels of odd shapes too")
    parser.add_argument("--max-gflop", type=float, default=4, help="leave out larger ones (default 4)")
    parser.add_argument("--tgraph", default="tgraph", help="the tool's path or command")
    options = parser.parse_args(arguments)
    files = odd() if options.odd else {}
    try:
        for network in list_networks(shlex.split(options.tgraph), options.programs) if options.programs else ():
            files |= dict(variants(network, options.batch, options.tokens))
    except (OSError, ValueError) as fault:
        print(f"variants: {fault}", file=sys.stderr)
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, kernels in files.items():
        small = [kernel for kernel in kernels if kernel.gflop <= options.max_gflop]
        if small:
            write_program(options.output / f"{name}.mlir", small)
            count += 1
            print(f"{name}.mlir: {len(small)} kernels")
    if not count:
        print("variants: nothing to write: give programs with --batch or --tokens, or --odd", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
