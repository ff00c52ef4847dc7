// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite master; address and data of a write go independently of one another.
#include "common/axil_master.hpp"

#include <fmt/format.h>

#include <utility>

namespace weft::tb {

void AxiLiteMaster::read(uint32_t address, driver::OnRead done) {
  queue_.push_back({false, cut(address), 0, 0, nullptr, std::move(done)});
}

void AxiLiteMaster::write_strobed(uint32_t address, uint32_t data, uint8_t strobes, driver::OnWritten done) {
  queue_.push_back({true, cut(address), data, strobes, std::move(done), nullptr});
}

void AxiLiteMaster::reset() {
  queue_.clear();
  aw_sent_ = w_sent_ = ar_sent_ = false;
  stable_b_.reset();
  stable_r_.reset();
}

void AxiLiteMaster::drive(AxiLitePins& pins) {
  pins.bready = !pause_.pause();
  pins.rready = !pause_.pause();
  const bool writing = !queue_.empty() && queue_.front().is_write;
  const bool reading = !queue_.empty() && !queue_.front().is_write;
  // A channel that waits for ready keeps its valid; one that does not may pause before it starts.
  pins.awvalid = writing && !aw_sent_ && (pins.awvalid || !pause_.pause());
  pins.wvalid = writing && !w_sent_ && (pins.wvalid || !pause_.pause());
  pins.arvalid = reading && !ar_sent_ && (pins.arvalid || !pause_.pause());
  if (writing) {
    pins.awaddr = queue_.front().address;
    pins.wdata = queue_.front().data;
    pins.wstrb = queue_.front().strobes;
  }
  if (reading) pins.araddr = queue_.front().address;
}

void AxiLiteMaster::check_response(const char* channel, uint8_t response, const Reporter& reporter) {
  if (response == resp_okay || response == resp_slverr) return;
  reporter.add(fmt::format("s_axil {}: response {}, neither OKAY nor SLVERR", channel, response));
}

void AxiLiteMaster::sample(const AxiLitePins& pins, const Reporter& reporter) {
  stable_b_.sample(pins.bvalid, pins.bready, pins.bresp, reporter);
  stable_r_.sample(pins.rvalid, pins.rready, {pins.rdata, pins.rresp}, reporter);
  if (pins.awvalid && pins.awready) aw_sent_ = true;
  if (pins.wvalid && pins.wready) w_sent_ = true;
  if (pins.arvalid && pins.arready) ar_sent_ = true;
  // Already wrong when offered: it may be taken only once the request is there.
  if ((pins.bvalid && !(aw_sent_ && w_sent_)) || (pins.rvalid && !ar_sent_)) {
    reporter.add("s_axil: answer without a request");
    return;
  }
  const bool answered_write = pins.bvalid && pins.bready;
  const bool answered_read = pins.rvalid && pins.rready;
  if (!answered_write && !answered_read) return;
  check_response(answered_write ? "b" : "r", answered_write ? pins.bresp : pins.rresp, reporter);
  const Access access = std::move(queue_.front());
  queue_.pop_front();
  aw_sent_ = w_sent_ = ar_sent_ = false;
  if (access.is_write) {
    if (access.written) access.written(pins.bresp == resp_okay);
  } else if (access.read) {
    access.read(pins.rresp == resp_okay, pins.rdata);
  }
}

}  // namespace weft::tb
