# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the switch lookup block on its netlists of OSU 0.18 um cells, also with gates swapped, and proves the netlists equal to their source.

The proof has to say of each swapped gate where it makes a difference. Tests have to find all of them but those that only change bits of counters: tests do
not count that far. Writes build/netlist/switch_results.json and docs/results/switch_netlist.md. Needs Debian's yosys, verilator and qflow-tech-osu018, and
the Python of `make verilog` (elaboration). Exit status 1 if something is not so.
"""

import json
import re
import sys

import area
import gates
import netlist
import same

PAGE = area.ROOT / "docs" / "results" / "switch_netlist.md"
TOP = "switch_lookup"
LISTING = area.ROOT / "rtl" / "switch" / "switch.f"
FORMATS = area.ROOT / "build" / "gen" / "rtl" / "switch_lookup_formats_pkg.sv"
# As in tests/rtl/CMakeLists.txt.
SIZES = {"switch_lookup": ["N_IN=3", "N_PORTS=8", "N_COLOURS=16", "N_UNICAST=64"], "switch_per_port": ["N_IN=3", "N_PORTS=6", "N_COLOURS=8", "N_UNICAST=64", "PER_PORT=1'b1"]}
SWAPPABLE = "switch_lookup"  # tests/gates/CMakeLists.txt knows it too
TARGETS = ["test_switch_gates", "test_switch_swapped_gates"]
COUNTERS = re.compile(r"i_regs\.(corrected|bad|mended|taken|refused|outcomes|drops)_q\[")


def prove(name, picked, progress):
    """Where the netlist differs from its source; and where it does with each of these gates swapped, at all and but for counters."""
    folder = netlist.WORK / name
    source, rest = same.source(TOP, folder / f"{TOP}.v", folder), [netlist.CELLS, folder / "rams.v"]
    differs = same.differences(source, same.netlist(TOP, [*rest, folder / "netlist.v"], folder, "equal"), folder, "equal")
    progress(f"{name}: netlist {'DIFFERS FROM its source in ' + ', '.join(differs) if differs else 'equals its source'}")
    swapped = []
    for number, gate in enumerate(picked, 1):
        file = folder / f"swapped{number}.v"
        file.write_text(gates.with_swapped_gate(gate), encoding="utf-8")
        wrong = same.netlist(TOP, [*rest, file], folder, f"swapped{number}")
        swapped.append({"differs": same.differences(source, wrong, folder, f"swapped{number}"),
                        "not_counters": same.differences(source, wrong, folder, f"swapped{number}.others", COUNTERS)})
        progress(f"{name}: {gates.swap_words(gate)}: differs in {', '.join(swapped[-1]['differs']) or 'NOTHING'}")
    return differs, swapped


def run_all(args, progress):
    gates.write_cell_models(netlist.CELLS)
    made, picked, places = {}, [], []
    for name, parameters in SIZES.items():
        made[name], text = netlist.make_netlist(TOP, name, parameters, LISTING, FORMATS)
        progress(f"{name}: {made[name]['gates']:,} gates, {made[name]['flops']:,} flops")
        if name == SWAPPABLE:
            picked = netlist.make_swappable(name, text, args)
        made[name]["differs"], differing = prove(name, picked if name == SWAPPABLE else [], progress)
        places += differing
    netlist.build_tests(TARGETS, args.jobs)
    progress("tests built")
    ran, failed = netlist.run_tests(TARGETS[0], "switch_tests", args.seed)
    progress(f"{ran} tests on the netlists, {len(failed)} failed")
    swapped = [found | where for found, where in zip(netlist.check_swapped(TARGETS[1], SWAPPABLE, picked, args.seed, progress), places, strict=True)]
    return {"yosys": area.yosys_version(), "seed": args.seed, "netlists": made, "tests": {"ran": ran, "failed": failed}, "swapped": swapped}


def swapped_table(swapped, seed):
    found = sum(1 for swap in swapped if swap["found_by"])
    proven = sum(1 for swap in swapped if swap["differs"])
    return [f"One gate of `{SWAPPABLE}` swapped, picked at random (seed {seed}): the proof finds {proven} of {len(swapped)}, the tests find {found}. Those that they have to find are all that change "
            "anything but bits of counters.", "",
            "| gate | differs, for instance, in | first test that failed |", "|---|---|---|",
            *(f"| {swap['gate']} | {', '.join(f'`{name}`' for name in swap['differs']) or '**nothing**'} | {'`' + swap['found_by'] + '`' if swap['found_by'] else 'none'} |" for swap in swapped)]


def complaints(results):
    """What is not as it should be."""
    return [*(f"{test} failed on the netlist" for test in results["tests"]["failed"]),
            *(f"{name} differs from its source in {', '.join(each['differs'])}" for name, each in results["netlists"].items() if each["differs"]),
            *(f"{swap['gate']}: the proof did not find it" for swap in results["swapped"] if not swap["differs"] and swap["found_by"]),
            *(f"{swap['gate']}: no test found it" for swap in results["swapped"] if not swap["found_by"] and swap["not_counters"])]


def page(results):
    lines = [
        "# The gates of the switch lookup block", "",
        f"Written by `make switch-netlist` with {results['yosys']}, OSU 0.18 µm, the synthesis of `make switch-synth`; what is checked: [verification](../verification.md). RAMs "
        "are models, all else is gates.", "",
        "| netlist | parameters of `switch_lookup` | gates | flops | all outputs and next states, all inputs and states |", "|---|---|---:|---:|---|",
        *(f"| `{name}` | {each['parameters']} | {each['gates']:,} | {each['flops']:,} | {'**differ from the source**' if each['differs'] else 'equal the source'} |"
          for name, each in results["netlists"].items()), "",
        netlist.tests_words("the block (`tests/rtl/switch_tests.cmake`)", results["tests"]), "",
        *swapped_table(results["swapped"], results["seed"]),
    ]
    return "\n".join(lines) + "\n"


def main():
    args = netlist.arguments(__doc__.splitlines()[0])
    area.need([area.LIBERTY])
    try:
        results = run_all(args, netlist.Progress())
    except area.ToolError as error:
        sys.exit(f"switch-netlist: {error}")
    area.write_file(netlist.WORK / "switch_results.json", json.dumps(results, indent=2) + "\n")
    area.write_file(PAGE, page(results))
    wrong = complaints(results)
    for complaint in wrong:
        print(f"switch-netlist: {complaint} (seed {args.seed})", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
