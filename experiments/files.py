# SPDX-License-Identifier: Apache-2.0
"""Results are written whole or not at all."""


def write_whole(path, text):
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
