// SPDX-License-Identifier: Apache-2.0
// How the engine and its surroundings are set.
#include "setting.hpp"

#include <array>
#include <stdexcept>

namespace weft::fuzz {

namespace {

/// Small values more often, as each makes every clock longer.
constexpr std::array<double, 8> pauses{0, 0, 0, 0, 0.05, 0.1, 0.3, 0.5};
constexpr std::array<double, 4> losses{0, 0, 0.05, 0.3};

/// From which bits of the record: every byte of it has its own line.
struct Bits {
  const Record& record;
  unsigned operator()(unsigned byte, unsigned low, unsigned width) const {
    return (record.at(byte) >> low) & ((1u << width) - 1);
  }
};

fabric::Faults faults(const Bits& bits) {
  fabric::Faults faults;
  faults.loss = losses[bits(7, 0, 2)];
  faults.duplicate = losses[bits(7, 2, 2)];
  faults.corrupt = losses[bits(7, 4, 2)];
  faults.reorder_degree = 12 * bits(7, 6, 2);
  faults.reorder = 0.3;
  faults.delay = 3;
  faults.duplicate_lag = 200;
  faults.hold_limit = 300;
  return faults;
}

}  // namespace

const tb::RdmaBuild& build_of(const Record& record, const std::string& instead) {
  const Bits bits{record};
  const std::string own = bits(5, 7, 1) == 0 ? "small" : "line";
  const std::string& name = instead.empty() ? own : instead;
  const tb::RdmaBuild* found = tb::find_rdma_build(name);
  if (!found) throw std::invalid_argument("no build '" + name + "' in this program");
  return *found;
}

Setting read_setting(const Record& record, const tb::RdmaBuild& build) {
  const Bits bits{record};
  Setting setting;
  setting.system.nodes = 1;
  setting.system.node.build = build;
  setting.system.seed = record[0];
  setting.system.node.pause = pauses[bits(1, 0, 3)];
  setting.system.node.memory_latency = 1 + bits(2, 0, 4) * 2;
  setting.system.node.memory_jitter = bits(2, 4, 4);
  setting.system.faults = faults(bits);
  for (const uint16_t key : region_keys) {
    setting.driver.regions.push_back({region_base, region_base + region_bytes, key});
  }
  setting.driver.backoff = static_cast<uint8_t>(bits(4, 6, 2));
  setting.driver.weft_mode = bits(3, 0, 1) == 0;
  setting.driver.ask_from_after = static_cast<uint8_t>(bits(3, 1, 2));
  setting.wait_until_ready = bits(3, 3, 2) != 3;
  if (bits(3, 5, 3) == 6) {
    setting.error_base = region_base;
    setting.error_limit = region_base + 40 * uint64_t{build.params.payload};
  }
  if (bits(3, 5, 3) == 7) {
    setting.error_base = source_base;
    setting.error_limit = source_base + 10 * uint64_t{build.params.payload};
  }
  setting.driver.rx_timeout = static_cast<uint16_t>(4 + bits(4, 0, 6));
  setting.driver.tick_cycles = static_cast<uint16_t>(1 + bits(5, 0, 3));
  setting.driver.max_silent = static_cast<uint8_t>(bits(5, 3, 4));
  setting.driver.tx_retry = static_cast<uint16_t>(4 + bits(6, 0, 4) * 8);
  setting.driver.max_retry = static_cast<uint8_t>(bits(6, 4, 2));
  setting.driver.tx_dead = static_cast<uint16_t>(64 << bits(6, 6, 2));
  setting.driver.first_msgid = bits(1, 3, 5) * 2;
  return setting;
}

}  // namespace weft::fuzz
