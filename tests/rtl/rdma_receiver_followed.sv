// SPDX-License-Identifier: Apache-2.0
// The assertions that formal/blocks proves of a small receiver, in simulation as well.
bind rdma_receiver rdma_receiver_transfers #(
  .N(N_RX_CTX), .PIDX_W(PIDX_W), .SHIFT($clog2(PAYLOAD)), .ADDR_W(ADDR_W), .NODE_W(NODE_W), .SID_W(SID_W), .MSGID_W(MSGID_W), .BASES_CHANGE(1'b1)
) followed (
  .clk_i, .rst_ni, .hdr_i, .valid_i(m_valid_q), .timeout_i(m_q.timeout), .outcome_i(m_q.outcome), .write_i(m_q.command && m_q.write),
  .free_i(m_q.free), .has_ctx_i(m_q.has_ctx), .cid_i(m_q.cid), .wbase_i(m_q.wbase), .addr_i(m_q.addr), .len_i(m_q.len), .packet_o()
);
