# SPDX-License-Identifier: Apache-2.0
"""Is a mutant equivalent? Asked of a netlist with mutants built in, whose inputs `mutant[i]` choose one: an and-inverter graph.

First in any state at all: does it change an output or the next state? What original and mutant share is found by structural
hashing; on the rest a SAT solver (z3) decides. If it does so in some state: can such a state be reached? Decided by
property-directed reachability (ABC), from all flops and RAM words 0, reset in the first clock. If it can: the states that change are given
to original and mutant one each, and the same is asked of all others, until nothing else changes or it is too much. Inputs are
any that the arrival checks give (Checked). An output that is said to be meaningless (OUTPUT_VALID) counts as unchanged.
"""

import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "fpga"))  # last: a netlist.py is there, too
import aiger  # noqa: E402  pylint: disable=wrong-import-position

SELECTOR = re.compile(r"mutant\[(\d+)\]$")
RESET = "rst_ni"  # active low
IMMEDIATE, HAS_IMMEDIATE = range(16, 48), 48  # bits of ret_o
# Outputs, or bits of them -> what has to be 1 for them to mean something.
OUTPUT_VALID = {"ctl_o": ["ctl_valid_o"], "cmd_write_o": ["cmd_valid_o"], "cmd_len_o": ["cmd_valid_o"], "cmd_addr_o": ["cmd_valid_o", "cmd_write_o"],
                "cmd_cid_o": ["cmd_valid_o", "cmd_write_o"], "trace_offer_cid_o": ["trace_valid_o", "trace_offer_valid_o"],
                **{f"m_res_{name}_o": ["m_res_valid_o"] for name in ("request", "outcome", "ports", "vc")}, "trace_request_o": ["trace_fetch_o"],
                "s_axil_rdata_o": ["s_axil_rvalid_o"], "s_axil_rresp_o": ["s_axil_rvalid_o"], "s_axil_bresp_o": ["s_axil_bvalid_o"],
                "read_o": ["read_valid_o"], "ret_o": ["ret_valid_o"], **{f"ret_o[{bit}]": [f"ret_o[{HAS_IMMEDIATE}]"] for bit in IMMEDIATE},
                **{f"trace_{name}_o": ["trace_valid_o"] for name in ("timeout", "outcome", "room", "offer_valid", "admit", "from_inbox", "answer_asked",
                                                                   "answer_room", "cid", "now", "wbase", "wvec")}}
MOST_OWN = 100  # states of which the mutant gets its own
MODELS = 8  # of changes that come about, before the others count as possible as well
FALSE, TRUE = 0, 1


class SolverError(Exception):
    """A solver did not come to a result."""


class Undecided(SolverError):
    """In the time allowed."""


@dataclasses.dataclass
class Checked:
    """What the arrival checks say of a packet."""
    valid: str      # input: there is one
    verdict: str    # input
    verdicts: list  # values that it takes; 0 lets the packet through
    header: str     # input
    zero: list      # its bits that are 0 in a packet that is let through


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

    def __init__(self, path, checked):
        read = aiger.read(path)
        ports, states, names = read.inputs, read.latches, read.names
        self._top, self._ands = read.top, read.ands
        self._followed = read.outputs + [state[1] for state in states]
        self._names = [names[f"o{index}"].split() for index in range(len(read.outputs))]
        selects = {literal: SELECTOR.match(names[f"i{index}"]) for index, literal in enumerate(ports)}
        self._selector = {literal: int(match[1]) for literal, match in selects.items() if match}

        self._lock = threading.Lock()  # of the graph while nodes are made
        self.graph = Graph()
        self._free = {literal: self.graph.new() for literal in [*ports, *(state[0] for state in states)] if literal not in self._selector}
        port = {names[f"i{index}"]: literal for index, literal in enumerate(ports)}
        self._free |= self._let_through(port, checked)
        self._states = [state[0] for state in states]
        self._original = self._copy(0)
        self._reset = self._free[port[RESET]] if RESET in port else self.graph.new()  # of a design without one: nothing depends on it
        self._next = {self._free[state] >> 1: self._original[len(self._names) + index] for index, state in enumerate(self._states)}

    def _let_through(self, port, checked):
        """Inputs that the arrival checks give; the verdict is numbered by its lowest bits. Without a packet they can be anything."""
        graph, free = self.graph, self._free
        if checked is None:
            return {}
        valid = free[port[checked.valid]]
        bits = [port[name] for name in sorted(port) if name.startswith(f"{checked.verdict}[")]
        verdict, passes = dict.fromkeys(bits, FALSE), TRUE
        for index, code in enumerate(checked.verdicts):
            chosen = TRUE
            for place in range((len(checked.verdicts) - 1).bit_length()):
                chosen = graph.both(chosen, free[bits[place]] ^ (index >> place & 1) ^ 1)
            for place, literal in enumerate(bits):
                if code >> place & 1:
                    verdict[literal] = graph.either(verdict[literal], chosen)
            if code:
                passes = graph.both(passes, chosen ^ 1)
        given = {literal: graph.either(graph.both(valid, code), graph.both(valid ^ 1, free[literal])) for literal, code in verdict.items()}
        zero = graph.both(valid, passes)
        return given | {port[name]: graph.both(free[port[name]], zero ^ 1) for name in (f"{checked.header}[{bit}]" for bit in checked.zero)}

    def _copy(self, mutant, own=None):
        """Literals of all outputs and next states; with states of its own."""
        value = [FALSE] * (2 * self._top + 2)
        value[1] = TRUE
        known = {**self._free, **{literal: mutant >> bit & 1 for literal, bit in self._selector.items()}, **(own or {})}
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
            for name in {part for name in self._names[index] for part in (name, name.split("[")[0])}:
                for needed in OUTPUT_VALID.get(name, []):
                    valid = self.graph.both(valid, self._output(needed))
        return valid

    def equivalent(self, mutant, seconds):
        """How it is, or None if it is not or that is not found in the time allowed."""
        own, what = [], "in any state"
        while len(own) <= MOST_OWN:
            changes, following = self._changes(mutant, own)
            changes = self._possible(changes)
            if not changes:
                return f"changes nothing {what}"
            reached = self._which(changes, following, seconds)
            if not reached:
                return f"changes nothing {what if own else 'in any state that can be reached'}"
            if min(reached) < len(self._names):
                return None
            own += [self._states[index - len(self._names)] for index in reached]
            what = "that is seen"
        return None

    def _which(self, changes, following, seconds):
        """The changes that come about; all if that is not found in the time allowed."""
        numbers = list(changes)
        try:
            with self._lock:
                some = self._any(changes)
            if not self._reached([some], following, seconds):
                return []
            return [numbers[place] for place in self._reached(list(changes.values()), following, seconds)]
        except Undecided:
            return numbers

    def _any(self, changes):
        result = FALSE
        for literal in changes.values():
            result = self.graph.either(result, literal)
        return result

    def _possible(self, changes):
        """Without those that never come about, whatever the state; of some that is left open."""
        left = dict(changes)
        for _ in range(MODELS):
            with self._lock:
                wanted = self._any(left)
            try:
                model = self._model(wanted)
            except Undecided:
                return changes
            if model is None:
                return {index: literal for index, literal in changes.items() if index not in left}
            left = {index: literal for index, literal in left.items() if literal != TRUE and variable(literal) not in model}
        return changes

    def _changes(self, mutant, own):
        """By the number of what is followed: 1 if the mutant changes an output that means something, or a next state that it has not got of its own.
        And all next states."""
        with self._lock:
            states = {state: self.graph.new() for state in own}
            copy = self._copy(mutant, states)
            following = dict(self._next)
            changes = {}
            for index, (a, b) in enumerate(zip(self._original, copy)):
                state = self._states[index - len(self._names)] if index >= len(self._names) else None
                if state in states:
                    following[states[state] >> 1] = b
                elif (literal := self.graph.both(self.graph.differ(a, b), self._meaning(index))) != FALSE:
                    changes[index] = literal
        return changes, following

    def _model(self, literal):
        """Variables and negated ones with which it is 1; None if it never is."""
        if literal in (FALSE, TRUE):
            return set() if literal == TRUE else None
        clauses = [(variable(literal),)]
        for node in self.graph.cone(literal, set()):
            if node in self.graph.inputs_of:
                a, b = self.graph.inputs_of[node]
                clauses += [(-variable(2 * node), variable(a)), (-variable(2 * node), variable(b)), (variable(2 * node), -variable(a), -variable(b))]
        return solution(clauses)

    def _reached(self, literals, following, seconds):
        """Numbers of those that are 1 some time after reset. Of several only those that are found to be in the time."""
        with tempfile.NamedTemporaryFile(suffix=".aig") as file:
            file.write(self._machine(literals, following))
            file.flush()
            each = "-a" if len(literals) > 1 else ""
            run = subprocess.run(["yosys-abc", "-c", f"read_aiger {file.name}; pdr {each} -T {seconds}"], capture_output=True, text=True, check=False)
        if reached := re.findall(r"^Output +(\d+) .*asserted in frame", run.stdout, re.MULTILINE):
            return [int(number) for number in reached]
        if "Property proved" in run.stdout:
            return []
        if "UNDECIDED" in run.stdout or "Undecided = " in run.stdout:
            raise Undecided(f"not within {seconds} s")
        raise SolverError(f"yosys-abc: {(run.stdout + run.stderr).strip()[-200:]}")

    def _machine(self, bad, following):
        """Binary AIGER of all that the literals `bad` depend on, in any number of clocks."""
        seen, order, inputs, states, todo = set(), [], [], [], [*bad, self._reset]
        while todo:
            for node in self.graph.cone(todo.pop(), seen):
                if node in self.graph.inputs_of:
                    order.append(node)
                elif node in following:
                    states.append(node)
                    todo.append(following[node])
                else:
                    inputs.append(node)
        written = {node: 2 * index for index, node in enumerate([0, *inputs, *states])}
        running = 2 * len(written)  # 0 in the first clock
        ands = [(running, written[self._reset >> 1])]
        written[self._reset >> 1] = running + 2
        for node in order:
            ands.append(tuple(written[one >> 1] ^ one & 1 for one in self.graph.inputs_of[node]))
            written[node] = running + 2 * len(ands)
        follow = [written[one >> 1] ^ one & 1 for one in (*(following[state] for state in states), *bad)]
        return aiger.binary(len(inputs), [*follow[:len(states)], 1], follow[len(states):], ands)


def variable(literal):
    """Of a SAT problem; negative if inverted."""
    number = (literal >> 1) + 1
    return -number if literal & 1 else number


def solution(clauses):
    """Variables and negated ones; None if there is none."""
    clauses = [(-variable(FALSE),), *clauses]
    with tempfile.NamedTemporaryFile("w", suffix=".cnf") as file:
        file.write(f"p cnf {max(abs(one) for clause in clauses for one in clause)} {len(clauses)}\n")
        file.writelines(" ".join(map(str, clause)) + " 0\n" for clause in clauses)
        file.flush()
        run = subprocess.run(["z3", "-dimacs", "-T:120", file.name], capture_output=True, text=True, check=False)
    verdict, _, model = run.stdout.partition("\n")
    if verdict in ("s UNSATISFIABLE", "unsat"):
        return None
    if verdict in ("s SATISFIABLE", "sat"):
        return {int(word) for word in model.split() if word != "v"}
    if verdict in ("timeout", "unknown"):
        raise Undecided("not within two minutes")
    raise SolverError(f"z3: {(run.stdout + run.stderr).strip()[:200]}")
