# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over our C++ sources that are part of a build; what was clean before is not looked at again.

A source is known by its text after preprocessing (comments kept, our folders' names left out), the version of clang-tidy and .clang-tidy. Those that were clean are remembered in
~/.cache/weft-tidy (XDG_CACHE_HOME). Exit code 1 if anything is found. The static analyzer looks into small functions only when they are called (its mode "shallow"), else it would take
longer than all other checks together; and not at tests at all: it follows both branches of each EXPECT, up to three minutes a file.
All sources take an hour on two cores when none is remembered. With --commits only those are looked at that the last commits changed, and for each header that they changed one source that
includes it; all of them where the history does not reach that far.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("model", "sw", "tb", "tests")
# The compile commands are GCC's and name warnings that clang does not have.
CLANG_ARGUMENTS = ("-Wno-unknown-warning-option", "-Xclang", "-analyzer-config", "-Xclang", "mode=shallow")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "weft-tidy"


def sources(build):
    """(file, folder, command) of each of our sources once, generated ones left out."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = pathlib.Path(entry["file"])
        if any(file.is_relative_to(ROOT / folder) for folder in FOLDERS):
            found[file] = (file, entry["directory"], shlex.split(entry["command"]))
    return [found[file] for file in sorted(found)]


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def changed(commits):
    """Our files that the last commits or the work tree changed, or nothing if the history does not reach back to before them."""
    base = lines_of("git", "-C", ROOT, "rev-list", "--first-parent", "--max-count=1", f"--skip={commits}", "HEAD")
    return {ROOT / name for name in lines_of("git", "-C", ROOT, "diff", "--name-only", base[0], "--", *FOLDERS)} if base else None


def included(build):
    """(object, files that it is made of) of each object that Ninja knows."""
    made_of = []
    for line in lines_of("ninja", "-C", build, "-t", "deps"):
        if line.startswith(" "):
            made_of[-1][1].append((build / line.strip()).resolve())
        elif line:
            made_of.append((line.split(":")[0], []))
    return made_of


def recent(todo, build, commits):
    """Of the sources those that the last commits changed, and for each header that they changed the smallest source that includes it and is not among them."""
    files = changed(commits)
    if files is None:
        return todo
    known = {source[0]: source for source in todo}
    chosen = files & known.keys()
    made_of = [(next(file for file in of if file in known), set(of)) for _, of in included(build) if known.keys() & set(of)]
    for header in sorted(file for file in files if file.suffix in (".hpp", ".h")):
        by = [source for source, of in made_of if header in of]
        if by and not chosen & set(by):
            chosen.add(min(by, key=lambda source: (source.stat().st_size, source)))
    return [known[file] for file in sorted(chosen)]


def preprocessed(file, folder, command):
    """The text that a compiler sees, or nothing: then clang-tidy has to say why."""
    compiler = next(index for index, word in enumerate(command) if re.fullmatch(r"(c\+\+|g\+\+|clang\+\+|cc|gcc|clang)(-\d+)?", pathlib.Path(word).name))
    flags, skip = [], False
    for word in command[compiler + 1:]:
        if skip or word in ("-c", str(file)):
            skip = False
        elif word == "-o":
            skip = True
        else:
            flags.append(word)
    # -w: only the text is of interest; warnings are the build's.
    result = subprocess.run([command[compiler], *flags, "-w", "-E", "-C", "-P", str(file)], cwd=folder, capture_output=True, check=False)
    return result.stdout if result.returncode == 0 else None


def checks_left_out(file):
    """Arguments for clang-tidy."""
    is_test = file.is_relative_to(ROOT / "tests") or file.stem.endswith("_test")
    return ["--checks=-clang-analyzer-*"] if is_test else []


def fingerprint(text, left_out, build, version):
    digest = hashlib.sha256(version)
    digest.update(" ".join((*left_out, *CLANG_ARGUMENTS)).encode())
    digest.update((ROOT / ".clang-tidy").read_bytes())
    for folder in sorted((str(build), str(ROOT)), key=len, reverse=True):
        text = text.replace(folder.encode(), b"")
    digest.update(text)
    return digest.hexdigest()


def check(source, build, version):
    """What clang-tidy has to say; nothing if the source is clean."""
    file, folder, command = source
    text = preprocessed(file, folder, command)
    left_out = checks_left_out(file)
    known = CACHE / fingerprint(text, left_out, build, version) if text else None
    if known and known.exists():
        return ""
    result = subprocess.run(["clang-tidy", *left_out, "-p", str(build), "--quiet", f"--header-filter=^{ROOT}/({'|'.join(FOLDERS)})/",
                             *(f"--extra-arg={argument}" for argument in CLANG_ARGUMENTS), str(file)],
                            capture_output=True, text=True, check=False)
    said = result.stdout.strip()
    if result.returncode == 0 and not said and known:
        known.touch()
    elif result.returncode and not said:
        said = f"{file}: clang-tidy failed: {result.stderr.strip()}"
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), help="folder of a build")
    parser.add_argument("--jobs", type=int, default=2, help="at once (default: 2)")
    parser.add_argument("--commits", type=int, metavar="N", help="only what the last N commits changed")
    arguments = parser.parse_args()
    build = arguments.build
    CACHE.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    every, findings = sources(build), 0
    todo = recent(every, build, arguments.commits) if arguments.commits else every
    print(f"  {len(todo)} of {len(every)} sources", flush=True)
    with concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        for done, said in enumerate(pool.map(lambda source: check(source, build, version), todo), 1):
            if sys.stderr.isatty():
                print(f"\r  {done} of {len(todo)}", end="", file=sys.stderr, flush=True)
            if said:
                findings += 1
                print(said, flush=True)
    if sys.stderr.isatty():
        print("\r" + " " * 20 + "\r", end="", file=sys.stderr)
    sys.exit(1 if findings or not every else 0)


if __name__ == "__main__":
    main()
