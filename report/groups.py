# SPDX-License-Identifier: Apache-2.0
"""Which pages of docs/results stand together in the report, in which order."""

# Also pages that a target of the Makefile writes and that are not in the tree. tests/flow/test_report_groups.py: each page is in one group.
GROUPS = [
    ("Coverage", ["coverage", "code_coverage", "coverage_points", "switch_coverage", "switch_coverage_points", "barrier_coverage", "barrier_coverage_points", "older_coverage", "older_coverage_points"]),
    ("Proofs, gates, mutants", ["formal", "netlist", "switch_netlist", "mutation", "switch_mutation", "barrier_mutation", "older_mutation"]),
    ("Area and timing", ["area", "window", "contexts", "schemes", "switch_area", "switch_colours", "barrier_area", "nic_area"]),
    ("FPGA", ["fpga", "switch_fpga", "boards"]),
    ("Speed", ["bench", "goodput", "rdma", "long", "switch_bench", "systemc"]),
    ("Faults", ["soak", "older_soak", "barrier_soak", "fuzz"]),
    ("Switches, networks", ["switch", "load_curves", "booksim", "route_booksim"]),
    ("Trees and routes", ["mcast", "mcast_figures", "mcast_growth", "mcast_opensm", "vtftr"]),
    ("Barriers, boots", ["barrier", "barrier_software", "boot"]),
]
OTHERS = "More"  # pages of another folder


def grouped(names):
    """(group, names of its pages) of these pages; those of no group come last."""
    known = [name for _, members in GROUPS for name in members]
    every = GROUPS + [(OTHERS, sorted(set(names) - set(known)))]
    return [(group, [name for name in members if name in names]) for group, members in every]
