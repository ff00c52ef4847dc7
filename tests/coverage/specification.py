# SPDX-License-Identifier: Apache-2.0
"""Names that spec/*.json gives to values, for plan and facts of the functional coverage."""

import json
import pathlib

SPEC = pathlib.Path(__file__).resolve().parent.parent.parent / "spec"


def load(unit):
    with open(SPEC / f"{unit}.json", encoding="utf-8") as text:
        return json.load(text)


def enums():
    """By unit and enum ("rdma.outcome"): codes and their names."""
    found = {}
    for file in sorted(SPEC.glob("*.json")):
        unit = load(file.stem)
        for enum in unit.get("enums", []):  # contexts.json has none
            found[f"{file.stem}.{enum['name']}"] = {value["value"]: value["name"] for value in enum["values"]}
    return found


def registers(unit):
    """By offset: names; banks by their first one."""
    return {int(str(register["offset"]), 0): register["name"] for register in load(unit)["registers"]["list"]}


ENUMS = enums()


def names(enum):
    return set(ENUMS[enum].values())


def select(wanted):
    """Names of {"spec": "rdma.outcome", "codes": [[1, 31]], "except": [...]}; all of them without codes."""
    codes = wanted.get("codes", [[0, max(ENUMS[wanted["spec"]])]])
    left_out = wanted.get("except", [])
    return [name for code, name in ENUMS[wanted["spec"]].items()
            if any(low <= code <= high for low, high in codes) and name not in left_out]
