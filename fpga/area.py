# SPDX-License-Identifier: Apache-2.0
"""Area and timing of the RDMA engine's parts on the plain Verilog of `make verilog`.

For each design: generic gates, OSU 0.18 um standard cells with static timing, and cells of iCE40, ECP5 and Xilinx. RAMs
(modules ram_sdp$...) are black boxes for standard cells; their bits are counted apart. Writes build/synth/results.json and
docs/results/area.md; fails if a receiver is slower than WANTED_MHZ, its RAMs and ports included. Needs Debian's yosys, opensta and
qflow-tech-osu018. What an interrupted run has done is not done again.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERILOG = ROOT / "build" / "verilog"
WORK = ROOT / "build" / "synth"
PAGE = ROOT / "docs" / "results" / "area.md"
LIBERTY = pathlib.Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
NAND2_UM2 = 24.0  # NAND2X1 of OSU 0.18 um
RX_CONTEXTS = 1024  # default N_RX_CTX
RAM_PREFIX = "ram_sdp$"
RECEIVER_PARTS = ("rdma_receiver", "i_receiver", "i_write_status")  # what keeps something for each receive context
CONTEXT_RAM = re.compile(r"ram_sdp\$.*\bi_(contexts|states)\b")
# What is assumed of a RAM, in ns; typical of compiled 0.18 um SRAM of this size.
RAM_ACCESS_NS = 2.0  # clock to data
RAM_SETUP_NS = 0.3  # address, data and enables before the clock
# What is assumed of the flops around a receiver, in ns; its packets and requests come out of RAMs.
PORT_ACCESS_NS = 0.4
PORT_SETUP_NS = 0.3
PORTS_FROM_RAM = re.compile(r"(hdr|verdict|req)\w*_i")

DESIGNS = {
    "rdma_receiver": "receiver",
    "rdma_receiver_transfers": "receiver with SEND and READ",
    "rdma_queues": "host queues",
    "rdma_top": "engine without transfers",
    "rdma_nic": "whole NIC",
}
RECEIVERS = ["rdma_receiver", "rdma_receiver_transfers"]  # measured with their ports
SWITCHES = "switch_lookup"  # so are designs whose name begins so: a result is decided between the last flop and the ports
WANTED_MHZ = 250  # of these
FPGAS = {"ice40": "synth_ice40", "ecp5": "synth_ecp5", "xilinx": "synth_xilinx -flatten -noiopad"}

# "if -g" restructures for depth: without it searches over many bits come out as chains or as trees, depending on what else is in the design.
ABC_SCRIPT = "strash; dch; if -g -K 6; strash; dch; map -B 0.9; topo; buffer -c; upsize -D 500; dnsize -D 500; stime -p"
ABC_CONSTRAINTS = "set_driving_cell BUFX2\nset_load 0.01 [all_outputs]\n"


class ToolError(Exception):
    """A tool failed; the text says which and where its log is."""


def run_tool(command, log, folder=None):
    """Runs it, in this folder, and returns what it prints."""
    with open(log, "w", encoding="utf-8") as file:
        status = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False, cwd=folder).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    if status:
        raise ToolError(f"{command[0]} failed, see {log.relative_to(ROOT)}: {text.strip().splitlines()[-1] if text.strip() else ''}")
    return text


def need(files):
    for file in files:
        if not file.exists():
            sys.exit(f"synth: {file} is missing (make setup, make verilog)")


def yosys_version():
    return subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout.split(" (")[0]


def yosys(commands, folder, name):
    script = folder / f"{name}.ys"
    script.write_text("\n".join(commands) + "\n", encoding="utf-8")
    return run_tool(["yosys", "-q", "-l", str(folder / f"{name}.full.log"), "-s", str(script)], folder / f"{name}.log")


def kept(folder, name, files, measure):
    """What measure() returns, or did in an earlier run with the same Yosys and the same bytes in these files."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256("\n".join([yosys_version(), *(file.read_text(encoding="utf-8") for file in files)]).encode()).hexdigest()
    result_file = folder / f"{name}.result.json"
    if result_file.exists():
        earlier = json.loads(result_file.read_text(encoding="utf-8"))
        if earlier["digest"] == digest:
            return earlier["result"]
    result = measure()
    write_file(result_file, json.dumps({"digest": digest, "result": result}, indent=1) + "\n")
    return result


def cell_counts(path):
    """Cells by type, from the text of `stat` on a flattened design: the JSON of yosys 0.23 is not always valid."""
    return {kind: int(count) for kind, count in re.findall(r"^     (\S+) +(\d+)$", path.read_text(encoding="utf-8"), re.M)}


# --- memories -----------------------------------------------------------------------------------------------------------


def ram_modules(source):
    """(module, words, bits a word) of every RAM; after elaboration each instance is a module of its own."""
    result = []
    for block in re.findall(r"^module .*?^endmodule", source, re.M | re.S):
        name = re.match(r"module \\?(\S+?)\s*\(", block).group(1)
        memory = re.search(r"reg (?:\[(\d+):0\] )?\\?\w+ \[(\d+):0\];", block)
        if name.startswith(RAM_PREFIX) and memory:
            result.append((name, int(memory.group(2)) + 1, int(memory.group(1) or 0) + 1))
    return result


def memory_results(source):
    rams = ram_modules(source)
    receiver = [ram for ram in rams if any(part in ram[0] for part in RECEIVER_PARTS)]
    contexts = [words for name, words, _ in receiver if CONTEXT_RAM.match(name)]
    # a context's share of every RAM that has a word for each: context, timer, free list, status of its writes
    per_context = sum(bits for _, words, bits in receiver if contexts and words == contexts[0])
    return {
        "ram_bits": sum(words * bits for _, words, bits in rams),
        "rams": [{"name": name.removeprefix(RAM_PREFIX), "words": words, "bits": bits} for name, words, bits in rams],
        "bits_per_receive_context": per_context or None,
    }


def read_commands(top, with_rams, source=None):
    commands = [f"read_verilog {source or VERILOG / (top + '.v')}", f"hierarchy -check -top {top}", "proc"]
    if not with_rams:
        # A name with $ needs the backslash; keep_hierarchy is implied by the black box.
        commands += [f"blackbox {RAM_PREFIX}*"]
    return commands


def osu018_commands(top, folder, source=None):
    """From plain Verilog to a flat netlist of OSU 0.18 um cells, with the RAMs as black boxes."""
    (folder / "abc.script").write_text(ABC_SCRIPT + "\n", encoding="utf-8")
    (folder / "abc.constr").write_text(ABC_CONSTRAINTS, encoding="utf-8")
    return [
        f"read_liberty -lib {LIBERTY}",
        *read_commands(top, False, source),
        f"synth -flatten -top {top}",
        f"dfflibmap -liberty {LIBERTY}",
        f"abc -liberty {LIBERTY} -constr {folder / 'abc.constr'} -script {folder / 'abc.script'}",
        "setundef -zero",
        "splitnets",
        "opt_clean -purge",
        "check -assert",
    ]


# --- flows ---------------------------------------------------------------------------------------------------------------


def generic_gates(top, folder):
    out = folder / "generic.stat"
    yosys(read_commands(top, False) + [f"synth -flatten -top {top}", "opt_clean -purge", f"tee -q -o {out} stat"], folder, "generic")
    cells = cell_counts(out)
    gates = {kind: count for kind, count in cells.items() if kind.startswith("$_")}
    flops = sum(count for kind, count in gates.items() if "DFF" in kind)
    return {"gates": sum(gates.values()) - flops, "flops": flops}


def standard_cells(top, folder):
    netlist, open_netlist, stat = folder / "osu018.v", folder / "osu018_open.v", folder / "osu018.stat"
    yosys(
        osu018_commands(top, folder)
        + [
            f"tee -q -o {stat} stat -liberty {LIBERTY}",
            # OpenSTA wants to know the ports of the RAMs, and no names it could not parse.
            f"write_verilog -noattr -noexpr -nohex -simple-lhs {netlist}",
            # The RAMs' ports as ports of the design, so that paths into and out of RAMs can be constrained.
            f"expose -evert t:{RAM_PREFIX}*",
            "opt_clean",
            f"write_verilog -noattr -noexpr -nohex -simple-lhs {open_netlist}",
        ],
        folder,
        "osu018",
    )
    text = stat.read_text(encoding="utf-8")
    area = float(re.search(r"Chip area for (?:top )?module '\\" + re.escape(top) + r"': ([\d.]+)", text).group(1))
    flops = sum(count for kind, count in cell_counts(stat).items() if kind.startswith("DFF"))
    return {"area_um2": area, "nand2": round(area / NAND2_UM2), "flops": flops, **timing(top, folder, netlist), **ram_timing(top, folder, open_netlist)}


STA_SCRIPT = """read_liberty {liberty}
read_verilog {netlist}
link_design {top}
{clock}
report_checks -path_delay max -format full {paths} -digits 3
"""


def run_sta(top, folder, name, netlist, clock, paths):
    """Shortest period in ns and the names of its path's ends, or nothing if no path is constrained."""
    script = folder / f"{name}.tcl"
    script.write_text(STA_SCRIPT.format(liberty=LIBERTY, netlist=netlist, top=top, clock=clock, paths=paths), encoding="utf-8")
    log = run_tool(["sta", "-exit", "-no_splash", str(script)], folder / f"{name}.log")
    if "Error" in log:
        raise ToolError(f"sta: {next(line for line in log.splitlines() if 'Error' in line)}")
    slack = re.search(r"^\s*(-?[\d.]+)\s+slack", log, re.M)
    if not slack:
        return None
    # The period was 1 ns: what is missing, setup time included, is the shortest period.
    return 1.0 - float(slack.group(1)), *(re.search(rf"^{what}: (\S+)", log, re.M).group(1) for what in ("Startpoint", "Endpoint"))


CLOCK = "create_clock -name clk -period 1 [get_ports clk_i]"


def timing(top, folder, netlist):
    """Worst path between flops."""
    found = run_sta(top, folder, "sta", netlist, CLOCK, "-from [all_registers -clock_pins] -to [all_registers -data_pins]")
    if not found:
        raise ToolError(f"sta: no path found, see {(folder / 'sta.log').relative_to(ROOT)}")
    period, start, end = found
    return {
        "min_period_ns": round(period, 3),
        "fmax_mhz": round(1000.0 / period, 1),
        "critical_from": source_name(start, folder),
        "critical_to": source_name(end, folder),
    }


def ram_timing(top, folder, netlist):
    """Worst path that begins or ends at a RAM, with the assumed RAM; of a receiver and a switch lookup block also at a port, with what is assumed around it."""
    delays = port_delays(netlist.read_text(encoding="utf-8"), with_ports=top in RECEIVERS or top.startswith(SWITCHES))
    if not delays:
        return {"ram_period_ns": None}
    groups = {
        "from": "-from [all_inputs] -to [all_registers -data_pins]",
        "to": "-from [all_registers -clock_pins] -to [all_outputs]",
        "through": "-from [all_inputs] -to [all_outputs]",
    }
    clock = "\n".join([CLOCK, *delays])
    worst = [found for name, paths in groups.items() if (found := run_sta(top, folder, f"sta_ram_{name}", netlist, clock, paths))]
    period, start, end = max(worst)
    return {"ram_period_ns": round(period, 3), "ram_critical_from": start.replace("\\", ""), "ram_critical_to": end.replace("\\", "")}


RAM_PORT = re.compile(r"\S+\.(?:u_ram|i_failed|i_places|i_owners|i_targets|i_moderation|i_groups|i_members|i_notes)\.\w+")


def port_delays(netlist, with_ports):
    """Constraints of the ports that lead to RAMs, and if wanted of all others."""
    lines = []
    for direction, port in re.findall(r"^  (input|output) (?:\[\d+:0\] )?\\?(\S+?) ?;", netlist, re.M):
        of_ram = RAM_PORT.fullmatch(port)
        if port.endswith("clk_i") or not (of_ram or with_ports):
            continue
        if direction == "input":
            delay = RAM_ACCESS_NS if of_ram or PORTS_FROM_RAM.fullmatch(port) else PORT_ACCESS_NS
        else:
            delay = RAM_SETUP_NS if of_ram else PORT_SETUP_NS
        lines.append(f"set_{direction}_delay {delay} -clock clk [get_ports {{{port}*}}]")
    return lines


def fmax_with_rams(cell):
    return min(cell["fmax_mhz"], 1000 / cell["ram_period_ns"])


def source_name(point, folder):
    """The flop's output net, which has a name of the source, for an instance that has none."""
    instance = re.escape(point.replace("\\", ""))
    match = re.search(r"\b" + instance + r" \((.*?)\);", (folder / "osu018.v").read_text(encoding="utf-8"), re.S)
    net = match and re.search(r"\.Q\(\\?(.+?)\s*\)", match.group(1))
    if not net:
        return point.replace("\\", "")
    return net.group(1)


def logic(top, folder, source):
    """Area and flops of standard cells, without timing."""
    stat = folder / "osu018.stat"
    yosys([*osu018_commands(top, folder, source), f"tee -q -o {stat} stat -liberty {LIBERTY}"], folder, "osu018")
    um2 = float(re.search(r"Chip area for (?:top )?module '\\" + re.escape(top) + r"': ([\d.]+)", stat.read_text(encoding="utf-8")).group(1))
    return {"area_um2": um2, "flops": sum(count for kind, count in cell_counts(stat).items() if kind.startswith("DFF"))}


def fpga_cells(top, folder, family):
    out = folder / f"{family}.stat"
    yosys(read_commands(top, True) + [f"{FPGAS[family]} -top {top}", f"tee -q -o {out} stat"], folder, family)
    return fpga_summary(cell_counts(out))


def fpga_summary(cells):
    def total(*patterns):
        return sum(count for kind, count in cells.items() if any(re.fullmatch(pattern, kind) for pattern in patterns))

    return {
        "luts": total("SB_LUT4", "LUT4", r"LUT[1-6]"),
        "flops": total(r"SB_DFF\w*", "TRELLIS_FF", r"FD[RSCP]E(_1)?"),
        "carry": total("SB_CARRY", "CCU2C", "CARRY4"),
        "block_rams": total(r"SB_RAM40_4K\w*", "DP16KD", r"RAMB\w+"),
        "lut_rams": total("TRELLIS_DPR16X4", r"RAM(32|64|128|256)\w+"),
    }


# --- report --------------------------------------------------------------------------------------------------------------


def thousands(value):
    return "–" if value is None else f"{value:,.0f}"


def page(results):
    lines = [
        "# Area and timing of the RDMA engine",
        "",
        "Written by `make synth`" + (" `QUICK=1`" if "rdma_top" not in results["designs"] else "") + f" with {results['yosys']}"
        + " on plain Verilog (`make verilog`) with default parameters: 1,024 receive and 1,024 send contexts, window of 128, 256-bit data path.",
        "",
        "## Standard cells: OSU 0.18 µm",
        "",
        f"Logic without RAMs, which are black boxes; their bits are apart. One NAND2 is {NAND2_UM2:.0f} µm². Timing: OpenSTA, typical corner, no wires,",
        f"paths from flop to flop; beside it those from and to RAMs, of which {RAM_ACCESS_NS} ns from clock to data and {RAM_SETUP_NS} ns of setup are assumed.",
        f"The receivers, which stand here as they do in the engine, are measured with their ports as well: packets and requests {RAM_ACCESS_NS} ns after the clock (out of RAMs), all",
        f"else {PORT_ACCESS_NS} ns after it, outputs {PORT_SETUP_NS} ns before it. They must have {WANTED_MHZ} MHz with all that.",
        "",
        "| design | logic µm² | NAND2 | flops | RAM bits | bits per receive context | fmax MHz | critical path | fmax with RAMs, receivers: and ports | critical path at a RAM or port |",
        "|---|---:|---:|---:|---:|---:|---:|---|---:|---|",
    ]
    for name, design in results["designs"].items():
        cell, memory = design["osu018"], design["memory"]
        lines.append(
            f"| {design['title']} (`{name}`) | {thousands(cell['area_um2'])} | {thousands(cell['nand2'])} | {thousands(cell['flops'])} | "
            f"{thousands(memory['ram_bits'])} | {thousands(memory['bits_per_receive_context'])} | {cell['fmax_mhz']:.0f} | "
            f"`{cell['critical_from']}` → `{cell['critical_to']}`, {cell['min_period_ns']:.2f} ns | {fmax_with_rams(cell):.0f} | "
            f"`{cell['ram_critical_from']}` → `{cell['ram_critical_to']}`, {cell['ram_period_ns']:.2f} ns |"
        )
    lines += ["", "## Generic gates", "", "| design | gates | flops |", "|---|---:|---:|"]
    for name, design in results["designs"].items():
        lines.append(f"| `{name}` | {thousands(design['generic']['gates'])} | {thousands(design['generic']['flops'])} |")
    lines += ["", "## FPGA cells", "", "RAMs included, as block RAM or LUT RAM where the family has it. Synthesis only, not placed.", ""]
    lines += ["| design | family | LUTs | flops | carry cells | block RAMs | LUT RAMs |", "|---|---|---:|---:|---:|---:|---:|"]
    for name, design in results["designs"].items():
        for family in FPGAS:
            cell = design[family]
            lines.append(f"| `{name}` | {family} | " + " | ".join(thousands(cell[key]) for key in ("luts", "flops", "carry", "block_rams", "lut_rams")) + " |")
    lines += ["", "## RAMs", "", "| design | RAM | words | bits |", "|---|---|---:|---:|"]
    largest = list(results["designs"])[-1]
    for ram in results["designs"][largest]["memory"]["rams"]:
        lines.append(f"| `{largest}` | `{ram['name']}` | {thousands(ram['words'])} | {thousands(ram['bits'])} |")
    return "\n".join(lines) + "\n"


def write_file(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def run_job(top, flow):
    folder = WORK / top

    def measure():
        if flow == "generic":
            return generic_gates(top, folder)
        if flow == "osu018":
            return standard_cells(top, folder)
        return fpga_cells(top, folder, flow)

    return kept(folder, flow, [pathlib.Path(__file__), VERILOG / f"{top}.v"], measure)


def run_all(tops, jobs):
    """Runs every flow of every design; prints each as it ends."""
    designs = {top: {"title": DESIGNS[top], "memory": memory_results((VERILOG / f"{top}.v").read_text(encoding="utf-8"))} for top in tops}
    todo = [(top, flow) for top in reversed(tops) for flow in ["osu018", *FPGAS, "generic"]]  # the long ones first
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        futures = {pool.submit(run_job, *job): job for job in todo}
        try:
            for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                top, flow = futures[future]
                designs[top][flow] = future.result()
                print(f"synth: {done}/{len(todo)} {top} {flow} ({time.monotonic() - start:.0f} s)", flush=True)
        except ToolError:
            pool.shutdown(cancel_futures=True)
            raise
    return designs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="receivers only; leaves docs/ alone")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    args = parser.parse_args()
    tops = RECEIVERS if args.quick else list(DESIGNS)
    need([LIBERTY, *(VERILOG / f"{top}.v" for top in tops)])
    try:
        results = {"yosys": yosys_version(), "liberty": LIBERTY.name, "designs": run_all(tops, args.jobs)}
    except ToolError as error:
        sys.exit(f"synth: {error}")
    write_file(WORK / "results.json", json.dumps(results, indent=2) + "\n")
    text = page(results)
    if not args.quick:
        write_file(PAGE, text)
    print(text)
    slow = [top for top in RECEIVERS if fmax_with_rams(results["designs"][top]["osu018"]) < WANTED_MHZ]
    if slow:
        sys.exit(f"synth: slower than {WANTED_MHZ} MHz: {', '.join(slow)}")


if __name__ == "__main__":
    main()
