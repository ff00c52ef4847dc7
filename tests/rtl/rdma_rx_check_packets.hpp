// SPDX-License-Identifier: Apache-2.0
// Packets for rdma_rx_check, good ones and ones with a fault of every kind, and what has to become of them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "Vrdma_rx_check_bench.h"
#include "bench.hpp"
#include "common/pins.hpp"
#include "common/signals.hpp"
#include "rdma/packet.hpp"

namespace weft::rtl_test {

using RxCheckBench = Bench<Vrdma_rx_check_bench>;
using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using Bytes = std::vector<uint8_t>;
using Beats = std::vector<tb::AxisBeat>;

/// One instance in rdma_rx_check_bench.sv.
struct RxCheckLane {
  uint8_t index;
  unsigned bytes;      // of a beat
  rdma::Params sizes;  // payload and the widths of the numbers

  friend std::ostream& operator<<(std::ostream& out, const RxCheckLane& lane) {
    return out << "lane " << int{lane.index};
  }
};

/// The first two have a buffer deep enough for a beat a clock.
inline const std::array<RxCheckLane, 6> rx_check_lanes{{
    {0, 32, {}},
    {1, 64, {}},
    {2, 32, {.payload = 32, .msgid_bits = 7, .node_bits = 3, .sid_bits = 4, .cid_bits = 5}},
    {3, 64, {.payload = 128, .msgid_bits = 23, .node_bits = 12, .sid_bits = 15, .cid_bits = 1}},
    {4, 32, {.transfers = true}},
    {5,
     64,
     {.payload = 128, .msgid_bits = 23, .node_bits = 12, .sid_bits = 15, .cid_bits = 1, .transfers = true}},
}};

inline std::string rx_check_lane_name(const testing::TestParamInfo<RxCheckLane>& info) {
  return "beat" + std::to_string(info.param.bytes) + "payload" + std::to_string(info.param.sizes.payload) +
         (info.param.sizes.transfers ? "transfers" : "");
}

enum class Fault {
  none,
  wrong_crc,
  unknown_type,
  type_of_transfers,  // is none in a lane that has them, like the next
  flag_of_transfers,
  wide_src,
  wide_sid,
  wide_msgid,
  wide_cid,  // is none in a packet for the receiver
  len_beyond_payload,
  other_flits,
  empty_data,
  control_with_payload,
  too_long,
  not_mine,
  keep_part_of_flit,
  keep_without_first_flit,
  keep_not_full,
  keep_empty_beats,
  count
};

/// What has to come out for a packet.
struct Expected {
  Bytes header;  // as it came
  Outcome verdict;
  Bytes payload;  // empty unless the verdict is fine
};

/// Whole flits from the lowest lane on, and all of them before the last beat.
inline bool keep_is_fine(const tb::AxisBeat& beat, unsigned bytes) {
  const auto count = static_cast<unsigned>(std::popcount(beat.keep));
  return count > 0 && count % rdma::flit_bytes == 0 && beat.keep == tb::masked(~uint64_t{0}, count) &&
         (beat.last || count == bytes);
}

/// From the beats alone, whatever fault they were made with. No node: its number was not written.
inline Expected expected_of(const Beats& beats, const RxCheckLane& lane, std::optional<uint16_t> node) {
  const auto& first = beats.front().data;
  Expected expected{{first.begin(), first.begin() + rdma::flit_bytes}, Outcome::none, {}};
  Bytes flits;
  for (const tb::AxisBeat& beat : beats) {
    if (!keep_is_fine(beat, lane.bytes)) {
      expected.verdict = Outcome::drop_malformed;
      return expected;
    }
    flits.insert(flits.end(), beat.data.begin(), beat.data.begin() + std::popcount(beat.keep));
  }
  rdma::Arrival arrival = rdma::check_arrival(flits, lane.sizes, node);
  expected.verdict = arrival.verdict;
  expected.payload = std::move(arrival.packet.payload);
  return expected;
}

inline constexpr std::array control_types{Ptype::rqt, Ptype::rsp, Ptype::resend, Ptype::done, Ptype::release};

/// Makes random packets for one lane.
class RxCheckPackets {
 public:
  RxCheckPackets(RxCheckBench& bench, const RxCheckLane& lane) : bench_(bench), lane_(lane) {}

  /// With these faults, one after the other on the same packet.
  Beats make(uint16_t node, const std::vector<Fault>& faults) {
    Bytes flits = good(node, random_len());
    for (const Fault fault : faults) {
      spoil_size(flits, fault);
      edit(flits, [&](Header& header) { spoil_header(header, fault); });
    }
    seal(flits);
    if (std::ranges::find(faults, Fault::wrong_crc) != faults.end()) {
      flits[below(flits.size())] ^= static_cast<uint8_t>(1 << below(8));
    }
    Beats beats = split(flits);
    for (const Fault fault : faults) spoil_keep(beats, fault);
    return beats;
  }

  /// DATA with so many bytes, or any other packet if that is 0.
  Beats make_good(uint16_t node, unsigned len) { return split(good(node, len)); }

  /// `count` beats with this keep, none of them the last, to be put in front of a packet.
  Beats endless(unsigned count, uint64_t keep) {
    Beats beats(count, tb::AxisBeat{{}, keep, false});
    for (tb::AxisBeat& beat : beats) fill(beat, 0);
    return beats;
  }

 private:
  uint64_t below(uint64_t limit) { return bench_.below(limit); }
  uint8_t random_byte() { return static_cast<uint8_t>(below(256)); }
  uint64_t number(unsigned bits) { return below(uint64_t{1} << bits); }

  Bytes good(uint16_t node, unsigned len) {
    rdma::Packet packet;
    Header& header = packet.header;
    const Ptype control = control_types[below(control_types.size())];
    header.ptype = static_cast<uint8_t>(len > 0 ? Ptype::data : control);
    header.flags = static_cast<uint8_t>(below(256) & rdma::formats::flag_all);
    header.dst = node;
    header.src = static_cast<uint16_t>(number(lane_.sizes.node_bits));
    header.sid = static_cast<uint16_t>(number(lane_.sizes.sid_bits));
    header.cid = static_cast<uint16_t>(number(rdma::for_sender(header) ? lane_.sizes.cid_bits : 16));
    header.gen = random_byte();
    header.msgid = static_cast<uint32_t>(number(lane_.sizes.msgid_bits));
    header.len = static_cast<uint16_t>(len);
    header.pidx = static_cast<uint32_t>(number(32));
    header.arg = number(32) << 32 | number(32);
    packet.payload.resize(len);
    for (uint8_t& byte : packet.payload) byte = random_byte();
    return rdma::encode(packet);
  }

  /// Half of them DATA, of these some full and some of one byte to one flit.
  unsigned random_len() {
    const unsigned payload = lane_.sizes.payload;
    const unsigned most = bench_.chance(30) ? rdma::flit_bytes : payload;
    if (bench_.chance(50)) return 0;
    return bench_.chance(30) ? payload : static_cast<unsigned>(1 + below(most));
  }

  /// Header as it is in these flits, changed.
  static void edit(Bytes& flits, const auto& change) {
    Header header =
        rdma::formats::unpack(std::span<uint8_t, rdma::flit_bytes>(flits.data(), rdma::flit_bytes));
    change(header);
    std::ranges::copy(rdma::formats::pack(header), flits.begin());
  }

  static void seal(Bytes& flits) {
    edit(flits, [](Header& header) { header.crc = 0; });
    const uint32_t crc = rdma::crc32c(flits);
    edit(flits, [crc](Header& header) { header.crc = crc; });
  }

  void resize(Bytes& flits, uint64_t count) {
    const std::size_t old = flits.size();
    flits.resize(count * rdma::flit_bytes);
    for (std::size_t i = old; i < flits.size(); ++i) flits[i] = random_byte();
  }

  /// Number of flits, and what the header has to say of them for the fault to be the only one.
  void spoil_size(Bytes& flits, Fault fault) {
    const uint64_t full = lane_.sizes.payload / rdma::flit_bytes;
    const uint64_t count = 1 + below(full);
    if (fault == Fault::other_flits) resize(flits, count + below(2));
    if (fault == Fault::too_long) resize(flits, 2 + full + below(2 + 2 * full));
    if (fault == Fault::empty_data) resize(flits, 1 + below(2));
    if (fault == Fault::control_with_payload) {
      resize(flits, 1 + count);
      const uint64_t len = count * rdma::flit_bytes - below(rdma::flit_bytes);
      edit(flits, [len](Header& header) { header.len = static_cast<uint16_t>(len); });
    }
  }

  /// One of the bits from `from` on in a field of `width` bits, if there is one.
  uint32_t wide(unsigned from, unsigned width) {
    return from < width ? 1u << (from + static_cast<unsigned>(below(width - from))) : 0;
  }

  uint16_t len_beyond_payload() {
    const uint64_t any = lane_.sizes.payload + 1 + below(0xffff - lane_.sizes.payload);
    return static_cast<uint16_t>(
        std::array{lane_.sizes.payload + uint64_t{1}, uint64_t{0xffff}, any}[below(3)]);
  }

  void spoil_header(Header& header, Fault fault) {
    const rdma::Params& sizes = lane_.sizes;
    const auto or16 = [](uint16_t& field, uint32_t bits) { field = static_cast<uint16_t>(field | bits); };
    const auto set_type = [&](Ptype type) { header.ptype = static_cast<uint8_t>(type); };
    if (fault == Fault::unknown_type) set_type(static_cast<Ptype>(bench_.chance(30) ? 0 : 7 + below(249)));
    if (fault == Fault::type_of_transfers) set_type(Ptype::read);
    if (fault == Fault::flag_of_transfers) header.flags = static_cast<uint8_t>(header.flags | wide(4, 7));
    if (fault == Fault::wide_src) or16(header.src, wide(sizes.node_bits, 16));
    if (fault == Fault::wide_sid) or16(header.sid, wide(sizes.sid_bits, 16));
    if (fault == Fault::wide_msgid) header.msgid |= wide(sizes.msgid_bits, 24);
    if (fault == Fault::wide_cid) or16(header.cid, wide(sizes.cid_bits, 16));
    if (fault == Fault::len_beyond_payload) header.len = len_beyond_payload();
    if (fault == Fault::not_mine) header.dst ^= static_cast<uint16_t>(wide(0, 16));
    if (fault == Fault::control_with_payload) set_type(control_types[below(control_types.size())]);
    if (fault == Fault::empty_data) {
      set_type(Ptype::data);
      header.len = 0;
    }
  }

  /// Lanes that do not count hold nonsense.
  void fill(tb::AxisBeat& beat, std::size_t from) {
    for (std::size_t i = from; i < lane_.bytes; ++i) beat.data[i] = random_byte();
  }

  Beats split(const Bytes& flits) {
    Beats beats;
    for (std::size_t at = 0; at < flits.size(); at += lane_.bytes) {
      const auto count = static_cast<unsigned>(std::min<std::size_t>(lane_.bytes, flits.size() - at));
      tb::AxisBeat& beat = beats.emplace_back();
      std::copy_n(flits.begin() + static_cast<std::ptrdiff_t>(at), count, beat.data.begin());
      fill(beat, count);
      beat.keep = tb::masked(~uint64_t{0}, count);
      beat.last = at + count == flits.size();
    }
    return beats;
  }

  void spoil_keep(Beats& beats, Fault fault) {
    constexpr uint64_t flit = 0xffffffff;
    tb::AxisBeat& some = beats[below(beats.size())];
    const auto in_front = [&](unsigned count, uint64_t keep) {
      const auto where = beats.begin() + static_cast<std::ptrdiff_t>(below(beats.size()));
      const Beats more = endless(count, keep);
      beats.insert(where, more.begin(), more.end());
    };
    if (fault == Fault::keep_part_of_flit) some.keep ^= uint64_t{1} << below(lane_.bytes);
    if (fault == Fault::keep_without_first_flit) some.keep &= ~flit;
    if (fault == Fault::keep_not_full) in_front(1, lane_.bytes > rdma::flit_bytes ? flit : flit >> 16);
    if (fault == Fault::keep_empty_beats) in_front(1 + static_cast<unsigned>(below(20)), 0);
  }

  RxCheckBench& bench_;
  RxCheckLane lane_;
};

}  // namespace weft::rtl_test
