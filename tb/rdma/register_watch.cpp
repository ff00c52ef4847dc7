// SPDX-License-Identifier: Apache-2.0
// Follows the register port.
#include "register_watch.hpp"

#include <algorithm>
#include <utility>

#include "common/signals.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

namespace reg = rdma::formats::reg;
namespace reset_value = rdma::formats::reset;
namespace width = rdma::formats::width;

RegisterWatch::RegisterWatch(OnConfig on_config, OnPost on_post, OnNumber on_msgid, OnNumber on_read_number)
    : on_config_(std::move(on_config)),
      on_post_(std::move(on_post)),
      on_msgid_(std::move(on_msgid)),
      on_read_number_(std::move(on_read_number)) {
  reset();
}

void RegisterWatch::reset() {
  values_ = {
      {reg::NODE_ID, reset_value::NODE_ID},
      {reg::REGION_BASE_LO, reset_value::REGION_BASE_LO},
      {reg::REGION_BASE_HI, reset_value::REGION_BASE_HI},
      {reg::REGION_LIMIT_LO, reset_value::REGION_LIMIT_LO},
      {reg::REGION_LIMIT_HI, reset_value::REGION_LIMIT_HI},
      {reg::REGION_KEY, reset_value::REGION_KEY},
      {reg::REGION_RIGHTS, reset_value::REGION_RIGHTS},
      {reg::REGION_OWNER, reset_value::REGION_OWNER},
      {reg::REGION_QUEUE, reset_value::REGION_QUEUE},
      {reg::TICK_CYCLES, reset_value::TICK_CYCLES},
      {reg::RX_TIMEOUT, reset_value::RX_TIMEOUT},
      {reg::TX_RETRY, reset_value::TX_RETRY},
      {reg::TX_DEAD, reset_value::TX_DEAD},
      {reg::ASK_FROM_AFTER, reset_value::ASK_FROM_AFTER},
      {reg::MAX_SILENT, reset_value::MAX_SILENT},
      {reg::MAX_RETRY, reset_value::MAX_RETRY},
      {reg::MAX_BUSY, reset_value::MAX_BUSY},
      {reg::BACKOFF, reset_value::BACKOFF},
      {reg::RX_QUOTA, reset_value::RX_QUOTA},
      {reg::TICKET_QUOTA, reset_value::TICKET_QUOTA},
      {reg::ANSWERS, reset_value::ANSWERS},
      {reg::ANSWER_QUOTA, reset_value::ANSWER_QUOTA},
      {reg::RX_AHEAD, reset_value::RX_AHEAD},
      {reg::ADAPT, reset_value::ADAPT},
      {reg::TIMEOUT_FLOOR, reset_value::TIMEOUT_FLOOR},
      {reg::MODE, reset_value::MODE},
      {reg::POST_SRC_LO, reset_value::POST_SRC_LO},
      {reg::POST_SRC_HI, reset_value::POST_SRC_HI},
      {reg::POST_DST_LO, reset_value::POST_DST_LO},
      {reg::POST_DST_HI, reset_value::POST_DST_HI},
      {reg::POST_BYTES, reset_value::POST_BYTES},
      {reg::POST_NODE, reset_value::POST_NODE},
      {reg::POST_KEY, reset_value::POST_KEY},
  };
  regions_.clear();
  node_known_ = false;
  answer_seen_ = false;
  on_config_(config());
}

void RegisterWatch::sample(const AxiLitePins& pins) {
  if (pins.awvalid && pins.awready) address_ = pins.awaddr;
  if (pins.wvalid && pins.wready) data_ = pins.wdata;
  if (pins.bvalid && !answer_seen_ && pins.bresp == resp_okay) written(address_, data_);
  answer_seen_ = pins.bvalid && !pins.bready;
}

void RegisterWatch::written(uint32_t address, uint32_t data) {
  if (address == reg::POST) {
    on_post_(post(static_cast<uint16_t>(data)));
    return;
  }
  if (address == reg::REGION_SET) {
    const auto number = static_cast<uint8_t>(data);
    if (number >= regions_.size()) regions_.resize(number + 1u);
    regions_[number] = region();
    on_config_(config());
    return;
  }
  if (address == reg::MSGID) on_msgid_(data);
  if (address == reg::READ_NUMBER) on_read_number_(data);
  const auto value = values_.find(address);
  if (value == values_.end()) return;
  value->second = data;
  if (address == reg::NODE_ID) node_known_ = true;
  const bool of_a_post = address >= reg::POST_SRC_LO && address <= reg::POST_NODE;
  if (!of_a_post && address != reg::POST_KEY) on_config_(config());
}

uint32_t RegisterWatch::tick_cycles() const {
  return std::max<uint32_t>(1,
                            static_cast<uint32_t>(masked(values_.at(reg::TICK_CYCLES), width::TICK_CYCLES)));
}

std::optional<uint16_t> RegisterWatch::node_id() const {
  if (!node_known_) return std::nullopt;
  return config().node_id;
}

uint64_t RegisterWatch::pair(uint32_t low_address) const {
  return static_cast<uint64_t>(values_.at(low_address + 4)) << 32 | values_.at(low_address);
}

/// What the REGION registers say.
rdma::Region RegisterWatch::region() const {
  const uint32_t rights = values_.at(reg::REGION_RIGHTS);
  rdma::Region region;
  region.base = pair(reg::REGION_BASE_LO);
  region.limit = pair(reg::REGION_LIMIT_LO);
  region.key = static_cast<uint16_t>(masked(values_.at(reg::REGION_KEY), width::REGION_KEY));
  region.remote_write = (rights & 1) != 0;
  region.local_use = (rights & 2) != 0;
  region.remote_read = (rights & 4) != 0;
  region.receive = (rights & 8) != 0;
  region.owner = static_cast<uint8_t>(masked(values_.at(reg::REGION_OWNER), width::REGION_OWNER));
  const uint32_t told = masked(values_.at(reg::REGION_QUEUE), width::REGION_QUEUE);
  if ((told >> 8) != 0) region.queue = static_cast<uint8_t>(told);
  return region;
}

rdma::Config RegisterWatch::config() const {
  const auto value = [&](uint32_t address, uint32_t bits) { return masked(values_.at(address), bits); };
  rdma::Config config;
  config.node_id = static_cast<uint16_t>(value(reg::NODE_ID, width::NODE_ID));
  config.regions = regions_;
  config.rx_timeout = static_cast<uint16_t>(value(reg::RX_TIMEOUT, width::RX_TIMEOUT));
  config.tx_retry = static_cast<uint16_t>(value(reg::TX_RETRY, width::TX_RETRY));
  config.tx_dead = static_cast<uint16_t>(value(reg::TX_DEAD, width::TX_DEAD));
  config.ask_from_after = static_cast<uint8_t>(value(reg::ASK_FROM_AFTER, width::ASK_FROM_AFTER));
  config.max_silent = static_cast<uint8_t>(value(reg::MAX_SILENT, width::MAX_SILENT));
  config.max_retry = static_cast<uint8_t>(value(reg::MAX_RETRY, width::MAX_RETRY));
  config.max_busy = static_cast<uint8_t>(value(reg::MAX_BUSY, width::MAX_BUSY));
  config.backoff = static_cast<uint8_t>(value(reg::BACKOFF, width::BACKOFF));
  config.ticket_quota = static_cast<uint16_t>(value(reg::TICKET_QUOTA, width::TICKET_QUOTA));
  config.answers = static_cast<uint16_t>(value(reg::ANSWERS, width::ANSWERS));
  config.answer_quota = static_cast<uint16_t>(value(reg::ANSWER_QUOTA, width::ANSWER_QUOTA));
  config.rx_quota = static_cast<uint16_t>(value(reg::RX_QUOTA, width::RX_QUOTA));
  config.rx_ahead = static_cast<uint8_t>(value(reg::RX_AHEAD, width::RX_AHEAD));
  config.adapt = value(reg::ADAPT, width::ADAPT) != 0;
  config.timeout_floor = static_cast<uint16_t>(value(reg::TIMEOUT_FLOOR, width::TIMEOUT_FLOOR));
  config.weft_mode = value(reg::MODE, width::MODE) != 0;
  return config;
}

rdma::Post RegisterWatch::post(uint16_t tag) const {
  return {pair(reg::POST_SRC_LO),
          pair(reg::POST_DST_LO),
          values_.at(reg::POST_BYTES),
          values_.at(reg::POST_NODE),
          tag,
          static_cast<uint32_t>(masked(values_.at(reg::POST_KEY), width::POST_KEY))};
}

}  // namespace weft::tb
