# SPDX-License-Identifier: Apache-2.0
"""Proofs of RTL blocks with yosys-smtbmc and ABC: formal/blocks/*_proof.sv, together with the assertions that the RTL itself has.

From reset on for a number of clocks (bounded), and for ever: by induction over as many clocks as it takes. Blocks too large
for z3 are checked by ABC, bounded only. A fault counts as found if it is within the bound, not if merely the induction fails.
"""

import dataclasses
import re
import sys

import record
from tools import ROOT, WORK, ToolError, must, read_list, run, write_changed

PROOFS = ROOT / "formal" / "blocks"
GENERATED = ROOT / "build" / "gen" / "rtl"
# Unit: its list of sources, and the package of its formats, which goes before.
UNITS = {
    "rdma": (ROOT / "rtl" / "rdma" / "rdma.f", GENERATED / "rdma_formats_pkg.sv"),
    "switch": (ROOT / "rtl" / "switch" / "switch.f", GENERATED / "switch_lookup_formats_pkg.sv"),
    "barrier": (ROOT / "rtl" / "barrier" / "barrier.f", GENERATED / "barrier_formats_pkg.sv"),
    "nic": (ROOT / "formal" / "nic_packets.f", GENERATED / "barrier_formats_pkg.sv"),
}
# What makes a transition system of sources.
ELABORATION = (ROOT / "formal" / "tools.py", ROOT / "formal" / "to_smt2.py", ROOT / "fpga" / "elaborate.py", ROOT / "fpga" / "requirements.txt")
INCLUDES = (ROOT / "rtl" / "common", ROOT / "rtl" / "rdma", PROOFS)
# Proof parts that need a unit's packages.
PARTS = {"rdma": ("queue_model.sv", "rdma_receiver_transfers.sv"), "switch": (), "barrier": (), "nic": ("queue_model.sv",)}


@dataclasses.dataclass(frozen=True)
class Change:
    """One text of a source replaced by another."""

    source: str
    right: str
    wrong: str
    before: str = ""  # what stands before it, if that is what tells it from others


@dataclasses.dataclass(frozen=True)
class Proof:
    """A module of formal/blocks, and how far it is checked."""

    module: str
    bound: int  # clocks
    induction: int = 0  # clocks it may take at most; 0: none
    parameters: tuple = ()
    engine: str = "z3"  # or abc
    smaller: tuple = ()  # changes that it needs: of constants that would make it too large, of ports
    words: str = ""  # for the table
    unit: str = "rdma"
    instead: tuple = ()  # pairs: a source, and that of formal/blocks which stands for it


SYNC_FIFO = Proof("sync_fifo_proof", 12, 2)
PACKET_FIFO = Proof("packet_fifo_proof", 12, 2)
RAM_FIFO = Proof("packet_fifo_proof", 12, 2, ("PLAIN=1",))
SKID_BUFFER = Proof("skid_buffer_proof", 12, 2)
FREE_LIST = Proof("free_list_proof", 12, 3)
RAMS = Proof("ram_forward_proof", 8, 3)
COUNTERS = Proof("counter_bank_proof", 10, 3)
ARBITER = Proof("rr_arbiter_proof", 12, 2)
WINDOW = Proof("rdma_window_proof", 8, 2, words="window of 4, PIDX of 5 bits")
TIMER = Proof("rdma_timer_proof", 36, engine="abc", words="time stamps of 5 bits",
              smaller=(Change("rdma_pkg.sv", "STAMP_W = 15;", "STAMP_W = 5;"), Change("rdma_pkg.sv", "LIMIT_W = 13;", "LIMIT_W = 3;")))
CHOOSE = Proof("rdma_tx_choose_proof", 40, 2)
POST_MUX = Proof("rdma_post_mux_proof", 12, engine="abc", words="2 contexts")
TX_DECIDE = Proof("rdma_tx_decide_proof", 3, engine="abc", words="PIDX of 6 bits, any context in order")
REPEATS = Proof("rdma_rx_repeats_proof", 20, engine="abc", words="no context is over")
FORGOTTEN = Proof("rdma_rx_repeats_proof", 20, parameters=("FORGETS=1",), engine="abc", words="contexts are over")
RECEIVER = Proof("rdma_receiver_proof", 22, engine="abc", words="from reset")
SWITCH_ECC = Proof("switch_ecc_proof", 2, engine="abc", words="17 bits", unit="switch")
SWITCH_DECIDE = Proof("switch_decide_proof", 4, words="6 ports, any request, entry and live ports", unit="switch")
SWITCH_UPDATE = Proof("switch_lookup_proof", 16, engine="abc", words="any updates", unit="switch", instead=(("switch_image.sv", "switch_image_free.sv"),),
                      smaller=(Change("switch_lookup.sv", "  input  logic               clk_i,\n", "  input  logic [127:0]       deed_i,\n  input  logic               clk_i,\n"),
                               Change("switch_lookup.sv", ".clk_i, .rst_ni, .switch_id_i(", ".deed_i, .clk_i, .rst_ni, .switch_id_i(")))
SWITCH_IMAGE = Proof("switch_image_proof", 18, 2, engine="abc", words="any words, 2 entries a table, a plain sum in place of CRC-32", unit="switch",
                     smaller=(Change("crc32_pkg.sv", "for (int i = 0; i < 32; i++) next = (next >> 1) ^ (next[0] ? 32'hedb88320 : 32'h0);", "next = {next[30:0], next[31]};"),))
BARRIER_TREE = Proof("barrier_tree_proof", 4, engine="abc", words="any group of 1 to 1,024", unit="barrier")
BARRIER_DECIDE = Proof("barrier_decide_proof", 4, engine="abc", words="any sound state and event", unit="barrier")
BARRIER_CORE = Proof("barrier_core_proof", 36, engine="abc", words="2 groups of up to 2 members", unit="barrier", smaller=(Change("barrier_pkg.sv", "ID_W = 10;", "ID_W = 2;"),))
NIC_PACKETS = Proof("nic_packets_proof", 8, 2, words="any packets", unit="nic")
RECEIVER_ANY = Proof("rdma_receiver_proof", 15, parameters=("ANY_STATE=1",), engine="abc", words="from any contents of the contexts")

# Proof, fault put in (which must be found) or nothing.
BLOCKS = [
    (SYNC_FIFO, None),
    (dataclasses.replace(SYNC_FIFO, parameters=("DEPTH=1",)), None),
    (SYNC_FIFO, Change("sync_fifo.sv", "assign ready_o = (count_q != COUNT_W'(DEPTH));", "assign ready_o = 1'b1;")),
    (PACKET_FIFO, None),
    (dataclasses.replace(PACKET_FIFO, parameters=("DEPTH=2",)), None),
    (PACKET_FIFO, Change("packet_fifo.sv", "rollback_i ? committed_q : written_q", "written_q")),
    (RAM_FIFO, None),
    (RAM_FIFO, Change("packet_fifo.sv", "(fetched_q != committed_q) && (!head_valid_q || ready_i)", "(fetched_q != committed_q)")),
    (SKID_BUFFER, None),
    (SKID_BUFFER, Change("skid_buffer.sv", "ready_q ? data_i : skid_q", "data_i")),
    (FREE_LIST, None),
    (dataclasses.replace(FREE_LIST, parameters=("N=3",)), None),
    (FREE_LIST, Change("free_list.sv", "fill_id_q == ID_W'(N - 1)", "fill_id_q == ID_W'(N - 2)")),
    (RAMS, None),
    (RAMS, Change("ram_forward.sv", "else if (written_q) rdata_o <= wdata_q;", "")),
    (RAMS, Change("ram_1r1w.sv", "we_i && re_i && (waddr_i == raddr_i)", "1'b0")),
    (COUNTERS, None),
    (COUNTERS, Change("counter_bank.sv", "assign we      = !ready_q || inc_q;", "assign we      = !ready_q || (inc_q && !inc_i);")),
    (ARBITER, None),
    (dataclasses.replace(ARBITER, parameters=("N=2",)), None),
    (dataclasses.replace(ARBITER, parameters=("N=8",)), None),
    (ARBITER, Change("rr_arbiter.sv", "else if (valid_o && take_i) behind_q", "else if (valid_o && take_i && !gnt_o[0]) behind_q")),
    (ARBITER, Change("rr_arbiter.sv", "behind_q <= above_lowest(gnt_o);", "behind_q <= above_lowest(gnt_o) | gnt_o;")),
    (WINDOW, None),
    (dataclasses.replace(WINDOW, parameters=("WINDOW=2", "PIDX_W=4"), words="window of 2, PIDX of 4 bits"), None),
    (WINDOW, Change("rdma_window_step.sv", "(advance && base_same) ^", "")),
    (WINDOW, Change("rdma_window_step.sv", "^ first_slot ^ {WINDOW{wraps}}", "^ first_slot")),
    (WINDOW, Change("rdma_window_judge.sv", "same_lap ? higher && top_same", "same_lap ? top_same")),
    (TIMER, None),
    (TIMER, Change("rdma_timer.sv", "if (!expired_now_o) begin", "if (1'b0) begin")),
    (TIMER, Change("rdma_timer.sv", "else if (idx_q == IDX_W'(N - 1)) idx_next = '0;", "else if (idx_q == IDX_W'(N - 1)) idx_next = idx_q;")),
    (CHOOSE, None),
    (CHOOSE, Change("rdma_tx_choose.sv", "others_wait && starved_q == '1", "timeout_i && starved_q == '1")),
    (CHOOSE, Change("rdma_tx_choose.sv", "assign others_wait    = fault_i || ", "assign others_wait    = ")),
    (CHOOSE, Change("rdma_tx_choose.sv", "packet_ready_o = ready_i && !others_first", "packet_ready_o = ready_i && !others_wait")),
    (POST_MUX, None),
    (POST_MUX, Change("rdma_post_mux.sv", ".take_i (software_ready)", ".take_i (post_ready_i)")),
    (POST_MUX, Change("rdma_post_mux.sv", "post_ready_i && !answer_post_valid_i;", "post_ready_i;")),
    (TX_DECIDE, None),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "post_last >= 32'((64'd1 << PIDX_W) - 1)", "post_last > 32'((64'd1 << PIDX_W) - 1)")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "33'(hdr_i.pidx) + 33'(i) < 33'(ctx_i.high)", "33'(PIDX_W'(hdr_i.pidx + 32'(i))) < 33'(ctx_i.high)")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "progress    = ctx_i.next >= ctx_i.high;", "progress    = no_window || ctx_i.next >= ctx_i.high;")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "ctx_i.heard && ctx_i.busy != '1", "ctx_i.heard")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "ctx_i.turn && patient", "ctx_i.turn")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "ctx_i.state == TX_ACTIVE && hdr_i.msgid == 24'(ctx_i.msgid)", "ctx_i.state == TX_ACTIVE", "EV_FAULT: begin\n        if (")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "failed ? STATUS_REMOTE_ERROR : STATUS_OK", "STATUS_OK", "completion_o.status = ")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "(hdr_i.ptype == PTYPE_RSP || asks_first)", "1'b1")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "!no_window && hdr_i.pidx >= 32'(ctx_i.acked);", "!no_window;")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "if (too_early) ctx_o.next", "if (1'b0) ctx_o.next")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "passed != '0 && !in_first && !ctx_i.hole", "passed != '0 && !in_first")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "passed != '0 && !in_first && !ctx_i.hole", "passed != '0 && !ctx_i.hole")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "!ctx_i.hole && ordered", "!ctx_i.hole")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "!no_window && !tells && (ctx_i.second", "!no_window && (ctx_i.second")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "(ctx_i.hole && passed == '0)", "ctx_i.hole")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "assign lost      = from && !in_first;", "assign lost      = 1'b0;")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "end else if (passes) begin", "end else if (1'b0) begin")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "end else if (beyond) begin", "end else if (1'b0) begin")),
    (TX_DECIDE, Change("rdma_tx_decide.sv", "          ctx_o.second = 1'b0;\n          ctx_o.hole   = 1'b0;", "          ctx_o.hole   = 1'b0;")),
    (REPEATS, None),
    (REPEATS, Change("rdma_rx_repeats.sv", "as_the_one_ahead ? near_same_qq : hit_q", "hit_q")),
    (REPEATS, Change("rdma_rx_repeats.sv", "far_q && granted_q ? far_same_q : entry.granted", "entry.granted")),
    (REPEATS, Change("rdma_rx_repeats.sv", "near_q        <= request_qq && place_q == place_qq;", "near_q        <= request_qq && crc_q == crc_qq;")),
    (FORGOTTEN, None),
    (FORGOTTEN, Change("rdma_rx_repeats.sv", "else if (!granted_q || granted_place_q == forget_place_q) forget_q", "else forget_q")),
    (FORGOTTEN, Change("rdma_rx_repeats.sv", "granted_q && !clear_i ? '{granted", "!clear_i ? '{granted")),
    (SWITCH_ECC, None),
    *((dataclasses.replace(SWITCH_ECC, parameters=(f"DATA_W={bits}",), words=f"{bits} bits"), None) for bits in (25, 37, 45, 65, 73)),  # entries of 16, 36 and 64 ports
    (SWITCH_ECC, Change("switch_ecc_encode.sv", "{^{checks, data_i}, checks, data_i}", "{^data_i, checks, data_i}")),
    (SWITCH_ECC, Change("switch_ecc_decode.sv", "odd ? !at_check && here == '0 : syndrome != '0;", "odd && !at_check && here == '0;")),
    (SWITCH_ECC, Change("switch_ecc_decode.sv", "(syndrome & (syndrome - 1'b1)) == '0;", "syndrome == '0;")),
    (SWITCH_DECIDE, None),
    (SWITCH_DECIDE, Change("switch_decide.sv", "ports_i & alive_i & ~input_bit;\n  assign candidates", "ports_i & alive_i;\n  assign candidates")),
    (SWITCH_DECIDE, Change("switch_decide.sv", "bit_of(fixed_port) & alive_i;", "bit_of(fixed_port);")),
    (SWITCH_DECIDE, Change("switch_decide.sv", "else if (!valid_i) outcome_o = OUTCOME_NO_ENTRY;", "else if (1'b0) outcome_o = OUTCOME_NO_ENTRY;")),
    (SWITCH_DECIDE, Change("switch_backup.sv", "sums[i] == rank + 1'b1", "sums[i] >= rank + 1'b1")),
    (SWITCH_DECIDE, Change("switch_decide.sv", "request_i.vc >= config_i.vc_max;", "request_i.vc > config_i.vc_max;")),
    (SWITCH_DECIDE, Change("switch_decide.sv", "assign candidates = ports_i & alive_i & ~input_bit;", "assign candidates = ports_i & alive_i;")),
    (SWITCH_DECIDE, Change("switch_decide.sv", "if (!config_i.loaded) outcome_o = OUTCOME_NO_TABLE;", "if (1'b0) outcome_o = OUTCOME_NO_TABLE;")),
    *((dataclasses.replace(SWITCH_DECIDE, parameters=(f"N_PORTS={ports}",), words=f"{ports} ports"), None) for ports in (16, 36)),
    (SWITCH_IMAGE, None),
    (dataclasses.replace(SWITCH_IMAGE, parameters=("PER_PORT=1'b1",), words=SWITCH_IMAGE.words.replace("2 entries a table", "a table for each of 3 ports")), None),
    (SWITCH_IMAGE, Change("switch_image.sv", "if (word_i != ~crc_q) fault = LOAD_FAULT_CHECK;", "")),
    (SWITCH_IMAGE, Change("switch_image.sv", "assign clearing = state_q == LOAD_STATE_CLEAR;", "assign clearing = state_q == LOAD_STATE_CLEAR && clear_q != '0;")),
    (SWITCH_IMAGE, Change("switch_image.sv", "(take && in_multicast && entry_ends && entry_ok)", "(take && entry_ends && entry_ok)")),
    (SWITCH_IMAGE, Change("switch_image.sv", "assign config_o = config_q;", "always_comb begin config_o = config_q; if (in_unicast) config_o.role = next_q.role; end")),
    (SWITCH_UPDATE, None),
    (dataclasses.replace(SWITCH_UPDATE, parameters=("PER_PORT=1'b1",), words=SWITCH_UPDATE.words + ", a table for each of 3 ports"), None),
    (SWITCH_UPDATE, Change("switch_decide.sv", "ports_i & alive_i & ~input_bit;\n  assign candidates", "ports_i & alive_i;\n  assign candidates")),
    (SWITCH_UPDATE, Change("switch_lookup.sv", "b_config_q   <= config_now;", "if (!taken) b_config_q <= config_now;")),
    (SWITCH_UPDATE, Change("switch_lookup.sv", "settings: b_config_q,", "settings: config_now,")),
    (SWITCH_UPDATE, Change("switch_table.sv", "{!bank_i, load_addr_i}", "{bank_i, load_addr_i}")),
    (BARRIER_TREE, None),
    (BARRIER_TREE, Change("barrier_tree.sv", "(~id_i + 1'b1)", "(~id_i + 2'd2)")),
    (BARRIER_TREE, Change("barrier_tree.sv", "< members_i", "<= members_i")),
    (BARRIER_TREE, Change("barrier_tree.sv", "SHAPE_LCT4: there = IS_4 && ", "SHAPE_LCT4: there = ")),
    (BARRIER_TREE, Change("barrier_tree.sv", "(id_i & (DIGIT_8 | (DIGIT_8 - 1'b1)))", "(id_i & DIGIT_8)")),
    (BARRIER_TREE, Change("barrier_tree.sv", "digit_8 = digit_with(lowest, 3)", "digit_8 = digit_with(lowest, 2)")),
    (BARRIER_TREE, Change("barrier_pkg.sv", "bits <= 3; bits++", "bits <= 2; bits++")),
    (BARRIER_TREE, Change("barrier_pkg.sv", ": id >= offset ?", ": id > offset ?")),
    (BARRIER_TREE, Change("barrier_pkg.sv", "(sum[ID_W-1:0] & moves)", "sum[ID_W-1:0]")),
    (BARRIER_DECIDE, None),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "settles && g.phase == PHASE_GATHERING && still_missing == '0", "settles && g.phase == PHASE_GATHERING")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "is_child && (missing & sender_child) != '0;", "is_child;")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "children[i] && (sender_i ^ id) == MORE[i]", "(sender_i ^ id) == MORE[i]")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "(sender_i ^ id) == MORE[i]", "((sender_i ^ id) & MORE[i]) == MORE[i]")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "end else if (group_i.phase != PHASE_WAITING) begin\n                drops", "end else if (group_i.phase == PHASE_IDLE) begin\n                drops")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "ahead == 16'd1 && group_i.phase == PHASE_WAITING", "group_i.phase == PHASE_WAITING")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "if (ahead == '1 && packet_i.kind", "if (packet_i.kind")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "ahead[15] && !fails_too", "ahead[15]")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "!fails_too && !asks_failed", "!fails_too")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "packet_i.to == group_i.settings.multicast;", "1'b1;")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "a.to_all      = id == '0 && group_i", "a.to_all      = group_i")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "event_i == EVENT_PACKET && packet_i.multicast;", "packet_i.multicast;")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "end else if (packet_i.inst != group_i.settings.inst) begin", "end else if (1'b0) begin")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "end else if (packet_i.digest != group_i.digest) begin", "end else if (1'b0) begin")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "end else if (!good_memory) begin", "end else if (1'b0) begin")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "33'(group_i.settings.late) + 33'(packet_i.length)", "33'(group_i.settings.late)")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "a.late     = !group_i.has_late;", "a.late     = 1'b1;")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "else g.blame_age = group_i.blame_age + 1'b1;", "")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "if (fails && group_i.phase != PHASE_FAILED) begin", "if (fails) begin")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "group_i.phase == PHASE_FAILED && !group_i.told", "group_i.phase == PHASE_FAILED")),
    (BARRIER_DECIDE, Change("barrier_decide.sv", "next.got        = '0;", "")),
    (BARRIER_DECIDE, Change("barrier_judge.sv", "next >= offsets ? next - offsets : next", "next")),
    (BARRIER_DECIDE, Change("barrier_judge.sv", "offsets_of(settings_i.members, settings_i.block_log2)", "settings_i.members")),
    (BARRIER_CORE, None),
    (BARRIER_CORE, Change("barrier_completions.sv", "pending_q <= (pending_q | come) & ~gone;", "pending_q <= come & ~gone;")),
    (BARRIER_CORE, Change("barrier_core.sv", "early && chosen == group_q", "1'b0")),
    (BARRIER_CORE, Change("barrier_core.sv", "used_q[group_q] && loaded", "1'b0 && loaded")),
    (BARRIER_CORE, Change("barrier_core.sv", "if (ended) g_q <= next_q;", "if (ended) g_q <= loaded;")),
    (BARRIER_CORE, Change("barrier_core.sv", "completion_o.epoch    = g_q.epoch;", "completion_o.epoch    = next_q.epoch;")),
    (NIC_PACKETS, None),
    (NIC_PACKETS, Change("nic_packets.sv", "barrier_out_valid_i && !leaving_q", "barrier_out_valid_i")),
    (NIC_PACKETS, Change("nic_packets.sv", ".take_i (room)", ".take_i (1'b0)")),
    (NIC_PACKETS, Change("nic_packets.sv", "if (room) kept_q <= chosen;", "kept_q <= chosen;")),
    (NIC_PACKETS, Change("nic_packets.sv", "to_barrier || rdma_in_ready_i;", "rdma_in_ready_i;")),
    (NIC_PACKETS, Change("nic_packets.sv", "inside_q ? barrier_q : s_axis", "s_axis")),
    (RECEIVER, None),
    (RECEIVER, Change("rdma_receiver.sv", ".free_i         (m_valid_q && m_q.free)", ".free_i         (m_valid_q && m_q.write)")),
    (RECEIVER_ANY, None),
    (RECEIVER_ANY, Change("rdma_window_judge.sv", "place_o.in_window && !marked", "place_o.in_window")),
    (RECEIVER_ANY, Change("rdma_receiver.sv", "h_sid_ok && h_msgid_ok && (", "h_sid_ok && (")),
    (RECEIVER_ANY, Change("rdma_window_step.sv", "assign next_base = {window_i.first_odd, first};", "assign next_base = {window_i.first_odd, first} + 1'b1;")),
    (RECEIVER_ANY, Change("rdma_receiver.sv", "h_key_ok && !h_beyond_end &&", "h_key_ok &&")),
    (RECEIVER_ANY, Change("rdma_receiver.sv", "h_match && h_key_ok &&", "h_match &&")),
    (RECEIVER_ANY, Change("rdma_receiver.sv", "i_data_q && i_used_q && !i_outside_q;", "i_data_q && i_used_q;")),
]


def title(proof, fault):
    name = proof.module.removesuffix("_proof") + "".join(f", {words}" for words in ([proof.words] if proof.words else proof.parameters))
    return name + (f", `{fault.right}` made `{fault.wrong}`" if fault else "")


def plain_sources(proof):
    """Packages, RTL, model and proof as they are in the repository."""
    sources_list, formats = UNITS[proof.unit]
    instead = {source: PROOFS / stands_in for source, stands_in in proof.instead}
    rtl = [instead.get(file.name, file) for prefix, file in read_list(sources_list) if not prefix]
    return [formats, *rtl, *(PROOFS / part for part in PARTS[proof.unit]), PROOFS / f"{proof.module}.sv"]


def sources(proof, fault, folder):
    """The same with constants made smaller and the fault put in."""
    files = plain_sources(proof)
    for change in [*proof.smaller, *([fault] if fault else [])]:
        place = next(i for i, file in enumerate(files) if file.name == change.source)
        files[place] = write_changed(files[place], folder, change.before + change.right, change.before + change.wrong)
    return files


def headers():
    return [file for folder in INCLUDES for file in sorted(folder.glob("*.svh"))]


def fingerprint(proof, fault):
    """Of one check."""
    needed = record.needed(PROOFS / f"{proof.module}.sv", [*plain_sources(proof), *headers()])
    functions = [plain_sources, sources, elaborate, smtbmc, bounded_by_abc, check_block]
    return record.fingerprint((proof, fault), [*needed, *ELABORATION], functions, ["yosys", *(["z3"] if proof.engine == "z3" else [])])


def elaborate(proof, fault, folder):
    command = [sys.executable, str(ROOT / "formal" / "to_smt2.py"), "--out", str(folder)]
    if proof.engine == "abc":
        command.append("--aiger")
    for parameter in proof.parameters:
        command += ["-G", parameter]
    for include in INCLUDES:
        command += ["-I", str(include)]
    must([*command, proof.module, *map(str, sources(proof, fault, folder))], folder, "elaborate.log")
    return re.findall(r"^; yosys-smt2-assert \d+ (\S+)", (folder / f"{proof.module}.smt2").read_text(encoding="utf-8"), re.M)


def smtbmc(proof, folder, options, log):
    """Do the assertions hold?"""
    _, text = run(["yosys-smtbmc", "--noprogress", "--unroll", "-s", "z3", *options, f"{proof.module}.smt2"], folder, log)
    status = re.search(r"Status: (PASSED|FAILED)", text)
    if not status or "Traceback" in text:
        raise ToolError(f"yosys-smtbmc came to no result, see {(folder / log).relative_to(ROOT)}")
    return status[1] == "PASSED"


def bounded_by_abc(proof, folder):
    text = must(["yosys-abc", "-c", f"read {proof.module}.aig; fold; strash; scorr; bmc3 -F {proof.bound}"], folder, "abc.log")
    holds, fails = re.search(r"No output asserted in (\d+) frames", text), "was asserted in frame" in text
    if bool(holds) == fails or (holds and int(holds[1]) < proof.bound):
        raise ToolError(f"abc came to no result, see {(folder / 'abc.log').relative_to(ROOT)}")
    return not fails


def check_block(number, proof, fault):
    """Do all assertions hold, and how far was searched."""
    folder = WORK / f"block{number}_{proof.module}"
    folder.mkdir(parents=True, exist_ok=True)
    assertions = elaborate(proof, fault, folder)
    inside = sum(1 for name in assertions if re.search(r"(^|\.)(dut|i_\w+)\.", name))
    extent = f"{len(assertions)} assertions, {inside} of the RTL: first {proof.bound} clocks"
    solver = {"abc": "ABC", "z3": "z3"}[proof.engine]
    holds = bounded_by_abc(proof, folder) if proof.engine == "abc" else smtbmc(proof, folder, ["-t", str(proof.bound)], "bounded.log")
    if not holds or fault or not proof.induction:
        return holds, f"{extent} ({solver})"
    if not smtbmc(proof, folder, ["-i", "-t", str(proof.induction)], "induction.log"):
        raise ToolError(f"holds for {proof.bound} clocks, but induction over {proof.induction} fails, see {(folder / 'induction.log').relative_to(ROOT)}")
    return True, f"{extent}, and for ever by induction (z3)"
