// SPDX-License-Identifier: Apache-2.0
// Bad packets at the network port: each has its outcome, changes nothing and writes nothing.
#include <map>

#include "engine_bench.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;
using formats::Header;
using formats::Outcome;
using formats::Ptype;

/// By name of the build.
class BadPackets : public testing::TestWithParam<std::string> {
 protected:
  BadPackets() : bench_(EngineBench::alone(GetParam())) {}
  ~BadPackets() override {
    bench_.run(100);
    bench_.system.check_counters();
    bench_.expect_no_findings();
  }

  Header data() {
    Header header = header_to_zero(Ptype::data);
    header.gen = 1;
    header.len = full_;
    return header;
  }

  Header data(uint16_t len) {
    Header header = data();
    header.len = len;
    return header;
  }

  /// A transfer of three packets, the last one of 24 bytes, from node 7; returns its CID.
  uint16_t granted() {
    Header request = header_to_zero(Ptype::rqt);
    request.pidx = 2u * full_ + 24;
    request.arg = destination_base;
    bench_.expect_outcome(flits_of(request), Outcome::grant);
    const rdma::Receiver& receiver = bench_.system.node(0).scoreboard().receiver();
    for (uint32_t cid = 0; cid < params_.n_rx_ctx; ++cid) {
      const auto index = static_cast<uint16_t>(cid);
      if (receiver.context(index).state == rdma::RxContext::State::active) return index;
    }
    ADD_FAILURE() << "nothing granted";
    return 0;
  }

  void expect_dropped(const Header& header, Outcome outcome) {
    const uint64_t written = bench_.written();
    bench_.expect_outcome(flits_of(header), outcome);
    EXPECT_EQ(bench_.written(), written);
  }

  EngineBench bench_;
  rdma::Params params_ = find_rdma_build(GetParam())->params;
  uint16_t full_ = static_cast<uint16_t>(params_.payload);  // bytes of a full packet
};

TEST_P(BadPackets, WrongCrc) {
  for (const size_t byte : {0u, 5u, 28u, 31u, 32u, 31u + full_}) {
    auto flits = flits_of(data());
    flits[byte] ^= 0x10;
    bench_.expect_outcome(flits, Outcome::drop_crc);
  }
}

TEST_P(BadPackets, Malformed) {
  const auto malformed = [&](const std::function<void(Header&)>& change, Ptype type = Ptype::data) {
    Header header = header_to_zero(type);
    change(header);
    const uint16_t payload = header.len;
    header.len = std::min<uint16_t>(payload, full_);
    auto flits = flits_of(header);
    Header changed = header;
    changed.len = payload;
    const auto packed = formats::pack(changed);
    std::copy(packed.begin(), packed.end(), flits.begin());
    bench_.expect_outcome(with_crc(flits), Outcome::drop_malformed);
  };
  for (const uint8_t type : {0, 8, 255}) malformed([&](Header& header) { header.ptype = type; }, Ptype::rqt);
  for (const uint8_t flags : {16, 0x40, 0xff})
    malformed([&](Header& header) { header.len = 32, header.flags = flags; });
  malformed([](Header& header) { header.len = 0; });
  malformed([this](Header& header) { header.len = static_cast<uint16_t>(full_ + 1); });
  malformed([](Header& header) { header.len = 0xffff; });
  for (const Ptype type : {Ptype::rqt, Ptype::rsp, Ptype::resend, Ptype::done, Ptype::release, Ptype::ack}) {
    malformed([](Header& header) { header.len = 32; }, type);
  }
}

TEST_P(BadPackets, NumbersWiderThanTheEngines) {
  const auto malformed = [this](Ptype type, const std::function<void(Header&)>& widen) {
    Header header = header_to_zero(type);
    if (type == Ptype::data) header.len = 32;
    const Header right = header;
    widen(header);
    if (!(header == right)) expect_dropped(header, Outcome::drop_malformed);
  };
  const auto bit = [](uint32_t width, uint32_t most) { return width < most ? 1u << width : 0u; };
  for (const Ptype type :
       {Ptype::rqt, Ptype::rsp, Ptype::data, Ptype::resend, Ptype::done, Ptype::release, Ptype::ack}) {
    SCOPED_TRACE(formats::name(type));
    malformed(type, [&](Header& h) { h.src = static_cast<uint16_t>(h.src | bit(params_.node_bits, 16)); });
    malformed(type, [&](Header& h) { h.sid = static_cast<uint16_t>(h.sid | bit(params_.sid_bits, 16)); });
    malformed(type, [&](Header& h) { h.msgid |= bit(params_.msgid_bits, 24); });
  }
  for (const Ptype type : {Ptype::rsp, Ptype::resend, Ptype::done, Ptype::ack}) {
    malformed(type, [&](Header& h) { h.cid = static_cast<uint16_t>(h.cid | bit(params_.cid_bits, 16)); });
  }
}

TEST_P(BadPackets, FlitsThatDoNotFitTheLength) {
  auto shorter = flits_of(data(33));
  shorter.resize(64);
  bench_.expect_outcome(with_crc(shorter), Outcome::drop_malformed);
  auto longer = flits_of(data(32));
  longer.resize(96);
  bench_.expect_outcome(with_crc(longer), Outcome::drop_malformed);
}

TEST_P(BadPackets, TooLongIsCutOff) {
  const size_t most = 1 + full_ / 32;
  for (const size_t flits : {most + 1, most + 2, 4 * most, 40 * most}) {
    std::vector<uint8_t> packet = flits_of(data());
    packet.resize(flits * 32, 0x5a);
    bench_.expect_outcome(with_crc(packet), Outcome::drop_malformed);
    bench_.run(2 * flits);
  }
  granted();  // and the engine still works
}

TEST_P(BadPackets, ForAnotherNode) {
  Header header = data();
  header.dst = 1;
  expect_dropped(header, Outcome::drop_not_mine);
  header.dst = 0x8000;
  expect_dropped(header, Outcome::drop_not_mine);
}

TEST_P(BadPackets, UnknownContext) {
  const auto contexts = static_cast<uint16_t>(params_.n_rx_ctx);
  for (const uint16_t cid : {0, 1, contexts - 1, +contexts, 0x8000, 0xffff}) {
    Header header = data();
    header.cid = cid;
    expect_dropped(header, Outcome::drop_unknown_cid);
    header = header_to_zero(Ptype::release);
    header.cid = cid;
    expect_dropped(header, Outcome::drop_unknown_cid);
  }
}

TEST_P(BadPackets, ForgedOrOld) {
  const uint16_t cid = granted();
  const auto forged = [&](Outcome reason, const std::function<void(Header&)>& change) {
    Header header = data();
    header.cid = cid;
    change(header);
    expect_dropped(header, reason);
    header = header_to_zero(Ptype::release);
    header.gen = 1;
    header.cid = cid;
    change(header);
    expect_dropped(header, reason);
  };
  forged(Outcome::drop_source, [](Header& header) { header.src = 8; });
  forged(Outcome::drop_sid, [](Header& header) { header.sid = 4; });
  forged(Outcome::drop_msgid, [](Header& header) { header.msgid = 6; });
  forged(Outcome::drop_zombie, [](Header& header) { header.gen = 0; });
  forged(Outcome::drop_zombie, [](Header& header) { header.gen = 2; });
}

TEST_P(BadPackets, PacketsThatDoNotFitTheTransfer) {
  const uint16_t cid = granted();
  const auto packet = [&](uint32_t pidx, uint16_t len, uint8_t flags) {
    Header header = data(len);
    header.cid = cid;
    header.pidx = pidx;
    header.flags = flags;
    return header;
  };
  const uint32_t wide = 1u << params_.pidx_bits;
  for (const uint32_t pidx : {3u, 4u, 100u, wide >> 1, wide, 0xffffffffu}) {
    expect_dropped(packet(pidx, full_, 0), Outcome::drop_beyond_end);
  }
  const auto shorter = static_cast<uint16_t>(full_ - 1);
  expect_dropped(packet(0, full_, formats::flag_last), Outcome::drop_last_mark);
  expect_dropped(packet(1, shorter, 0), Outcome::drop_bad_length);
  expect_dropped(packet(2, 24, 0), Outcome::drop_last_mark);
  expect_dropped(packet(2, 23, formats::flag_last), Outcome::drop_bad_length);
  expect_dropped(packet(2, full_, formats::flag_last), Outcome::drop_bad_length);
  if (params_.scheme == rdma::Scheme::sender_window) {  // likewise, and it does not mind
    for (int twice = 0; twice < 2; ++twice) {
      bench_.expect_outcome(flits_of(packet(0, full_, 0)), Outcome::accept);
      bench_.expect_outcome(flits_of(packet(2, 24, formats::flag_last)), Outcome::accept);
    }
    Header not_yet = header_to_zero(Ptype::release);
    not_yet.cid = cid;
    not_yet.gen = 2;
    not_yet.flags = formats::flag_retry;
    expect_dropped(not_yet, Outcome::drop_zombie);
    not_yet.gen = 1;
    expect_dropped(not_yet, Outcome::kept);
    not_yet.flags = 0;
    bench_.expect_outcome(flits_of(not_yet), Outcome::released);
    return;
  }
  if (params_.scheme == rdma::Scheme::receiver_counter) {  // it does not know which packets have come
    bench_.expect_outcome(flits_of(packet(0, full_, 0)), Outcome::advance);
    bench_.expect_outcome(flits_of(packet(0, full_, 0)), Outcome::advance);
    bench_.expect_outcome(flits_of(packet(2, 24, formats::flag_last)), Outcome::ask_from);
    return;
  }
  bench_.expect_outcome(flits_of(packet(2, 24, formats::flag_last)), Outcome::accept);
  expect_dropped(packet(2, 24, formats::flag_last), Outcome::drop_duplicate);
  bench_.expect_outcome(flits_of(packet(0, full_, 0)), Outcome::advance);
  expect_dropped(packet(0, full_, 0), Outcome::drop_duplicate);
  bench_.expect_outcome(flits_of(packet(1, full_, formats::flag_retry)), Outcome::finish);
  expect_dropped(packet(1, full_, 0), Outcome::drop_duplicate);
  EXPECT_EQ(bench_.written(), 2u * full_ + 24);
  Header release = header_to_zero(Ptype::release);
  release.cid = cid;
  release.gen = 1;
  bench_.expect_outcome(flits_of(release), Outcome::released);
  expect_dropped(release, Outcome::drop_unknown_cid);
}

TEST_P(BadPackets, RequestsRefused) {
  const auto request = [&](uint64_t address, uint32_t bytes) {
    Header header = header_to_zero(Ptype::rqt);
    header.pidx = bytes;
    header.arg = address;
    return header;
  };
  const uint64_t end = destination_base + region_bytes;
  const uint64_t bus = 1ull << params_.addr_bits;
  const uint32_t most = ((1u << params_.pidx_bits) - 1) * full_;  // bytes of the longest transfer
  expect_dropped(request(destination_base, 0), Outcome::refuse_length);
  expect_dropped(request(destination_base, 0xffffffff), Outcome::refuse_length);
  expect_dropped(request(destination_base, most + 1), Outcome::refuse_length);
  expect_dropped(request(destination_base + 1, full_), Outcome::refuse_align);
  expect_dropped(request(destination_base + full_ / 2, full_), Outcome::refuse_align);
  expect_dropped(request(destination_base - full_, full_), Outcome::refuse_region);
  expect_dropped(request(destination_base - full_, 2u * full_), Outcome::refuse_region);
  expect_dropped(request(end - full_, full_ + 1u), Outcome::refuse_region);
  expect_dropped(request(end, 1), Outcome::refuse_region);
  expect_dropped(request(0, full_), Outcome::refuse_region);
  expect_dropped(request(destination_base | bus, full_), Outcome::refuse_region);
  expect_dropped(request(-uint64_t{full_}, full_), Outcome::refuse_region);
  expect_dropped(request(-uint64_t{full_}, 2u * full_), Outcome::refuse_region);
  // a region at the end of the bus
  EXPECT_TRUE(bench_.write(reg::REGION_BASE_LO, static_cast<uint32_t>(bus - 16u * full_)));
  EXPECT_TRUE(bench_.write(reg::REGION_BASE_HI, static_cast<uint32_t>((bus - 16u * full_) >> 32)));
  EXPECT_TRUE(bench_.write(reg::REGION_LIMIT_LO, static_cast<uint32_t>(bus)));
  EXPECT_TRUE(bench_.write(reg::REGION_LIMIT_HI, static_cast<uint32_t>(bus >> 32)));
  EXPECT_TRUE(bench_.write(reg::REGION_SET, 0));
  expect_dropped(request(bus - full_, 2u * full_), Outcome::refuse_region);
  expect_dropped(request(bus, full_), Outcome::refuse_region);
  bench_.expect_outcome(flits_of(request(bus - full_, full_)), Outcome::grant);
}

TEST_P(BadPackets, NameARegionThatTheyMayNotWrite) {
  const auto last = static_cast<uint8_t>(params_.n_regions - 1);
  bench_.system.node(0).driver().set_region(last,
                                            {destination_base, destination_base + region_bytes, 0x5eed});
  bench_.run(200);
  Header request = header_to_zero(Ptype::rqt);
  request.pidx = 3u * full_;
  request.arg = destination_base;
  const auto refused = [&](uint8_t region, uint16_t key) {
    request.gen = region;
    request.cid = key;
    expect_dropped(request, Outcome::refuse_key);
  };
  refused(0, 1);
  refused(last, 0);
  refused(last, 0x5eec);
  refused(last, 0xdeed);
  refused(static_cast<uint8_t>(last + 1), 0x5eed);
  refused(255, 0x5eed);
  request.gen = last;
  request.cid = 0x5eed;
  bench_.expect_outcome(flits_of(request), Outcome::grant);
  Header packet = data();
  const rdma::Receiver& receiver = bench_.system.node(0).scoreboard().receiver();
  while (receiver.context(packet.cid).state == rdma::RxContext::State::free) ++packet.cid;
  expect_dropped(packet, Outcome::drop_key);  // region 0 and its key
  packet.arg = driver::rdma_rkey(last, 0x5eec);
  expect_dropped(packet, Outcome::drop_key);
  packet.arg = driver::rdma_rkey(static_cast<uint8_t>(last + 1), 0x5eed);
  expect_dropped(packet, Outcome::drop_key);
  packet.arg = driver::rdma_rkey(last, 0x5eed);
  const bool answers_each = params_.scheme == rdma::Scheme::sender_window;  // and keeps nothing of packets
  const Outcome takes = answers_each ? Outcome::accept : Outcome::advance;
  bench_.expect_outcome(flits_of(packet), takes);
  bench_.system.node(0).driver().set_region(last, {destination_base, destination_base + 2u * full_, 0x5eed});
  bench_.run(200);
  packet.pidx = 2;
  packet.flags = formats::flag_last;
  expect_dropped(packet, Outcome::drop_region);
  packet.pidx = 1;
  packet.flags = 0;
  bench_.expect_outcome(flits_of(packet), takes);
  bench_.system.node(0).driver().set_region(last, {});
  bench_.run(200);
  expect_dropped(packet, Outcome::drop_key);
}

TEST_P(BadPackets, SourceThatWantsMoreThanItsQuota) {
  EXPECT_TRUE(bench_.write(reg::RX_QUOTA, 2));
  Header request = header_to_zero(Ptype::rqt);
  request.pidx = 24;
  request.arg = destination_base;
  for (int grants = 0; grants < 2; ++grants) {
    bench_.expect_outcome(flits_of(request), Outcome::grant);
    ++request.msgid;
  }
  expect_dropped(request, Outcome::refuse_quota);
  request.src ^= 1;  // of another group
  bench_.expect_outcome(flits_of(request), Outcome::grant);
  request.src ^= 1;
  Header release = header_to_zero(Ptype::release);
  release.gen = 1;
  const rdma::Receiver& receiver = bench_.system.node(0).scoreboard().receiver();
  while (receiver.context(release.cid).state == rdma::RxContext::State::free) ++release.cid;
  bench_.expect_outcome(flits_of(release), Outcome::released);
  bench_.expect_outcome(flits_of(request), Outcome::grant);
  bench_.expect_outcome(flits_of(request), Outcome::grant_again);
  ++request.msgid;
  expect_dropped(request, Outcome::refuse_quota);
}

TEST_P(BadPackets, AnswersThatNobodyWaitsFor) {
  for (const Ptype type : {Ptype::rsp, Ptype::resend, Ptype::done, Ptype::ack}) {
    for (const uint32_t sid : {0u, params_.n_tx_ctx / 2, params_.n_tx_ctx - 1}) {
      Header header = header_to_zero(type);
      header.sid = static_cast<uint16_t>(sid);
      expect_dropped(header, Outcome::stale);
    }
  }
  Header refusal = header_to_zero(Ptype::rsp);
  refusal.arg = 4;
  expect_dropped(refusal, Outcome::stale);
}

TEST_P(BadPackets, SilentSenderIsForgotten) {
  EXPECT_TRUE(bench_.write(reg::RX_TIMEOUT, 20));
  EXPECT_TRUE(bench_.write(reg::MAX_SILENT, 3));
  granted();
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.count(Outcome::reclaim) == 1; }, 100'000));
  const std::map<rdma::Scheme, Outcome> asks = {{rdma::Scheme::receiver_window, Outcome::ask_map},
                                                {rdma::Scheme::receiver_counter, Outcome::ask_from},
                                                {rdma::Scheme::sender_window, Outcome::ask_one}};
  EXPECT_EQ(bench_.count(asks.at(params_.scheme)), 3u);
  bench_.expect_settled();
}

TEST_P(BadPackets, NoneIsTakenBeforeTheNodeNumberIsWritten) {
  bench_.system.reset();
  bench_.run(2 * params_.n_rx_ctx + 2 * params_.n_tx_ctx + 200);  // all is cleared
  Header request = header_to_zero(Ptype::rqt);
  request.pidx = 24;
  request.arg = destination_base;
  expect_dropped(request, Outcome::drop_not_mine);
  EXPECT_FALSE(bench_.write(reg::POST, 1)) << "nothing can be posted";
  bench_.start();
  bench_.expect_outcome(flits_of(request), Outcome::grant);
}

// Packets that come right after reset wait until they can be counted.
TEST_P(BadPackets, NoneIsLostWhileTheEngineIsCleared) {
  bench_.system.reset();
  for (int i = 0; i < 3; ++i) bench_.system.node(0).receive(flits_of(data()));
  bench_.start();
  bench_.run(100);
  EXPECT_EQ(bench_.count(Outcome::drop_not_mine) + bench_.count(Outcome::drop_unknown_cid), 3u);
}

std::vector<std::string> sizes() {
  std::vector<std::string> names;
  for (const RdmaBuild& build : rdma_builds()) {
    if (build.name != "broken" && build.name != "w64" && build.queues == 0) names.push_back(build.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Builds, BadPackets, testing::ValuesIn(sizes()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace weft::tb
