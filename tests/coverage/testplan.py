# SPDX-License-Identifier: Apache-2.0
"""The testplan as data: reads docs/testplan.json into single points and counts the events that hit them."""

import itertools
import json

import specification


class BadPlan(Exception):
    """The testplan says something that cannot be."""


ENTRY_KEYS = {"name", "unit", "what", "when", "cross", "cases", "tests"}


class Point:
    """One thing that has to happen: a unit and what its facts have to be. `tests`: runs that have to hit it; a|b: one of these."""

    def __init__(self, entry, words, when):
        self.entry, self.name = entry["name"], f"{entry['name']}: {words}" if words else entry["name"]
        self.unit, self.what, self.tests, self.when = entry["unit"], entry["what"], entry["tests"], when
        self.conditions = [(fact, condition(self.name, wanted)) for fact, wanted in when.items()]
        self.hits = {}  # by run
        self.tests_that_hit = {}  # hits by run and test

    def missing(self):
        """Runs that it is tied to and that do not hit it."""
        return [test for test in self.tests if not any(run in self.hits for run in test.split("|"))]

    def hit(self, facts):
        return all(fact in facts and holds(facts[fact]) for fact, holds in self.conditions)


def is_range(wanted):
    return isinstance(wanted, dict)


def as_list(wanted):
    return wanted if isinstance(wanted, list) else [wanted]


def condition(name, wanted):
    """One value, one of several, or a range {"min": , "max": }."""
    if is_range(wanted):
        if not wanted or not wanted.keys() <= {"min", "max"}:
            raise BadPlan(f"{name}: {wanted} is neither a value, a list nor a range")
        low, high = wanted.get("min", float("-inf")), wanted.get("max", float("inf"))
        return lambda value: low <= value <= high
    values = {str(value) for value in as_list(wanted)}
    return lambda value: str(value) in values


def from_spec(name, wanted):
    """Lists of names that a description gives are written out."""
    if not (isinstance(wanted, dict) and "spec" in wanted):
        return wanted
    if wanted["spec"] not in specification.ENUMS:
        raise BadPlan(f"{name}: there is no enum '{wanted['spec']}'")
    return specification.select(wanted)


def check_fact(name, unit, fact, wanted, facts):
    """A fact that the unit has, and values that it may take."""
    if fact not in facts[unit]:
        raise BadPlan(f"{name}: events of {unit} have no fact '{fact}'")
    values = facts[unit][fact]
    for value in [] if is_range(wanted) else as_list(wanted):
        if values is int and not isinstance(value, int):
            raise BadPlan(f"{name}: '{fact}' is a number, not '{value}'")
        if values is not int and str(value) not in values:
            raise BadPlan(f"{name}: '{fact}' is never '{value}'")
    if is_range(wanted) and values is not int:
        raise BadPlan(f"{name}: '{fact}' is no number")


def check_entry(entry, facts):
    name = entry.get("name", "?")
    missing, unknown = {"name", "unit", "what", "tests"} - entry.keys(), entry.keys() - ENTRY_KEYS
    if missing or unknown:
        raise BadPlan(f"{name}: has no '{missing.pop()}'" if missing else f"{name}: '{unknown.pop()}' means nothing")
    if entry["unit"] not in facts:
        raise BadPlan(f"{name}: there is no unit '{entry['unit']}'")


def label(combination):
    return ", ".join(f"{fact} {value}" for fact, value in combination.items())


def expand(entry):
    """The single points of an entry: one, or one for each case and combination of its cross."""
    name, when = entry["name"], {fact: from_spec(entry["name"], wanted) for fact, wanted in entry.get("when", {}).items()}
    cross = {fact: from_spec(name, wanted) for fact, wanted in entry.get("cross", {}).items()}
    for case_name, case in entry.get("cases", {"": {}}).items():
        for values in itertools.product(*cross.values()):
            combination = dict(zip(cross, values))
            words = ", ".join(word for word in (case_name, label(combination)) if word)
            yield Point(entry, words, when | case | combination)


def load(file, facts):
    """All points. `facts`: by unit and name, what values a fact may take (a set, or int). Throws BadPlan."""
    with open(file, encoding="utf-8") as text:
        plan = json.load(text)
    points = []
    for entry in plan["points"]:
        check_entry(entry, facts)
        points += expand(entry)
    for point in points:
        for fact, wanted in point.when.items():
            check_fact(point.name, point.unit, fact, wanted, facts)
    names = [point.name for point in points]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadPlan(f"{file}: named twice: {', '.join(sorted(twice))}")
    return points


class Index:
    """Points by unit, and within it by the value of the fact that leaves the fewest to look at."""

    def __init__(self, points):
        self.by_value, self.others = {}, {}
        for point in points:
            key = next((fact for fact in ("outcome", "event", "admit", "emit") if fact in point.when), None)
            if key is None:
                self.others.setdefault(point.unit, []).append(point)
                continue
            for value in as_list(point.when[key]):
                self.by_value.setdefault((point.unit, key, str(value)), []).append(point)

    def candidates(self, unit, facts):
        yield from self.others.get(unit, [])
        for fact in ("outcome", "event", "admit", "emit"):
            if fact in facts:
                yield from self.by_value.get((unit, fact, facts[fact]), [])


def count(index, run, events):
    """Counts what the events of one run hit; how many events there were."""
    events_seen = 0
    for unit, facts in events:
        events_seen += 1
        for point in index.candidates(unit, facts):
            if point.hit(facts):
                point.hits[run] = point.hits.get(run, 0) + 1
    return events_seen
