# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that a page of the docs shows, in its order, in a folder of their own.

usage: run_commands.py SOURCE BUILD PAGE

Of each fenced block without the name of a language: lines that begin with `build/bin/` are run by bash and have to end with exit
code 0, or with the one of EXITS; lines that begin with `make` have to name targets of the Makefile, those with `ninja` targets of
the build, those with `ctest` tests. A line of NOT_RUN says why not. Blocks named `sh` likewise, in which there are no other lines,
but on pages of OTHER_TESTS, which run those from their first line to the last.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# What a page takes for granted, made before its first command.
GIVEN = {
    "docs/boot.md": """
for image in boot.img vmlinuz.img root.img vmlinuz small.img; do cp SOURCE/README.md $image; done
for node in $(seq 0 63); do printf '%d 02:00:00:00:00:%02x\\n' $node $node; done > nodes
build/bin/weft topology fattree3:4 --format ibnet -o fabric; echo host-0 > servers""",
    "docs/concepts.md": "printf '%s\\n' 'host-0 host-2 host-3' 'host-4 host-5 host-7' 'host-1 host-6' > groups",
    "docs/mcast.md": "build/bin/weft topology fattree3:4 --format ibnet -o fabric; echo host-0 host-5 host-10 > groups; echo host-0 host-5 host-10 host-12 > now",
    "docs/mcast_opensm.md": "build/bin/weft topology fattree3:4 --format ibnet -o fabric; echo host-0 host-5 host-10 > groups",
    "docs/switch.md": "build/bin/weft topology fattree3:4 --format ibnet -o FABRIC; echo host-0 host-5 host-10 > GROUPS",
}

# A block of the page that the commands read, as a file: its first line, the file's name.
FILES = {"docs/boot.md": {'{\n  "cpus_per_board"': "machine.json"}}

EXITS = {
    "build/bin/weft route --topology kfat2d:4x4:1 --rules literal": 1,  # shows the ring
    "build/bin/weft route --topology kfat2d:4x4:4 --fail 1,1 --rules literal": 1,  # stands still
    "build/bin/weft-sim switch --topology kfat2d:4x4:4 --groups random:8:5:1 --flaw model": 1,  # finds the flaw
}

NOT_RUN = {
    "build/bin/weft push": "needs a subnet; test_interop does it",
    "build/bin/weft trace diff A B": "a synopsis",
    "build/bin/weft trace show A": "a synopsis",
    "build/bin/weft trace diff traces/rtl.nodeN.trace": "N is in what the run before says",
    "build/bin/weft-fuzz": "needs clang; `make fuzz`",
    "build/bin/weft-node": "stays until it is told to end; the tests of tests/node",
    "build/bin/weft-pingpong": "needs weft-node; the tests of tests/node",
    "build/bin/weft topology torus3d:4x4x1:1 --format dot | neato": "Graphviz is not among the packages",
    "build/bin/weft topology hypercube": "the page tells how to add it",
    "build/bin/weft mcast --topology hypercube": "the page tells how to add it",
    "build/bin/test_topology": "a test itself",
    "scripts/lint": "`make lint`",
    "grep -rn": "looks for places in the sources",
}

# Pages whose commands a test of their own runs, and where that names them.
OTHER_TESTS = {
    "docs/driver.md": "tests/node/test_node.py",
    "docs/first_transfer.md": "tests/node/test_node.py",
    "docs/howto_boot.md": "tests/interop/CMakeLists.txt",
    "docs/howto_fabric.md": "tests/interop/CMakeLists.txt",
    "docs/howto_mismatch.md": "tests/interop/CMakeLists.txt",
}

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
SECONDS = 300


def of_prefix(table, line):
    """What the table has for the longest of its keys that the line begins with."""
    keys = [key for key in table if line.startswith(key)]
    return table[max(keys, key=len)] if keys else None


def lines_of(page, text):
    """Number and text of each line in a block that is run here, and whether all of its lines are commands."""
    for block in BLOCK.finditer(text):
        if block[1] == "" or (block[1] == "sh" and page not in OTHER_TESTS):
            for number, line in enumerate(block[2].splitlines(), text.count("\n", 0, block.start()) + 2):
                yield number, line, block[1] == "sh"


def shell(command, folder):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=folder, timeout=SECONDS, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def fault_of_command(line, folder):
    wanted = of_prefix(EXITS, line) or 0
    try:
        done = shell(line, folder)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s"
    if done.returncode == wanted:
        return None
    return f"exit code {done.returncode}, not {wanted}\n{done.stdout[-2000:]}"


def fault_of_make(line, targets):
    words = shlex.split(line.split("&&")[0], comments=True)[1:]
    missing = [word for word in words if "=" not in word and word not in targets]
    return f"the Makefile has no target {', '.join(missing)}" if missing else None


def fault_of_ninja(line, build):
    wanted = [word for word in shlex.split(line, comments=True)[1:] if word not in ("-C", "build")]
    known = subprocess.run(["ninja", "-C", build, "-t", "targets", "all"], check=True, stdout=subprocess.PIPE, text=True).stdout
    missing = set(wanted) - set(re.findall(r"^([^/:\n]+): phony$", known, re.M))
    return f"the build has no target {', '.join(sorted(missing))}" if missing else None


def fault_of_ctest(line, folder):
    """Each alternative has to name a test."""
    [wanted] = re.findall(r" -R '([^']*)'", line)
    for name in wanted.split("|"):
        listed = shell(f"ctest --test-dir build -N -R '{name}'", folder).stdout
        if "Total Tests: 0" in listed or "Total Tests:" not in listed:
            return f"no test is named {name}"
    return None


def prepare(page, text, source, build, folder):
    (folder / "build").symlink_to(build)
    (folder / "README.md").symlink_to(source / "README.md")
    for start, name in FILES.get(page, {}).items():
        bodies = [block[2] for block in BLOCK.finditer(text) if block[1] == "" and block[2].startswith(start)]
        if len(bodies) != 1:
            sys.exit(f"{page}: {len(bodies)} blocks begin with {start!r}, expected 1")
        (folder / name).write_text(bodies[0], encoding="utf-8")
    given = shell(GIVEN.get(page, "true").replace("SOURCE", str(source)), folder)
    if given.returncode:
        sys.exit(f"{page}: what it takes for granted was not made\n{given.stdout}")


def main():
    source, build, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    text = (source / page).read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (source / "Makefile").read_text(encoding="utf-8"), re.M))
    run = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(page, text, source, build, folder)
        for number, line, commands_only in lines_of(page, text):
            if line.startswith("make"):
                fault = fault_of_make(line, targets)
            elif line.startswith("ninja "):
                fault = fault_of_ninja(line, build)
            elif line.startswith("ctest "):
                fault = fault_of_ctest(line, folder)
            elif not commands_only and not line.startswith("build/bin/"):
                continue
            elif reason := of_prefix(NOT_RUN, line):
                print(f"{page}:{number}: not run ({reason}): {line}")
                continue
            elif not line.startswith("build/bin/"):
                fault = "is no command that is run here, and NOT_RUN does not say why"
            else:
                fault = fault_of_command(line, folder)
            run += 1
            print(f"{page}:{number}: {'FAILED' if fault else 'as shown'}: {line}", flush=True)
            if fault:
                failed += 1
                print(fault)
    print(f"{page}: {run} commands, {failed} failed")
    if page in OTHER_TESTS and pathlib.Path(page).name not in (source / OTHER_TESTS[page]).read_text(encoding="utf-8"):
        sys.exit(f"{page}: {OTHER_TESTS[page]} does not name it")
    if run == 0 and page not in OTHER_TESTS:
        sys.exit(f"{page}: no command was run")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
