// SPDX-License-Identifier: Apache-2.0
// What must leave rdma_receiver, and when: commands for the payload, and control packets.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "rdma/receiver.hpp"
#include "rdma_header.hpp"
#include "shown_queue.hpp"

namespace weft::rtl_test {

/// The sizes in receivers.txt.
inline constexpr unsigned rx_contexts = 8;
inline rdma::Params receiver_params() {
  rdma::Params params;
  params.n_rx_ctx = rx_contexts;
  params.window = 16;
  params.payload = 64;
  params.pidx_bits = 8;
  params.msgid_bits = 6;
  params.node_bits = 4;
  params.addr_bits = 24;
  params.sid_bits = 4;
  params.cid_bits = 5;
  params.n_regions = 4;
  params.n_sources = 2;
  return params;
}

class ReceiverQueues {
 public:
  using Header = rdma::formats::Header;
  using Ptype = rdma::formats::Ptype;

  static constexpr unsigned depth = 32;  // of either queue
  // Looked at one clock before:
  static constexpr unsigned commands_full = 19;  // words from which on no event may be let in
  static constexpr unsigned control_full = 23;   // words from which on there is no room for an answer

  // The surroundings.
  bool cmd_ready = true;
  bool ctl_ready = true;
  int64_t answered = 0;  // writes; without the wrap of the port

  // What left since reset.
  unsigned commands = 0;
  int64_t writes = 0;  // among them
  std::vector<Ptype> controls;

  /// Inputs and counts as well.
  void reset() { *this = {}; }

  bool empty() const { return control_.size() == 0 && commands_.size() == 0; }
  int64_t writes_decided() const { return writes_decided_; }
  std::size_t controls_waiting() const { return control_.size(); }
  /// At the start of the clock so many clocks before the one that was checked last.
  std::size_t controls_waited(unsigned clocks) const { return controls_before_.at(clocks); }
  std::size_t commands_waited() const { return commands_before_; }  // of the clock before it

  template <typename Top>
  void drive(Top& top) const {
    top.cmd_ready_i = cmd_ready;
    top.ctl_ready_i = ctl_ready;
    top.writes_done_i = static_cast<uint16_t>(answered);
  }

  /// The outputs of one clock, and what leaves in it.
  template <typename Top>
  void check(Bench<Top>& bench) {
    at_ = "in cycle " + std::to_string(bench.cycle());
    std::shift_right(controls_before_.begin(), controls_before_.end(), 1);
    controls_before_[0] = control_.size();
    commands_before_ = std::exchange(commands_now_, commands_.size());
    check_control(bench);
    check_commands(bench);
  }

  /// The payload of a DATA packet is written or discarded.
  void expect_payload(const Header& header, const std::optional<rdma::HostWrite>& write, uint64_t cycle) {
    Command command{{}, header.len, header.cid};
    if (write) {
      command.addr = write->addr;
      ++writes_decided_;
    }
    commands_.push(command, cycle);
  }

  /// After the payload of the same packet. `first_grant`: it grants a context, not for the second time.
  void expect_control(const Header& header, uint64_t cycle, bool first_grant) {
    const bool waits = header.ptype == static_cast<uint8_t>(Ptype::done);
    control_.push({header, waits, first_grant}, cycle);
    if (waits) fences_.push(writes_decided_, cycle);
  }

 private:
  struct Command {
    std::optional<uint64_t> addr;  // nothing: discard
    uint16_t len = 0;
    uint16_t cid = 0;
  };
  struct Control {
    Header header;
    bool waits = false;  // until the writes before it are answered
    bool first_grant = false;
  };

  template <typename Top>
  void check_control(Bench<Top>& bench) {
    const bool shown = control_.shown(bench.cycle()) && (!control_.front().waits || passed_ > 0);
    pass_fence(bench.cycle());
    ASSERT_EQ(bench->ctl_valid_o, shown) << at_;
    if (!shown) return;
    const Header header = get_header(bench->ctl_o);
    ASSERT_TRUE(header == control_.front().header)
        << "expected " << text(control_.front().header) << "\ngot      " << text(header) << '\n'
        << at_;
    ASSERT_EQ(bench->ctl_grant_o, control_.front().first_grant) << at_;
    if (!ctl_ready) return;
    controls.push_back(static_cast<Ptype>(header.ptype));
    if (control_.front().waits) --passed_;
    control_.pop();
  }

  /// The oldest that waits for writes need not wait from the next clock on if they are answered now.
  void pass_fence(uint64_t cycle) {
    if (!fences_.shown(cycle) || fences_.front() > answered) return;
    fences_.pop();
    ++passed_;
  }

  template <typename Top>
  void check_commands(Bench<Top>& bench) {
    ASSERT_EQ(bench->cmd_valid_o, commands_.shown(bench.cycle())) << at_;
    if (!bench->cmd_valid_o) return;
    const Command& command = commands_.front();
    ASSERT_EQ(bench->cmd_write_o, command.addr.has_value()) << at_;
    ASSERT_EQ(bench->cmd_len_o, command.len) << at_;
    if (command.addr) {
      ASSERT_EQ(bench->cmd_addr_o, *command.addr) << at_;
      ASSERT_EQ(bench->cmd_cid_o, command.cid) << at_;
    }
    if (!cmd_ready) return;
    ++commands;
    if (command.addr) ++writes;
    commands_.pop();
  }

  ShownQueue<Control> control_{3};
  ShownQueue<int64_t> fences_{
      3};                // writes that must be answered before the packets that wait leave, in order
  unsigned passed_ = 0;  // of these packets, those that need not wait any more
  ShownQueue<Command> commands_{2};
  std::array<std::size_t, 16> controls_before_{};
  std::size_t commands_now_ = 0, commands_before_ = 0;  // at the start of a clock
  int64_t writes_decided_ = 0;
  std::string at_;
};

}  // namespace weft::rtl_test
