// SPDX-License-Identifier: Apache-2.0
// Plain copies of the signals of the AXI interfaces, so that drivers and monitors do not depend on a
// Verilated class.
#pragma once

#include <array>
#include <cstdint>

namespace weft::tb {

inline constexpr uint32_t max_data_bytes = 64;  ///< widest data bus: 512 bits

using BusData = std::array<uint8_t, max_data_bytes>;

/// One beat of an AXI4-Stream; bytes beyond the bus width are zero.
struct AxisBeat {
  BusData data{};
  uint64_t keep = 0;
  bool last = false;
  bool operator==(const AxisBeat&) const = default;
};

struct AxisPins {
  AxisBeat beat;
  bool valid = false;
  bool ready = false;
};

struct AxiLitePins {
  uint32_t awaddr = 0, wdata = 0, araddr = 0, rdata = 0;
  uint8_t wstrb = 0, bresp = 0, rresp = 0;
  bool awvalid = false, awready = false;
  bool wvalid = false, wready = false;
  bool bvalid = false, bready = false;
  bool arvalid = false, arready = false;
  bool rvalid = false, rready = false;
};

struct AxiAddress {
  uint64_t addr = 0;
  uint8_t len = 0;    ///< beats - 1
  uint8_t size = 0;   ///< log2 of the bytes a beat
  uint8_t burst = 0;  ///< 1 = INCR
  bool operator==(const AxiAddress&) const = default;
};

struct AxiWriteBeat {
  BusData data{};
  uint64_t strb = 0;
  bool last = false;
  bool operator==(const AxiWriteBeat&) const = default;
};

struct AxiPins {
  AxiAddress aw, ar;
  AxiWriteBeat w;
  BusData rdata{};
  uint8_t bresp = 0, rresp = 0;
  bool rlast = false;
  bool awvalid = false, awready = false;
  bool wvalid = false, wready = false;
  bool bvalid = false, bready = false;
  bool arvalid = false, arready = false;
  bool rvalid = false, rready = false;
};

inline constexpr uint8_t resp_okay = 0;
inline constexpr uint8_t resp_slverr = 2;
inline constexpr uint8_t resp_decerr = 3;

}  // namespace weft::tb
