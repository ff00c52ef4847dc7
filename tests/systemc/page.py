# SPDX-License-Identifier: Apache-2.0
"""The program of docs/systemc.md, built and run by the page's commands from the source tree.

usage: page.py FOLDER_OF_PROGRAMS
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
EXPECTED = "TLM_OK_RESPONSE: 77656674\n"


def block(language):
    [found] = re.findall(rf"^```{language}\n(.*?)^```$", (SOURCE / "docs/systemc.md").read_text(encoding="utf-8"), re.M | re.S)
    return found


def main():
    sanitizers = re.findall(r"-f\S*sanitize\S*", os.environ.get("CXXFLAGS", ""))  # what the library was built with
    commands = block("bash").replace("g++ ", " ".join(["g++", *sanitizers, ""]))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "sw").symlink_to(SOURCE / "sw")
        pathlib.Path(folder, "build").symlink_to(pathlib.Path(sys.argv[1]).resolve().parent)
        pathlib.Path(folder, "own.cpp").write_text(block("cpp"), encoding="utf-8")
        got = subprocess.run(["bash", "-ec", commands], cwd=folder, capture_output=True, text=True, check=False, timeout=500)
    if got.returncode != 0 or EXPECTED not in got.stdout:
        sys.exit(f"exit code {got.returncode}, {EXPECTED!r} expected\n{got.stdout}{got.stderr}")


if __name__ == "__main__":
    main()
