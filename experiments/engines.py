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


def networks(size):
    """Three nodes, packets lost and delayed; engines of packets of 256 bytes also on the torus, in weft mode also with detours, asked for early, and known."""
    lossy = ("--nodes", "3x1x1", "--delay", "100", "--jitter", "100", "--loss", "0.02")
    if int(size[size.index("--payload") + 1]) != e.PAYLOADS[0]:
        return [lossy]
    torus = (*e.TORUS.arguments, *e.timer(e.TORUS.timeouts[e.PAYLOADS[0]][0]), "--loss", "0.005")
    detour = ("--nodes", "2x1x1", "--delay", "100", "--detour", str(e.DEGREE_OF_REORDERED * e.clocks_of_a_packet(e.PAYLOADS[0])), "--held", "0.1")
    detours = [(*detour, *e.timer(timeout, e.DEGREE_OF_REORDERED)) for timeout in (e.Early(400), e.Known(700))]
    return [lossy, torus, *(detours if e.WEFT.arguments == size[:len(e.WEFT.arguments)] else [])]


def check_one(program, size):
    """Events compared."""
    return sum(check_on(program, size, network) for network in networks(size))


def check_on(program, size, network):
    payload = int(size[size.index("--payload") + 1])
    arguments = (*size, *network, "--bytes", str(PACKETS * payload + 1))
    checked, alone = (runs.result_of((program, "rdma", *arguments, *bare), (0,)) for bare in ((), ("--bare",)))
    if not checked["events_compared"]:
        raise runs.RunError(f"{' '.join(arguments)}: no events were compared")
    if checked["cycles"] != alone["cycles"]:
        raise runs.RunError(f"{' '.join(arguments)}: {checked['cycles']} clocks, but {alone['cycles']} with --bare")
    return checked["events_compared"]


def check(program, jobs):
    """Runs, and events that were compared. Raises runs.RunError at the first difference."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=jobs) as pool:
        events = list(pool.map(lambda size: check_one(program, size), sizes()))
    return sum(len(networks(size)) for size in sizes()), sum(events)
