# SPDX-License-Identifier: Apache-2.0
"""AIGER, the files of and-inverter graphs: ASCII with names is read, as Yosys writes it; binary is written, as ABC reads it.

A literal is twice the number of its node, plus one if inverted; node 0 is false. http://fmv.jku.at/aiger
"""

import dataclasses
import pathlib


@dataclasses.dataclass
class Aiger:
    """Literals; each AND node behind those it depends on."""
    top: int       # number of the last node
    inputs: list
    latches: list  # (it, its next state)
    outputs: list
    ands: list     # (it, a, b)
    names: dict    # "i0", "l0", "o0", ... -> all names of that input, latch or output, with blanks between


def read(path):
    lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
    kind, *counts = lines[0].split()[:6]
    if kind != "aag":
        raise ValueError(f"{path}: not ASCII AIGER")
    top, inputs, latches, outputs, ands = map(int, counts)
    rows = iter(lines[1:])
    result = Aiger(top, [int(next(rows)) for _ in range(inputs)], [tuple(map(int, next(rows).split()[:2])) for _ in range(latches)],
                   [int(next(rows)) for _ in range(outputs)], sorted(tuple(map(int, next(rows).split())) for _ in range(ands)), {})
    if any(max(a, b) > literal for literal, a, b in result.ands):
        raise ValueError(f"{path}: not in topological order")
    result.names = dict(row.split(" ", 1) for row in rows if " " in row and row[0] in "ilo")
    return result


def binary(inputs, latches, outputs, ands):
    """A file of so many inputs, of latches by their next states, of outputs, and of AND nodes (a, b), which are numbered in this order from 1 on."""
    first = 2 * (inputs + len(latches) + 1)
    rows = [f"aig {first // 2 - 1 + len(ands)} {inputs} {len(latches)} {len(outputs)} {len(ands)}", *map(str, latches), *map(str, outputs)]
    deltas = (seven_bits(first + 2 * index - max(pair)) + seven_bits(max(pair) - min(pair)) for index, pair in enumerate(ands))
    return "\n".join(rows).encode() + b"\n" + b"".join(deltas)


def seven_bits(value):
    """A number as binary AIGER writes it."""
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes([*result, value])
