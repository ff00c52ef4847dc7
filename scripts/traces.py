# SPDX-License-Identifier: Apache-2.0
"""Reads event traces (docs/trace.md)."""


class TraceError(Exception):
    """A trace that is not whole."""


def number(word):
    """Of a word: decimal, or hexadecimal with 0x."""
    return int(word, 0)


def records(file):
    """Every record of a trace as a dict, with its words as they are."""
    count, line = 0, ""
    with open(file, encoding="ascii") as lines:
        for line in lines:
            if line.startswith("#"):
                continue
            count += 1
            words = [word.split("=", 1) for word in line.split()]
            if any(len(word) != 2 for word in words):
                raise TraceError(f"{file}: record {count} is not made of key=value")
            yield dict(words)
    if line.split() != ["#", "end", f"records={count}"]:
        raise TraceError(f"{file}: cut off after {count} records")
