# SPDX-License-Identifier: Apache-2.0
"""A model for simulation of DP16KD, the block RAM of ECP5, of which Yosys's cells have the ports and parameters only.

As Yosys uses it: port A writes, ports A and B read a clock later; words of 9, 18 or 36 bits, of 36 over both ports' pins. No resets, no output
registers; READBEFOREWRITE only.
"""

import re

UNITS = 2048  # of 9 bits
INITIAL_VALUES = 64  # parameters, with 16 words of 18 bits in 320 bits each


def pins(name, count):
    return "{" + ", ".join(f"{name}{i}" for i in reversed(range(count))) + "}"


def body():
    lines = [f"  reg [8:0] units [0:{UNITS - 1}];", "  integer i;", "  reg [319:0] slice;", "  initial begin"]
    for value in range(INITIAL_VALUES):
        lines += [f"    slice = INITVAL_{value:02X};",
                  f"    for (i = 0; i < 16; i = i + 1) {{units[{32 * value} + 2*i + 1], units[{32 * value} + 2*i]}} = slice[20*i +: 18];"]
    lines += ["  end"]
    for port in "AB":
        lines += [f"  wire [13:0] address_{port} = {pins('AD' + port, 14)};", f"  wire [10:0] unit_{port} = address_{port}[13:3];", f"  reg [35:0] out_{port} = 0;",
                  f"  wire [35:0] in_{port} = DATA_WIDTH_{port} == 36 ? {{{pins('DIB', 18)}, {pins('DIA', 18)}}} : {{18'b0, {pins('DI' + port, 18)}}};",
                  f"  localparam integer COUNT_{port} = DATA_WIDTH_{port} / 9;",
                  f"  wire [10:0] first_{port} = unit_{port} & ~(COUNT_{port} - 1);", f"  integer n_{port};",
                  f"  always @(posedge CLK{port}) if (CE{port}) begin",
                  f"    for (n_{port} = 0; n_{port} < COUNT_{port}; n_{port} = n_{port} + 1) begin",
                  f"      out_{port}[9*n_{port} +: 9] <= units[first_{port} + n_{port}];",
                  f"      if (WE{port} && (COUNT_{port} == 1 || address_{port}[n_{port}])) units[first_{port} + n_{port}] <= in_{port}[9*n_{port} +: 9];",
                  "    end", "  end"]
    lines += [f"  assign {pins('DOA', 18)} = DATA_WIDTH_B == 36 ? out_B[17:0] : out_A[17:0];", f"  assign {pins('DOB', 18)} = DATA_WIDTH_B == 36 ? out_B[35:18] : out_B[17:0];"]
    return "\n".join(lines)


def with_model(cells):
    """The text of Yosys's cells_sim.v with what DP16KD does."""
    module = re.search(r"^module DP16KD\b.*?^endmodule", cells, re.M | re.S)
    if not module:
        raise ValueError("cells_sim.v has no DP16KD")
    end = module.end() - len("endmodule")
    return cells[:end] + body() + "\n" + cells[end:]
