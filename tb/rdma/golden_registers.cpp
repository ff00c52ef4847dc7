// SPDX-License-Identifier: Apache-2.0
// Register port of a golden engine.
#include "golden_registers.hpp"

#include <utility>

#include "weft/rdma/formats.hpp"

namespace weft::tb {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;

namespace {

// Clocks that an access takes longer than it must, about as in the RTL.
constexpr uint32_t write_clocks = 3, read_clocks = 1;

}  // namespace

GoldenRegisters::GoldenRegisters(RegisterWatch::OnConfig on_config, RegisterWatch::OnPost on_post,
                                 RegisterWatch::OnNumber on_msgid)
    : watch_(std::move(on_config), std::move(on_post), std::move(on_msgid), [](uint32_t) {}) {}

void GoldenRegisters::reset() {
  watch_.reset();
  completions_.clear();
  outcomes_.fill(0);
  ctl_dropped_ = 0;
  interrupts_enabled_ = has_address_ = has_data_ = b_valid_ = r_valid_ = false;
  b_wait_ = r_wait_ = 0;
}

void GoldenRegisters::drive(AxiLitePins& pins) const {
  pins.awready = !has_address_ && !b_valid_;
  pins.wready = !has_data_ && !b_valid_;
  pins.bvalid = b_valid_ && b_wait_ == 0;
  pins.bresp = b_response_;
  pins.arready = !r_valid_;
  pins.rvalid = r_valid_ && r_wait_ == 0;
  pins.rdata = r_data_;
  pins.rresp = resp_okay;
}

void GoldenRegisters::step(const AxiLitePins& pins) {
  watch_.sample(pins);
  if (b_wait_ > 0) --b_wait_;
  if (r_wait_ > 0) --r_wait_;
  if (pins.bvalid && pins.bready) b_valid_ = false;
  if (pins.rvalid && pins.rready) r_valid_ = false;
  if (pins.awvalid && pins.awready) std::tie(address_, has_address_) = std::pair(pins.awaddr, true);
  if (pins.wvalid && pins.wready) std::tie(data_, has_data_) = std::pair(pins.wdata, true);
  if (has_address_ && has_data_) {
    has_address_ = has_data_ = false;
    b_valid_ = true;
    b_wait_ = write_clocks;
    b_response_ = write_response(address_);
    if (address_ == reg::IRQ_ENABLE) interrupts_enabled_ = (data_ & 1) != 0;
  }
  if (pins.arvalid && pins.arready) {
    r_valid_ = true;
    r_wait_ = read_clocks;
    r_data_ = read(pins.araddr);
  }
}

uint8_t GoldenRegisters::write_response(uint32_t address) const {
  return address == reg::POST && !can_post_ ? resp_slverr : resp_okay;
}

void GoldenRegisters::set_status(bool can_post, bool sender_idle, bool receiver_idle) {
  can_post_ = can_post && watch_.node_id();
  status_ = 1u | (can_post ? 0u : 2u) | (completions_.empty() ? 0u : 4u) | (sender_idle ? 8u : 0u) |
            (receiver_idle ? 16u : 0u);
}

void GoldenRegisters::count(formats::Outcome outcome, bool ctl_dropped) {
  outcomes_.at(static_cast<size_t>(outcome))++;
  ctl_dropped_ += ctl_dropped ? 1 : 0;
}

uint32_t GoldenRegisters::read(uint32_t address) {
  if (address >= reg::OUTCOME && address < reg::OUTCOME + 4 * outcome_codes)
    return outcomes_[(address - reg::OUTCOME) / 4];
  switch (address) {
    case reg::ID:
      return formats::reset::ID;
    case reg::VERSION:
      return formats::reset::VERSION;
    case reg::STATUS:
      return status_;
    case reg::CTL_DROPPED:
      return ctl_dropped_;
    case reg::CPL: {
      if (completions_.empty()) return 0;
      const rdma::Completion oldest = completions_.front();
      completions_.pop_front();
      return 1u << 31 | static_cast<uint32_t>(oldest.status) << 16 | oldest.tag;
    }
    default:
      return 0;
  }
}

}  // namespace weft::tb
