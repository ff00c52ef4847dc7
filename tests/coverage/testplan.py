# SPDX-License-Identifier: Apache-2.0
"""The testplan as data: reads docs/testplan.json into single points and counts the events that hit them."""

import itertools
import json


class BadPlan(Exception):
    """The testplan says something that cannot be."""


class Point:
    """One thing that has to happen: a unit and what its facts have to be."""

    def __init__(self, name, unit, when, what, tests):
        self.name, self.unit, self.what, self.tests = name, unit, what, tests
        self.conditions = [(fact, condition(name, wanted)) for fact, wanted in when.items()]
        self.hits = {}  # by test

    def missing(self):
        """Tests that it is tied to and that do not hit it."""
        return [test for test in self.tests if test not in self.hits]

    def hit(self, facts):
        return all(fact in facts and holds(facts[fact]) for fact, holds in self.conditions)


def condition(name, wanted):
    """One value, one of several, or a range {"min": , "max": }."""
    if isinstance(wanted, dict):
        if not wanted.keys() <= {"min", "max"}:
            raise BadPlan(f"{name}: {wanted} is neither a value, a list nor a range")
        low, high = wanted.get("min", float("-inf")), wanted.get("max", float("inf"))
        return lambda value: low <= value <= high
    values = {str(value) for value in (wanted if isinstance(wanted, list) else [wanted])}
    return lambda value: str(value) in values


def expand(entry):
    """The single points of an entry: one, or one for each combination of its cross."""
    name, when = entry["name"], entry.get("when", {})
    cross = entry.get("cross", {})
    for values in itertools.product(*cross.values()):
        combination = dict(zip(cross, values))
        label = ", ".join(f"{fact} {value}" for fact, value in combination.items())
        yield Point(f"{name}: {label}" if label else name, entry["unit"], when | combination, entry["what"], entry["tests"])


def load(file):
    with open(file, encoding="utf-8") as text:
        plan = json.load(text)
    points = [point for entry in plan["points"] for point in expand(entry)]
    names = [point.name for point in points]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise BadPlan(f"{file}: named twice: {', '.join(sorted(twice))}")
    return points


def count(points, test, events):
    """Counts what the events of one test hit; how many events there were."""
    events_seen = 0
    by_unit = {}
    for point in points:
        by_unit.setdefault(point.unit, []).append(point)
    for unit, facts in events:
        events_seen += 1
        for point in by_unit.get(unit, []):
            if point.hit(facts):
                point.hits[test] = point.hits.get(test, 0) + 1
    return events_seen
