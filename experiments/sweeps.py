# SPDX-License-Identifier: Apache-2.0
"""A sweep of timeouts: what each one gave, and which is the best."""

import dataclasses

import claims

AS_GOOD = 0.005


def kind_of(timeout):
    """By what is sent twice, most to least: a word; packets asked for early, as known; timeouts alone."""
    return 3 if isinstance(timeout, int) else getattr(timeout, "RANK", 0)


def least(points, value):
    """Those of the points, by timeout, that are as good as the least; those without a value all are."""
    bound = min(value(point) or 0 for point in points.values()) * (1 + AS_GOOD)
    return {timeout: point for timeout, point in points.items() if (value(point) or 0) <= bound}


@dataclasses.dataclass(frozen=True)
class Sweep:
    points: dict  # by timeout: clocks, a word such as "measured", or of another kind that can be sorted

    @property
    def best(self):
        """Of those with the fewest unfinished runs the least median; of all that are within half a hundredth of it those whose mean is within as much of their least; of these the longest timeout of the kind that sends least: it sends the fewest packets twice, and by chance any of them may be the least."""
        fewest = min(point.unfinished for point in self.points.values())
        left = {timeout: point for timeout, point in self.points.items() if point.unfinished == fewest}
        as_good = least(least(left, lambda point: point.median), lambda point: point.mean)
        return max(as_good, key=lambda timeout: (kind_of(timeout), timeout if isinstance(timeout, int) else getattr(timeout, "clocks", 0)))

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
