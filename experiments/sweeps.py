# SPDX-License-Identifier: Apache-2.0
"""A sweep of timeouts: what each one gave, and which is the best."""

import dataclasses

import claims


@dataclasses.dataclass(frozen=True)
class Sweep:
    points: dict  # by timeout: clocks, a word such as "measured", or of another kind that can be sorted

    @property
    def best(self):
        """Of those with the fewest unfinished runs, that of the least median, of equal ones that whose interval ends first."""
        return min(self.points, key=lambda timeout: (self.points[timeout].unfinished, self.points[timeout].median or 0, self.points[timeout].high or 0))

    @property
    def at_edge(self):
        """Whether the best is the least or the largest of its kind that was tried, and clearly better than the next, so that one beyond might be better still."""
        if isinstance(self.best, str):
            return False
        tried = sorted(timeout for timeout in self.points if type(timeout) is type(self.best))
        if len(tried) < 2 or self.best not in (tried[0], tried[-1]):
            return False
        beside = tried[1] if self.best == tried[0] else tried[-2]
        return claims.less(self.points[self.best], self.points[beside]) == "yes"

    def cell(self, timeout, text):
        """Marked if it is the best."""
        if timeout != self.best:
            return text
        return f"**{text}**" + (" †" if self.at_edge else "")

    def listing(self, shown=lambda point: point.text):
        return ", ".join(self.cell(timeout, f"{timeout}: {shown(point)}") for timeout, point in self.points.items())
