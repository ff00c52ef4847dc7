# SPDX-License-Identifier: Apache-2.0
"""Manual pages of programs and of each of their subcommands, if they have such, by help2man from what --help says: OUT/PROGRAM.1.gz,
OUT/PROGRAM-SUBCOMMAND.1.gz.

usage: manual_pages.py --help2man PATH --out FOLDER PROGRAM...
"""

import argparse
import gzip
import pathlib
import re
import shlex
import subprocess


def help_of(command):
    return subprocess.run([*command, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout


def subcommands(text):
    """Names and what they do, from the list at the end of a help text."""
    _, _, after = text.partition("\nSubcommands:\n")
    return re.findall(r"^  ([a-z][\w-]*) +(\S.*)$", after, re.MULTILINE)


def write_page(help2man, program, subcommand, summary, version, folder):
    """One page; help2man runs `PROGRAM [SUBCOMMAND] --help`."""
    command = [str(program), *([subcommand] if subcommand else [])]
    name = "-".join([program.name, *command[1:]])
    text = subprocess.run([help2man, "--no-info", f"--name={summary}", f"--version-string={version}", "--manual=weft", shlex.join(command)],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    text = text.replace(str(program), program.name).replace(f"\n{' '.join([program.name, *command[1:]])} \\- ", f"\n{name} \\- ")
    (folder / f"{name}.1.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--help2man", required=True, help="path of help2man")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the pages")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for program in args.programs:
        text = help_of([program])
        version = subprocess.run([program, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
        pages = [("", text.splitlines()[0].removeprefix(f"{program.name}: ")), *subcommands(text)]
        for subcommand, summary in pages:
            write_page(args.help2man, program, subcommand, summary, version, args.out)


if __name__ == "__main__":
    main()
