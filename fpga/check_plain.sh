#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks that plain Verilog reads in the tools that cannot read the sources: Debian's Yosys, Icarus, Verilator.
# usage: fpga/check_plain.sh FILE.v...   (the top module is named like the file)
set -euo pipefail

for file in "$@"; do
  top="$(basename "$file" .v)"
  echo "verilog: check $file"
  yosys -q -p "read_verilog $file; hierarchy -check -top $top; proc; check -assert"
  iverilog -g2005 -s "$top" -t null "$file"
  # Generated code is not written to please lint: only errors count.
  verilator --lint-only -Wno-lint -Wno-style -Wno-UNOPTFLAT --top-module "$top" "$file"
done
