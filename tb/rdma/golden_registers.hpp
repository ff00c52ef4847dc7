// SPDX-License-Identifier: Apache-2.0
// Register port of a golden engine (golden_engine.hpp): an AXI4-Lite slave with what a driver needs. Of all
// that software may do wrong it refuses posts for which there is no room, or before NODE_ID is written;
// everything else is answered with OKAY.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>

#include "common/pins.hpp"
#include "node_counts.hpp"
#include "rdma/sender.hpp"
#include "register_watch.hpp"

namespace weft::tb {

class GoldenRegisters {
 public:
  GoldenRegisters(RegisterWatch::OnConfig on_config, RegisterWatch::OnPost on_post,
                  RegisterWatch::OnNumber on_msgid);

  void reset();
  void drive(AxiLitePins& pins) const;
  /// The clock edge, with the pins as they were before it.
  void step(const AxiLitePins& pins);

  /// What is true of the engine now.
  void set_status(bool can_post, bool sender_idle, bool receiver_idle);
  void complete(const rdma::Completion& completion) { completions_.push_back(completion); }
  void count(rdma::formats::Outcome outcome, bool ctl_dropped);

  bool interrupt() const { return interrupts_enabled_ && !completions_.empty(); }
  const RegisterWatch& settings() const { return watch_; }

 private:
  uint32_t read(uint32_t address);
  uint8_t write_response(uint32_t address) const;

  RegisterWatch watch_;
  std::deque<rdma::Completion> completions_;
  std::array<uint32_t, outcome_codes> outcomes_{};
  uint32_t ctl_dropped_ = 0;
  uint32_t status_ = 0;
  bool interrupts_enabled_ = false;
  bool can_post_ = false;
  bool has_address_ = false, has_data_ = false;  // of a write that is not answered
  uint32_t address_ = 0, data_ = 0;
  bool b_valid_ = false, r_valid_ = false;
  uint32_t b_wait_ = 0, r_wait_ = 0;  // clocks
  uint8_t b_response_ = 0;
  uint32_t r_data_ = 0;
};

}  // namespace weft::tb
