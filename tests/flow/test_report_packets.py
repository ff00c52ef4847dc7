# SPDX-License-Identifier: Apache-2.0
"""What the report makes of traces: to which arrival a packet led, what was sent again, what was lost, damaged or copied on the way, when a transfer was over; and which
traces it refuses.

usage: test_report_packets.py REPOSITORY
"""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "report"))
import packets  # noqa: E402

RQT = "sid=2 msgid=0 gen=0 pidx=600 len=0 flags=0x0 arg=0x1000"
GRANT = "sid=2 msgid=0 gen=1 pidx=7 len=0 flags=0x0 arg=0x0"
DONE = "sid=2 msgid=0 gen=1 pidx=0 len=0 flags=0x0 arg=0x0"
MAP = "sid=2 msgid=0 gen=1 pidx=0 len=0 flags=0x0 arg=0x700000000000001"


def data(pidx, again=False):
    return f"sid=2 msgid=0 gen=1 pidx={pidx} len=256 flags={'0x2' if again else '0x0'} arg=0x5eed"


def word(kind, dst, src, fields):
    first, rest = fields.split(" gen=")
    return f"{kind},dst={dst},src={src},{first.replace(' ', ',')},cid=5,gen={rest.replace(' ', ',')}"


def packet_of_sender(kind, fields):
    return word(kind, 1, 0, fields)


def packet_of_receiver(kind, fields):
    return word(kind, 0, 1, fields)


def tx(cycle, event, outcome, fields="", emit="-", order="-", completion="-"):
    """An event of the sender, whose SID here always is 2."""
    named = "" if "sid=" in fields or event == "packet" else "sid=2"
    header = f"type={fields.split()[0]} src=1 {fields.split(' ', 1)[1]}" if event == "packet" else fields
    return f"cycle={cycle} unit=tx event={event} {header} {named} outcome={outcome} next=0 emit={emit} data={order} completion={completion}"


def rx(cycle, outcome, fields="", emit="-", event="packet"):
    header = f"type={fields.split()[0]} src=0 {fields.split(' ', 1)[1]}" if fields else ""
    return f"cycle={cycle} unit=rx event={event} {header} outcome={outcome} cid=5 wbase=0 wvec=0x0 emit={emit} write=-"


def sent(cycle, kind, src, fields, *fates):
    """Fates as they stand in the trace: lost, duplicated, corrupted, held_back."""
    bits = " ".join(f"{fate}={int(fate in fates)}" for fate in ("lost", "duplicated", "corrupted", "held_back"))
    return f"cycle={cycle} unit=network event=sent type={kind} dst={1 - src} src={src} cid=5 {fields} {bits}"


POST = "tag=9 node=1 bytes=600"

# Packets 0 to 2 of a transfer. 0 is lost, 1 comes twice, 2 is damaged. The receiver asks for 0, of which one repeat is lost, one comes; 2 comes by its second repeat.
# A third repeat of 2 was ordered and never left.
SENDER = [
    tx(10, "post", "SUBMIT", POST, emit=packet_of_sender("RQT", RQT)),
    tx(50, "packet", "GRANTED", f"RSP {GRANT}"),
    tx(51, "turn", "SEND", order=packet_of_sender("DATA", data(0)) + ",from=0x0,queue=send"),
    tx(52, "turn", "SEND", order=packet_of_sender("DATA", data(1)) + ",from=0x100,queue=send"),
    tx(53, "turn", "SEND", order=packet_of_sender("DATA", data(2)) + ",from=0x200,queue=send"),
    tx(150, "packet", "ACKED", f"ACK {MAP}"),
    tx(151, "turn", "SEND_AGAIN", order=packet_of_sender("DATA", data(0, again=True)) + ",from=0x0,queue=send"),
    tx(250, "packet", "ACKED", f"ACK {MAP}"),
    tx(251, "turn", "SEND_AGAIN", order=packet_of_sender("DATA", data(0, again=True)) + ",from=0x0,queue=send"),
    tx(252, "turn", "SEND_AGAIN", order=packet_of_sender("DATA", data(2, again=True)) + ",from=0x200,queue=send"),
    tx(290, "timeout", "STILL_ASKED"),
    tx(300, "packet", "COMPLETE", f"DONE {DONE}", emit=packet_of_sender("RELEASE", DONE), order=packet_of_sender("DATA", data(2, again=True)), completion="9:OK"),
]
RECEIVER = [
    rx(30, "GRANT", f"RQT {RQT}", emit=packet_of_receiver("RSP", GRANT)),
    rx(72, "ACCEPT", f"DATA {data(1)}"),
    rx(73, "DROP_CRC"),
    rx(90, "DROP_DUPLICATE", f"DATA {data(1)}"),
    rx(130, "ASK_MAP", emit=packet_of_receiver("ACK", MAP), event="timeout"),
    rx(230, "ASK_MAP", emit=packet_of_receiver("ACK", MAP), event="timeout"),
    rx(271, "ADVANCE", f"DATA {data(0, again=True)}"),
    rx(272, "FINISH", f"DATA {data(2, again=True)}", emit=packet_of_receiver("DONE", DONE)),
    rx(320, "RELEASED", f"RELEASE {DONE}"),
]
OF_SENDER = [
    sent(11, "RQT", 0, RQT), sent(55, "DATA", 0, data(0), "lost"), sent(56, "DATA", 0, data(1), "duplicated"), sent(57, "DATA", 0, data(2), "corrupted"),
    sent(155, "DATA", 0, data(0, again=True), "lost"), sent(255, "DATA", 0, data(0, again=True), "held_back"), sent(256, "DATA", 0, data(2, again=True)),
    sent(301, "RELEASE", 0, DONE),
]
OF_RECEIVER = [sent(31, "RSP", 1, GRANT), sent(131, "ACK", 1, MAP), sent(231, "ACK", 1, MAP), sent(280, "DONE", 1, DONE)]
RESULT = {"packets_sent": 12, "packets_lost": 2, "packets_duplicated": 1, "packets_corrupted": 1, "packets_held_back": 1, "packets_resent": 3,
          "drops": {"DROP_CRC": 1, "DROP_DUPLICATE": 1}, "failed_transfers": 0}


class Joined(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def write(self, name, lines, end=True):
        text = "# weft-trace 1 unit=rdma node=0\n" + "".join(" ".join(line.split()) + "\n" for line in lines)
        (self.folder / name).write_text(text + (f"# end records={len(lines)}\n" if end else ""), encoding="ascii")

    def joined(self, sender=SENDER, receiver=RECEIVER, of_sender=OF_SENDER, of_receiver=OF_RECEIVER):
        for name, lines in (("golden.node0", sender), ("golden.node1", receiver), ("network.node0", of_sender), ("network.node1", of_receiver)):
            self.write(f"{name}.trace", lines)
        return packets.join(self.folder)

    def path(self, run, left):
        """Of the packet that left in that cycle."""
        return next(packet for packet in run.packets if packet.left == left)

    def test_each_packet_leads_to_its_arrivals(self):
        run = self.joined()
        outcomes = {packet.left: [(arrival.cycle, arrival.outcome) for arrival in packet.arrivals] for packet in run.packets}
        self.assertEqual(outcomes, {
            11: [(30, "GRANT")], 31: [(50, "GRANTED")], 55: [], 56: [(72, "ACCEPT"), (90, "DROP_DUPLICATE")], 57: [(73, "DROP_CRC")], 131: [(150, "ACKED")], 155: [],
            231: [(250, "ACKED")], 255: [(271, "ADVANCE")], 256: [(272, "FINISH")], 280: [(300, "COMPLETE")], 301: [(320, "RELEASED")], None: []})

    def test_what_became_of_a_packet(self):
        run = self.joined()
        results = {packet.left: packet.results for packet in run.packets}
        self.assertEqual(results[55], ["LOST"])
        self.assertEqual(results[57], ["DROP_CRC"])
        self.assertEqual(results[56], ["ACCEPT", "DROP_DUPLICATE"])
        self.assertEqual(results[None], ["NEVER_SENT"])
        without = self.joined(receiver=[line for line in RECEIVER if "RELEASED" not in line])
        self.assertEqual(self.path(without, 301).results, ["UNDER_WAY"])

    def test_orders_and_repeats(self):
        run = self.joined()
        ordered = {packet.left: (packet.ordered.cycle, packet.ordered.outcome) for packet in run.packets}
        self.assertEqual(ordered[155], (151, "SEND_AGAIN"))
        self.assertEqual(ordered[255], (251, "SEND_AGAIN"))
        self.assertEqual(ordered[131], (130, "ASK_MAP"))
        self.assertEqual(ordered[None], (300, "COMPLETE"))
        again = {packet.left for packet in run.packets if packet.again and packet.header["type"] == "DATA"}
        self.assertEqual(again, {155, 255, 256, None})
        self.assertEqual([packet.held_back for packet in run.packets if packet.left == 255], [True])

    def test_transfers_and_timeouts(self):
        run = self.joined()
        self.assertEqual(run.transfers, [packets.Transfer(0, 0, 1, 9, 600, 10, 300, "OK")])
        self.assertEqual({packet.transfer for packet in run.packets}, {(0, 0)})
        self.assertEqual([(each.node, each.unit, each.cycle, each.outcome, each.transfer) for each in run.timeouts],
                         [(0, "tx", 290, "STILL_ASKED", (0, 0)), (1, "rx", 130, "ASK_MAP", (0, 0)), (1, "rx", 230, "ASK_MAP", (0, 0))])

    def test_transfers_are_numbered_as_posted(self):
        second = tx(20, "post", "SUBMIT", "tag=10 node=1 bytes=700").replace("sid=2", "sid=3")
        refused = tx(21, "post", "REJECT_LENGTH", "tag=11 node=1 bytes=0", completion="11:BAD_LENGTH")
        run = self.joined(sender=[SENDER[0], second, refused, *SENDER[1:]])
        self.assertEqual([(each.msgid, each.bytes, each.status) for each in run.transfers], [(0, 600, "OK"), (1, 700, None)])

    def test_the_exit_may_say_that_writes_have_failed(self):
        failed = DONE.replace("flags=0x0", "flags=0x8")
        run = self.joined(of_receiver=[*OF_RECEIVER[:-1], sent(280, "DONE", 1, failed)], sender=[line.replace(f"type=DONE src=1 {DONE}", f"type=DONE src=1 {failed}") for line in SENDER])
        done = self.path(run, 280)
        self.assertEqual((done.ordered.outcome, done.header["flags"], done.results), ("FINISH", "0x8", ["COMPLETE"]))

    def test_counts_are_those_of_the_run(self):
        self.assertEqual(packets.differences(self.joined(), RESULT), [])
        self.assertEqual(packets.differences(self.joined(), {**RESULT, "packets_lost": 3}), ["packets_lost: 2 joined, 3 counted"])

    def test_differences_are_told(self):
        late = self.joined(receiver=[line for line in RECEIVER if "RELEASED" not in line])
        self.assertEqual(packets.differences(late, RESULT), ["1 packets or copies of them have not arrived, and were not lost"])
        stray = self.joined(sender=[line for line in SENDER if "turn" not in line])
        self.assertIn("6 packets left that no event has ordered", packets.differences(stray, RESULT))
        open_end = self.joined(sender=[line.replace("completion=9:OK", "completion=-") for line in SENDER])
        self.assertEqual(packets.differences(open_end, RESULT), ["1 transfers without completion OK, 0 counted"])

    def test_refused(self):
        with self.assertRaisesRegex(packets.JoinError, "has no network.node"):
            packets.join(self.folder)
        with self.assertRaisesRegex(packets.JoinError, "node 1, cycle 90: DROP_DUPLICATE of a packet that no node has sent"):
            self.joined(of_sender=[line.replace("duplicated=1", "duplicated=0") for line in OF_SENDER])
        with self.assertRaisesRegex(packets.JoinError, "node 1, cycle 320: RELEASED of a packet that no node has sent"):
            self.joined(of_sender=[line.replace("cycle=301", "cycle=321") for line in OF_SENDER])
        self.joined()
        self.write("network.node1.trace", OF_RECEIVER[:2], end=False)
        with self.assertRaisesRegex(packets.traces.TraceError, "network.node1.trace: cut off after 2 records"):
            packets.join(self.folder)


if __name__ == "__main__":
    unittest.main()
