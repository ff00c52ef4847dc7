# SPDX-License-Identifier: Apache-2.0
"""Is a mutant equivalent? Asked of a netlist with mutants built in, whose inputs `mutant[i]` choose one: an and-inverter graph.

First in any state at all: does it change an output or the next state? What original and mutant share is found by structural
hashing; on the rest a SAT solver (z3) decides. If it does so in some state: can such a state be reached? Decided by
property-directed reachability (ABC), from all flops and RAM words 0, reset in the first clock, any inputs.
An output that is said to be meaningless (OUTPUT_VALID) counts as unchanged.
"""

import pathlib
import re
import subprocess
import tempfile
import threading

SELECTOR = re.compile(r"mutant\[(\d+)\]$")
RESET = "rst_ni"  # active low
# Outputs by their first letters -> what has to be 1 for them to mean something.
OUTPUT_VALID = {"ctl_o": ["ctl_valid_o"], "cmd_write_o": ["cmd_valid_o"], "cmd_len_o": ["cmd_valid_o"], "cmd_addr_o": ["cmd_valid_o", "cmd_write_o"],
                "cmd_cid_o": ["cmd_valid_o", "cmd_write_o"], "trace_offer_cid_o": ["trace_valid_o", "trace_offer_valid_o"],
                **{f"trace_{name}_o": ["trace_valid_o"] for name in ("timeout", "outcome", "room", "offer_valid", "cid", "now", "wbase", "wvec")}}
FALSE, TRUE = 0, 1


class SolverError(Exception):
    """A solver did not come to a result."""


class Undecided(SolverError):
    """In the time allowed."""


class Graph:
    """AND nodes, each one once. A literal is twice its node, plus one if inverted; node 0 is false."""

    def __init__(self):
        self.inputs_of = {}  # of each AND node
        self._made = {}
        self._nodes = 0

    def new(self):
        self._nodes += 1
        return 2 * self._nodes

    def both(self, a, b):
        if a > b:
            a, b = b, a
        if a == FALSE or a == b ^ 1:
            return FALSE
        if a in (TRUE, b):
            return b
        literal = self._made.get((a, b))
        if literal is None:
            literal = self._made[(a, b)] = self.new()
            self.inputs_of[literal >> 1] = (a, b)
        return literal

    def either(self, a, b):
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a, b):
        return self.either(self.both(a, b ^ 1), self.both(a ^ 1, b))

    def cone(self, root, seen):
        """Nodes not yet seen that the root depends on, each behind those it depends on."""
        order, todo = [], [(root >> 1, False)]
        while todo:
            node, ready = todo.pop()
            if ready:
                order.append(node)
            elif node and node not in seen:
                seen.add(node)
                todo += [(node, True), *((literal >> 1, False) for literal in self.inputs_of.get(node, ()))]
        return order


class Netlist:
    """Read from ASCII AIGER with symbols (write_aiger -ascii -symbols)."""

    def __init__(self, path):
        lines = pathlib.Path(path).read_text(encoding="ascii").splitlines()
        kind, top, inputs, latches, outputs, ands = lines[0].split()[:6]
        if kind != "aag":
            raise ValueError(f"{path}: not ASCII AIGER")
        self._top = int(top)
        rows = iter(lines[1:])
        ports = [int(next(rows)) for _ in range(int(inputs))]
        states = [tuple(map(int, next(rows).split()[:2])) for _ in range(int(latches))]
        self._followed = [int(next(rows)) for _ in range(int(outputs))] + [state[1] for state in states]
        self._ands = sorted(tuple(map(int, next(rows).split())) for _ in range(int(ands)))
        if any(max(a, b) > literal for literal, a, b in self._ands):
            raise ValueError(f"{path}: not in topological order")
        names = dict(row.split(" ", 1) for row in rows if " " in row and row[0] in "ilo")
        self._names = [names[f"o{index}"].split() for index in range(int(outputs))]
        selects = {literal: SELECTOR.match(names[f"i{index}"]) for index, literal in enumerate(ports)}
        self._selector = {literal: int(match[1]) for literal, match in selects.items() if match}

        self._lock = threading.Lock()  # of the graph while nodes are made
        self.graph = Graph()
        self._free = {literal: self.graph.new() for literal in [*ports, *(state[0] for state in states)] if literal not in self._selector}
        self._original = self._copy(0)
        self._reset = next(self._free[literal] for index, literal in enumerate(ports) if names[f"i{index}"] == RESET)
        self._next = {self._free[state[0]] >> 1: self._original[len(self._names) + index] for index, state in enumerate(states)}

    def _copy(self, mutant):
        """Literals of all outputs and next states."""
        value = [FALSE] * (2 * self._top + 2)
        value[1] = TRUE
        known = {**self._free, **{literal: mutant >> bit & 1 for literal, bit in self._selector.items()}}
        for literal, result in known.items():
            value[literal], value[literal + 1] = result, result ^ 1
        for literal, a, b in self._ands:
            value[literal] = result = self.graph.both(value[a], value[b])
            value[literal + 1] = result ^ 1
        return [value[literal] for literal in self._followed]

    def _output(self, name):
        return self._original[next(index for index, names in enumerate(self._names) if name in names)]

    def _meaning(self, index):
        """1 while the output means something; of a state always."""
        valid = TRUE
        if index < len(self._names):
            for name in {name.split("[")[0] for name in self._names[index]}:
                for needed in OUTPUT_VALID.get(name, []):
                    valid = self.graph.both(valid, self._output(needed))
        return valid

    def change(self, mutant):
        """1 in a state, with inputs, in which the mutant changes an output that means something or the next state."""
        changed = FALSE
        with self._lock:
            for index, (a, b) in enumerate(zip(self._original, self._copy(mutant))):
                if a != b:
                    changed = self.graph.either(changed, self.graph.both(self.graph.differ(a, b), self._meaning(index)))
        return changed

    def possible(self, literal):
        """In any state."""
        if literal in (FALSE, TRUE):
            return literal == TRUE
        clauses = [(variable(literal),)]
        for node in self.graph.cone(literal, set()):
            if node in self.graph.inputs_of:
                a, b = self.graph.inputs_of[node]
                clauses += [(-variable(2 * node), variable(a)), (-variable(2 * node), variable(b)), (variable(2 * node), -variable(a), -variable(b))]
        return satisfiable(clauses)

    def reached(self, literal, seconds):
        """Clocks from reset until it is 1, None if it never is."""
        with tempfile.NamedTemporaryFile(suffix=".aig") as file:
            file.write(self._machine(literal))
            file.flush()
            run = subprocess.run(["yosys-abc", "-c", f"read_aiger {file.name}; pdr -T {seconds}"], capture_output=True, text=True, check=False)
        if "Property proved" in run.stdout:
            return None
        match = re.search(r"was asserted in frame (\d+)", run.stdout)
        if match:
            return int(match[1])
        if "UNDECIDED" in run.stdout:
            raise Undecided(f"not within {seconds} s")
        raise SolverError(f"yosys-abc: {(run.stdout + run.stderr).strip()[-200:]}")

    def _machine(self, bad):
        """Binary AIGER of all that `bad` depends on, in any number of clocks."""
        seen, order, inputs, states, todo = set(), [], [], [], [bad, self._reset]
        while todo:
            for node in self.graph.cone(todo.pop(), seen):
                if node in self.graph.inputs_of:
                    order.append(node)
                elif node in self._next:
                    states.append(node)
                    todo.append(self._next[node])
                else:
                    inputs.append(node)
        written = {node: 2 * index for index, node in enumerate([0, *inputs, *states])}
        running = 2 * len(written)  # 0 in the first clock
        ands = [(running + 2, running, written[self._reset >> 1])]
        written[self._reset >> 1] = running + 2
        for node in order:
            literal = running + 2 * len(ands) + 2
            ands.append((literal, *sorted((written[one >> 1] ^ one & 1 for one in self.graph.inputs_of[node]), reverse=True)))
            written[node] = literal
        follow = [written[one >> 1] ^ one & 1 for one in (*(self._next[state] for state in states), bad)]
        text = [f"aig {running // 2 + len(ands)} {len(inputs)} {len(states) + 1} 1 {len(ands)}", *map(str, follow[:-1]), "1", str(follow[-1])]
        deltas = b"".join(seven_bits(literal - a) + seven_bits(a - b) for literal, a, b in ands)
        return "\n".join(text).encode() + b"\n" + deltas


def seven_bits(value):
    """A number as binary AIGER writes it."""
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    return bytes([*result, value])


def variable(literal):
    """Of a SAT problem; negative if inverted."""
    number = (literal >> 1) + 1
    return -number if literal & 1 else number


def satisfiable(clauses):
    clauses = [(-variable(FALSE),), *clauses]
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as file:
        file.write(f"p cnf {max(abs(one) for clause in clauses for one in clause)} {len(clauses)}\n")
        file.writelines(" ".join(map(str, clause)) + " 0\n" for clause in clauses)
        file.flush()
        run = subprocess.run(["z3", "-dimacs", "-T:120", file.name], capture_output=True, text=True, check=False)
    words = run.stdout.split()
    if {"unsat", "UNSATISFIABLE"} & set(words):
        return False
    if {"sat", "SATISFIABLE"} & set(words):
        return True
    raise SolverError(f"z3: {(run.stdout + run.stderr).strip()[:200]}")
