# SPDX-License-Identifier: Apache-2.0
"""The testplan covers every name of spec/*.json, a wrong one is refused with one clear error, and points are counted right.

usage: test_testplan.py REPOSITORY
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
COVERAGE = ROOT / "tests" / "coverage"
sys.path.insert(0, str(COVERAGE))
import functional  # noqa: E402
import specification  # noqa: E402
import testplan  # noqa: E402
import trace_facts  # noqa: E402

# Of these every value has to be in some point, as the value of that fact.
COVERED = {"outcome": ["rdma.outcome", "switch_lookup.outcome"], "status": ["rdma_queues.queue_status"], "completion": ["rdma.status"], "verdict": ["rdma_queues.verdict"],
           "opcode": ["rdma_queues.opcode", "switch_lookup.management_opcode"], "state": ["rdma_queues.queue_state"], "kind": ["switch_lookup.kind"], "role": ["switch_lookup.role"],
           "fault": ["switch_lookup.load_fault"], "drop": ["switch_lookup.management_drop", "barrier.drop"], "refusal": ["barrier.refusal"], "packet": ["barrier.packet_kind"], "ending": ["barrier.ending"],
           "shape": ["barrier.shape"]}
NOTHING = {"NONE"}  # no event has it as its outcome or fault

TRACE = """# weft-trace 1 unit=rdma node=0 window=32 payload=64 contexts=4
cycle=10 unit=rx event=packet type=RQT src=1 msgid=0 gen=1 pidx=64 len=0 flags=0x0 arg=0x0 sid=0 now=0 room=1 offer=0 over_quota=0 answer_room=1 \
admit=- ticket=- limit=64 outcome=GRANT cid=0 wbase=0 wvec=0x0 emit=RSP,dst=1,src=0,sid=0,msgid=0,cid=0,gen=1,pidx=5,len=0,flags=0x0,arg=0x0 write=-
cycle=14 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x1 arg=0x0 sid=0 now=0 room=1 offer=- over_quota=0 answer_room=1 \
admit=- ticket=- limit=64 outcome=FINISH cid=0 wbase=1 wvec=0x0 emit=DONE,dst=1,src=0,sid=0,msgid=0,cid=0,gen=1,pidx=0,len=0,flags=0x0,arg=0x0 write=0x0+64
# end records=2
"""

LOOKUPS = """# weft-trace 1 unit=switch node=0 ports=8 colours=16 unicast=64 per_port=0
cycle=10 unit=lookup event=tables version=1 role=LEAF fine=0 vc_max=1 own_row=2 own_column=3 row_port=7 column_port=8 multicast=1 unicast=1 by=packets
cycle=13 unit=lookup event=lookup kind=UNICAST in_port=8 in_vc=0 index=0 row=2 column=4 host=1 alive=0xff role=LEAF entry=empty primary=0 entry_ports=0x0 corrected=0 outcome=FORWARD ports=0x40 vc=1
cycle=14 unit=lookup event=lookup kind=UNICAST in_port=1 in_vc=0 index=0 row=5 column=4 host=1 alive=0xfb role=LEAF entry=valid primary=3 entry_ports=0x93 corrected=0 outcome=FORWARD ports=0x80 vc=0
cycle=16 unit=lookup event=lookup kind=MULTICAST in_port=1 in_vc=1 index=3 row=0 column=0 host=0 alive=0xfb role=LEAF entry=valid primary=0 entry_ports=0x7 corrected=1 outcome=FORWARD ports=0x2 vc=1
cycle=17 unit=lookup event=lookup kind=MULTICAST in_port=9 in_vc=1 index=3 row=0 column=0 host=0 alive=0x0 role=LEAF entry=- primary=0 entry_ports=0x0 corrected=0 outcome=BAD_REQUEST ports=0x0 vc=0
cycle=18 unit=lookup event=management opcode=7 words=3 drop=MALFORMED
cycle=19 unit=lookup event=refused fault=TRUNCATED words=9
cycle=19 unit=lookup event=scrubbed table=unicast place=3 mended=1 meanwhile=pauses
cycle=20 unit=lookup event=reset
cycle=21 unit=lookup event=lookup kind=3 in_port=0 in_vc=1 index=3 row=0 column=0 host=0 alive=0x0 role=- entry=- primary=0 entry_ports=0x0 corrected=0 outcome=NO_TABLE ports=0x0 vc=0
# end records=10
"""

BARRIERS = """# weft-trace 1 unit=barrier node=3 groups=4 members=32 nodes=24
cycle=5 unit=barrier event=arrive group=9 refusal=NO_SUCH_GROUP sent=- ending=-
cycle=9 unit=barrier event=open group=3 refusal=NONE phase=closed next=idle shape=LCT4 members=24 block_log2=2 multicast_address=0 epoch=0 id=0 children=9 missing=9 pending=0 interval=0 interval_before=0 holding_before=0 offset=0 holding=0 sent=- ending=-
cycle=20 unit=barrier event=packet group=3 packet=GATHER failure=0 multicast=0 from=2 of_epoch=65535 length=3 drop=- phase=gathering next=gathering shape=LCT4 members=24 block_log2=2 multicast_address=0 epoch=0 id=0 children=9 missing=1 pending=0 interval=4 interval_before=4 holding_before=0 offset=0 holding=0 sent=RELEASE ending=-
cycle=24 unit=barrier event=tick group=3 phase=gathering next=gathering shape=LCT4 members=24 block_log2=2 multicast_address=0 epoch=0 id=0 children=9 missing=1 pending=0 interval=8 interval_before=4 holding_before=0 offset=0 holding=0 sent=ASK ending=-
cycle=30 unit=barrier event=packet group=3 packet=GATHER failure=0 multicast=0 from=1 of_epoch=0 length=3 drop=- phase=gathering next=idle shape=LCT4 members=24 block_log2=2 multicast_address=0 epoch=65535 id=0 children=9 missing=1 pending=0 interval=8 interval_before=8 holding_before=1 offset=3 holding=0 sent=RELEASE,RELEASE ending=OK dead=0 late=7
cycle=31 unit=barrier event=dropped drop=OVERRUN
cycle=40 unit=barrier event=reset
cycle=50 unit=barrier event=packet group=3 packet=WAIT failure=0 multicast=0 from=1 of_epoch=0 length=0 drop=UNKNOWN_GROUP sent=- ending=-
# end records=8
"""

ATTEMPTS = """# weft-trace 1 unit=rdma node=0 scheme=1 window=64 payload=64 contexts=4
cycle=10 unit=rx event=packet type=RQT src=1 msgid=0 gen=0 pidx=128 len=0 flags=0x0 arg=0x0 sid=0 now=0 room=1 outcome=GRANT cid=0 wbase=0 wvec=0x0 emit=RSP,dst=1 write=-
cycle=14 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x0 arg=0x1000000 sid=0 now=0 room=1 outcome=DROP_EARLY cid=0 wbase=0 wvec=0x0 emit=- write=-
cycle=30 unit=rx event=timeout now=9 room=1 outcome=ASK_FROM cid=0 wbase=0 wvec=0x1 emit=RESEND,dst=1 write=-
cycle=31 unit=tx event=packet type=RESEND src=1 msgid=0 gen=1 pidx=0 len=0 flags=0x4 arg=0x1 cid=0 now=9 room=1 outcome=STALE sid=0 next=0 emit=RELEASE,dst=1 data=- completion=-
cycle=34 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x0 arg=0x0 sid=0 now=9 room=1 outcome=DROP_DUPLICATE cid=0 wbase=0 wvec=0x1 emit=- write=-
cycle=36 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x0 arg=0x1000000 sid=0 now=9 room=1 outcome=ADVANCE cid=0 wbase=1 wvec=0x1 emit=- write=0x0+64
# end records=6
"""

SLOTS = """# weft-trace 1 unit=rdma node=0 scheme=2 window=4 payload=64 contexts=4
cycle=10 unit=rx event=packet type=RQT src=1 msgid=0 gen=0 pidx=128 len=0 flags=0x0 arg=0x0 sid=0 now=0 room=1 outcome=GRANT cid=0 wbase=0 wvec=0x0 emit=RSP,dst=1 write=-
cycle=14 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x0 arg=0x0 sid=0 now=0 room=1 outcome=ACCEPT cid=0 wbase=0 wvec=0x0 emit=ACK,dst=1 write=0x0+64
cycle=20 unit=rx event=packet type=DATA src=1 msgid=0 gen=1 pidx=0 len=64 flags=0x2 arg=0x0 sid=0 now=0 room=0 outcome=ACCEPT cid=0 wbase=0 wvec=0x0 emit=- write=0x0+64
cycle=21 unit=tx event=packet type=ACK src=1 msgid=0 gen=1 pidx=0 len=0 flags=0x8 arg=0x4 cid=0 now=9 room=1 outcome=DROP_OLD_ACK sid=0 next=0 emit=- data=- completion=-
cycle=22 unit=tx event=buffer_timeout now=9 room=1 outcome=RESEND_FROM sid=0 next=0 emit=- data=- completion=-
cycle=24 unit=tx event=buffer_turn now=9 room=1 outcome=RESEND_ONE sid=0 next=0 emit=- data=DATA,dst=1,flags=0x2,arg=0x0,from=0x0,queue=send completion=-
# end records=6
"""


class Plan(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def load(self, entry):
        file = self.folder / "plan.json"
        file.write_text(json.dumps({"points": [{"name": "p", "unit": "rx", "what": "w", "tests": ["t"]} | entry]}), encoding="utf-8")
        return testplan.load(file, trace_facts.FACTS)

    def expect_fault(self, entry, fault):
        with self.assertRaises(testplan.BadPlan) as seen:
            self.load(entry)
        self.assertEqual(str(seen.exception), fault)

    def count(self, entry):
        trace = self.folder / "golden.node0.trace"
        trace.write_text(TRACE, encoding="ascii")
        points = self.load(entry)
        self.assertEqual(testplan.count(testplan.Index(points), "t", trace_facts.events(trace)), 2)
        return {point.name: point.hits.get("t", 0) for point in points}

    def test_every_name_of_the_description_has_a_point(self):
        named = {}
        for point in testplan.load(ROOT / "docs" / "testplan.json", trace_facts.FACTS):
            for fact, wanted in point.when.items():
                if not testplan.is_range(wanted):
                    named.setdefault(fact, set()).update(map(str, testplan.as_list(wanted)))
        for fact, enums in COVERED.items():
            for enum in enums:
                self.assertEqual(specification.names(enum) - NOTHING - named[fact], set(), enum)

    def test_misspelt_fact(self):
        self.expect_fault({"when": {"outcom": "GRANT"}}, "p: events of rx have no fact 'outcom'")

    def test_misspelt_outcome(self):
        self.expect_fault({"cross": {"outcome": ["GRANT", "GRANTT"]}}, "p: outcome GRANTT: 'outcome' is never 'GRANTT'")

    def test_number_that_is_none(self):
        self.expect_fault({"when": {"distance": "one"}}, "p: 'distance' is a number, not 'one'")
        self.expect_fault({"when": {"outcome": {"min": 1}}}, "p: 'outcome' is no number")
        self.expect_fault({"when": {"distance": {"minimum": 1}}}, "p: {'minimum': 1} is neither a value, a list nor a range")

    def test_unknown_unit_enum_and_key(self):
        self.expect_fault({"unit": "ry"}, "p: there is no unit 'ry'")
        self.expect_fault({"cross": {"outcome": {"spec": "rdma.outcomes"}}}, "p: there is no enum 'rdma.outcomes'")
        self.expect_fault({"test": ["t"]}, "p: 'test' means nothing")

    def test_two_points_of_one_name(self):
        self.expect_fault({"cross": {"outcome": ["GRANT", "GRANT"]}}, f"{self.folder}/plan.json: named twice: p: outcome GRANT")

    def test_command_refuses_a_bad_plan_in_one_line(self):
        (self.folder / "golden.node0.trace").write_text(TRACE, encoding="ascii")
        plan = self.folder / "plan.json"
        plan.write_text('{"points": [{"name": "p", "unit": "rx", "what": "w", "when": {"outcome": "GRANTT"}, "tests": []}]}', encoding="utf-8")
        result = subprocess.run([sys.executable, COVERAGE / "functional.py", "--plan", plan, self.folder, f"t={self.folder}"],
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (2, "coverage: p: 'outcome' is never 'GRANTT'\n"))

    def test_names_come_from_the_description_by_code(self):
        points = self.load({"cross": {"outcome": {"spec": "rdma.outcome", "codes": [[1, 2], [4, 4]], "except": ["ACCEPT"]}}})
        self.assertEqual([point.name for point in points], ["p: outcome GRANT", "p: outcome FINISH"])

    def test_hits_are_counted(self):
        self.assertEqual(self.count({"cross": {"outcome": ["GRANT", "FINISH", "RECLAIM"]}}),
                         {"p: outcome GRANT": 1, "p: outcome FINISH": 1, "p: outcome RECLAIM": 0})
        self.assertEqual(self.count({"when": {"outcome": ["GRANT", "FINISH"]}, "cases": {"a": {"mode": "weft"}, "b": {"distance": {"max": 3}}}}),
                         {"p: a": 2, "p: b": 0})
        self.assertEqual(self.count({"when": {"pidx_at": "base", "before": "GRANT", "distance": 4, "write": "full", "form": "write"}}), {"p": 1})

    def test_facts_of_lookups(self):
        trace = self.folder / "golden.node0.trace"
        trace.write_text(LOOKUPS, encoding="ascii")
        wanted = [
            {"event": "tables", "role_before": "-", "role": "LEAF", "by": "packets", "entries": "both"},
            {"outcome": "FORWARD", "way": "column", "turn": "yes", "port": "last", "live": "all", "since_tables": 3, "vc_max": 1},
            {"way": "injected", "primary": "dead", "candidates": 3, "chosen": "last", "turn": "no", "neighbour": "FORWARD", "kind_before": "UNICAST", "live": "some"},
            {"kind": "MULTICAST", "pruned": "input and dead ports", "copies": 1, "port": "first", "corrected": "1"},
            {"port": "beyond", "live": "none", "neighbour": "FORWARD", "kind_before": "MULTICAST", "entry": "-"},
            {"opcode": "undefined", "drop": "MALFORMED", "words": 3},
            {"fault": "TRUNCATED", "words": 9},
            {"event": "scrubbed", "table": "unicast", "mended": "1", "meanwhile": "pauses"},
            {"event": "reset"},
            {"kind": "undefined", "port": "none", "role": "-", "outcome": "NO_TABLE"},
        ]
        for expected, (unit, facts) in zip(wanted, trace_facts.events(trace), strict=True):
            self.assertEqual(unit, "lookup")
            self.assertEqual({fact: facts.get(fact) for fact in expected}, expected)
            self.assertLessEqual(facts.keys(), trace_facts.FACTS["lookup"].keys())
        self.assertNotIn("since_tables", facts)

    def test_facts_of_barriers(self):
        trace = self.folder / "golden.node3.trace"
        trace.write_text(BARRIERS, encoding="ascii")
        wanted = [
            {"event": "arrive", "refusal": "NO_SUCH_GROUP", "number": "none", "before": None, "since": None},
            {"event": "open", "number": "last", "phase": "closed", "next": "idle", "place": "root", "size": "most", "blocks": "yes", "since": 4},
            {"packet": "GATHER", "epoch": "one behind", "sent": "RELEASE", "copies": 1, "last": "yes", "before": "open"},
            {"event": "tick", "sent": "ASK", "backoff": "doubled", "before": "packet", "ending": "-"},
            {"ending": "OK", "epoch": "one ahead", "copies": 2, "late": "yes", "search": "begins", "wraps": "yes"},
            {"event": "dropped", "drop": "OVERRUN"},
            {"event": "reset"},
            {"before": "reset", "drop": "UNKNOWN_GROUP", "phase": None},
        ]
        for expected, (unit, facts) in zip(wanted, trace_facts.events(trace), strict=True):
            self.assertEqual(unit, "barrier")
            self.assertEqual({fact: facts.get(fact) for fact in expected}, expected)
            self.assertLessEqual(facts.keys(), trace_facts.FACTS["barrier"].keys())

    def expect_facts(self, text, wanted):
        """(unit, facts) of each event."""
        trace = self.folder / "golden.node0.trace"
        trace.write_text(text, encoding="ascii")
        for (of, expected), (unit, facts) in zip(wanted, trace_facts.events(trace), strict=True):
            self.assertEqual((unit, {fact: facts.get(fact) for fact in expected}), (of, expected))
            self.assertLessEqual(facts.keys(), trace_facts.FACTS[unit].keys())

    def test_facts_of_the_receiver_counter(self):
        self.expect_facts(ATTEMPTS, [
            ("rxcounter_rx", {"outcome": "GRANT", "attempts": 0, "attempt": None, "emit": "RSP"}),
            ("rxcounter_rx", {"attempt": "newer", "attempts": 0, "before": "GRANT", "distance": 4, "write": "none"}),
            ("rxcounter_rx", {"event": "timeout", "attempts": 0, "emit": "RESEND"}),
            ("rxcounter_tx", {"type": "RESEND", "attempt": None, "before": None}),
            ("rxcounter_rx", {"attempt": "older", "attempts": 1}),
            ("rxcounter_rx", {"attempt": "same", "attempts": 1, "write": "full"}),
        ])

    def test_facts_of_the_sender_window(self):
        self.expect_facts(SLOTS, [
            ("txwindow_rx", {"outcome": "GRANT", "came": None}),
            ("txwindow_rx", {"came": "no", "emit": "ACK"}),
            ("txwindow_rx", {"came": "yes", "emit": "none"}),
            ("txwindow_tx", {"failed": "yes", "slot": "no", "before": None}),
            ("txwindow_tx", {"event": "buffer_timeout", "before": None, "neighbour": "DROP_OLD_ACK"}),
            ("txwindow_tx", {"before": "RESEND_FROM", "distance": 2, "retry": 1, "queue": "send"}),
        ])

    def test_tests_that_hit_a_point_are_named(self):
        self.assertEqual(functional.test_of("nic", pathlib.Path("t/Seeds,Nic.Does.12/golden.node0.trace")), "Seeds/Nic.Does")
        self.assertEqual(functional.test_of("soak", pathlib.Path("t/weft-sim-soak.4711.3/golden.node0.trace")), "soak")
        point = self.load({"tests": ["a"]})[0]
        point.tests_that_hit = {("a", "x"): 2, ("a", "y"): 5, ("b", "b"): 5, ("a", "z"): 1}
        self.assertEqual(functional.named_tests(point), "a: `y` (5), b (5), a: `x` (2), and 1 more")

    def test_page_says_that_there_are_no_holes(self):
        points, holes = self.load({"tests": ["t"]}), functional.Holes(functional.HOLES)
        self.assertTrue(functional.page("coverage", points, holes, {"t": 2}).endswith("## Holes\n\n| point | why |\n|---|---|\n| p | **not explained** |\n"))
        points[0].hits = {"t": 1}
        self.assertTrue(functional.page("coverage", points, holes, {"t": 2}).endswith("## Holes\n\nNone.\n"))

    def test_runs_that_a_point_is_tied_to(self):
        point = self.load({"tests": ["a", "b|c"]})[0]
        point.hits = {"c": 1}
        self.assertEqual(point.missing(), ["a"])
        point.hits = {"a": 1}
        self.assertEqual(point.missing(), ["b|c"])


if __name__ == "__main__":
    unittest.main()
