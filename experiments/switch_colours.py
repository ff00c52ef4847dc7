# SPDX-License-Identifier: Apache-2.0
"""Colours that groups need with one multicast table for a switch and with one for each of its input ports, and what such tables cost: runs of `weft mcast`, into docs/results/switch_colours.md.

usage: experiments/switch_colours.py BUILD MARKDOWN

Areas come from docs/results/switch_area.md (`make switch-synth`), of the smallest block that was measured and is large enough.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import typing

import files

AREA = pathlib.Path(__file__).resolve().parent.parent / "docs" / "results" / "switch_area.md"
RAM_UM2_A_BIT = 6.0  # as in fpga/switch.py
# Topology, ports of its largest switch, groups.
CASES = (
    ("fattree3:16", 16, "random:128:32:1"),
    ("fattree3:16", 16, "random:1024:4:1"),
    ("fattree3:16", 16, "grid:32x32"),
    ("torus3d:8x8x8:2", 8, "random:128:16:1"),
    ("kfat2d:16x16:16", 18, "random:256:32:1"),
    ("kfat2d:32x32:30", 32, "random:512:32:1"),
    ("random:48,36,12,1", 36, "random:128:32:1"),
    ("dragonfly:8,16,8", 31, "random:256:32:1"),
    ("fattree3:36", 36, "random:256:64:1"),
)


class Block(typing.NamedTuple):
    ports: int
    per_port: bool
    entries: int
    logic_um2: int
    multicast_bits: int
    ram_bits: int

    @property
    def um2(self):
        return self.logic_um2 + RAM_UM2_A_BIT * self.ram_bits


def measured():
    """Blocks of the page, from few ports and entries to many."""
    blocks = []
    for line in AREA.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace(",", "") for cell in line.strip("|").split("|")]
        if len(cells) > 9 and cells[0].isdigit() and cells[1] in ("switch", "per port"):
            blocks.append(Block(int(cells[0]), cells[1] == "per port", int(cells[2]), int(cells[3]), int(cells[8]), int(cells[9])))
    if not blocks:
        raise SystemExit(f"{AREA}: no areas (make switch-synth)")
    return sorted(blocks)


def block_for(blocks, ports, per_port, colours):
    return next((block for block in blocks if block.ports >= ports and block.per_port == per_port and block.entries >= colours), None)


def route(build, topology, groups, per_port, folder):
    file = folder / "result.json"
    command = [build / "bin" / "weft", "mcast", "--topology", topology, "--groups", groups, "--colors", "inf", "--check", "--json", file, *(["--per-port"] if per_port else [])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(file.read_text(encoding="utf-8"))


def cost(block):
    return f"{block.entries:,} | {block.multicast_bits:,} | {block.um2 / 1e6:.2f}"


def row(blocks, case, one, each):
    topology, ports, groups = case
    chosen = [block_for(blocks, ports, per_port, result["colors_used"]) for per_port, result in ((False, one), (True, each))]
    return (f"| {topology} | {groups} | {ports} | {chosen[0].ports} | {one['colors_used']:,} | {each['colors_used']:,} | {one['colors_used'] / each['colors_used']:.1f} | "
            f"{cost(chosen[0])} | {cost(chosen[1])} | {chosen[1].multicast_bits / chosen[0].multicast_bits:.1f} | {chosen[1].um2 / chosen[0].um2:.2f} |")


def page(rows):
    return "\n".join([
        "# One multicast table for the switch, or one for each input port", "",
        "Written by `make switch-colours`: `weft mcast --colors inf --check` with and without `--per-port` (the option that paper 2 names last: only trees that share a port of a switch need different "
        f"colours). Each table is as large as the smallest one of the [areas measured](switch_area.md) that holds these colours, of a block with at least so many ports: bits of both banks with check bits; area of the "
        f"whole block with its RAMs, {RAM_UM2_A_BIT:.0f} µm² a bit, which is assumed.", "",
        "| fabric | groups | ports of a switch | of the block | colours, one table | colours, one each port | times fewer | entries, one table | bits | mm² | entries, each port | bits | mm² | bits, each port to one | area |",
        f"|---|---|{'---:|' * 13}", *rows, ""])


def check_areas():
    """That a bit of RAM counts here as it does on that page."""
    assumed = re.search(r"with ([\d.]+) µm² a bit", AREA.read_text(encoding="utf-8"))
    if not assumed or float(assumed[1]) != RAM_UM2_A_BIT:
        raise SystemExit(f"{AREA}: assumes another area of a bit than {RAM_UM2_A_BIT} µm²")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("markdown", type=pathlib.Path)
    options = parser.parse_args()
    check_areas()
    blocks, rows = measured(), []
    with tempfile.TemporaryDirectory() as name:
        for case in CASES:
            one, each = (route(options.build.resolve(), case[0], case[2], per_port, pathlib.Path(name)) for per_port in (False, True))
            rows.append(row(blocks, case, one, each))
            print(f"{case[0]}, {case[2]}: {one['colors_used']} colours, {each['colors_used']} with a table for each port", flush=True)
    files.write_whole(options.markdown, page(rows))


if __name__ == "__main__":
    main()
