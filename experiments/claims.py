# SPDX-License-Identifier: Apache-2.0
"""Claims about measured points: each is met, not met, or open, where intervals overlap or hold the limit. What each is expected to be is in claims.json: who changes
an engine, and with that an answer, changes it there, too."""

import json
import pathlib

import files

EXPECTED = pathlib.Path(__file__).resolve().parent / "claims.json"
ORDER = ("yes", "open", "no")


def worst(answers):
    return max(answers, key=ORDER.index, default="yes")


def less(one, other):
    """Whether one point is below another, of their intervals; what never finished is above all."""
    if one.median is None:
        return "no"
    if other.median is None or one.high < other.low:
        return "yes"
    return "no" if other.high < one.low else "open"


def at_most(point, limit):
    """Of its interval."""
    if point.median is None or point.low > limit:
        return "no"
    return "yes" if point.high <= limit else "open"


def at_least(point, limit):
    if point.median is None or point.high < limit:
        return "no"
    return "yes" if point.low >= limit else "open"


def near(point, value, by):
    return worst((at_least(point, value - by), at_most(point, value + by)))


def met(is_met):
    """Of what has no interval."""
    return "yes" if is_met else "no"


def expected(form, file=EXPECTED):
    """Of the whole evaluation ("whole") or its quick form ("quick"): answers by claim."""
    return json.loads(file.read_text(encoding="utf-8"))[form]


def turned(form, claims, file=EXPECTED):
    """What is not as expected, one line each; claims: (text, found, answer)."""
    answers = expected(form, file)
    found = {text: answer for text, _, answer in claims}
    lines = [f"{text}: {answer}, expected {answers.get(text, 'nothing')}" for text, answer in found.items() if answers.get(text) != answer]
    return lines + [f"{text}: not asked, expected {answer}" for text, answer in answers.items() if text not in found]


def accept(form, claims, file=EXPECTED):
    """From now on these are expected."""
    answers = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    answers[form] = {text: answer for text, _, answer in claims}
    files.write_whole(file, json.dumps(answers, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
