# SPDX-License-Identifier: Apache-2.0
"""Area and timing of the barrier engine at several numbers of groups and of members.

OSU 0.18 um standard cells with static timing, RAMs left out and counted in bits; LUTs and block RAMs of ECP5. Elaborates by itself (needs the venv of `make verilog`), measures by
fpga/area.py. Writes build/synth/barrier.json and docs/results/barrier_area.md. What an interrupted run has done is not done again.
"""

import argparse
import json
import subprocess
import sys
import typing

import area
import points

PAGE = area.ROOT / "docs" / "results" / "barrier_area.md"
FLOWS = ("osu018", "ecp5")


class Point(typing.NamedTuple):
    groups: int
    members: int
    nodes: int

    @property
    def name(self):
        return f"barrier_engine_{self.groups}_{self.members}_{self.nodes}"


POINTS = (Point(1, 64, 64), Point(4, 64, 64), Point(16, 64, 64), Point(16, 1024, 1024), Point(64, 1024, 1024), Point(16, 1024, 65536))


def elaborate(point):
    subprocess.run([sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(area.VERILOG), "--name", point.name,
                    "--list", str(area.ROOT / "rtl" / "barrier" / "barrier.f"), "--formats", str(area.ROOT / "build" / "gen" / "rtl" / "barrier_formats_pkg.sv"),
                    "-G", f"N_GROUPS={point.groups}", "-G", f"N_MEMBERS={point.members}", "-G", f"N_NODES={point.nodes}", "barrier_engine"], check=True)


def measure(point):
    rams = area.ram_modules((area.VERILOG / f"{point.name}.v").read_text(encoding="utf-8"))
    return {**point._asdict(), "ram_bits": sum(words * bits for _, words, bits in rams), **{flow: area.run_job(point.name, flow) for flow in FLOWS}}


def line(row):
    cell, fpga = row["osu018"], row["ecp5"]
    return " | ".join([f"| {row['groups']}", *(area.thousands(value) for value in (row["members"], row["nodes"], cell["area_um2"], cell["nand2"], cell["flops"])), f"{cell['fmax_mhz']:.0f}",
                       f"{area.fmax_with_rams(cell):.0f}", *(area.thousands(value) for value in (row["ram_bits"], fpga["luts"], fpga["block_rams"], fpga["lut_rams"]))]) + " |"


def page(results):
    slowest = min(results, key=lambda row: area.fmax_with_rams(row["osu018"]))
    cell = slowest["osu018"]
    return "\n".join([
        "# Area of the barrier engine", "",
        f"Written by `make barrier-synth` with {area.yosys_version()}: `barrier_engine` with registers, packets in and out, completions. Logic: OSU 0.18 µm standard cells without RAMs (one NAND2 is {area.NAND2_UM2:.0f} µm²); fmax by OpenSTA "
        f"from flop to flop, without wires, and with paths at RAMs of {area.RAM_ACCESS_NS} ns, {area.RAM_SETUP_NS} ns of setup. RAM bits: states of the groups, tables of members, and notes for the check that a table has each node once. "
        "ECP5: synthesis only, RAMs included.", "",
        "| groups | members of each | nodes | logic µm² | NAND2 | flops | fmax MHz | with RAMs | RAM bits | ECP5 LUTs | block RAMs | LUT RAMs |", f"|{'---:|' * 12}",
        *(line(row) for row in results), "",
        f"The slowest path is `{cell['ram_critical_from']}` → `{cell['ram_critical_to']}` ({cell['ram_period_ns']:.2f} ns) or `{cell['critical_from']}` → `{cell['critical_to']}` ({cell['min_period_ns']:.2f} ns), "
        f"with {slowest['groups']} groups of {slowest['members']:,}: names of the netlist; `rdata_o` is a group's state as its RAM gives it ([bit by bit](../contexts.md)), and what is between underscores is a flop that has no name of its own.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    args = parser.parse_args()
    area.need([area.LIBERTY])
    results = points.measured("barrier-synth", POINTS, elaborate, measure, args.jobs)
    area.write_file(area.WORK / "barrier.json", json.dumps(results, indent=2) + "\n")
    text = page(results)
    area.write_file(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()
