# SPDX-License-Identifier: Apache-2.0
"""Which functions of a Verilated top settle it and which are its clock edge (scripts/verilate.py --steps): all of them in their order, or none if there is anything else
that eval() would do.

usage: test_verilate.py REPOSITORY
"""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts"))
import verilate  # noqa: E402

TOP = """
void Vx___024root___eval_ico(Vx___024root* vlSelf) {
    if (vlSelf->__VicoTriggered.at(0U)) {
        Vx___024root___ico_sequent__TOP__0(vlSelf);
    }
}
void Vx___024root___eval_act(Vx___024root* vlSelf) {
}
void Vx___024root___eval_nba(Vx___024root* vlSelf) {
    if (vlSelf->__VnbaTriggered.at(0U)) {
        Vx___024root___nba_sequent__TOP__0(vlSelf);
        Vx___024root___nba_sequent__TOP__1(vlSelf);
    }
}
void Vx___024root___eval(Vx___024root* vlSelf) {
    VlTriggerVec<1> __VpreTriggered;
}
"""


class Steps(unittest.TestCase):
    def steps(self, text):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "Vx.cpp"
            file.write_text(text, encoding="utf-8")
            steps = verilate.steps("Vx", [file])
            verilate.write_steps(file.parent, "Vx", [file])
            return steps, (file.parent / "Vx.steps.hpp").read_text(encoding="utf-8")

    def test_all_in_their_order(self):
        (settle, edge), header = self.steps(TOP)
        self.assertEqual(settle, ["Vx___024root___ico_sequent__TOP__0"])
        self.assertEqual(edge, ["Vx___024root___nba_sequent__TOP__0", "Vx___024root___nba_sequent__TOP__1"])
        self.assertIn("struct StepsOf<Vx>", header)

    def test_none_if_something_else_wakes_a_process(self):
        second = "    if (vlSelf->__VnbaTriggered.at(1U)) {\n        Vx___024root___nba_sequent__TOP__2(vlSelf);\n    }\n"
        others = (TOP.replace("VlTriggerVec<1>", "VlTriggerVec<2>"),
                  TOP.replace("eval_act(Vx___024root* vlSelf) {\n", "eval_act(Vx___024root* vlSelf) {\n    Vx___024root___act_comb__TOP__0(vlSelf);\n"),
                  TOP.replace("TOP__1(vlSelf);\n    }\n", "TOP__1(vlSelf);\n    }\n" + second),
                  TOP.replace("___eval_nba", "___eval_of_another_version"))
        for text in others:
            self.assertNotEqual(text, TOP)
            steps, header = self.steps(text)
            self.assertEqual(steps, ([], []))
            self.assertNotIn("struct", header)


if __name__ == "__main__":
    unittest.main()
