# SPDX-License-Identifier: Apache-2.0
"""Runs Verilator and gathers what it writes, files that are not known before, into files that are: PREFIX.fast0.cpp, ... (to be optimised) and
PREFIX.slow.cpp, which include the others. Fewer and larger units also compile in about two thirds of the time. PREFIX.d says what was read.
usage: scripts/verilate.py FOLDER PREFIX PARTS VERILATOR ARGUMENT...   (by scripts/verilate.cmake)
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


def main():
    folder, prefix, parts, *command = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    result = subprocess.run([*command, "--prefix", prefix, "--Mdir", str(folder), "--make", "cmake"], check=False)
    if result.returncode:
        sys.exit(result.returncode)
    of = lists(folder, prefix)
    for part, files in enumerate(shared_out([pathlib.Path(file) for file in of["CLASSES_FAST"] + of["SUPPORT_FAST"]], int(parts))):
        gather(folder / f"{prefix}.fast{part}.cpp", files)
    gather(folder / f"{prefix}.slow.cpp", [pathlib.Path(file) for file in of["CLASSES_SLOW"] + of["SUPPORT_SLOW"]])
    (folder / f"{prefix}.d").write_text(f"{folder}/{prefix}.h: {' '.join(of['DEPS'])}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
