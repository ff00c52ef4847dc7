// SPDX-License-Identifier: Apache-2.0
// The barrier engine of a NIC beside its golden model.
#include "barrier_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "driver/barrier_driver.hpp"
#include "weft/barrier_ring/formats.hpp"

namespace weft::tb {

namespace reg = barrier::formats::reg;
namespace ring = barrier_ring::formats;
using barrier::Drop;
static_assert(driver::largest_block_log2 == barrier::largest_block_log2);

namespace {

const BarrierTap& tap_of(RdmaNode& node) {
  const auto* tap = dynamic_cast<const BarrierTap*>(&node.model());
  if (!tap || !tap->has_barrier()) throw std::logic_error("this NIC has no barrier engine");
  return *tap;
}

barrier::formats::Completion record_of(const barrier::Completion& completion) {
  barrier::formats::Completion record;
  record.group = static_cast<uint8_t>(completion.group);
  record.ending = static_cast<uint8_t>(completion.ending);
  record.has_late = completion.late.has_value() ? 1 : 0;
  record.epoch = completion.epoch;
  record.dead = static_cast<uint16_t>(completion.dead);
  record.late = static_cast<uint16_t>(completion.late.value_or(0));
  return record;
}

ring::Entry entry_of(const barrier::Completion& completion, bool first_lap) {
  const auto record = barrier::formats::pack(record_of(completion));
  ring::Entry entry;
  for (size_t i = 0; i < record.size(); ++i) entry.told |= uint64_t{record[i]} << (8 * i);
  entry.opcode = static_cast<uint8_t>(ring::EntryOpcode::barrier);
  entry.phase = first_lap ? 1 : 0;
  if (completion.ending == barrier::Ending::dead_member) {
    entry.status = static_cast<uint8_t>(ring::EntryStatus::dead_peer);
    entry.node = completion.dead;
  }
  return entry;
}

}  // namespace

BarrierWatch::BarrierWatch(RdmaNode& node, uint32_t window, const BarrierSize& size)
    : node_(node), tap_(tap_of(node)), window_(window), size_(size) {
  node.share_ports(this);
  node.on_clock([this](const RdmaPins& pins) { sample(pins); });
  reset();
}

void BarrierWatch::reset() {
  namespace start = barrier::formats::reset;
  golden_.emplace(0, size_.groups, size_.nodes);
  values_ = {{reg::SELF, start::SELF},
             {reg::TABLE_GROUP, start::TABLE_GROUP},
             {reg::TABLE_INDEX, start::TABLE_INDEX},
             {reg::INSTANCE, start::INSTANCE},
             {reg::SHAPE, start::SHAPE},
             {reg::MEMBERS, start::MEMBERS},
             {reg::BLOCK_LOG2, start::BLOCK_LOG2},
             {reg::MULTICAST, start::MULTICAST},
             {reg::STRIDE, start::STRIDE},
             {reg::GOOD, start::GOOD},
             {reg::JUDGE_TRIES, start::JUDGE_TRIES},
             {reg::FIRST, start::FIRST},
             {reg::LARGEST, start::LARGEST},
             {reg::TRIES, start::TRIES},
             {reg::LATE, start::LATE}};
  ring_values_ = {{ring::reg::BASE_LO, 0},
                  {ring::reg::BASE_HI, 0},
                  {ring::reg::LOG2, ring::reset::LOG2},
                  {ring::reg::ENABLE, 0},
                  {ring::reg::IRQ_ENABLE, 0}};
  tables_.assign(size_.groups, std::vector<uint16_t>(size_.members));
  refusal_.reset();
  accepted_.clear();
  packets_.clear();
  completions_.clear();
  told_.clear();
  write_under_way_ = failed_ = writing_ = false;
  tail_ = head_ = 0;
  irq_settles_ = 0;
  malformed_ = overruns_ = taken_ = write_errors_ = 0;
}

void BarrierWatch::require(bool holds, const std::string& what) {
  if (!holds) node_.reporter().add("barrier: " + what);
}

uint64_t BarrierWatch::ring_bytes() const {
  return uint64_t{ring::entry_bytes} << ring_values_.at(ring::reg::LOG2);
}

bool BarrierWatch::owns(uint64_t address) const {
  const uint64_t base =
      uint64_t{ring_values_.at(ring::reg::BASE_HI)} << 32 | ring_values_.at(ring::reg::BASE_LO);
  return base != 0 && address >= base && address < base + ring_bytes();
}

void BarrierWatch::left(std::span<const uint8_t> packet) {
  ++packets_left_;
  const bool expected = !packets_.empty() && std::ranges::equal(packets_.front(), packet);
  require(expected, "sends what its model does not");
  if (!packets_.empty()) packets_.pop_front();
}

void BarrierWatch::wrote(const WrittenBurst& burst) {
  require(!writing_, "a write to the ring before the last one was answered");
  writing_ = true;
  const uint64_t base =
      uint64_t{ring_values_.at(ring::reg::BASE_HI)} << 32 | ring_values_.at(ring::reg::BASE_LO);
  const uint64_t size = ring_bytes() / ring::entry_bytes;
  require(burst.address == base + tail_ % size * ring::entry_bytes, "entry in another place of the ring");
  require(!told_.empty(), "writes an entry that its model does not tell");
  if (told_.empty()) return;
  const bool first_lap = tail_ / size % 2 == 0;
  require(std::ranges::equal(burst.bytes, ring::pack(entry_of(told_.front(), first_lap))), "entry differs");
}

void BarrierWatch::answered(bool ok) {
  writing_ = false;
  irq_settles_ = 2;
  if (!ok) {
    ++write_errors_;
    failed_ = true;
    ring_values_[ring::reg::ENABLE] = 0;
    return;
  }
  ++tail_;
  ++entries_written_;
  if (!told_.empty()) told_.pop_front();
}

void BarrierWatch::sample(const RdmaPins& pins) {
  const BarrierTrace& trace = tap_.barrier();
  if (trace.event) event(trace);
  if (trace.overrun) {
    ++overruns_;
    require(!accepted_.empty(), "an overrun of no packet");
    if (!accepted_.empty()) accepted_.pop_back();
  }
  if (trace.arrived) {
    if (barrier::read_packet(trace.arrival)) {
      accepted_.push_back(trace.arrival);
    } else {
      ++malformed_;
    }
  }
  if (trace.told) told(trace);
  check_interrupts(pins);
  follow_writes(pins.axil);
}

void BarrierWatch::event(const BarrierTrace& trace) {
  switch (trace.what) {
    case 0:
      refusal_ = golden_->open(trace.group,
                               trace.group < size_.groups ? settings(trace.group) : barrier::GroupSettings{});
      break;
    case 1:
      refusal_ = golden_->close(trace.group);
      break;
    case 2:
      refusal_ = golden_->arrive(trace.group);
      break;
    case 3: {
      const bool expected = !accepted_.empty() && accepted_.front() == trace.packet;
      require(expected, "takes a packet that has not come");
      if (!accepted_.empty()) accepted_.pop_front();
      golden_->receive(trace.packet);
      break;
    }
    default:
      golden_->tick(trace.group);
  }
  const barrier::Outputs out = golden_->take();
  for (const auto& packet : out.packets) packets_.push_back(barrier::write_packet(packet));
  completions_.insert(completions_.end(), out.completions.begin(), out.completions.end());
}

void BarrierWatch::told(const BarrierTrace& trace) {
  ++taken_;
  require(!completions_.empty(), "tells what its model does not");
  if (completions_.empty()) return;
  const barrier::Completion expected = completions_.front();
  completions_.pop_front();
  golden_->completion_taken(expected.group);
  require(barrier::formats::pack(record_of(expected)) == trace.completion, "completion differs");
  told_.push_back(expected);
}

/// While a register is written, the moment in which that counts is not known.
void BarrierWatch::check_interrupts(const RdmaPins& pins) {
  const BarrierTrace& trace = tap_.barrier();
  require(trace.any_irq == (pins.irq || pins.queue_irq || trace.irq), "the one interrupt is not that of any");
  if (irq_settles_ > 0) --irq_settles_;
  if (write_under_way_ || irq_settles_ > 0) return;
  const bool wanted = ring_values_.at(ring::reg::IRQ_ENABLE) != 0 && (head_ != tail_ || failed_);
  require(trace.irq == wanted, "interrupt of the ring is wrong");
}

void BarrierWatch::follow_writes(const AxiLitePins& pins) {
  if (pins.awvalid && pins.awready) {
    address_ = pins.awaddr;
    write_under_way_ = true;
  }
  if (pins.wvalid && pins.wready) {
    data_ = pins.wdata;
    strobes_ = pins.wstrb;
  }
  if (!pins.bvalid || !pins.bready) return;
  write_under_way_ = false;
  const bool ok = pins.bresp == resp_okay;
  if (refusal_) {
    require(ok == (*refusal_ == barrier::Refusal::none), "refuses other commands than its model");
    refusal_.reset();
  }
  if (!ok || address_ < window_) return;
  require(strobes_ == 15, "takes a write without all strobes");
  const uint32_t address = address_ - window_;
  if (address < driver::barrier_ring_offset) {
    written(address, data_);
  } else {
    ring_written(address - driver::barrier_ring_offset, data_);
  }
}

void BarrierWatch::written(uint32_t address, uint32_t data) {
  if (address == reg::SELF) golden_.emplace(data & 0xffff, size_.groups, size_.nodes);
  if (address == reg::MEMBER) {
    uint32_t& index = values_[reg::TABLE_INDEX];
    require(value(reg::TABLE_GROUP) < size_.groups && index < size_.members, "takes a member of no place");
    tables_.at(value(reg::TABLE_GROUP)).at(index++) = static_cast<uint16_t>(data);
    return;
  }
  const auto known = values_.find(address);
  if (known != values_.end()) known->second = data;
}

void BarrierWatch::ring_written(uint32_t address, uint32_t data) {
  if (address == ring::reg::HEAD) head_ = static_cast<uint16_t>(data);
  const auto known = ring_values_.find(address);
  if (known != ring_values_.end()) known->second = data;
  if (address != ring::reg::ENABLE || (data & 1) == 0) return;
  head_ = tail_ = 0;
  failed_ = false;
}

barrier::GroupSettings BarrierWatch::settings(uint32_t group) const {
  barrier::GroupSettings settings;
  settings.instance = static_cast<uint16_t>(value(reg::INSTANCE));
  settings.shape = static_cast<barrier::Shape>(value(reg::SHAPE) & 3);
  const auto& table = tables_.at(group);
  settings.members.assign(table.begin(), table.begin() + value(reg::MEMBERS));
  settings.block_log2 = value(reg::BLOCK_LOG2) & 15;
  settings.multicast = value(reg::MULTICAST) & 0xffff;
  settings.judge.stride = value(reg::STRIDE) & 0xffff;
  settings.judge.good = value(reg::GOOD) & 0xffff;
  settings.judge.tries = value(reg::JUDGE_TRIES) & 0xff;
  settings.waiting.first = value(reg::FIRST) & 0xffff;
  settings.waiting.largest = value(reg::LARGEST) & 0xffff;
  settings.waiting.tries = value(reg::TRIES) & 0xff;
  settings.waiting.late = value(reg::LATE);
  return settings;
}

void BarrierWatch::compare_counter(uint32_t reg, uint64_t expected, const std::string& name) {
  node_.registers().read(window_ + reg, [this, expected, name](bool ok, uint32_t data) {
    require(ok && data == expected,
            fmt::format("{}: {} in RTL, {} in the golden model", name, data, expected));
  });
}

void BarrierWatch::compare_counters() {
  for (uint32_t i = 0; i < barrier::formats::count::DROP; ++i) {
    const auto reason = static_cast<Drop>(i);
    const uint64_t expected = reason == Drop::overrun     ? overruns_
                              : reason == Drop::malformed ? malformed_
                                                          : golden_->dropped(reason);
    compare_counter(reg::DROP + 4 * i, expected, fmt::format("drops {}", i));
  }
  compare_counter(reg::REPEATED, golden_->repeated(), "repeated");
  compare_counter(reg::LATE_COUNT, golden_->late(), "late");
  compare_counter(reg::COMPLETED, taken_, "completed");
  compare_counter(reg::REFUSED, golden_->refused(), "refused");
  const uint32_t group = value(reg::TABLE_GROUP);
  const auto late = group < size_.groups ? golden_->late_now(group) : std::nullopt;
  compare_counter(reg::LATE_NOW, late ? 1U << 31 | *late : 0, "late now");
  const uint32_t ring_offset = driver::barrier_ring_offset;
  compare_counter(ring_offset + ring::reg::TAIL, tail_, "entries written");
  compare_counter(ring_offset + ring::reg::ERRORS, write_errors_, "write errors");
}

}  // namespace weft::tb
