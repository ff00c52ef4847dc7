# SPDX-License-Identifier: Apache-2.0
"""The two-dimensional fat tree beside BookSim2: the same fabric, dead leaves, router settings and traffic, one program after the other; latency, saturation, speed and memory of both, into a page.

usage: experiments/route_beside_booksim.py WEFT MARKDOWN [--booksim SOURCE] [--folder FOLDER] [--jobs N] [--quick]

SOURCE is what BookSim2 comes from, as for beside_booksim.py; to it comes the fabric of experiments/booksim. Exit code 1 if a goal is missed.
"""

import dataclasses
import json
import pathlib
import sys

import beside_booksim as beside
import route_traffic as traffic

FABRIC = pathlib.Path(__file__).resolve().parent / "booksim"
WARMUP, MOST = 3, 3  # periods
BUFFER, SPEEDUP = 16, 3
SETTINGS = ("topology=kfat2d", "num_vcs=2", f"vc_buf_size={BUFFER}", f"internal_speedup={SPEEDUP}.0", "traffic=uniform", "packet_size=1", "seed=1")
# What the router of these settings, links of one clock and hosts take there, in clocks.
CLOCKS = ("--switch-clocks", "3", "--end-clocks", "2", "--credit-clocks", "2")
TIMES_FASTER, TIMES_MEMORY = 5, 2  # the goals, besides those of beside_booksim
LEAST_HOST_CLOCKS = 1_000_000


@dataclasses.dataclass(frozen=True)
class Case:
    """n x n leaves of n hosts under n row and column switches each, packets of one flit."""

    n: int
    load: float
    period: int
    dead: int = 0  # leaves, no two in a row or column
    any_channel: bool = False  # both virtual channels are for all; otherwise one is kept for faults
    saturated: bool = False
    flits = 1

    @property
    def network(self):
        return f"{self.n}×{self.n}×{self.n}, {'both VCs' if self.any_channel else 'one VC kept'}{f', {self.dead} dead' if self.dead else ''}"

    @property
    def leaves(self):
        """Dead ones."""
        return traffic.faults(self.n, self.dead, "all") if self.dead else ()

    @property
    def settings(self):
        """Of BookSim2, whose leaves are column, row."""
        dead = ",".join(",".join(reversed(leaf.split(","))) for leaf in self.leaves)
        return (*SETTINGS, *(f"kfat_{size}={self.n}" for size in ("rows", "columns", "hosts", "planes")), *((f"kfat_faults={{{dead}}}",) if dead else ()),
                f"routing_function={'free' if self.any_channel else 'vtftr'}", f"injection_rate={self.load}", f"sim_type={'throughput' if self.saturated else 'latency'}",
                f"warmup_periods={WARMUP}", f"sample_period={self.period}", f"max_samples={MOST}")

    def arguments(self, clocks):
        """Of weft, for as many clocks as BookSim2 took, the second half of which is measured."""
        least = 0 if self.saturated else LEAST_HOST_CLOCKS // self.n**3
        return ("route", "--topology", f"kfat2d:{self.n}x{self.n}:{self.n}", "--planes", str(self.n), "--speedup", str(SPEEDUP), "--buffer", str(BUFFER), *CLOCKS, "--load", str(self.load),
                "--clocks", str(max(clocks, least)), *(("--fail", *self.leaves) if self.dead else ()), *(("--any-channel",) if self.any_channel else ()), "--seed", "1")


FULL = ({"any_channel": True}, {}, {"dead": 1}, {"dead": 5})
CASES = (*(Case(8, load, 1000) for load in (0.02, 0.1, 0.3, 0.5, 0.6)), Case(8, 0.5, 1000, any_channel=True), Case(8, 0.8, 1000, any_channel=True),
         Case(8, 0.5, 1000, dead=1), Case(8, 0.5, 1000, dead=5), *(Case(8, 1.0, 500, saturated=True, **more) for more in FULL),
         Case(16, 0.1, 200), Case(16, 0.5, 200), *(Case(16, 1.0, 150, saturated=True, **more) for more in ({"any_channel": True}, {}, {"dead": 5}, {"dead": 10})))
QUICK = (Case(4, 0.1, 500), Case(4, 0.5, 500), Case(4, 1.0, 300, dead=1, saturated=True))


def run_weft(program, case, clocks, folder):
    file = folder / "weft.json"
    arguments = case.arguments(clocks)
    _, seconds, megabytes = beside.called([program, *arguments, "--json", file])
    result = json.loads(file.read_text(encoding="utf-8"))["traffic"]
    return beside.Result(result["mean_latency_clocks"], result["accepted"], result["clocks"], seconds, megabytes)


def missed(case, theirs, ours):
    """What is missed of the goals."""
    return beside.faults(case, theirs, ours) + (["memory"] if ours.megabytes > TIMES_MEMORY * theirs.megabytes else [])


def page(results, weft, machine):
    case, theirs, _ = next((entry for entry in results if entry[0].load == 0.5), results[0])
    missing = sum(bool(missed(*entry)) for entry in results)
    ratios = [ours.speed / theirs.speed for _, theirs, ours in results]
    return f"""# The two-dimensional fat tree beside BookSim2

Written by `make route-booksim`: [BookSim2]({beside.SOURCE}) (commit {beside.COMMIT}), which is not part of this repository, with [the fabric and VTFTR's routes for it](../../experiments/booksim), and `weft route --load` at equal settings:
as many leaves, hosts a leaf and row and column switches as the table says, two virtual channels of {BUFFER} packets, packets of one flit, {SPEEDUP} turns of a router a clock, links of one clock, uniform traffic, one round of iSLIP. *One VC kept*: for packets that turn from
column to row, of which there are none without faults. *Dead*: leaves, no two in a row or column.
*Latency*: mean of all packets, in clocks, from the clock in which they are made. *Accepted*: packets a clock and live host that come out when hosts send one each clock. *Clocks a second*: of processor, of the whole process, tables and proof of
freedom from deadlock included, on one core ({machine}); *memory*: the most that the process had. One run each, one after the other.
Goals: latency within {beside.LATENCY_OFF * 100:.0f} %, accepted within {beside.SATURATION_OFF * 100:.0f} %, {TIMES_FASTER} times as many clocks a second, at most {TIMES_MEMORY} times the memory. {f"Missed in {missing} of {len(results)} rows." if missing else f"All {len(results)} rows meet them."}
Here it is {min(ratios):.1f} to {max(ratios):.1f} times as fast.

{beside.table(results, missed)}

The command lines of {case.network}, load {case.load:g}; the other rows differ in what the table shows, and in clocks:

```
booksim FILE    # {'; '.join(case.settings)}
{weft} {' '.join(case.arguments(theirs.clocks))}
```
"""


def main():
    return beside.compare(__doc__, CASES, QUICK, run_weft, page, missed, more=FABRIC)


if __name__ == "__main__":
    sys.exit(beside.run(main))
