# SPDX-License-Identifier: Apache-2.0
"""Area of the schemes (docs/rdma_baseline.md) at several numbers of contexts: receiver and sender as they stand in the engine, and what the sender window adds behind the
sender; logic without RAMs, RAM bits, speed.

OSU 0.18 um standard cells with static timing, LUTs of iCE40 and ECP5. Elaborates by itself (needs the venv of `make verilog`), measures by fpga/area.py. Writes
build/synth/schemes.json and docs/results/schemes.md. What an interrupted run has done is not done again.
"""

import argparse
import concurrent.futures
import json
import subprocess
import sys

import area

PAGE = area.ROOT / "docs" / "results" / "schemes.md"
SCHEMES = {"window": "receiver window", "counter": "receiver counter", "keeping": "sender window"}  # by parameter SCHEME, from 0 on
SIZES = (64, 256, 1024, 4096)
NUMBER_BITS = 12
FLOWS = ("osu018", "ice40", "ecp5")
HALVES = {"receiver": ("N_RX_CTX", ("CTL_DEPTH=128",)), "sender": ("N_TX_CTX", ())}  # parameter of its contexts; others, as rdma_top has them
COPIES = "copies"  # of packets, only of the sender window, and whatever the number of contexts
OF_OTHERS = ("i_quota.", "i_regions.", "i_resend.", "i_buffers.i_buffers.", "i_buffers.i_timer.")  # RAMs that may have as many words as there are contexts, but not for them


def name_of(half, scheme, contexts):
    return f"rdma_{half}_{scheme}_{contexts}"


def elaborate(half, scheme, contexts):
    command = [sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(area.VERILOG), "--name", name_of(half, scheme, contexts)]
    if half == COPIES:
        subprocess.run([*command, "rdma_send_copies"], check=True)
        return
    parameter, others = HALVES[half]
    values = (f"{parameter}={contexts}", f"CID_W={NUMBER_BITS}", f"SID_W={NUMBER_BITS}", f"SCHEME={list(SCHEMES).index(scheme)}", *others)
    for value in values:
        command += ["-G", value]
    subprocess.run([*command, f"rdma_{half}"], check=True)


def memory(half, scheme, contexts):
    rams = area.ram_modules((area.VERILOG / f"{name_of(half, scheme, contexts)}.v").read_text(encoding="utf-8"))
    of_contexts = [bits for name, words, bits in rams if words == contexts and not any(other in name for other in OF_OTHERS)]
    return {"ram_bits": sum(words * bits for _, words, bits in rams), "bits_per_context": 0 if half == COPIES else sum(of_contexts)}


def measure(half, scheme, contexts):
    flows = FLOWS[:1] if half == COPIES else FLOWS
    return {**memory(half, scheme, contexts), **{flow: area.run_job(name_of(half, scheme, contexts), flow) for flow in flows}}


def both_halves(results):
    """Table of what a scheme takes in all, by number of contexts."""
    lines = ["| contexts on each side | scheme | NAND2 | logic µm² | iCE40 LUTs | ECP5 LUTs | RAM bits | bits per receive, send context | fmax MHz | with RAMs |", "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for contexts in sorted({row["contexts"] for row in results}):
        for scheme, words in SCHEMES.items():
            halves = {row["half"]: row for row in results if row["scheme"] == scheme and row["contexts"] == contexts and row["half"] != COPIES}
            copies = [row for row in results if row["scheme"] == scheme and row["half"] == COPIES]
            cells = [row["osu018"] for row in (*halves.values(), *copies)]
            sums = [sum(cell[field] for cell in cells) for field in ("nand2", "area_um2")] + [sum(row[flow]["luts"] for row in halves.values()) for flow in FLOWS[1:]]
            ram = sum(row["ram_bits"] for row in (*halves.values(), *copies))
            lines.append(f"| {area.thousands(contexts)} | {words} | {' | '.join(area.thousands(value) for value in sums)} | {area.thousands(ram)} | "
                         f"{', '.join(area.thousands(halves[half]['bits_per_context']) for half in HALVES)} | {min(cell['fmax_mhz'] for cell in cells):.0f} | {min(area.fmax_with_rams(cell) for cell in cells):.0f} |")
    return lines


def page(results):
    lines = ["# Area of the schemes", "",
             f"Written by `make schemes` with {area.yosys_version()}: the halves of the engine as they stand in it, numbers of contexts of {NUMBER_BITS} bits, other parameters as by default. Logic: OSU 0.18 µm standard cells, "
             f"RAMs left out (one NAND2 is {area.NAND2_UM2:.0f} µm²); fmax by OpenSTA without wires, beside it with RAMs of {area.RAM_ACCESS_NS} ns. LUTs: synthesis only, RAMs included where the family has none for them. "
             "*Bits per context*: of all RAMs that have a word for each. *copies*: the payloads that the sender window keeps, 64 buffers of 128 packets of 256 bytes, "
             "for which no FPGA of these families has the RAM: their LUTs are not counted.", "",
             *both_halves(results), "",
             "## Half by half", "",
             "| contexts | half | scheme | logic µm² | NAND2 | flops | fmax MHz | with RAMs | iCE40 LUTs | ECP5 LUTs | RAM bits | bits per context |", "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in results:
        cell = row["osu018"]
        luts = [area.thousands(row[flow]["luts"] if flow in row else None) for flow in FLOWS[1:]]
        lines.append(f"| {area.thousands(row['contexts'])} | {row['half']} | {SCHEMES[row['scheme']]} | {area.thousands(cell['area_um2'])} | {area.thousands(cell['nand2'])} | {area.thousands(cell['flops'])} | "
                     f"{cell['fmax_mhz']:.0f} | {area.fmax_with_rams(cell):.0f} | {' | '.join(luts)} | {area.thousands(row['ram_bits'])} | "
                     f"{area.thousands(row['bits_per_context'])} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--contexts", type=int, choices=SIZES, help="only this size; leaves docs/ alone")
    args = parser.parse_args()
    area.need([area.LIBERTY])
    sizes = SIZES if args.contexts is None else (args.contexts,)
    todo = [(half, scheme, contexts) for contexts in sizes for half in HALVES for scheme in SCHEMES]
    todo.append((COPIES, "keeping", sizes[0]))
    results = []
    try:
        for job in todo:
            elaborate(*job)
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            for count, (job, result) in enumerate(zip(todo, pool.map(lambda job: measure(*job), todo)), 1):
                results.append({"half": job[0], "scheme": job[1], "contexts": job[2], **result})
                print(f"schemes: {count}/{len(todo)} {name_of(*job)}", flush=True)
    except (area.ToolError, subprocess.CalledProcessError) as error:
        sys.exit(f"schemes: {error}")
    area.write_file(area.WORK / "schemes.json", json.dumps(results, indent=2) + "\n")
    text = page(results)
    if args.contexts is None:
        area.write_file(PAGE, text)
    print(text)


if __name__ == "__main__":
    main()
