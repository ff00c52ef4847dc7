# SPDX-License-Identifier: Apache-2.0
"""Whether the receiver's logic has grown: OSU 0.18 um standard cells, RAMs left out, beside what fpga/expected_logic.json says. Fails if it is more than LIMIT larger; a
change that is worth it changes the file, too (--accept). Needs `make verilog`.
"""

import argparse
import concurrent.futures
import json
import pathlib
import sys

import area

EXPECTED = area.ROOT / "fpga" / "expected_logic.json"
LIMIT = 0.03


def measure(top):
    source = area.VERILOG / f"{top}.v"
    folder = area.WORK / f"{top}.growth"
    files = [pathlib.Path(area.__file__), pathlib.Path(__file__), source]
    return area.kept(folder, "logic", files, lambda: area.logic(top, folder, source))


def expected_logic():
    try:
        return {top: {key: float(value[key]) for key in ("area_um2", "flops")} for top, value in json.loads(EXPECTED.read_text(encoding="utf-8")).items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"growth: {EXPECTED.relative_to(area.ROOT)}: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default: %(default)s)")
    parser.add_argument("--accept", action="store_true", help="write what is measured into fpga/expected_logic.json")
    args = parser.parse_args()
    area.need([area.LIBERTY, *(area.VERILOG / f"{top}.v" for top in area.RECEIVERS)])
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
            found = dict(zip(area.RECEIVERS, pool.map(measure, area.RECEIVERS)))
    except area.ToolError as error:
        sys.exit(f"growth: {error}")
    if args.accept:
        area.write_file(EXPECTED, json.dumps(found, indent=2) + "\n")
    expected = expected_logic()
    too_large = []
    for top in area.RECEIVERS:
        if top not in expected:
            sys.exit(f"growth: {EXPECTED.relative_to(area.ROOT)}: says nothing of {top}")
        growth = found[top]["area_um2"] / expected[top]["area_um2"] - 1
        print(f"growth: {top}: {found[top]['area_um2']:,.0f} um2, {found[top]['flops']:,} flops, {growth:+.1%} of what is expected")
        if growth > LIMIT:
            too_large.append(top)
    if too_large:
        sys.exit(f"growth: the logic has grown by more than {LIMIT:.0%}: {', '.join(too_large)}; if it is worth it: python3 fpga/growth.py --accept")


if __name__ == "__main__":
    main()
