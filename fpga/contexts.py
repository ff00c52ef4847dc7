# SPDX-License-Identifier: Apache-2.0
"""How the logic of the whole engine grows with its contexts: area at 64, 1,024 and 4,096 contexts on each side.

Elaborates the engine with transfers for each size (numbers of contexts have 12 bits in all of them) and maps it to OSU 0.18 um standard cells, RAMs apart.
Writes build/synth/contexts.json and docs/results/contexts.md; fails if the logic grows by more than LIMIT. Needs the Python of fpga/requirements.txt,
Debian's yosys, opensta and qflow-tech-osu018.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

import area

PAGE = area.ROOT / "docs" / "results" / "contexts.md"
TOP = "rdma_top"
SIZES = (64, 1024, 4096)
NUMBER_BITS = 12
LIMIT = 0.15  # growth from the smallest to the largest


def elaborate(contexts):
    folder = area.VERILOG / f"contexts{contexts}"
    parameters = {"N_RX_CTX": contexts, "N_TX_CTX": contexts, "CID_W": NUMBER_BITS, "SID_W": NUMBER_BITS, "TRANSFERS": 1}
    command = [sys.executable, str(area.ROOT / "fpga" / "elaborate.py"), "--out", str(folder), TOP]
    for name, value in parameters.items():
        command += ["-G", f"{name}={value}"]
    subprocess.run(command, check=True)
    return folder / f"{TOP}.v"


def measure(contexts):
    folder = area.WORK / f"contexts{contexts}"
    source = elaborate(contexts)
    return area.kept(folder, "logic", [pathlib.Path(area.__file__), pathlib.Path(__file__), source], lambda: logic(folder, source))


def logic(folder, source):
    return {**area.logic(TOP, folder, source), "ram_bits": area.memory_results(source.read_text(encoding="utf-8"))["ram_bits"]}


def growth(results):
    return results[str(SIZES[-1])]["area_um2"] / results[str(SIZES[0])]["area_um2"] - 1


def page(results, version):
    lines = [
        "# The engine at other numbers of contexts",
        "",
        f"Written by `make synth` with {version}: whole engine (`{TOP}`) with transfers, as many send as receive contexts, whose numbers have {NUMBER_BITS} bits; otherwise default "
        "parameters. OSU 0.18 µm standard cells; RAMs are black boxes.",
        "",
        "| contexts each side | logic µm² | against the smallest | flops | RAM bits |",
        "|---:|---:|---:|---:|---:|",
    ]
    first = results[str(SIZES[0])]["area_um2"]
    for size in SIZES:
        row = results[str(size)]
        lines.append(f"| {area.thousands(size)} | {area.thousands(row['area_um2'])} | {row['area_um2'] / first - 1:+.1%} | {area.thousands(row['flops'])} | "
                     f"{area.thousands(row['ram_bits'])} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    args = parser.parse_args()
    area.need([area.LIBERTY])
    try:
        results = {}
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            futures = {pool.submit(measure, size): size for size in SIZES}
            for future in concurrent.futures.as_completed(futures):
                results[str(futures[future])] = future.result()
                print(f"contexts: {len(results)}/{len(SIZES)} {futures[future]}", flush=True)
    except (area.ToolError, subprocess.CalledProcessError) as error:
        sys.exit(f"contexts: {error}")
    area.write_file(area.WORK / "contexts.json", json.dumps(results, indent=2) + "\n")
    text = page(results, area.yosys_version())
    area.write_file(PAGE, text)
    print(text)
    if growth(results) > LIMIT:
        sys.exit(f"contexts: the logic grows by {growth(results):.1%}, more than {LIMIT:.0%}")


if __name__ == "__main__":
    main()
