// SPDX-License-Identifier: Apache-2.0
// Checks every packet that leaves an engine.
#include "expected_packets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::tb {

namespace formats = rdma::formats;
using formats::Ptype;

namespace {

formats::Header without_crc(formats::Header header) {
  header.crc = 0;
  return header;
}

bool same(const rdma::Packet& left, const rdma::Packet& right) {
  return without_crc(left.header) == without_crc(right.header) && left.payload == right.payload;
}

std::string first_or_nothing(const rdma::Packet* packet) {
  return packet ? describe(packet->header) : "nothing";
}

/// Whether this packet of a receiver waits for its writes, and tells of those that failed.
bool tells_of_writes(const formats::Header& header, const rdma::Params& params) {
  const auto type = static_cast<Ptype>(header.ptype);
  return type == Ptype::done || (type == Ptype::ack && params.scheme == rdma::Scheme::sender_window);
}

}  // namespace

std::string describe(const formats::Header& header) {
  return fmt::format("{} {}->{} sid={} cid={} gen={} msgid={} pidx={} len={} flags={:#x} arg={:#x}",
                     formats::name(static_cast<Ptype>(header.ptype)), header.src, header.dst, header.sid,
                     header.cid, header.gen, header.msgid, header.pidx, header.len, header.flags, header.arg);
}

void ExpectedPackets::reset() {
  receiver_control_.clear();
  sender_control_.clear();
  inbox_control_.clear();
  data_.clear();
  left_.clear();
}

void ExpectedPackets::expect_receiver_control(rdma::Packet packet, uint64_t written_before) {
  const bool waits = tells_of_writes(packet.header, params_);
  receiver_control_.push_back({std::move(packet), waits ? written_before : 0});
}

uint64_t ExpectedPackets::expect_data(const rdma::DataOrder& order) {
  data_.push(order.resend, {order.header, memory_.read(order.src_addr, order.header.len), expected_data_});
  return expected_data_++;
}

void ExpectedPackets::could_not_be_read(uint64_t number, bool certain) {
  data_.for_each([&](Data& data) {
    if (data.number != number) return;
    data.may_be_missing = true;
    data.must_be_missing = certain;
  });
}

void ExpectedPackets::transfer_over(uint16_t sid) {
  data_.for_each([&](Data& data) { data.may_be_missing |= data.header.sid == sid; });
}

void ExpectedPackets::left(std::vector<uint8_t> flits, uint64_t answered_bytes,
                           std::optional<bool> write_failed, uint64_t cycle) {
  packets_++;
  left_.push_back({std::move(flits), answered_bytes, write_failed, cycle});
}

void ExpectedPackets::judge(const Reporter& reporter) {
  while (!left_.empty() && left_.front().cycle + trace_lag <= reporter.cycle()) {
    judge_one(left_.front(), reporter);
    left_.pop_front();
  }
}

void ExpectedPackets::judge_one(const Left& left, const Reporter& reporter) {
  const auto head = std::span<const uint8_t, rdma::flit_bytes>(left.flits.data(), rdma::flit_bytes);
  const formats::Header header = formats::unpack(head);
  const rdma::Arrival arrival = rdma::check_arrival(left.flits, params_, header.dst);
  if (arrival.verdict != formats::Outcome::none) {
    reporter.add(fmt::format("m_axis: packet that left in cycle {} is invalid ({}): {}", left.cycle,
                             formats::name(arrival.verdict), describe(header)));
    return;
  }
  if (rdma::encode(arrival.packet) != left.flits) {
    reporter.add(fmt::format("m_axis: padding of the packet that left in cycle {} is not zero", left.cycle));
  }
  const auto type = static_cast<Ptype>(header.ptype);
  if (type == Ptype::data) {
    judge_data(arrival.packet, reporter);
  } else if (rdma::for_sender(header)) {
    judge_receiver_control(arrival.packet, left, reporter);
  } else if (type == Ptype::read) {
    judge_in_order("inbox", inbox_control_, arrival.packet, reporter);
  } else {
    judge_in_order("sender", sender_control_, arrival.packet, reporter);
  }
}

void ExpectedPackets::judge_receiver_control(const rdma::Packet& packet, const Left& left,
                                             const Reporter& reporter) {
  rdma::Packet* expected = receiver_control_.empty() ? nullptr : &receiver_control_.front().packet;
  const bool may_tell = expected && tells_of_writes(expected->header, params_);
  const bool told = (packet.header.flags & formats::flag_failed) != 0;
  if (may_tell && left.write_failed.value_or(told)) expected->header.flags |= formats::flag_failed;
  if (!expected || !same(*expected, packet)) {
    reporter.add(fmt::format("m_axis: control packet of the receiver\n  expected {}\n  got      {}",
                             first_or_nothing(expected), describe(packet.header)));
    return;
  }
  if (left.answered_bytes < receiver_control_.front().written_before) {
    reporter.add(fmt::format("m_axis: left in cycle {} although memory had answered only {} of {} bytes: {}",
                             left.cycle, left.answered_bytes, receiver_control_.front().written_before,
                             describe(packet.header)));
  }
  receiver_control_.pop_front();
}

void ExpectedPackets::judge_in_order(const char* whose, std::deque<rdma::Packet>& expected,
                                     const rdma::Packet& packet, const Reporter& reporter) {
  const rdma::Packet* next = expected.empty() ? nullptr : &expected.front();
  if (!next || !same(*next, packet)) {
    reporter.add(fmt::format("m_axis: control packet of the {}\n  expected {}\n  got      {}", whose,
                             first_or_nothing(next), describe(packet.header)));
    return;
  }
  expected.pop_front();
}

bool ExpectedPackets::matches(const Data& data, const rdma::Packet& packet) {
  return !data.must_be_missing && without_crc(data.header) == without_crc(packet.header) &&
         data.payload == packet.payload;
}

/// How many of a queue have left or are missing if this packet is of it.
std::vector<size_t> ExpectedPackets::explanations_in(const DataQueue& queue, size_t from,
                                                     const rdma::Packet& packet) {
  std::vector<size_t> found;
  for (size_t at = from; at < queue.size(); ++at) {
    if (matches(queue[at], packet)) found.push_back(at + 1);
    if (!queue[at].may_be_missing) break;
  }
  return found;
}

const ExpectedPackets::Data* ExpectedPackets::first_wanted(const DataQueue& queue, size_t from) {
  const auto found = std::find_if(queue.begin() + static_cast<ptrdiff_t>(from), queue.end(),
                                  [](const Data& data) { return !data.may_be_missing; });
  return found == queue.end() ? nullptr : &*found;
}

void ExpectedPackets::judge_data(const rdma::Packet& packet, const Reporter& reporter) {
  data_packets_++;
  if (packet.header.flags & formats::flag_retry) resent_packets_++;
  const auto ends = [&packet](const DataQueue& queue, size_t from) {
    return explanations_in(queue, from, packet);
  };
  if (data_.see(ends)) return;
  const auto& [resent, fresh] = *data_.explanations().begin();
  const auto head = [](const DataQueue& queue, size_t at) {
    const Data* wanted = first_wanted(queue, at);
    return wanted ? describe(wanted->header) : "nothing";
  };
  reporter.add(
      fmt::format("m_axis: DATA packet or its payload\n  expected {} (resent)\n        or {} (new)\n"
                  "  got      {}",
                  head(data_.resent(), resent), head(data_.fresh(), fresh), describe(packet.header)));
}

bool ExpectedPackets::empty() const {
  return receiver_control_.empty() && sender_control_.empty() && inbox_control_.empty() && left_.empty() &&
         std::ranges::any_of(data_.explanations(), [this](const auto& explanation) {
           return !first_wanted(data_.resent(), explanation.first) &&
                  !first_wanted(data_.fresh(), explanation.second);
         });
}

std::string ExpectedPackets::describe_missing() const {
  if (!receiver_control_.empty()) return describe(receiver_control_.front().packet.header);
  if (!sender_control_.empty()) return describe(sender_control_.front().header);
  if (!inbox_control_.empty()) return describe(inbox_control_.front().header);
  const auto& [resent, fresh] = *data_.explanations().rbegin();
  if (const Data* wanted = first_wanted(data_.resent(), resent)) return describe(wanted->header);
  if (const Data* wanted = first_wanted(data_.fresh(), fresh)) return describe(wanted->header);
  return "nothing";
}

}  // namespace weft::tb
