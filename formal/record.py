# SPDX-License-Identifier: Apache-2.0
"""What a result of `make formal` is of: a fingerprint of all that it depends on, in the page beside the result.

Sources, faults, limits, the code of the check and the versions of its tools. A result of the same fingerprint need not be had
again, on any machine: `prove.py --changed` leaves it out.
"""

import functools
import hashlib
import inspect
import re
import subprocess



WIDTH = 16  # hexadecimal digits of SHA-256
VERSIONS = {"spin": "-V", "yosys": "-V", "z3": "--version"}


@functools.cache
def version(tool):
    return subprocess.run([tool, VERSIONS[tool]], capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def text_of(file):
    return file.read_text(encoding="utf-8")


@functools.cache
def words_of(file):
    return frozenset(re.findall(r"\w+", text_of(file)))


def declares_another(file):
    """Is there a module, package or interface in it that is not called as the file is?"""
    return any(name != file.stem for name in re.findall(r"^\s*(?:module|package|interface)\s+(?:automatic\s+)?(\w+)", text_of(file), re.M))


def needed(top, files):
    """Those of the files that the module in `top` may be made of: what a file does not name, it does not use."""
    found, todo = {top}, [top]
    todo += [file for file in files if declares_another(file) and file != top]
    while todo:
        file = todo.pop()
        found.add(file)
        todo += [other for other in files if other.stem in words_of(file) and other not in found and other not in todo]
    return sorted(found)


def fingerprint(entry, files, functions, tools):
    """Of one check: its entry in a table, the sources, the code that does it, the tools that it runs."""
    digest = hashlib.sha256()
    for part in (repr(entry), *map(inspect.getsource, functions), *map(version, tools)):
        digest.update(part.encode() + b"\0")
    for file in files:
        digest.update(f"{file.name}\0{text_of(file)}\0".encode())
    return digest.hexdigest()[:WIDTH]


def cell(text):
    return " ".join(text.split()).replace("|", r"\|")


WORDS = {True: "holds", False: "fault found"}


def row(job, holds, extent):
    """A line of the page."""
    return f"| {cell(job.subject)} | {cell(job.title)} | {WORDS[holds]} | {WORDS[job.expected]} | {extent if holds else '–'} | {job.of} |"


def recorded(job, lines):
    """The line of the page that has the expected result of this very check, if there is one."""
    start = f"| {cell(job.subject)} | {cell(job.title)} | {WORDS[job.expected]} | {WORDS[job.expected]} | "
    return next((line for line in lines if line.startswith(start) and line.endswith(f" | {job.of} |")), None)


