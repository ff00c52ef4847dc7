# SPDX-License-Identifier: Apache-2.0
"""What a receive window can have under reordering if nothing is sent twice: the sender never gets more than the window beyond the first packet that it does not know to
have arrived, and knows that a round trip later."""

import collections
import heapq
import random
import statistics


def duration(window, detour, held, round_trip, packets, seed):
    """Units of time until all have arrived, of which a packet takes one to send; `held` of them come up to `detour` units later."""
    draws = random.Random(seed)
    time = first_missing = sent = 0
    under_way, come, heard = [], set(), collections.deque([0] * round_trip)
    while first_missing < packets:
        while under_way and under_way[0][0] <= time:
            come.add(heapq.heappop(under_way)[1])
        while first_missing in come:
            come.remove(first_missing)
            first_missing += 1
        heard.append(first_missing)
        if sent < packets and sent <= heard.popleft() + window:
            late = draws.randint(1, detour) if detour and draws.random() < held else 0
            heapq.heappush(under_way, (time + 1 + late, sent))
            sent += 1
        time += 1
    return time


def share(window, detour, held, round_trip=0, packets=4096, draws=20):
    """Of a full link: mean over draws of who makes a detour. Single draws are above and below."""
    without = duration(packets, 0, 0, round_trip, packets, 1)
    return statistics.mean(without / duration(window, detour, held, round_trip, packets, seed) for seed in range(1, draws + 1))
