// SPDX-License-Identifier: Apache-2.0
// Switches in memory, that can fail.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "ib/plan.hpp"
#include "ib/switches.hpp"
#include "mcast/forwarding_tables.hpp"

namespace weft::test {

class FakeSwitches : public ib::Switches {
 public:
  explicit FakeSwitches(std::vector<ib::Switch> switches)
      : switches_(std::move(switches)), blocks_(switches_.size()) {}

  const std::vector<ib::Switch>& all() const override { return switches_; }
  ib::Block read(std::size_t sw, ib::BlockPlace place) override {
    ++reads;
    return blocks_[sw][place];
  }
  void write(std::size_t sw, ib::BlockPlace place, const ib::Block& block) override {
    step(sw, [&] { blocks_[sw][place] = block; });
  }
  /// Any of the first `in_flight` that are not done is the next; if one fails, some of the others come
  /// through.
  void write_all(std::span<const ib::BlockWrite> writes, const ib::WriteEvents& events) override {
    if (!choose) return ib::Switches::write_all(writes, events);
    std::vector<std::size_t> under_way;
    std::string failure;
    for (std::size_t next = 0; !under_way.empty() || (failure.empty() && next < writes.size());) {
      while (failure.empty() && next < writes.size() && under_way.size() < in_flight) {
        events.sent(next);
        under_way.push_back(next++);
      }
      const std::size_t at = choose(under_way.size()), i = under_way[at];
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
      if (!failure.empty() && choose(2) == 0) continue;
      try {
        if (!failure.empty()) ++writes_left;
        write(writes[i].sw, writes[i].place, *writes[i].block);
        events.written(i);
      } catch (const ib::Unanswered& error) {
        failure = error.what();
      }
    }
    if (!failure.empty()) throw ib::Unanswered(failure);
  }
  uint16_t read_top(std::size_t sw) override { return switches_[sw].top; }
  void write_top(std::size_t sw, uint16_t top) override {
    step(sw, [&] { switches_[sw].top = top; });
  }

  /// What the switches hold, also beyond their last MLID.
  mcast::ForwardingTables tables() const {
    mcast::ForwardingTables tables;
    for (std::size_t sw = 0; sw < switches_.size(); ++sw)
      for (const auto& [place, block] : blocks_[sw])
        for (uint32_t i = 0; i < ib::block_mlids; ++i)
          if (block[i] != 0)
            tables[switches_[sw].guid][static_cast<uint16_t>(mcast::first_mlid + 32 * place.number + i)]
                .set_part(place.position, block[i]);
    return tables;
  }
  void hold(const mcast::ForwardingTables& tables) {
    for (std::size_t sw = 0; sw < switches_.size(); ++sw) {
      const auto entries = tables.find(switches_[sw].guid);
      if (entries == tables.end()) continue;
      for (const auto& [mlid, mask] : entries->second)
        for (uint32_t position = 0; position < mcast::PortMask::parts; ++position)
          if (mask.part(position) != 0)
            blocks_[sw][{(mlid - mcast::first_mlid) / 32, position}][mlid % 32] = mask.part(position);
    }
  }

  int64_t writes_left = -1;         ///< then a write fails; -1: never
  bool last_comes_through = false;  ///< the write that fails has its effect
  std::function<void()> after_write;
  std::size_t in_flight = 1;
  std::function<std::size_t(std::size_t)> choose;  ///< a number below the given one; none: all in order
  uint64_t reads = 0, writes = 0;

 private:
  template <typename Effect>
  void step(std::size_t sw, Effect&& effect) {
    const bool fails = writes_left == 0;
    if (writes_left > 0) --writes_left;
    if (!fails || last_comes_through) {
      effect();
      ++writes;
      if (after_write) after_write();
    }
    if (fails) throw ib::Unanswered("switch " + std::to_string(sw) + " is silent");
  }

  std::vector<ib::Switch> switches_;
  std::vector<std::map<ib::BlockPlace, ib::Block>> blocks_;
};

inline mcast::PortMask mask_of(const std::vector<uint32_t>& ports) {
  mcast::PortMask mask;
  for (const uint32_t port : ports) mask.set(port);
  return mask;
}

/// `count` switches with GUIDs from 1 on.
inline std::vector<ib::Switch> some_switches(uint64_t count, uint32_t ports = 36, uint32_t capacity = 1024) {
  std::vector<ib::Switch> switches;
  for (uint64_t guid = 1; guid <= count; ++guid) switches.push_back({guid, "", ports, capacity, false, 0});
  return switches;
}

}  // namespace weft::test
