# SPDX-License-Identifier: Apache-2.0
"""Area of the schemes (docs/rdma_baseline.md) at several numbers of contexts: receiver and sender as they stand in the engine, logic without RAMs, RAM bits, speed.

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
SCHEMES = {"window": "receiver window", "counter": "receiver counter"}  # by parameter SCHEME, from 0 on
SIZES = (64, 256, 1024, 4096)
NUMBER_BITS = 12
FLOWS = ("osu018", "ice40", "ecp5")
HALVES = {"receiver": ("N_RX_CTX", ("CTL_DEPTH=128",)), "sender": ("N_TX_CTX", ())}  # parameter of its contexts; others, as rdma_top has them


def name_of(half, scheme, contexts):
    return f"rdma_{half}_{scheme}_{contexts}"


def elaborate(half, scheme, contexts):
    parameter, others = HALVES[half]
    values = (f"{parameter}={contexts}", f"CID_W={NUMBER_BITS}", f"SID_W={NUMBER_BITS}", f"SCHEME={list(SCHEMES).index(scheme)}", *others)
    command = [sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(area.VERILOG), "--name", name_of(half, scheme, contexts)]
    for value in values:
        command += ["-G", value]
    subprocess.run([*command, f"rdma_{half}"], check=True)


def memory(half, scheme, contexts):
    rams = area.ram_modules((area.VERILOG / f"{name_of(half, scheme, contexts)}.v").read_text(encoding="utf-8"))
    return {"ram_bits": sum(words * bits for _, words, bits in rams), "bits_per_context": sum(bits for _, words, bits in rams if words == contexts)}


def measure(half, scheme, contexts):
    return {**memory(half, scheme, contexts), **{flow: area.run_job(name_of(half, scheme, contexts), flow) for flow in FLOWS}}


def page(results):
    lines = ["# Area of the schemes", "",
             f"Written by `make schemes` with {area.yosys_version()}: the halves of the engine as they stand in it, numbers of contexts of {NUMBER_BITS} bits, other parameters as by default. Logic: OSU 0.18 µm standard cells, "
             f"RAMs left out (one NAND2 is {area.NAND2_UM2:.0f} µm²); fmax by OpenSTA without wires, beside it with RAMs of {area.RAM_ACCESS_NS} ns. LUTs: synthesis only, RAMs included where the family has none for them. "
             "*Bits per context*: of all RAMs that have a word for each.", "",
             "| contexts | half | scheme | logic µm² | NAND2 | flops | fmax MHz | with RAMs | iCE40 LUTs | ECP5 LUTs | RAM bits | bits per context |", "|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for row in results:
        cell = row["osu018"]
        lines.append(f"| {area.thousands(row['contexts'])} | {row['half']} | {SCHEMES[row['scheme']]} | {area.thousands(cell['area_um2'])} | {area.thousands(cell['nand2'])} | {area.thousands(cell['flops'])} | "
                     f"{cell['fmax_mhz']:.0f} | {area.fmax_with_rams(cell):.0f} | {area.thousands(row['ice40']['luts'])} | {area.thousands(row['ecp5']['luts'])} | {area.thousands(row['ram_bits'])} | "
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
