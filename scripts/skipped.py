# SPDX-License-Identifier: Apache-2.0
"""What tests left out and why, from the results that ctest has written (`--output-junit`): whole tests, and parts of them, which say `SKIPPED: reason` or skip as GoogleTest does. With
WEFT_MUST_NOT_SKIP=1 in the environment each is a failure: exit code 1.

usage: scripts/skipped.py RESULTS.xml
"""

import os
import re
import sys
import xml.etree.ElementTree

SAID = re.compile(r"^SKIPPED: (.*)$|^\S+:\d+: Skipped\n(.*)$", re.MULTILINE)


def skipped(results):
    """[(test, reason)]"""
    found = []
    for test in xml.etree.ElementTree.parse(results).getroot().iter("testcase"):
        reasons = [own or others for own, others in SAID.findall(test.findtext("system-out") or "")]
        whole = test.find("skipped")
        if whole is not None and not reasons:
            reasons = [whole.get("message") or "no reason"]
        found += [(test.get("name"), reason.strip()) for reason in reasons]
    return found


def main():
    found = skipped(sys.argv[1])
    if found:
        print(f"Skipped, {len(found)} in all:")
    for name, reason in found:
        print(f"  {name}: {reason}")
    if found and os.environ.get("WEFT_MUST_NOT_SKIP", "0") not in ("", "0"):
        print("WEFT_MUST_NOT_SKIP is set: that is a failure")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
