# SPDX-License-Identifier: Apache-2.0
"""Checks that what the pages link to is there: files, and headings within pages.

usage: links.py [ROOT]. Prints FILE:LINE: what is missing; exit status 1 if anything is. Links to other sites are not followed.
"""

import functools
import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")
CODE = re.compile(r"`[^`]*`")


def without_code(text):
    """Lines of a page, those within blocks of code left empty."""
    inside = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        yield "" if inside or fence else line
        inside ^= fence


def anchor(heading):
    """What GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@functools.cache
def anchors(page):
    names, seen = set(), {}
    for line in without_code(page.read_text(encoding="utf-8")):
        if heading := re.match(r"#+ (.*)", line):
            name = anchor(heading[1])
            seen[name] = seen.get(name, -1) + 1
            names.add(f"{name}-{seen[name]}" if seen[name] else name)
    return names


def fault(page, target):
    """What is wrong with a link of a page, or None."""
    path, _, name = target.partition("#")
    file = (page.parent / path) if path else page
    if not file.exists():
        return f"{path} is not there"
    if name and file.suffix == ".md" and name not in anchors(file.resolve()):
        return f"{file.name} has no heading #{name}"
    return None


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md", ":!tests/*/sample/**"], check=True, stdout=subprocess.PIPE, text=True).stdout
    faults = links = 0
    for page in (root / name for name in listed.splitlines()):
        for number, line in enumerate(without_code(page.read_text(encoding="utf-8")), 1):
            for target in LINK.findall(CODE.sub("", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                links += 1
                if what := fault(page, target):
                    faults += 1
                    print(f"{page.relative_to(root)}:{number}: {what}", file=sys.stderr)
    if faults or not links:
        sys.exit(1)


if __name__ == "__main__":
    main()
