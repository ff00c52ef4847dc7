# SPDX-License-Identifier: Apache-2.0
"""Measures a unit at several points (sizes), as fpga/area.py does."""

import concurrent.futures
import subprocess
import sys

import area


def measured(command, points, elaborate, measure, jobs):
    """Results of all points, in their order; each told as it ends. A tool that fails ends the program with one line that names the command."""
    results = []
    try:
        for point in points:
            elaborate(point)
        with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
            for count, (point, result) in enumerate(zip(points, pool.map(measure, points)), 1):
                results.append(result)
                print(f"{command}: {count}/{len(points)} {point.name}", flush=True)
    except (area.ToolError, subprocess.CalledProcessError) as error:
        sys.exit(f"{command}: {error}")
    return results
