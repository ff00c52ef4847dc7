# SPDX-License-Identifier: Apache-2.0
"""How likely dead leaves cut a pair: each formula against every set of dead leaves of small fat trees; what is drawn is what it promises, as often; estimates
and their intervals.

usage: test_route_reliability.py REPOSITORY
"""

import collections
import functools
import itertools
import math
import pathlib
import random
import sys
import unittest
from fractions import Fraction

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "experiments"))
import route_reliability as reliability  # noqa: E402

SIZES = (3, 4)


class Grid:
    """An n x n fat tree, sets of leaves as bits; it knows nothing of the formulas."""

    def __init__(self, n):
        self.leaves = [(x, y) for x in range(n) for y in range(n)]
        self.bit = {leaf: 1 << number for number, leaf in enumerate(self.leaves)}
        self.all = (1 << n * n) - 1
        self.columns = [self.mask((x, y) for y in range(n)) for x in range(n)]
        self.rows = [self.mask((x, y) for x in range(n)) for y in range(n)]
        self.diagonal = self.mask((i, i) for i in range(n))
        self.beside = [self.columns[x] | self.rows[y] for x, y in self.leaves]
        self.spread = [0]  # leaves one step from a set, dead or not; and the set
        for leaves in range(1, 1 << n * n):
            self.spread.append(self.spread[leaves & leaves - 1] | self.beside[(leaves & -leaves).bit_length() - 1])
        self.squares = [(self.mask((a, b)), self.mask(((a[0], b[1]), (b[0], a[1])))) for a, b in itertools.combinations(self.leaves, 2) if a[0] != b[0] and a[1] != b[1]]

    def mask(self, leaves):
        return sum(self.bit[leaf] for leaf in leaves)

    def set(self, mask):
        return {leaf for leaf in self.leaves if self.bit[leaf] & mask}

    def reached(self, number, alive, steps):
        reached = 1 << number
        for _ in range(steps):
            reached = self.spread[reached] & alive
        return reached

    def cut_pairs(self, dead):
        alive = self.all & ~dead
        return sum((alive & ~self.reached(number, alive, 3)).bit_count() for number in range(len(self.leaves)) if alive >> number & 1) // 2

    def parted(self, dead):
        alive = self.all & ~dead
        return alive != 0 and self.reached(alive.bit_length() - 1, alive, len(self.leaves)) != alive

    def backup(self, dead):
        return any(dead & corners == corners and not dead & ends for ends, corners in self.squares)


Seen = collections.namedtuple("Seen", "dead k columns rows diagonal pairs parted backup")


@functools.cache
def grid(n):
    return Grid(n)


@functools.cache
def census(n):
    """Every set of dead leaves."""
    g = grid(n)
    return [Seen(dead, dead.bit_count(), all(dead & column for column in g.columns), all(dead & row for row in g.rows), dead & g.diagonal == g.diagonal, g.cut_pairs(dead), g.parted(dead),
                 g.backup(dead)) for dead in range(g.all + 1)]


def each():
    """n, k, and all sets of k dead leaves."""
    for n in SIZES:
        by_count = [[] for _ in range(n * n + 1)]
        for seen in census(n):
            by_count[seen.k].append(seen)
        yield from ((n, k, sets) for k, sets in enumerate(by_count))


class AllSets(unittest.TestCase):
    def share(self, n, k, sets, formula, holds):
        with self.subTest(n=n, k=k):
            self.assertEqual(formula(n, k), Fraction(sum(map(holds, sets)), len(sets)))

    def test_every_column_holds_a_fault(self):
        for n, k, sets in each():
            self.share(n, k, sets, reliability.covered, lambda seen: seen.columns)

    def test_every_row_and_column_holds_a_fault(self):
        for n, k, sets in each():
            self.share(n, k, sets, reliability.both_covered, lambda seen: seen.rows and seen.columns)

    def test_faults_hold_the_diagonal(self):
        for n, k, sets in each():
            self.share(n, k, sets, reliability.printed, lambda seen: seen.diagonal)

    def test_live_links_join_not_all(self):
        for n, k, sets in each():
            if k < 3 * n - 4:
                self.share(n, k, sets, reliability.isolated, lambda seen: seen.parted)
            elif k == 3 * n - 4:  # two leaves of a row are a part by themselves
                self.assertLess(reliability.isolated(n, k), Fraction(sum(seen.parted for seen in sets), len(sets)))

    def test_live_links_join_not_all_of_25(self):
        """Up to 2n faults; sets that are the same but for the order of rows are counted, not enumerated."""
        n = 5
        parted = [0] * (3 * n - 3)
        for alive in itertools.combinations_with_replacement(range(1 << n), n):
            dead = n * n - sum(row.bit_count() for row in alive)
            if dead >= len(parted):
                continue
            parts = []  # columns of live leaves that links join
            for row in filter(None, alive):
                for part in [part for part in parts if part & row]:
                    parts.remove(part)
                    row |= part
                parts.append(row)
            if len(parts) > 1:
                parted[dead] += math.factorial(n) // math.prod(math.factorial(times) for times in collections.Counter(alive).values())
        for k in range(3 * n - 4):
            with self.subTest(k=k):
                self.assertEqual(reliability.isolated(n, k), Fraction(parted[k], math.comb(n * n, k)))
        self.assertGreater(parted[2 * n], 0)
        self.assertLess(reliability.isolated(n, 3 * n - 4), Fraction(parted[-1], math.comb(n * n, 3 * n - 4)))

    def test_sets_that_cut_one_pair(self):
        for n in SIZES:
            g = grid(n)
            first, second, corners = g.leaves.index((0, 0)), g.leaves.index((1, 1)), g.mask(((0, 1), (1, 0)))
            backups = [g.mask(leaves) for i in range(2, n) for leaves in (((i, 0), (i, 1)), ((0, i), (1, i)))]
            found = collections.defaultdict(collections.Counter)
            for seen in census(n):
                alive = g.all & ~seen.dead
                if alive >> first & alive >> second & 1 and not g.reached(first, alive, 3) >> second & 1:
                    self.assertEqual(seen.dead & corners, corners)
                    found[seen.k][sum(seen.dead & leaves == leaves for leaves in backups)] += 1
            for k in range(n * n + 1):
                with self.subTest(n=n, k=k):
                    self.assertEqual(reliability.cut_sets(n, k), found[k])

    def test_expected_number_of_cut_pairs(self):
        for n, k, sets in each():
            with self.subTest(n=n, k=k):
                pairs = sum(seen.pairs for seen in sets)
                self.assertEqual(sum(reliability.cut_sets(n, k).values()) * (n * n * (n - 1) ** 2 // 2), pairs)
                ours = reliability.exact_masks(n, k, 1, random.Random(1))
                self.assertEqual(ours is None, pairs == 0)
                self.assertTrue(pairs or not any(seen.pairs for seen in sets))
                if ours:
                    self.assertAlmostEqual(ours[2], pairs / len(sets), delta=1e-12 * ours[2])

    def test_what_one_set_cuts(self):
        """All sets of 3x3, each fifth of 4x4: pairs without a way of three steps, corners, and what each mask cuts."""
        for n, step in ((3, 1), (4, 5)):
            g = grid(n)
            for seen in census(n)[::step]:
                dead = g.set(seen.dead)
                self.assertEqual(reliability.cut_pairs(n, dead), seen.pairs, dead)
                self.assertEqual(reliability.needs_backup(n, dead), seen.backup, dead)
                self.assertEqual(reliability.cut_by(n, dead), (seen.columns and seen.backup, seen.columns and seen.rows and seen.backup, seen.pairs > 0), dead)


class Draws(unittest.TestCase):
    def as_often(self, promised, one, *arguments):
        """Each of the promised sets and no other, each about as often: chi-square, at a bound that chance passes in fewer than 1 of 1,000."""
        drawn = collections.Counter(frozenset(one(*arguments)) for _ in range(50 * len(promised)))
        self.assertEqual(set(drawn) - promised, set())
        degrees = len(promised) - 1
        self.assertLessEqual(sum((drawn[dead] - 50) ** 2 / 50 for dead in promised), degrees + 4 * math.sqrt(2 * degrees) + 6)

    def test_sets_that_cut_one_pair(self):
        for n, k in ((3, 4), (3, 5), (3, 6), (3, 7), (4, 6), (4, 7), (4, 9)):
            g = grid(n)
            first, second = g.leaves.index((0, 0)), g.leaves.index((1, 1))
            promised = {frozenset(g.set(seen.dead)) for seen in census(n) if seen.k == k and not seen.dead & (1 << first | 1 << second)
                        and not g.reached(first, g.all & ~seen.dead, 3) >> second & 1}
            with self.subTest(n=n, k=k):
                self.as_often(promised, reliability.draw_cut, n, k, random.Random(1))

    def test_sets_that_hold_every_column(self):
        for n, k in ((3, 3), (3, 4), (3, 5), (3, 8), (3, 9), (4, 4)):
            promised = {frozenset(grid(n).set(seen.dead)) for seen in census(n) if seen.k == k and seen.columns}
            with self.subTest(n=n, k=k):
                self.as_often(promised, reliability.draw_covered, n, k, random.Random(1))


class Estimates(unittest.TestCase):
    def test_some_pair_is_cut_under_masks_of_destinations(self):
        samples = 600
        open_left = 1 - 0.025 ** (1 / samples)
        for n, k, sets in each():
            cut = [seen.pairs for seen in sets if seen.pairs]
            if not cut:
                continue
            with self.subTest(n=n, k=k):
                estimate, half, total = reliability.exact_masks(n, k, samples, random.Random(1))
                self.assertLessEqual(abs(estimate - len(cut) / len(sets)), 2 * half)
                mean = len(cut) / sum(cut)  # of 1 / pairs, where a set is drawn as often as it cuts pairs
                deviation = math.sqrt(max(sum(1 / pairs for pairs in cut) / sum(cut) - mean**2, 0))
                expected = max(1.96 * deviation / math.sqrt(samples), open_left)
                self.assertAlmostEqual(half / total / expected, 1, delta=0.2)

    def test_some_pair_is_cut_under_masks_of_columns(self):
        samples = 400
        misses = 0
        for n, k, sets in each():
            line = reliability.line_masks(n, k, samples, random.Random(k))
            with self.subTest(n=n, k=k):
                if k < n:
                    self.assertIsNone(line)
                    continue
                estimate, low, high = line
                exact, most = (sum(holds(seen) for seen in sets) / len(sets) for holds in (lambda seen: seen.columns and seen.backup, lambda seen: seen.columns))
                self.assertTrue(0 <= low <= estimate <= high <= most * (1 + 1e-9), line)
                misses += not low * (1 - 1e-9) <= exact <= high * (1 + 1e-9)
                self.assertLessEqual(abs(estimate - exact), 3.5 * math.sqrt(exact * (most - exact) / samples) + 1e-12)
        self.assertLessEqual(misses, 3)  # of 20 with 95 % each

    def test_interval_of_a_mean(self):
        mean, half = reliability.interval([1, 2, 3, 6])
        self.assertEqual(mean, 3)
        self.assertAlmostEqual(half, 1.96 * math.sqrt(14 / 3) / 2)
        self.assertEqual(reliability.interval([7]), (7, 0))

    def test_interval_of_a_share(self):
        for hits, draws, low, high in ((0, 10, 0, 0.3085), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1), (81, 263, 0.2527, 0.3676), (300, 300, 0.025 ** (1 / 300), 1)):
            ours = reliability.share_interval(hits, draws)
            self.assertAlmostEqual(ours[0], low, delta=6e-5)
            self.assertAlmostEqual(ours[1], high, delta=6e-5)

    def test_interval_holds_the_share_as_often_as_said(self):
        for draws in (1, 5, 20):
            intervals = [reliability.share_interval(hits, draws) for hits in range(draws + 1)]
            for share in (i / 200 for i in range(201)):
                held = sum(math.comb(draws, hits) * share**hits * (1 - share) ** (draws - hits) for hits, (low, high) in enumerate(intervals) if low <= share <= high)
                self.assertGreaterEqual(held, 0.95, (draws, share))


if __name__ == "__main__":
    unittest.main()
