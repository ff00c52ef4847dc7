# SPDX-License-Identifier: Apache-2.0
"""Area and timing of the switch lookup block at several numbers of ports and of multicast entries, one table for the switch and one per input port, beside a table with an entry for
each multicast LID of InfiniBand.

OSU 0.18 um standard cells with static timing, RAMs left out and counted in bits; LUTs and block RAMs of ECP5. Elaborates by itself (needs the venv of `make verilog`), measures by
fpga/area.py. Writes build/synth/switch.json and docs/results/switch_area.md. What an interrupted run has done is not done again.
"""

import argparse
import json
import subprocess
import sys
import typing

import area
from points import measured

PAGE = area.ROOT / "docs" / "results" / "switch_area.md"
PORTS = (16, 36, 64)
ENTRIES = (64, 128, 256, 1024)
IB_ENTRIES = 16384  # multicast LIDs 0xC000 to 0xFFFE, one entry each
UNICAST = 256
RAM_UM2_A_BIT = 6.0  # assumed, of a compiled 0.18 um SRAM: cells of about 4.7 um2, and what is around them
FPGA_ENTRIES = 256  # of the one table for which LUTs are counted
FLOWS = ("osu018", "ecp5")
QUICK = 16


class Point(typing.NamedTuple):
    ports: int
    entries: int
    per_port: bool

    @property
    def name(self):
        return f"switch_lookup_{self.ports}_{self.entries}{'_per_port' if self.per_port else ''}"

    @property
    def organisation(self):
        return "per port" if self.per_port else "IB table" if self.entries == IB_ENTRIES else "switch"


def points(ports):
    """An InfiniBand table per port nobody builds."""
    return [Point(each, entries, per_port) for each in ports for per_port in (False, True) for entries in (*ENTRIES, IB_ENTRIES) if not (per_port and entries == IB_ENTRIES)]


def elaborate(point):
    subprocess.run([sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(area.VERILOG), "--name", point.name,
                    "--list", str(area.ROOT / "rtl" / "switch" / "switch.f"), "--formats", str(area.ROOT / "build" / "gen" / "rtl" / "switch_lookup_formats_pkg.sv"),
                    "-G", f"N_PORTS={point.ports}", "-G", f"N_COLOURS={point.entries}", "-G", f"N_UNICAST={UNICAST}", "-G", f"PER_PORT=1'b{int(point.per_port)}", "switch_lookup"], check=True)


def memory(point):
    """Bits of the multicast table, both banks and check bits, and of all RAMs."""
    rams = area.ram_modules((area.VERILOG / f"{point.name}.v").read_text(encoding="utf-8"))
    return {"multicast_bits": sum(words * bits for name, words, bits in rams if "i_multicast." in name), "ram_bits": sum(words * bits for _, words, bits in rams)}


def measure(point):
    flows = [flow for flow in FLOWS if flow != "ecp5" or (point.entries == FPGA_ENTRIES and not point.per_port)]
    return {**point._asdict(), **memory(point), **{flow: area.run_job(point.name, flow) for flow in flows}}


def whole_um2(row):
    return row["osu018"]["area_um2"] + RAM_UM2_A_BIT * row["ram_bits"]


def part_of_ib_table(row, results):
    table = next((other for other in results if other["ports"] == row["ports"] and other["entries"] == IB_ENTRIES), None)
    return f"{100 * row['multicast_bits'] / table['multicast_bits']:.2f} % | {100 * whole_um2(row) / whole_um2(table):.0f} %" if table else "– | –"


def line(row, results):
    cell, fpga = row["osu018"], row.get("ecp5", {})
    point = Point(row["ports"], row["entries"], row["per_port"])
    return (f"| {point.ports} | {point.organisation} | {area.thousands(point.entries)} | {area.thousands(cell['area_um2'])} | {area.thousands(cell['nand2'])} | {area.thousands(cell['flops'])} | "
            f"{cell['fmax_mhz']:.0f} | {area.fmax_with_rams(cell):.0f} | {area.thousands(row['multicast_bits'])} | {area.thousands(row['ram_bits'])} | {part_of_ib_table(row, results)} | "
            f"{area.thousands(fpga.get('luts'))} | {area.thousands(fpga.get('block_rams'))} | {area.thousands(fpga.get('lut_rams'))} |")


def page(results):
    slowest = min(results, key=lambda row: area.fmax_with_rams(row["osu018"]))
    cell = slowest["osu018"]
    return "\n".join([
        "# Area of the switch lookup block", "",
        f"Written by `make switch-synth` with {area.yosys_version()}: `switch_lookup` with 2 inputs that share the lookup and {UNICAST} unicast entries. Entries: multicast, of the whole switch or of each input port; "
        f"*IB table*: one for each of {IB_ENTRIES:,} multicast LIDs, in the same block. Logic: OSU 0.18 µm standard cells without RAMs (one NAND2 is {area.NAND2_UM2:.0f} µm²), with loader, management packets, registers, "
        f"counters and scrubber; fmax by OpenSTA from flop to flop, without wires, and with paths at RAMs of {area.RAM_ACCESS_NS} ns, {area.RAM_SETUP_NS} ns of setup, and at ports: inputs {area.PORT_ACCESS_NS} ns after the clock, outputs {area.PORT_SETUP_NS} ns before it (a result is decided behind the last flop). RAM bits: two banks, check bits included. "
        f"*Of the IB table*: multicast bits; and all area, with {RAM_UM2_A_BIT:.0f} µm² a bit of RAM, which is assumed, not measured. ECP5, of one size of table: synthesis only, RAMs included.", "",
        "| ports | table | entries | logic µm² | NAND2 | flops | fmax MHz | with RAMs and ports | multicast bits | RAM bits | bits of the IB table | area of it | ECP5 LUTs | block RAMs | LUT RAMs |",
        f"|---:|---|{'---:|' * 13}",
        *(line(row, results) for row in results), "",
        f"The slowest path is `{cell['ram_critical_from']}` → `{cell['ram_critical_to']}` ({cell['ram_period_ns']:.2f} ns) or `{cell['critical_from']}` → `{cell['critical_to']}` ({cell['min_period_ns']:.2f} ns), "
        f"with {slowest['ports']} ports and {slowest['entries']:,} entries.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} ports only; leaves docs/ alone")
    args = parser.parse_args()
    area.need([area.LIBERTY])
    todo = points((QUICK,) if args.quick else PORTS)
    results = measured("switch-synth", todo, elaborate, measure, args.jobs)
    area.write_file(area.WORK / "switch.json", json.dumps(results, indent=2) + "\n")
    text = page(results)
    if not args.quick:
        area.write_file(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()
