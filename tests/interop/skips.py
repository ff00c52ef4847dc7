# SPDX-License-Identifier: Apache-2.0
"""What cannot be run here is skipped, with its reason; it is a failure if WEFT_MUST_NOT_SKIP=1 is in the environment. `scripts/skipped.py` lists what was."""

import os
import unittest

CODE = 77  # ctest takes it for a skip


def are_refused():
    return os.environ.get("WEFT_MUST_NOT_SKIP", "0") not in ("", "0")


def whole(reason):
    """Exit code of a test that cannot be run."""
    if are_refused():
        print(f"FAILED: {reason}, and WEFT_MUST_NOT_SKIP is set")
        return 1
    print(f"SKIPPED: {reason}")
    return CODE


def part(test: unittest.TestCase, reason):
    """Leaves the test of a program that has others."""
    name = test.id().rpartition(".")[2]
    if are_refused():
        test.fail(f"{reason}, and WEFT_MUST_NOT_SKIP is set")
    print(f"SKIPPED: {name}: {reason}", flush=True)
    test.skipTest(reason)
