// SPDX-License-Identifier: Apache-2.0
// What docs/rdma_formats.md says about the registers, written down once more, and their state.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "rdma/sender.hpp"

namespace weft::rtl_test {

/// The sizes in CMakeLists.txt.
inline constexpr std::size_t post_depth = 4;
inline constexpr uint32_t payload = 256;
inline constexpr uint32_t caps0 = 32u << 16 | payload;  // WINDOW, PAYLOAD
inline constexpr uint32_t regions = 16, sources = 32;
inline constexpr uint32_t caps3 = 4u << 16 | 32;  // N_QUEUES, N_TICKETS
inline constexpr unsigned address_bits = 44;
inline constexpr uint32_t caps1 = 8u << 16 | 16;  // N_TX_CTX, N_RX_CTX

enum class Access { ro, rw, wo, rw1c };

struct Register {
  const char* name;
  uint32_t address;
  Access access;
  unsigned bits = 32;
  uint32_t reset = 0;

  uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << bits) - 1); }
};

inline constexpr std::array registers{
    Register{"ID", 0x000, Access::ro, 32, 0x77656674},
    Register{"VERSION", 0x004, Access::ro, 32, 5},
    Register{"CAPS0", 0x008, Access::ro, 32, caps0},
    Register{"CAPS1", 0x00c, Access::ro, 32, caps1},
    Register{"STATUS", 0x010, Access::ro},
    Register{"NODE_ID", 0x014, Access::rw, 16},
    Register{"IRQ_ENABLE", 0x018, Access::rw, 2},
    Register{"IRQ_STATUS", 0x01c, Access::rw1c},
    Register{"REGION_BASE_LO", 0x020, Access::rw},
    Register{"REGION_BASE_HI", 0x024, Access::rw},
    Register{"REGION_LIMIT_LO", 0x028, Access::rw},
    Register{"REGION_LIMIT_HI", 0x02c, Access::rw},
    Register{"TICK_CYCLES", 0x030, Access::rw, 16, 64},
    Register{"RX_TIMEOUT", 0x034, Access::rw, 13, 64},
    Register{"TX_RETRY", 0x038, Access::rw, 13, 64},
    Register{"TX_DEAD", 0x03c, Access::rw, 13, 8191},
    Register{"ASK_FROM_AFTER", 0x040, Access::rw, 2, 3},
    Register{"MAX_SILENT", 0x044, Access::rw, 4, 15},
    Register{"MAX_RETRY", 0x048, Access::rw, 4, 15},
    Register{"BAD_ACCESS", 0x04c, Access::ro},
    Register{"BUS_ERRORS", 0x050, Access::ro},
    Register{"CTL_DROPPED", 0x054, Access::ro},
    Register{"MODE", 0x058, Access::rw, 1, 1},
    Register{"MSGID", 0x05c, Access::rw, 24},
    Register{"POST_SRC_LO", 0x060, Access::rw},
    Register{"POST_SRC_HI", 0x064, Access::rw},
    Register{"POST_DST_LO", 0x068, Access::rw},
    Register{"POST_DST_HI", 0x06c, Access::rw},
    Register{"POST_BYTES", 0x070, Access::rw},
    Register{"POST_NODE", 0x074, Access::rw},
    Register{"POST_KEY", 0x090, Access::rw, 24},
    Register{"CAPS2", 0x094, Access::ro, 32, sources << 16 | regions},
    Register{"RX_QUOTA", 0x098, Access::rw, 16},
    Register{"BACKOFF", 0x09c, Access::rw, 2, 3},
    Register{"MAX_BUSY", 0x0a0, Access::rw, 8, 255},
    Register{"RX_AHEAD", 0x0c0, Access::rw, 8},
    Register{"ADAPT", 0x0c4, Access::rw, 1},
    Register{"TIMEOUT_FLOOR", 0x0c8, Access::rw, 13, 16},
    Register{"REGION_KEY", 0x084, Access::rw, 16},
    Register{"REGION_RIGHTS", 0x088, Access::rw, 4},
    Register{"REGION_OWNER", 0x0f0, Access::rw, 8},
    Register{"REGION_QUEUE", 0x0f4, Access::rw, 9},
    Register{"CAPS3", 0x0d0, Access::ro, 32, caps3},
    Register{"TICKET_QUOTA", 0x0f8, Access::rw, 16},
    Register{"ANSWERS", 0x0fc, Access::rw, 16, 4},
    Register{"ANSWER_QUOTA", 0x0d4, Access::rw, 16},
    Register{"READ_NUMBER", 0x0cc, Access::rw, 24},
    Register{"REGION_SET", 0x08c, Access::wo},
    Register{"POST", 0x078, Access::wo},
    Register{"CPL_COUNT", 0x07c, Access::ro},
    Register{"CPL", 0x080, Access::ro},
};
inline constexpr uint32_t outcome_base = 0x400;
inline constexpr uint32_t outcome_count = 96;

constexpr uint32_t address_of(std::string_view name) {
  return std::ranges::find(registers, name, &Register::name)->address;
}

inline const Register* find_register(uint32_t address) {
  const auto at = std::ranges::find(registers, address, &Register::address);
  return at == registers.end() ? nullptr : &*at;
}

/// Index of the counter at this address, if there is one.
inline std::optional<uint32_t> counter_at(uint32_t address) {
  if (address % 4 != 0 || address < outcome_base || address >= outcome_base + 4 * outcome_count) return {};
  return (address - outcome_base) / 4;
}

/// What the surroundings show in one clock.
struct RegsView {
  bool engine_ready = true;
  bool tx_idle = false;
  bool rx_idle = false;
  bool completion_waits = false;
  uint16_t completions = 0;
  std::size_t posts = 0;  // in the queue
};

class RegsReference {
 public:
  RegsReference() {
    for (const Register& r : registers) values_[r.address] = r.reset;
  }

  uint32_t value(std::string_view name) const { return values_.at(address_of(name)); }
  uint64_t pair(std::string_view low) const {
    return values_.at(address_of(low)) | uint64_t{values_.at(address_of(low) + 4)} << 32;
  }
  rdma::Region region() const {
    rdma::Region region;
    region.base = pair("REGION_BASE_LO");
    region.limit = pair("REGION_LIMIT_LO");
    region.key = static_cast<uint16_t>(value("REGION_KEY"));
    region.remote_write = (value("REGION_RIGHTS") & 1) != 0;
    region.local_use = (value("REGION_RIGHTS") & 2) != 0;
    region.remote_read = (value("REGION_RIGHTS") & 4) != 0;
    region.receive = (value("REGION_RIGHTS") & 8) != 0;
    region.owner = static_cast<uint8_t>(value("REGION_OWNER"));
    if ((value("REGION_QUEUE") >> 8) != 0) region.queue = static_cast<uint8_t>(value("REGION_QUEUE"));
    return region;
  }
  bool node_known() const { return node_known_; }
  bool interrupt(const RegsView& view) const { return (irq_status(view) & value("IRQ_ENABLE")) != 0; }

  /// Nothing: the answer is SLVERR. CPL apart, whose value depends on when it is taken.
  std::optional<uint32_t> read(uint32_t address, const RegsView& view) const {
    if (const auto counter = counter_at(address)) return outcomes_[*counter];
    const Register* r = find_register(address);
    if (!r || r->access == Access::wo) return {};
    if (address == address_of("STATUS"))
      return view.engine_ready | (view.posts == post_depth) << 1 | view.completion_waits << 2 |
             view.tx_idle << 3 | view.rx_idle << 4;
    if (address == address_of("IRQ_STATUS")) return irq_status(view);
    if (address == address_of("CPL_COUNT")) return view.completions;
    return values_.at(address);
  }

  bool can_write(uint32_t address, uint32_t data, uint8_t strobes, const RegsView& view) const {
    const Register* r = find_register(address);
    if (!r || r->access == Access::ro || strobes != 0xf) return false;
    if (address == address_of("MSGID")) return view.tx_idle;
    if (address == address_of("REGION_SET"))
      return view.engine_ready && data % 256 < regions && region_can_be();
    return r->access != Access::wo || (view.posts < post_depth && view.engine_ready && node_known_);
  }

  /// @param bus_error one came in the clock of the write
  void write(uint32_t address, uint32_t data, bool bus_error) {
    const Register& r = *find_register(address);
    if (r.access == Access::rw) values_[address] = data & r.mask();
    if (address == address_of("NODE_ID")) node_known_ = true;
    if (r.access == Access::rw1c && (data & 2) != 0) bus_error_seen_ = bus_error;
  }

  rdma::Post post(uint16_t tag) const {
    return {pair("POST_SRC_LO"), pair("POST_DST_LO"), value("POST_BYTES"), value("POST_NODE"), tag,
            value("POST_KEY")};
  }

  void bad_access() { ++values_[address_of("BAD_ACCESS")]; }
  void outcome(uint8_t code) { ++outcomes_.at(code); }
  void control_dropped(unsigned count) { values_[address_of("CTL_DROPPED")] += count; }
  void bus_errors(unsigned count) {
    values_[address_of("BUS_ERRORS")] += count;
    bus_error_seen_ = bus_error_seen_ || count > 0;
  }

 private:
  /// Whole payloads; not beyond the bus; at most 2^32 payloads.
  bool region_can_be() const {
    const rdma::Region wanted = region();
    if (wanted.base % payload != 0 || wanted.limit % payload != 0) return false;
    if (wanted.limit <= wanted.base) return true;
    return wanted.limit <= uint64_t{1} << address_bits &&
           (wanted.limit - wanted.base) / payload <= uint64_t{1} << 32;
  }

  uint32_t irq_status(const RegsView& view) const { return bus_error_seen_ << 1 | view.completion_waits; }

  std::map<uint32_t, uint32_t> values_;
  std::array<uint32_t, outcome_count> outcomes_{};
  bool node_known_ = false;
  bool bus_error_seen_ = false;
};

}  // namespace weft::rtl_test
