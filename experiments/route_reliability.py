# SPDX-License-Identifier: Apache-2.0
"""How likely it is that dead leaf switches cut some live pair of an n x n fat tree: exact, or sampled with an interval. Of route.py, which writes the page.

A leaf is (x, y), column and row; every set of k dead leaves is as likely as any other. A pair is of two leaves that are alive; "cut": they cannot talk.
"""

import math
from fractions import Fraction
from math import comb


def covered(n, k):
    """Every column holds a fault: inclusion and exclusion."""
    return Fraction(sum((-1) ** i * comb(n, i) * comb(n * (n - i), k) for i in range(n + 1)), comb(n * n, k))


def both_covered(n, k):
    """Every row and every column holds a fault."""
    return Fraction(sum((-1) ** (i + j) * comb(n, i) * comb(n, j) * comb((n - i) * (n - j), k) for i in range(n + 1) for j in range(n + 1)), comb(n * n, k))


def printed(n, k):
    """As the paper has it: the faults hold one fixed diagonal."""
    return Fraction(comb(n * n - n, k - n), comb(n * n, k)) if k >= n else Fraction(0)


def isolated(n, k):
    """Live links join not all leaves that are alive. For n >= 4 and k < 3n - 4, so for n >= 5 up to 2n, only a leaf alone can be cut: other cuts, and two such leaves, need more faults."""
    return Fraction(n * n * comb((n - 1) ** 2, k - 2 * n + 2), comb(n * n, k)) if k >= 2 * n - 2 else Fraction(0)


def cut_sets(n, k):
    """Sets of k faults that leave a given pair in no common row or column without a way of three steps, by how many of the 2(n-2) backup pairs lose both leaves."""
    pairs, free = 2 * (n - 2), n * n - 4 - 4 * (n - 2)
    sets = {}
    for both in range(pairs + 1):
        rest = k - 2 - pairs - both
        if 0 <= rest <= free:
            sets[both] = comb(pairs, both) * 2 ** (pairs - both) * comb(free, rest)
    return sets


def draw_cut(n, k, rng):
    """One of cut_sets for the pair (0, 0), (1, 1), each as likely: the dead leaves."""
    sets = cut_sets(n, k)
    both = rng.choices(list(sets), [float(Fraction(s, max(sets.values()))) for s in sets.values()])[0]
    backups = [((i, 0), (i, 1)) for i in range(2, n)] + [((0, i), (1, i)) for i in range(2, n)]
    dead = {(0, 1), (1, 0)}
    twice = set(rng.sample(range(len(backups)), both))
    for i, leaves in enumerate(backups):
        dead.update(leaves if i in twice else (rng.choice(leaves),))
    free = [(x, y) for x in range(2, n) for y in range(2, n)]
    dead.update(rng.sample(free, k - len(dead)))
    return dead


def cut_pairs(n, dead):
    """Unordered pairs without a way of three steps."""
    rows = [sum(1 << x for x in range(n) if (x, y) not in dead) for y in range(n)]
    columns = [sum(1 << y for y in range(n) if (x, y) not in dead) for x in range(n)]
    cut = 0
    for a in range(n):
        for b in range(a + 1, n):
            if rows[a] & rows[b]:
                continue
            cut += sum(1 for i in range(n) if rows[a] >> i & 1 for j in range(n) if rows[b] >> j & 1 and not columns[i] & columns[j])
    return cut


def interval(values):
    """Mean and half of a 95 % interval."""
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1))
    return mean, 1.96 * deviation / math.sqrt(len(values))


def least_share(hits, draws):
    """The share of which so many hits or more are as rare as 2.5 %."""
    if hits == 0:
        return 0.0
    ways = [math.lgamma(draws + 1) - math.lgamma(i + 1) - math.lgamma(draws - i + 1) for i in range(draws + 1)]
    low, high = 0.0, 1.0
    for _ in range(60):
        share = (low + high) / 2
        if sum(math.exp(ways[i] + i * math.log(share) + (draws - i) * math.log1p(-share)) for i in range(hits, draws + 1)) < 0.025:
            low = share
        else:
            high = share
    return low


def share_interval(hits, draws):
    """A 95 % interval of a share (Clopper and Pearson, exact binomial)."""
    return least_share(hits, draws), 1 - least_share(draws - hits, draws)


def exact_masks(n, k, samples, rng):
    """Some pair is cut under masks of destinations: 0 below 2n - 2 faults. Else as Karp and Luby: of the sum over pairs, each set counts once. Estimate, half of a 95 % interval, the sum. The half
    is never less than where no draw cuts a second pair: so many draws leave open that some sets do."""
    pair = Fraction(sum(cut_sets(n, k).values()), comb(n * n, k))
    total = pair * (n * n * (n - 1) ** 2 // 2)
    if total == 0:
        return None
    mean, half = interval([1 / cut_pairs(n, draw_cut(n, k, rng)) for _ in range(samples)])
    return float(total) * mean, float(total) * max(half, 1 - least_share(samples, samples)), float(total)


def draw_covered(n, k, rng):
    """Faults that hold every column, each such set as likely: faults a column by their numbers of ways."""
    ways = [[0] * (k + 1) for _ in range(n + 1)]
    ways[0][0] = 1
    for column in range(n):
        for used in range(k + 1):
            for here in range(1, min(n, k - used) + 1):
                ways[column + 1][used + here] += ways[column][used] * comb(n, here)
    dead, left = set(), k
    for column in reversed(range(n)):
        options = [here for here in range(1, min(n, left) + 1) if ways[column][left - here]]
        weights = [ways[column][left - here] * comb(n, here) for here in options]
        here = rng.choices(options, [float(Fraction(w, sum(weights))) for w in weights])[0]
        dead.update((column, y) for y in rng.sample(range(n), here))
        left -= here
    return dead


def needs_backup(n, dead):
    """Two live leaves both of whose corners are dead."""
    return any(a[0] != b[0] and a[1] != b[1] and (a[0], b[1]) not in dead and (b[0], a[1]) not in dead for a in dead for b in dead)


def cut_by(n, dead):
    """Whether some pair is cut: by the paper's rules as printed (known faults: `--rules literal --masks line`), by `--masks line`, by `--masks destination`.

    As printed a packet goes aside in its row only, to a column without a fault; leaves with `--masks line` also take a row without a fault.
    """
    columns, rows = (len({leaf[place] for leaf in dead}) == n for place in (0, 1))
    backup = needs_backup(n, dead)
    return columns and backup, columns and rows and backup, cut_pairs(n, dead) > 0


def line_masks(n, k, samples, rng):
    """Some pair is cut under masks of whole columns, row first as printed: every column holds a fault, and some pair asks for a backup. Estimate and both ends of a 95 % interval."""
    if k < n:
        return None
    hits = sum(needs_backup(n, draw_covered(n, k, rng)) for _ in range(samples))
    return tuple(float(covered(n, k)) * share for share in (hits / samples, *share_interval(hits, samples)))
