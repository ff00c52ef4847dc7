# SPDX-License-Identifier: Apache-2.0
"""Is a netlist its source? All outputs and all next states, for all inputs and states; by ABC.

The source is taken as Yosys's synthesis has it when it has optimised words and chosen codes of state machines, before it makes gates of them. Both become
and-inverter graphs. RAMs are taken out, so what they get is an output and what they give an input. Flops, inputs and outputs of both are paired by their
names, which synthesis keeps; then each output and next state is compared (ABC's cec: sweeping of equal nodes, then SAT).
"""

import re

import aiger
import area


def source(module, file, folder):
    """Graph of plain Verilog."""
    return machine(module, [file], [f"synth -flatten -top {module} -run begin:fine", "memory_map", "opt -full"], folder, "source")


def netlist(module, files, folder, name):
    """Graph of a netlist, models of its cells and RAMs."""
    return machine(module, files, ["flatten"], folder, name)


def machine(module, files, passes, folder, name):
    graph = folder / f"{name}.aag"
    area.yosys(
        [*(f"read_verilog {file}" for file in files), f"hierarchy -check -top {module}", "proc", f"blackbox {area.RAM_PREFIX}*", *passes, "dffunmap", "techmap",
         "dfflegalize -cell $_DFF_P_ x", f"expose -evert t:{area.RAM_PREFIX}*", "setundef -zero", "aigmap", "opt_merge", "opt_merge", "opt_clean",
         f"write_aiger -ascii -symbols {graph}"],
        folder, name)
    return aiger.read(graph)


def names(graph, kind):
    """Of its inputs "i", flops "l" or outputs "o" each."""
    count = len({"i": graph.inputs, "l": graph.latches, "o": graph.outputs}[kind])
    return [graph.names.get(f"{kind}{index}", "").split() for index in range(count)]


def paired(gold, gate, kind):
    """By the number in the netlist: the number in the source, both told by their names."""
    by_name = {name: number for number, own in enumerate(names(gold, kind)) for name in own}
    result = []
    for own in names(gate, kind):
        numbers = {by_name[name] for name in own if name in by_name}
        if len(numbers) != 1:
            raise area.ToolError(f"netlist: {' '.join(own)} is {len(numbers)} of the source's")
        result.append(numbers.pop())
    if sorted(result) != list(range(len(names(gold, kind)))):
        raise area.ToolError(f"netlist: not all of the source is there, or some of it twice: {len(set(result))} of {len(names(gold, kind))}")
    return result


def combinational(graph, inputs, outputs):
    """Binary AIGER of what these literals are, made of those."""
    number = {0: 0} | {literal >> 1: 2 * index for index, literal in enumerate(inputs, 1)}
    ands = []
    for literal, a, b in graph.ands:
        ands.append((number[a >> 1] ^ a & 1, number[b >> 1] ^ b & 1))
        number[literal >> 1] = 2 * (len(inputs) + len(ands))
    return aiger.binary(len(inputs), [], [number[literal >> 1] ^ literal & 1 for literal in outputs], ands)


def differences(gold, gate, folder, name, left_out=None):
    """Names of outputs, and of flops by their next states, in which the two differ for some inputs and state, some of them at least; none: they are equal.

    Those with a name that the pattern left_out matches are not compared.
    """
    inputs, flops, outputs = (paired(gold, gate, kind) for kind in "ilo")
    own_names = {kind: names(gold, kind) for kind in "lo"}
    # Names; literal in the source, literal in the netlist.
    compared = [*((own_names["o"][number], gold.outputs[number], literal) for number, literal in zip(outputs, gate.outputs, strict=True)),
                *((own_names["l"][number], gold.latches[number][1], latch[1]) for number, latch in zip(flops, gate.latches, strict=True))]
    if left_out:
        compared = [each for each in compared if not any(left_out.match(own) for own in each[0])]
    files = [folder / f"{name}.source.aig", folder / f"{name}.netlist.aig"]
    files[0].write_bytes(combinational(gold, [*(gold.inputs[number] for number in inputs), *(gold.latches[number][0] for number in flops)], [each[1] for each in compared]))
    files[1].write_bytes(combinational(gate, [*gate.inputs, *(latch[0] for latch in gate.latches)], [each[2] for each in compared]))
    text = area.run_tool(["yosys-abc", "-c", f"cec -n {files[0]} {files[1]}"], folder / f"{name}.abc.log")
    if "Networks are equivalent" in text:
        return []
    failed = re.search(r"^Verification failed for at least \d+ outputs:(.*)", text, re.M)
    if not failed:
        raise area.ToolError(f"abc came to no result, see {(folder / name).relative_to(area.ROOT)}.abc.log")
    return [compared[int(number)][0][0] for number in re.findall(r"po(\d+)", failed[1])]
