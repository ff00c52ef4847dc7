# SPDX-License-Identifier: Apache-2.0
"""Runs Verilator and gathers what it writes, files that are not known before, into files that are: PREFIX.fast0.cpp, ... (to be optimised) and
PREFIX.slow.cpp, which include the others. Fewer and larger units also compile in about two thirds of the time. PREFIX.d says what was read.
With --steps also PREFIX.steps.hpp: the functions of which eval() consists (tb/common/steps.hpp), for tops with one clock and nothing else that wakes a process.
Files in ROOT are named relative to it, in what Verilator writes and in messages of assertions: so that a clone elsewhere compiles the same text.
usage: scripts/verilate.py [--steps] FOLDER PREFIX PARTS ROOT VERILATOR ARGUMENT...   (by scripts/verilate.cmake)
"""

import pathlib
import re
import subprocess
import sys


def lists(folder, prefix):
    """Verilator's own lists of files, by name: CLASSES_FAST, DEPS, ..."""
    text = (folder / f"{prefix}.cmake").read_text(encoding="utf-8")
    return {name: re.findall(r'"([^"]*)"', files) for name, files in re.findall(rf"^set\({prefix}_(\w+) ?(.*)\)$", text, re.M)}


def shared_out(files, parts):
    """The files in so many parts of about the same size."""
    shares = [[] for _ in range(parts)]
    sizes = [0] * parts
    for file in sorted(files, key=lambda file: file.stat().st_size, reverse=True):
        least = sizes.index(min(sizes))
        shares[least].append(file)
        sizes[least] += file.stat().st_size
    return shares


def gather(file, sources):
    """Written each time: ninja knows this file, and not that what it includes has changed just now."""
    file.write_text("".join(f'#include "{source.name}"\n' for source in sorted(sources)), encoding="utf-8")


def body(text, root, name):
    """Of a function of the generated root module; empty if there is none."""
    found = re.search(rf"^void {root}___{name}\({root}\* vlSelf\) {{$(.*?)^}}$", text, re.M | re.S)
    return found.group(1) if found else ""


def calls(text, root):
    return re.findall(rf"\b({root}___\w+)\(vlSelf\);", text)


def steps(prefix, files):
    """Functions that settle the top and those of a clock edge, in their order; none if eval() is not what it is known to be of Verilator 5.006."""
    root = f"{prefix}___024root"
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    settle, act, edge = (body(text, root, f"eval_{region}") for region in ("ico", "act", "nba"))
    one_clock = "VlTriggerVec<1> __VpreTriggered" in text and len(re.findall(r"__VnbaTriggered\.at", edge)) == 1 and not calls(act, root)
    found = calls(settle, root), calls(edge, root)
    return found if one_clock and all(found) else ([], [])


def write_steps(folder, prefix, files):
    settle, edge = steps(prefix, files)
    root = f"{prefix}___024root"
    lines = ["// Written by scripts/verilate.py", "#pragma once", '#include "common/steps.hpp"', f'#include "{prefix}.h"']
    if edge:
        lines += [f'#include "{root}.h"', *(f"void {function}({root}*);" for function in settle + edge), "namespace weft::tb {", "template <>", f"struct StepsOf<{prefix}> {{",
                  "  static constexpr bool known = true;", f"  static void* state({prefix}& top) {{ return top.rootp; }}"]
        for name, functions in (("settle", settle), ("edge", edge)):
            lines.append(f"  static constexpr Step {name}[] = {{" + ", ".join(f"step_of<{root}, {function}>" for function in functions) + "};")
        lines += ["};", "}  // namespace weft::tb"]
    (folder / f"{prefix}.steps.hpp").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    arguments = sys.argv[1:]
    with_steps = arguments[0] == "--steps"
    folder, prefix, parts, root, *command = arguments[1:] if with_steps else arguments
    command = [argument.replace(f"{root}/", "") for argument in command]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result = subprocess.run([*command, "--prefix", prefix, "--Mdir", str(folder), "--make", "cmake"], cwd=root, check=False)
    if result.returncode:
        sys.exit(result.returncode)
    of = lists(folder, prefix)
    for part, files in enumerate(shared_out([pathlib.Path(file) for file in of["CLASSES_FAST"] + of["SUPPORT_FAST"]], int(parts))):
        gather(folder / f"{prefix}.fast{part}.cpp", files)
    if with_steps:
        write_steps(folder, prefix, [pathlib.Path(file) for file in of["CLASSES_FAST"]])
    gather(folder / f"{prefix}.slow.cpp", [pathlib.Path(file) for file in of["CLASSES_SLOW"] + of["SUPPORT_SLOW"]])
    read = " ".join(str(pathlib.Path(root) / file) for file in of["DEPS"])
    (folder / f"{prefix}.d").write_text(f"{folder}/{prefix}.h: {read}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
