// SPDX-License-Identifier: Apache-2.0
// What is known of the transfer of a receive context (rdma_receiver_transfers).
`ifndef RDMA_RECEIVER_TRANSFERS_SVH_
`define RDMA_RECEIVER_TRANSFERS_SVH_

`define TRANSFER_TYPEDEF(name_, NODE_W_, SID_W_, MSGID_W_, GEN_W_, ADDR_W_, PIDX_W_) \
  typedef struct packed { \
    logic                   used; \
    logic [NODE_W_-1:0]     src; \
    logic [SID_W_-1:0]      sid; \
    logic [MSGID_W_-1:0]    msgid; \
    logic [GEN_W_-1:0]      gen;   /* grants of this context so far */ \
    logic [ADDR_W_-1:0]     addr; \
    logic [PIDX_W_-1:0]     last; \
    logic [2**PIDX_W_-1:0]  come;  /* packets */ \
  } name_;

`endif
