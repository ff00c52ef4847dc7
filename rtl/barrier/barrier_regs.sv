// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite registers of the barrier engine (docs/barrier_formats.md), its settings, commands and counters.
module barrier_regs
  import barrier_formats_pkg::*;
  import barrier_pkg::*;
#(
  parameter int unsigned N_GROUPS  = 16,
  parameter int unsigned N_MEMBERS = 1024,
  parameter int unsigned N_NODES   = 1024,
  localparam int unsigned GROUP_W  = N_GROUPS > 1 ? $clog2(N_GROUPS) : 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [         9:0] s_axil_awaddr_i,
  input  logic                s_axil_awvalid_i,
  output logic                s_axil_awready_o,
  input  logic [        31:0] s_axil_wdata_i,
  input  logic [         3:0] s_axil_wstrb_i,
  input  logic                s_axil_wvalid_i,
  output logic                s_axil_wready_o,
  output logic [         1:0] s_axil_bresp_o,
  output logic                s_axil_bvalid_o,
  input  logic                s_axil_bready_i,
  input  logic [         9:0] s_axil_araddr_i,
  input  logic                s_axil_arvalid_i,
  output logic                s_axil_arready_o,
  output logic [        31:0] s_axil_rdata_o,
  output logic [         1:0] s_axil_rresp_o,
  output logic                s_axil_rvalid_o,
  input  logic                s_axil_rready_i,
  // settings
  output node_t               self_o,
  output settings_t           settings_o,
  output logic                tick_o,            // for one clock
  // commands, until done
  output logic                command_valid_o,
  output command_e            command_o,
  output logic [        31:0] command_group_o,
  input  logic                command_done_i,
  input  refusal_e            refusal_i,
  // table of members
  output logic                member_we_o,
  output logic [ GROUP_W-1:0] member_group_o,
  output id_t                 member_number_o,
  output node_t               member_node_o,
  input  logic [N_GROUPS-1:0] open_i,
  // events
  input  logic                malformed_i,
  input  logic                overrun_i,
  input  logic                drop_i,            // for another reason
  input  drop_e               reason_i,
  input  logic                repeated_i,
  input  logic                late_i,
  input  logic                completed_i,
  // state of a group after an event: who was found late in its barrier
  input  logic                stored_i,
  input  logic [ GROUP_W-1:0] stored_group_i,
  input  logic                stored_has_late_i,
  input  node_t               stored_late_i
);
  logic        writing, done, ok, known, is_command, table_there, table_closed, read_ok;
  logic [9:0]  waddr, raddr;
  logic [31:0] wdata, rdata, repeated_q, late_q, completed_q, refused_q, drops_q[REG_COUNT_DROP];
  logic [3:0]  wstrb;
  logic [15:0] self_q, period_q, tick_q, index_q;
  logic [7:0]  table_q;
  settings_t   settings_q;
  refusal_e    result_q;

  axil_slave #(.ADDR_W(10)) i_access (
    .clk_i, .rst_ni, .s_axil_awaddr_i, .s_axil_awvalid_i, .s_axil_awready_o, .s_axil_wdata_i, .s_axil_wstrb_i, .s_axil_wvalid_i,
    .s_axil_wready_o, .s_axil_bresp_o, .s_axil_bvalid_o, .s_axil_bready_i, .s_axil_araddr_i, .s_axil_arvalid_i, .s_axil_arready_o,
    .s_axil_rdata_o, .s_axil_rresp_o, .s_axil_rvalid_o, .s_axil_rready_i,
    .write_o     (writing),
    .waddr_o     (waddr),
    .wdata_o     (wdata),
    .wstrb_o     (wstrb),
    .write_done_i(done),
    .write_ok_i  (ok),
    .read_look_o (),
    .read_take_o (),
    .raddr_o     (raddr),
    .rdata_i     (rdata),
    .read_ok_i   (read_ok)
  );

  // ------------------------------------------------------------------------------------------------- writes
  assign table_there  = 32'(table_q) < N_GROUPS;
  assign table_closed = table_there && !open_i[table_q[GROUP_W-1:0]];
  assign is_command   = wstrb == 4'hF && (waddr == REG_OPEN || waddr == REG_CLOSE || waddr == REG_ARRIVE);

  always_comb begin : p_known
    unique case (waddr)
      REG_TICK_PERIOD, REG_TABLE_INDEX, REG_INSTANCE, REG_MULTICAST, REG_GOOD, REG_FIRST, REG_LARGEST: known = wdata[31:16] == '0;
      REG_TABLE_GROUP, REG_JUDGE_TRIES, REG_TRIES: known = wdata[31:8] == '0;
      REG_STRIDE:  known = wdata[31:ID_W+1] == '0;
      REG_LATE:    known = 1'b1;
      REG_SELF:    known = open_i == '0 && wdata[31:16] == '0;
      REG_MEMBER:  known = table_closed && 32'(index_q) < N_MEMBERS && wdata[31:16] == '0;
      REG_BLOCK_LOG2: known = wdata <= 32'(ID_W);
      REG_SHAPE:   known = wdata <= 32'(SHAPE_LCT8);
      REG_MEMBERS: known = wdata <= N_MEMBERS;
      default:     known = 1'b0;
    endcase
  end

  assign ok              = is_command ? refusal_i == REFUSAL_NONE : known && wstrb == 4'hF;
  assign done            = writing && (!is_command || command_done_i);
  assign command_valid_o = writing && is_command;
  assign command_o       = waddr == REG_OPEN ? COMMAND_OPEN : waddr == REG_CLOSE ? COMMAND_CLOSE : COMMAND_ARRIVE;
  assign command_group_o = wdata;
  assign member_we_o     = done && ok && waddr == REG_MEMBER;
  assign member_group_o  = table_q[GROUP_W-1:0];
  assign member_number_o = index_q[ID_W-1:0];
  assign member_node_o   = wdata[15:0];
  assign self_o          = self_q;
  assign settings_o      = settings_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      self_q                 <= RESET_SELF[15:0];
      period_q               <= RESET_TICK_PERIOD[15:0];
      table_q                <= RESET_TABLE_GROUP[7:0];
      index_q                <= RESET_TABLE_INDEX[15:0];
      settings_q.inst        <= RESET_INSTANCE[15:0];
      settings_q.shape       <= SHAPE_LCT;
      settings_q.members     <= RESET_MEMBERS[ID_W:0];
      settings_q.block_log2  <= RESET_BLOCK_LOG2[3:0];
      settings_q.multicast   <= RESET_MULTICAST[15:0];
      settings_q.stride      <= RESET_STRIDE[ID_W:0];
      settings_q.good        <= RESET_GOOD[15:0];
      settings_q.judge_tries <= RESET_JUDGE_TRIES[7:0];
      settings_q.first       <= RESET_FIRST[15:0];
      settings_q.largest     <= RESET_LARGEST[15:0];
      settings_q.tries       <= RESET_TRIES[7:0];
      settings_q.late        <= RESET_LATE;
      result_q               <= REFUSAL_NONE;
    end else begin
      if (done && ok) begin
        unique case (waddr)
          REG_SELF:        self_q <= wdata[15:0];
          REG_TICK_PERIOD: period_q <= wdata[15:0];
          REG_TABLE_GROUP: table_q <= wdata[7:0];
          REG_TABLE_INDEX: index_q <= wdata[15:0];
          REG_MEMBER:      index_q <= index_q + 1'b1;
          REG_INSTANCE:    settings_q.inst <= wdata[15:0];
          REG_SHAPE:       settings_q.shape <= shape_e'(wdata[1:0]);
          REG_MEMBERS:     settings_q.members <= wdata[ID_W:0];
          REG_BLOCK_LOG2:  settings_q.block_log2 <= wdata[3:0];
          REG_MULTICAST:   settings_q.multicast <= wdata[15:0];
          REG_STRIDE:      settings_q.stride <= wdata[ID_W:0];
          REG_GOOD:        settings_q.good <= wdata[15:0];
          REG_JUDGE_TRIES: settings_q.judge_tries <= wdata[7:0];
          REG_FIRST:       settings_q.first <= wdata[15:0];
          REG_LARGEST:     settings_q.largest <= wdata[15:0];
          REG_TRIES:       settings_q.tries <= wdata[7:0];
          REG_LATE:        settings_q.late <= wdata;
          default: ;
        endcase
      end
      if (done && is_command) result_q <= refusal_i;
    end
  end

  // ------------------------------------------------------------------------------------------------- time
  assign tick_o = tick_q == '0;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) tick_q <= RESET_TICK_PERIOD[15:0];
    else if (tick_o) tick_q <= period_q == '0 ? '0 : period_q - 1'b1;
    else tick_q <= tick_q - 1'b1;
  end

  // ------------------------------------------------------------------------------------------------- counters and reads
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      repeated_q  <= '0;
      late_q      <= '0;
      completed_q <= '0;
      refused_q   <= '0;
      drops_q     <= '{default: '0};
    end else begin
      repeated_q  <= repeated_q + 32'(repeated_i);
      late_q      <= late_q + 32'(late_i);
      completed_q <= completed_q + 32'(completed_i);
      refused_q   <= refused_q + 32'(done && is_command && !ok);
      for (int unsigned i = 0; i < REG_COUNT_DROP; i++) begin
        if ((drop_i && 32'(reason_i) == i) || (malformed_i && i == 32'(DROP_MALFORMED)) || (overrun_i && i == 32'(DROP_OVERRUN))) drops_q[i] <= drops_q[i] + 1'b1;
      end
    end
  end

  // Written before a group is open: what is read of a closed one does not count.
  logic [16:0] late_now_q[N_GROUPS];
  logic [16:0] late_now;
  always_ff @(posedge clk_i) begin
    if (stored_i) late_now_q[stored_group_i] <= stored_has_late_i ? {1'b1, stored_late_i} : '0;
  end
  assign late_now = table_there && !table_closed ? late_now_q[table_q[GROUP_W-1:0]] : '0;

  always_comb begin : p_read
    read_ok = 1'b1;
    rdata   = '0;
    unique case (raddr)
      REG_ID:          rdata = RESET_ID;
      REG_VERSION:     rdata = RESET_VERSION;
      REG_CAPS:        rdata = {16'(N_MEMBERS), 16'(N_GROUPS)};
      REG_NODES:       rdata = N_NODES;
      REG_SELF:        rdata = 32'(self_q);
      REG_TICK_PERIOD: rdata = 32'(period_q);
      REG_TABLE_GROUP: rdata = 32'(table_q);
      REG_TABLE_INDEX: rdata = 32'(index_q);
      REG_INSTANCE:    rdata = 32'(settings_q.inst);
      REG_SHAPE:       rdata = 32'(settings_q.shape);
      REG_MEMBERS:     rdata = 32'(settings_q.members);
      REG_BLOCK_LOG2:  rdata = 32'(settings_q.block_log2);
      REG_MULTICAST:   rdata = 32'(settings_q.multicast);
      REG_STRIDE:      rdata = 32'(settings_q.stride);
      REG_GOOD:        rdata = 32'(settings_q.good);
      REG_JUDGE_TRIES: rdata = 32'(settings_q.judge_tries);
      REG_FIRST:       rdata = 32'(settings_q.first);
      REG_LARGEST:     rdata = 32'(settings_q.largest);
      REG_TRIES:       rdata = 32'(settings_q.tries);
      REG_LATE:        rdata = settings_q.late;
      REG_RESULT:      rdata = 32'(result_q);
      REG_REPEATED:    rdata = repeated_q;
      REG_LATE_COUNT:  rdata = late_q;
      REG_COMPLETED:   rdata = completed_q;
      REG_REFUSED:     rdata = refused_q;
      REG_LATE_NOW:    rdata = {late_now[16], 15'd0, late_now[15:0]};
      default: begin
        read_ok = 1'b0;
        for (int unsigned i = 0; i < REG_COUNT_DROP; i++) begin
          if (raddr == REG_DROP + 10'(4 * i)) begin
            read_ok = 1'b1;
            rdata   = drops_q[i];
          end
        end
      end
    endcase
  end
endmodule
