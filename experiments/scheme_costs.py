# SPDX-License-Identifier: Apache-2.0
"""What the schemes cost, read from the page of their areas (docs/results/schemes.md, by `make schemes`), beside the clocks that transfers take."""

import dataclasses
import pathlib

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results" / "schemes.md"
CONTEXTS = 1024


class CostError(Exception):
    """The page of areas is not as it should be."""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of both halves of an engine."""

    nand2: int  # equivalents of its logic, without RAMs
    ram_bits: int
    mhz: float  # with RAMs, without wires

    def microseconds(self, clocks):
        return clocks / self.mhz

    def area_time(self, clocks):
        return self.nand2 * self.microseconds(clocks)


def read(page=PAGE, contexts=CONTEXTS):
    """By the scheme's words, of engines with so many contexts on each side."""
    lines = page.read_text(encoding="utf-8").splitlines()
    head = next((line for line in lines if line.startswith("| contexts on each side |")), None)
    if head is None:
        raise CostError(f"{page}: has no table of contexts on each side")
    columns = cells(head)
    costs = {}
    for line in lines[lines.index(head) + 2:]:
        if not line.startswith("|"):
            break
        row = dict(zip(columns, cells(line)))
        if number(page, row, "contexts on each side") == contexts:
            costs[row["scheme"]] = Cost(number(page, row, "NAND2"), number(page, row, "RAM bits"), number(page, row, "with RAMs"))
    if not costs:
        raise CostError(f"{page}: has nothing of {contexts} contexts")
    return costs


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(page, row, column):
    try:
        return int(row[column].replace(",", ""))
    except (KeyError, ValueError):
        raise CostError(f"{page}: no number in column {column!r}: {row}") from None
