# SPDX-License-Identifier: Apache-2.0
"""Area and timing of the NIC with both engines beside the NIC of RDMA alone and the barrier engine alone.

OSU 0.18 um standard cells with static timing, RAMs left out and counted in bits; LUTs and block RAMs of ECP5. Elaborates by itself (needs the venv of `make verilog`), measures by
fpga/area.py. Writes build/synth/nic.json and docs/results/nic_area.md; with --small a small NIC, and the page to build/synth. What an interrupted run has done is not done again.
"""

import argparse
import json
import subprocess
import sys
import typing

import area
import points

RTL = area.ROOT / "rtl"
GENERATED = area.ROOT / "build" / "gen" / "rtl"
RDMA_LISTS = tuple(sorted(RTL.glob("rdma*/*.f")))
RDMA_FORMATS = ("rdma", "rdma_queues")
FLOWS = ("osu018", "ecp5")
SMALL = ("N_RX_CTX=16", "N_TX_CTX=16", "WINDOW=16", "CID_W=6", "SID_W=8", "N_REGIONS=8", "N_SOURCES=16", "N_QUEUES=2", "N_REQUESTS=64", "N_TICKETS=16")
SMALL_BARRIER = ("N_GROUPS=4", "N_MEMBERS=64", "N_NODES=64")


class Point(typing.NamedTuple):
    title: str
    top: str
    lists: tuple
    formats: tuple
    parameters: tuple  # NAME=value

    @property
    def name(self):
        return f"nic_area_{self.top}{'_small' if self.parameters else ''}"


def points_of(small):
    rdma, barrier = (SMALL, SMALL_BARRIER) if small else ((), ())
    return (Point("RDMA alone (`rdma_nic`)", "rdma_nic", RDMA_LISTS, RDMA_FORMATS, rdma),
            Point("barrier engine alone", "barrier_engine", (RTL / "barrier" / "barrier.f",), ("barrier",), barrier),
            Point("both (`weft_nic`)", "weft_nic", (*RDMA_LISTS, RTL / "barrier" / "barrier.f", RTL / "nic" / "nic.f"), (*RDMA_FORMATS, "barrier", "barrier_ring"), (*rdma, *barrier)))


def elaborate(point):
    command = [sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(area.VERILOG), "--name", point.name]
    for source in point.lists:
        command += ["--list", str(source)]
    for unit in point.formats:
        command += ["--formats", str(GENERATED / f"{unit}_formats_pkg.sv")]
    for parameter in point.parameters:
        command += ["-G", parameter]
    subprocess.run([*command, point.top], check=True)


def measure(point):
    rams = area.ram_modules((area.VERILOG / f"{point.name}.v").read_text(encoding="utf-8"))
    return {"title": point.title, "ram_bits": sum(words * bits for _, words, bits in rams), **{flow: area.run_job(point.name, flow) for flow in FLOWS}}


def line(row):
    cell, fpga = row["osu018"], row["ecp5"]
    return " | ".join([f"| {row['title']}", *(area.thousands(value) for value in (cell["area_um2"], cell["nand2"], cell["flops"])), f"{cell['fmax_mhz']:.0f}", f"{area.fmax_with_rams(cell):.0f}",
                       *(area.thousands(value) for value in (row["ram_bits"], fpga["luts"], fpga["block_rams"], fpga["lut_rams"]))]) + " |"


def page(results, small):
    rdma, barrier, both = (row["osu018"]["area_um2"] for row in results)
    sizes = "a small NIC (" + ", ".join((*SMALL, *SMALL_BARRIER)) + ")" if small else "default parameters"
    return "\n".join([
        "# Area of the NIC with both engines", "",
        f"Written by `make nic-synth` with {area.yosys_version()}, {sizes}. Logic: OSU 0.18 µm standard cells without RAMs (one NAND2 is {area.NAND2_UM2:.0f} µm²); fmax by OpenSTA from flop to flop, without wires, and with "
        f"paths at RAMs of {area.RAM_ACCESS_NS} ns, {area.RAM_SETUP_NS} ns of setup. ECP5: synthesis only, RAMs included.", "",
        "| NIC | logic µm² | NAND2 | flops | fmax MHz | with RAMs | RAM bits | ECP5 LUTs | block RAMs | LUT RAMs |", f"|---{'|---:' * 9}|", *(line(row) for row in results), "",
        f"Barriers make the logic {both / rdma - 1:.0%} larger; ports, arbitration and the ring of completions are {both - rdma - barrier:,.0f} µm² of that.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--small", action="store_true", help="a small NIC")
    args = parser.parse_args()
    area.need([area.LIBERTY])
    results = points.measured("nic-synth", points_of(args.small), elaborate, measure, args.jobs)
    text = page(results, args.small)
    area.write_file(area.WORK / f"nic{'_small' if args.small else ''}.json", json.dumps(results, indent=2) + "\n")
    area.write_file(area.WORK / "nic_area.md" if args.small else area.ROOT / "docs" / "results" / "nic_area.md", text)
    print(text)


if __name__ == "__main__":
    main()
