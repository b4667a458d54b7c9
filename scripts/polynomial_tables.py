#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints passes/polynomial_tables.h: the coefficients of the vector polynomials.

    pip install mpmath gmpy2
    scripts/polynomial_tables.py > passes/polynomial_tables.h

Polynomials are fitted by Remez' second algorithm (Muller, Elementary Functions, 3rd ed., 3.5) on a fine grid of
Chebyshev points, in 45 digits. The coefficients are rounded one after the other, from the lowest degree on, and the
rest is fitted again after each rounding, so that the later ones make up for it (the idea of Brisebarre and Chevillard,
"Efficient polynomial L-infinity approximations", without their lattices). Reductions take Cody and Waite's constants
(Software Manual for the Elementary Functions, 1980): the high parts have so few bits that their products with the
multiple are exact without a fused multiplication.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 45

Real = mp.mpf
Function = Callable[[Real], Real]


def round_bits(value: Real, bits: int) -> Real:
    """To the nearest number with that many bits."""
    if value == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def exchange(errors: Sequence[Real], count: int) -> list[int]:
    """The next reference: `count` large errors of alternating signs. There are as many, as those at the last reference
    alternate."""
    runs: list[int] = []
    for i, error in enumerate(errors):
        if not runs or (error > 0) != (errors[runs[-1]] > 0):
            runs.append(i)
        elif abs(error) > abs(errors[runs[-1]]):
            runs[-1] = i
    while len(runs) > count:
        sizes = [abs(errors[i]) for i in runs]
        if len(runs) == count + 1:
            runs.pop(0 if sizes[0] < sizes[-1] else -1)
        else:
            # Two neighbours at once, so that the signs still alternate.
            least = min(range(len(runs) - 1), key=lambda j: max(sizes[j], sizes[j + 1]))
            del runs[least : least + 2]
    return runs


def remez(columns: list[list[Real]], values: list[Real], weights: list[Real]) -> list[Real]:
    """The coefficients that minimise max |weight * (value - sum coefficient * column)|."""
    n, size = len(columns), len(values)
    reference = [round(i * (size - 1) / n) for i in range(n + 1)]
    best: tuple[Real, list[Real]] | None = None
    for _ in range(120):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for row, i in enumerate(reference):
            for j in range(n):
                matrix[row, j] = columns[j][i]
            matrix[row, n] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = mp.lu_solve(matrix, right)
        found = [solution[j] for j in range(n)]
        errors = [
            (values[i] - mp.fsum(c * column[i] for c, column in zip(found, columns, strict=True))) * weights[i]
            for i in range(size)
        ]
        largest = max(abs(e) for e in errors)
        if best is None or largest < best[0]:
            best = (largest, found)
        if largest <= abs(solution[n]) * mp.mpf("1.001") + mp.mpf(10) ** -40:
            break
        reference = exchange(errors, n + 1)
    assert best is not None
    return best[1]


def grid(low: Real, high: Real, size: int) -> list[Real]:
    low, high = mp.mpf(low), mp.mpf(high)
    points = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / (size - 1)) for i in range(size)]
    return [x for x in points if abs(x) > mp.mpf(10) ** -12]


def fit(
    function: Function,
    low: Real,
    high: Real,
    degree: int,
    bits: int,
    fixed: Sequence[float] = (),
    weight: Function | None = None,
    lowest: int = 0,
) -> tuple[list[Real], Real]:
    """Coefficients from degree `lowest` on, of which the first are given, and the largest weighted (else: relative)
    error."""
    xs = grid(low, high, 240)
    values = [function(x) for x in xs]
    weights = [weight(x) if weight else 1 / abs(y) for x, y in zip(xs, values, strict=True)]
    powers = {p: [x**p for x in xs] for p in range(lowest, degree + 1)}
    known = {lowest + i: mp.mpf(c) for i, c in enumerate(fixed)}

    def rest() -> list[Real]:
        return [y - mp.fsum(c * powers[p][i] for p, c in known.items()) for i, y in enumerate(values)]

    for p in range(lowest + len(fixed), degree + 1):
        # With the sign of x^p in the weight the basis stays a Haar system on both sides of zero.
        signed = [w * mp.sign(x) ** p for w, x in zip(weights, xs, strict=True)]
        found = remez([powers[k] for k in range(p, degree + 1)], rest(), signed)
        known[p] = round_bits(found[0], bits)
    error = max(abs(e) * w for e, w in zip(rest(), weights, strict=True))
    return [known[p] for p in range(lowest, degree + 1)], error


# ---- the functions ----------------------------------------------------------


def log_tail(z: Real) -> Real:
    """(2 atanh(s) / s - 2) / z of z = s^2"""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def sin_tail(z: Real) -> Real:
    """(sin(r) / r - 1) / z of z = r^2"""
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def cos_tail(z: Real) -> Real:
    """(cos(r) - 1 + z / 2) / z^2 of z = r^2"""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2


def number(value: Real) -> str:
    """As a hexadecimal constant, exactly."""
    text = float(value).hex()
    assert Fraction(float(value)) == Fraction(*[int(part) for part in _ratio(value)])
    mantissa, exponent = text.split("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{exponent}"


def _ratio(value: Real) -> tuple[int, int]:
    sign, mantissa, exponent, _ = value._mpf_
    mantissa = -int(mantissa) if sign else int(mantissa)
    return (mantissa << exponent, 1) if exponent >= 0 else (mantissa, 1 << -exponent)


def table(name: str, comment: str, coefficients: Sequence[Real], error: Real | None = None) -> None:
    if error is not None:
        comment += f"; error 2^{math.log2(float(error)):.1f}"
    print(f"/* {comment} */")
    body = ", ".join(number(c) for c in coefficients)
    print(f"static const struct tg_table {name} = {{{len(coefficients)}, {{{body}}}}};\n")


def exponentials(suffix: str, bits: int, degree: int, degree_2: int, degree_m1: int) -> None:
    ln2 = mp.log(2)
    table(
        f"exp_{suffix}",
        f"exp(r), |r| <= ln 2, degree {degree}, relative",
        *fit(mp.exp, -ln2 * mp.mpf("1.01"), ln2 * mp.mpf("1.01"), degree, bits, [1, 1]),
    )
    table(
        f"exp2_{suffix}",
        f"2^r, |r| <= 1, degree {degree_2}, relative",
        *fit(lambda x: mp.mpf(2) ** x, mp.mpf("-1.01"), mp.mpf("1.01"), degree_2, bits, [1]),
    )
    half = ln2 / 2 * mp.mpf("1.02")
    table(
        f"expm1_{suffix}",
        f"(exp(r) - 1 - r) / r^2, |r| <= ln 2 / 2, degree {degree_m1 - 2}, relative to exp(r) - 1",
        *_without_first(fit(mp.expm1, -half, half, degree_m1, bits, [1], lowest=1)),
    )
    high_bits = 16 if bits == 24 else 42
    high = round_bits(ln2, high_bits)
    table(
        f"ln2_{suffix}",
        f"ln 2: {high_bits} bits, and the rest",
        [high, round_bits(ln2 - high, bits)],
    )


def _without_first(fitted: tuple[list[Real], Real]) -> tuple[list[Real], Real]:
    return fitted[0][1:], fitted[1]


def trigonometric(suffix: str, bits: int, sin_degree: int, cos_degree: int, high_bits: int, parts: int) -> None:
    end = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    table(
        f"sin_{suffix}",
        f"(sin(r) / r - 1) / r^2 in r^2, |r| <= pi / 4, degree {sin_degree}, relative to sin(r)",
        *fit(sin_tail, mp.mpf(0), end, sin_degree, bits, weight=lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z))),
    )
    table(
        f"cos_{suffix}",
        f"(cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi / 4, degree {cos_degree}, relative to cos(r)",
        *fit(cos_tail, mp.mpf(0), end, cos_degree, bits, weight=lambda z: z * z / mp.cos(mp.sqrt(z))),
    )
    rest, pieces = mp.pi / 2, []
    for i in range(parts):
        # Cut off, not rounded: the pieces' bits follow each other.
        mantissa, exponent = mp.frexp(rest)
        piece = mp.ldexp(mp.floor(mp.ldexp(mantissa, high_bits)), exponent - high_bits)
        pieces.append(piece if i + 1 < parts else round_bits(rest, bits))
        rest -= pieces[-1]
    table(f"half_pi_{suffix}", f"pi / 2 in {parts} parts of {high_bits} bits, the last of {bits}", pieces)


def main() -> None:
    print("/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */")
    print(
        "/*\n * Written by scripts/polynomial_tables.py, which says how the coefficients are\n"
        " * found: lowest degree first. Errors are those of the polynomial itself.\n */"
    )
    print("#ifndef TGRAPH_PASSES_POLYNOMIAL_TABLES_H\n#define TGRAPH_PASSES_POLYNOMIAL_TABLES_H\n")
    print("struct tg_table {\n  int count;\n  double coefficient[24];\n};\n")
    exponentials("f32", 24, 7, 7, 6)
    exponentials("f64", 53, 13, 13, 11)
    root = mp.sqrt(mp.mpf("0.5"))
    table(
        "log_f32",
        "(log(1 + f) - f) / f^2, sqrt(1/2) <= 1 + f <= sqrt(2), degree 8, relative to log(1 + f)",
        *_without_first(fit(mp.log1p, root - 1, 2 * root - 1, 10, 24, [1, -0.5], lowest=1)),
    )
    z = ((2 * root - 1) / (2 * root + 1)) ** 2 * mp.mpf("1.01")
    table(
        "log_f64",
        "(log(1 + f) - 2 s) / s^3 in s^2, s = f / (2 + f), the same interval, degree 6, relative to log(1 + f)",
        *fit(log_tail, mp.mpf(0), z, 6, 53, weight=lambda z: z / 2),
    )
    for suffix, bits, degree, end in (("f32", 24, 7, "3.93"), ("f64", 53, 22, "5.95")):
        table(
            f"log_erfc_{suffix}",
            f"log(erfc(x)) / x, 0 <= x <= {end}, degree {degree}, relative to erf(x)",
            *fit(
                lambda x: mp.log(mp.erfc(x)),
                mp.mpf(0),
                mp.mpf(end) * mp.mpf("1.001"),
                degree + 1,
                bits,
                weight=lambda x: mp.erfc(x) / mp.erf(x),
                lowest=1,
            ),
        )
    table(
        "power_log2",
        "log2(1 + f) / s in s^2, s = f / (2 + f), as for log_f64, degree 4, relative",
        *fit(lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / mp.log(2), mp.mpf(0), z, 4, 53),
    )
    table(
        "power_exp2",
        "2^r, |r| <= 1/2, degree 6, relative",
        *fit(lambda x: mp.mpf(2) ** x, mp.mpf("-0.501"), mp.mpf("0.501"), 6, 53, [1]),
    )
    trigonometric("f32", 24, 2, 2, 13, 4)
    trigonometric("f64", 53, 6, 6, 33, 3)
    print("#endif")


if __name__ == "__main__":
    main()
