// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite master: a queue of register accesses, each answered by a callback. Checks of the slave that
// answers stay until they are taken, follow a request, and are OKAY or SLVERR.
#pragma once

#include <cstdint>
#include <deque>

#include "common/findings.hpp"
#include "common/pause.hpp"
#include "common/pins.hpp"
#include "common/stable.hpp"
#include "driver/register_bus.hpp"

namespace weft::tb {

/// One access at a time, in the order of the calls. Addresses are cut to the width of the port.
class AxiLiteMaster : public driver::RegisterBus {
 public:
  explicit AxiLiteMaster(PauseGenerator pause, uint32_t address_bits = 12)
      : pause_(pause), address_mask_((1u << address_bits) - 1) {}

  void write(uint32_t address, uint32_t data, driver::OnWritten done) override {
    write_strobed(address, data, 0xf, std::move(done));
  }
  void read(uint32_t address, driver::OnRead done) override;
  void write_strobed(uint32_t address, uint32_t data, uint8_t strobes, driver::OnWritten done);

  bool idle() const { return queue_.empty(); }
  void reset();

  void drive(AxiLitePins& pins);
  void sample(const AxiLitePins& pins, const Reporter& reporter);

 private:
  struct Access {
    bool is_write;
    uint32_t address;
    uint32_t data;
    uint8_t strobes;
    driver::OnWritten written;
    driver::OnRead read;
  };
  struct ReadAnswer {
    uint32_t data;
    uint8_t resp;
    bool operator==(const ReadAnswer&) const = default;
  };

  static void check_response(const char* channel, uint8_t response, const Reporter& reporter);

  uint32_t cut(uint32_t address) const { return address & address_mask_; }

  PauseGenerator pause_;
  uint32_t address_mask_;
  std::deque<Access> queue_;
  bool aw_sent_ = false;
  bool w_sent_ = false;
  bool ar_sent_ = false;
  StableCheck<uint8_t> stable_b_{"s_axil b"};
  StableCheck<ReadAnswer> stable_r_{"s_axil r"};
};

}  // namespace weft::tb
