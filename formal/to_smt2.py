# SPDX-License-Identifier: Apache-2.0
"""Elaborates a proof (a module with assertions) into a transition system: PROOF.smt2 for yosys-smtbmc, on request PROOF.aig for ABC.

The assertions of the RTL are part of it, as FORMAL is defined. Run it with the Python that the Yosys of fpga/requirements.txt is
installed for. Memories become flops.
"""

import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "fpga"))
import elaborate  # noqa: E402  pylint: disable=wrong-import-position


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("proof", help="top module")
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="sources, packages first")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the results")
    parser.add_argument("-I", dest="includes", type=pathlib.Path, action="append", default=[], help="include folder")
    parser.add_argument("-G", dest="parameters", action="append", default=[], metavar="NAME=VALUE", help="parameter")
    parser.add_argument("--aiger", action="store_true", help="also as an and-inverter graph")
    return parser.parse_args()


def main():
    args = arguments()
    elaborate.check_sources(args.files)
    args.out.mkdir(parents=True, exist_ok=True)
    options = ["-j", "1", "--no-synthesis-define", "-D", "FORMAL=1", "--top", args.proof]
    for folder in args.includes:
        options += ["-I", elaborate.relative(folder)]
    for parameter in args.parameters:
        options += ["-G", parameter]
    result = elaborate.relative(args.out / args.proof)
    commands = [
        " ".join(["read_slang", *options, *map(elaborate.relative, args.files)]),
        f"hierarchy -check -top {args.proof}", "proc", "flatten", "opt -nodffe -nosdff", "memory_collect", "memory_map -formal",
        "async2sync", "chformal -lower", "dffunmap", "setundef -undriven -anyseq", "opt_clean", "check -assert",
        f"write_smt2 -wires {result}.smt2",
    ]
    if args.aiger:
        commands += ["delete -output", "formalff -clk2ff -ff2anyinit", "setundef -anyseq", "techmap", "opt_clean", "aigmap", "opt_clean",
                     f"write_aiger -I -B -zinit {result}.aig"]
    os.chdir(ROOT)
    elaborate.enlarge_stack()
    if elaborate.run_yosys(commands):
        sys.exit(f"{args.proof}: elaboration failed")


if __name__ == "__main__":
    main()
