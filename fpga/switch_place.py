# SPDX-License-Identifier: Apache-2.0
"""Place and route of the switch lookup block on FPGAs, by place.py: cells and frequency after routing, all paths from flop to flop.

Writes build/place/*/ and docs/results/switch_fpga.md; fails if a block does not fit.
"""

import argparse
import json
import sys

import area
import place

PAGE = area.ROOT / "docs" / "results" / "switch_fpga.md"
LISTING = area.ROOT / "rtl" / "switch" / "switch.f"
FORMATS = area.ROOT / "build" / "gen" / "rtl" / "switch_lookup_formats_pkg.sv"


def job(ports, colours, unicast, family):
    return place.Job(f"switch_{ports}_{colours}_{family}", f"{ports} ports, {colours:,} multicast and {unicast:,} unicast entries", "switch_lookup", LISTING, family,
                     (f"N_PORTS={ports}", f"N_COLOURS={colours}", f"N_UNICAST={unicast}"), formats=FORMATS)


JOBS = [job(16, 128, 256, "ecp5"), job(36, 128, 256, "ecp5"), job(64, 128, 256, "ecp5"), job(64, 1024, 2048, "ecp5"), job(8, 128, 256, "hx8k"), job(16, 128, 256, "hx8k")]


def page(results, seeds):
    lines = ["# The switch lookup block on FPGAs", "",
             f"Written by `make switch-place`: `switch_lookup`, 2 inputs that share the lookup, one table for the switch; synthesized by {area.yosys_version()} (`abc9`, its script for speed), placed and routed by nextpnr, "
             f"best of {len(seeds)} seeds. Ports of the block hang on a chain of flops, which are counted with the rest; traces are left out. A lookup a clock, so lookups a second are the MHz.", "",
             *place.table(JOBS, results, wanted=False)]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=2, help="of the placer; the best counts (default: %(default)s)")
    parser.add_argument("--only", metavar="TEXT", default="", help="designs whose name has this text; leaves docs/ alone")
    args = parser.parse_args()
    jobs = [each for each in JOBS if args.only in each.name]
    if not jobs:
        sys.exit(f"switch-place: no design has '{args.only}' in its name: {', '.join(each.name for each in JOBS)}")
    seeds = range(1, args.seeds + 1)
    results = place.run_jobs(jobs, seeds, args.jobs)
    area.write_file(place.WORK / "switch_place.json", json.dumps(results, indent=2) + "\n")
    if not args.only:
        area.write_file(PAGE, page(results, seeds))
    beyond = [each.name for each in jobs if not results[each.name]["fmax_mhz"]]
    if beyond:
        sys.exit(f"switch-place: does not fit: {', '.join(beyond)}")


if __name__ == "__main__":
    main()
