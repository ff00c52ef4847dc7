# SPDX-License-Identifier: Apache-2.0
"""Whether the engines of the experiments, of each scheme, window and payload, are what they are taken for: beside the golden model they retire the same events, and alone
(--bare) they take the same clocks."""

import concurrent.futures
import itertools

import experiments as e
import runs

PACKETS = 96  # of a transfer, and one byte more


def sizes():
    """Arguments that choose each engine, in each mode."""
    windows = [(window, payload) for window, payload in itertools.product(e.WINDOWS, e.PAYLOADS) if payload == e.PAYLOADS[0] or window <= e.LARGEST_WINDOW_OF_LONG_PACKETS]
    with_window = [(*mode.arguments, "--window", str(window), "--payload", str(payload)) for mode in e.MODES for window, payload in windows]
    return with_window + [(*scheme.arguments, "--payload", str(payload)) for scheme in e.OLDER for payload in e.PAYLOADS]


def check_one(program, size):
    """Events compared. Three nodes, packets lost and delayed."""
    payload = int(size[size.index("--payload") + 1])
    arguments = (*size, "--nodes", "3x1x1", "--delay", "100", "--jitter", "100", "--loss", "0.02", "--bytes", str(PACKETS * payload + 1))
    checked, alone = (runs.result_of((program, "rdma", *arguments, *bare), (0,)) for bare in ((), ("--bare",)))
    if not checked["events_compared"]:
        raise runs.RunError(f"{' '.join(arguments)}: no events were compared")
    if checked["cycles"] != alone["cycles"]:
        raise runs.RunError(f"{' '.join(arguments)}: {checked['cycles']} clocks, but {alone['cycles']} with --bare")
    return checked["events_compared"]


def check(program, jobs):
    """Engines, and events that were compared. Raises runs.RunError at the first difference."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        events = list(pool.map(lambda size: check_one(program, size), sizes()))
    return len(events), sum(events)
