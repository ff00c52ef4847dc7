# SPDX-License-Identifier: Apache-2.0
"""What all checks of `make formal` share: running tools, and sources with a fault put in."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "formal"


class ToolError(Exception):
    """A tool did not come to a result."""


def run(command, folder, log):
    with open(folder / log, "w", encoding="utf-8") as file:
        status = subprocess.run(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False).returncode
    return status, (folder / log).read_text(encoding="utf-8", errors="replace")


def must(command, folder, log):
    status, text = run(command, folder, log)
    if status:
        raise ToolError(f"{command[0]} failed, see {(folder / log).relative_to(ROOT)}: {text.strip().splitlines()[-1] if text.strip() else ''}")
    return text


def write_changed(source, folder, right, wrong):
    """A copy of the source in which one text is replaced."""
    text = source.read_text(encoding="utf-8")
    if text.count(right) != 1:
        raise ToolError(f"{source.name} has '{right}' {text.count(right)} times: cannot be changed there")
    changed = folder / source.name
    changed.write_text(text.replace(right, wrong), encoding="utf-8")
    return changed


def read_list(path):
    """Lines of a file list as (prefix, path), paths absolute."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("//"):
            prefix = "+incdir+" if line.startswith("+incdir+") else ""
            yield prefix, (path.parent / line.removeprefix(prefix)).resolve()


def write_list(path, entries):
    path.write_text("".join(f"{prefix}{os.path.relpath(file, path.parent)}\n" for prefix, file in entries), encoding="utf-8")
