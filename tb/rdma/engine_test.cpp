// SPDX-License-Identifier: Apache-2.0
// Whole-engine tests: random traffic in lockstep with the golden model, resets, and directed bad input.
#include "common/signals.hpp"
#include "engine_bench.hpp"

namespace weft::tb {
namespace {

namespace formats = rdma::formats;
namespace reg = rdma::formats::reg;
using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::Status;

// --- Random traffic
// --------------------------------------------------------------------------------------------------

/// Draws a configuration from a seed.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, 99) {}
  uint64_t below(uint64_t bound) { return random_.below(bound); }
  double sometimes(double most) {
    return random_.chance(0.5) ? 0 : most * static_cast<double>(below(1000)) / 1000;
  }

 private:
  RandomStream random_;
};

/// Any build but the one that is wrong on purpose.
const RdmaBuild& random_build(Draw& draw) {
  std::vector<const RdmaBuild*> sound;
  for (const RdmaBuild& build : rdma_builds()) {
    if (build.name != "broken") sound.push_back(&build);
  }
  return *sound[draw.below(sound.size())];
}

SystemConfig random_config(Draw& draw, uint64_t seed) {
  SystemConfig config;
  config.seed = seed;
  config.nodes = static_cast<uint32_t>(1 + draw.below(3));
  config.node.build = random_build(draw);
  config.node.pause = draw.sometimes(0.6);
  config.node.memory_latency = static_cast<uint32_t>(1 + draw.below(60));
  config.node.memory_jitter = static_cast<uint32_t>(draw.below(60));
  config.faults.loss = draw.sometimes(0.08);
  config.faults.duplicate = draw.sometimes(0.2);
  config.faults.corrupt = draw.sometimes(0.05);
  config.faults.reorder_degree = static_cast<uint32_t>(draw.sometimes(300));
  config.faults.delay = static_cast<uint32_t>(1 + draw.below(300));
  config.faults.jitter = static_cast<uint32_t>(draw.below(300));
  config.faults.duplicate_lag = static_cast<uint32_t>(1 + draw.below(5000));
  return config;
}

driver::RdmaSetup random_setup(Draw& draw) {
  driver::RdmaSetup setup = EngineBench::usual_setup();
  // TX_DEAD (8191 ticks) must outlast a receiver that asks until MAX_SILENT: docs/rdma.md, Programmer's guide
  setup.tick_cycles = static_cast<uint16_t>(12 + draw.below(21));
  setup.rx_timeout = static_cast<uint16_t>((1000 + draw.below(4000)) / setup.tick_cycles + 1);
  setup.tx_retry = static_cast<uint16_t>((1000 + draw.below(4000)) / setup.tick_cycles + 1);
  setup.ask_from_after = static_cast<uint8_t>(draw.below(4));
  return setup;
}

std::vector<uint8_t> random_bytes(Draw& draw, uint64_t count) {
  std::vector<uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(draw.below(256));
  return bytes;
}

/// Transfers of random lengths from every node to random nodes, each to a place of its own.
class RandomTraffic {
 public:
  RandomTraffic(EngineBench& bench, Draw& draw, uint32_t transfers_per_node) : bench_(bench) {
    constexpr uint64_t slot = 16384;
    for (uint32_t node = 0; node < bench.system.size(); ++node) {
      for (uint32_t tag = 0; tag < transfers_per_node; ++tag) {
        const auto target = static_cast<uint32_t>(draw.below(bench.system.size()));
        const uint64_t place = (node * transfers_per_node + tag) * slot;
        const uint64_t most = draw.below(4) == 0 ? slot : 2000;
        transfers_.push_back({node, target, static_cast<uint16_t>(tag), source_base + place,
                              destination_base + place, random_bytes(draw, 1 + draw.below(most))});
      }
    }
  }

  void post() {
    for (const Transfer& each : transfers_) {
      RdmaNode& node = bench_.system.node(each.node);
      node.memory().memory().write(each.source, each.bytes);
      node.driver().post(
          {each.source, each.destination, static_cast<uint32_t>(each.bytes.size()), each.target, each.tag});
    }
  }

  bool complete() const {
    for (const Transfer& each : transfers_) {
      if (!bench_.completions[each.node].contains(each.tag)) return false;
    }
    return true;
  }

  /// Every transfer that is reported as done must be there to the last byte.
  void expect_bytes() const {
    for (const Transfer& each : transfers_) {
      const auto& done = bench_.completions[each.node];
      ASSERT_TRUE(done.contains(each.tag)) << "transfer " << each.tag << " of node " << each.node;
      EXPECT_EQ(formats::name(done.at(each.tag)), "OK");
      const HostMemory& memory = bench_.system.node(each.target).memory().memory();
      EXPECT_TRUE(memory.equals(each.destination, each.bytes))
          << "transfer " << each.tag << " of node " << each.node;
    }
  }

 private:
  struct Transfer {
    uint32_t node, target;
    uint16_t tag;
    uint64_t source, destination;
    std::vector<uint8_t> bytes;
  };
  EngineBench& bench_;
  std::vector<Transfer> transfers_;
};

class Random : public testing::TestWithParam<uint64_t> {};

TEST_P(Random, TrafficIsAsTheGoldenModelSays) {
  Draw draw(GetParam());
  const SystemConfig config = random_config(draw, GetParam());
  SCOPED_TRACE("build " + config.node.build.name);
  EngineBench bench(config, random_setup(draw));
  RandomTraffic traffic(bench, draw, static_cast<uint32_t>(1 + draw.below(20)));
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
}

TEST_P(Random, ResetInTheMiddleLeavesNothingBehind) {
  Draw draw(GetParam() + 1000);
  const SystemConfig config = random_config(draw, GetParam());
  SCOPED_TRACE("build " + config.node.build.name);
  EngineBench bench(config, random_setup(draw));
  RandomTraffic broken(bench, draw, 12);
  broken.post();
  bench.run(draw.below(8000));
  bench.expect_no_findings();
  bench.system.reset();
  for (auto& of_node : bench.completions) of_node.clear();
  bench.start();
  RandomTraffic traffic(bench, draw, 12);
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000)) << "hang";
  bench.expect_settled();
  traffic.expect_bytes();
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range<uint64_t>(1, 101));

// --- Bad packets
// -----------------------------------------------------------------------------------------------------

class BadPackets : public testing::Test {
 protected:
  BadPackets() : bench_(EngineBench::alone()) {}
  ~BadPackets() override {
    bench_.run(100);
    bench_.system.check_counters();
    bench_.expect_no_findings();
  }

  Header data(uint16_t len = 256) {
    Header header = header_to_zero(Ptype::data);
    header.gen = 1;
    header.len = len;
    return header;
  }

  /// A transfer of three packets, 600 bytes, from node 7; returns its CID.
  uint16_t granted() {
    Header request = header_to_zero(Ptype::rqt);
    request.pidx = 600;
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
  rdma::Params params_ = find_rdma_build("w32")->params;
};

TEST_F(BadPackets, WrongCrc) {
  for (const size_t byte : {0u, 5u, 28u, 31u, 32u, 287u}) {
    auto flits = flits_of(data());
    flits[byte] ^= 0x10;
    bench_.expect_outcome(flits, Outcome::drop_crc);
  }
}

TEST_F(BadPackets, Malformed) {
  const auto malformed = [&](const std::function<void(Header&)>& change, Ptype type = Ptype::data) {
    Header header = header_to_zero(type);
    change(header);
    const uint16_t payload = header.len;
    header.len = std::min<uint16_t>(payload, 256);
    auto flits = flits_of(header);
    Header changed = header;
    changed.len = payload;
    const auto packed = formats::pack(changed);
    std::copy(packed.begin(), packed.end(), flits.begin());
    bench_.expect_outcome(with_crc(flits), Outcome::drop_malformed);
  };
  for (const uint8_t type : {0, 7, 255}) malformed([&](Header& header) { header.ptype = type; }, Ptype::rqt);
  for (const uint8_t flags : {8, 0x80, 0xff})
    malformed([&](Header& header) { header.len = 32, header.flags = flags; });
  malformed([](Header& header) { header.len = 0; });
  malformed([](Header& header) { header.len = 257; });
  malformed([](Header& header) { header.len = 0xffff; });
  for (const Ptype type : {Ptype::rqt, Ptype::rsp, Ptype::resend, Ptype::done, Ptype::release}) {
    malformed([](Header& header) { header.len = 32; }, type);
  }
}

TEST_F(BadPackets, FlitsThatDoNotFitTheLength) {
  auto shorter = flits_of(data(64));
  shorter.resize(64);
  bench_.expect_outcome(with_crc(shorter), Outcome::drop_malformed);
  auto longer = flits_of(data(64));
  longer.resize(128);
  bench_.expect_outcome(with_crc(longer), Outcome::drop_malformed);
}

TEST_F(BadPackets, TooLongIsCutOff) {
  for (const size_t flits : {10u, 11u, 40u, 300u}) {
    std::vector<uint8_t> packet = flits_of(data());
    packet.resize(flits * 32, 0x5a);
    bench_.expect_outcome(with_crc(packet), Outcome::drop_malformed);
    bench_.run(2 * flits);
  }
  granted();  // and the engine still works
}

TEST_F(BadPackets, ForAnotherNode) {
  Header header = data();
  header.dst = 1;
  expect_dropped(header, Outcome::drop_not_mine);
  header.dst = 0x8000;
  expect_dropped(header, Outcome::drop_not_mine);
}

TEST_F(BadPackets, UnknownContext) {
  for (const uint16_t cid : {0, 1, 1023, 1024, 0x8000, 0xffff}) {
    Header header = data();
    header.cid = cid;
    expect_dropped(header, Outcome::drop_unknown_cid);
    header = header_to_zero(Ptype::release);
    header.cid = cid;
    expect_dropped(header, Outcome::drop_unknown_cid);
  }
}

TEST_F(BadPackets, ForgedOrOld) {
  const uint16_t cid = granted();
  const auto forged = [&](const std::function<void(Header&)>& change) {
    Header header = data();
    header.cid = cid;
    change(header);
    expect_dropped(header, Outcome::drop_zombie);
    header = header_to_zero(Ptype::release);
    header.gen = 1;
    header.cid = cid;
    change(header);
    expect_dropped(header, Outcome::drop_zombie);
  };
  forged([](Header& header) { header.src = 8; });
  forged([](Header& header) { header.src = 0x8007; });
  forged([](Header& header) { header.sid = 4; });
  forged([](Header& header) { header.sid |= 0x8000; });  // wider than any SID
  forged([](Header& header) { header.msgid = 6; });
  forged([](Header& header) { header.msgid |= 1u << 23; });  // wider than any MSGID
  forged([](Header& header) { header.gen = 0; });
  forged([](Header& header) { header.gen = 2; });
}

TEST_F(BadPackets, PacketsThatDoNotFitTheTransfer) {
  const uint16_t cid = granted();
  const auto packet = [&](uint32_t pidx, uint16_t len, uint8_t flags) {
    Header header = data(len);
    header.cid = cid;
    header.pidx = pidx;
    header.flags = flags;
    return header;
  };
  for (const uint32_t pidx : {3u, 4u, 100u, 1u << 23, 1u << 24, 0xffffffffu}) {
    expect_dropped(packet(pidx, 256, 0), Outcome::drop_beyond_end);
  }
  expect_dropped(packet(0, 256, formats::flag_last), Outcome::drop_bad_length);
  expect_dropped(packet(1, 255, 0), Outcome::drop_bad_length);
  expect_dropped(packet(2, 88, 0), Outcome::drop_bad_length);
  expect_dropped(packet(2, 87, formats::flag_last), Outcome::drop_bad_length);
  expect_dropped(packet(2, 256, formats::flag_last), Outcome::drop_bad_length);
  bench_.expect_outcome(flits_of(packet(2, 88, formats::flag_last)), Outcome::accept);
  expect_dropped(packet(2, 88, formats::flag_last), Outcome::drop_duplicate);
  bench_.expect_outcome(flits_of(packet(0, 256, 0)), Outcome::advance);
  expect_dropped(packet(0, 256, 0), Outcome::drop_duplicate);
  bench_.expect_outcome(flits_of(packet(1, 256, formats::flag_retry)), Outcome::finish);
  expect_dropped(packet(1, 256, 0), Outcome::drop_duplicate);
  EXPECT_EQ(bench_.written(), 600u);
  Header release = header_to_zero(Ptype::release);
  release.cid = cid;
  release.gen = 1;
  bench_.expect_outcome(flits_of(release), Outcome::released);
  expect_dropped(release, Outcome::drop_unknown_cid);
}

TEST_F(BadPackets, RequestsRefused) {
  const auto request = [&](uint64_t address, uint32_t bytes) {
    Header header = header_to_zero(Ptype::rqt);
    header.pidx = bytes;
    header.arg = address;
    return header;
  };
  const uint64_t end = destination_base + region_bytes;
  expect_dropped(request(destination_base, 0), Outcome::refuse_length);
  expect_dropped(request(destination_base, 0xffffffff), Outcome::refuse_length);
  expect_dropped(request(destination_base, 0xffffff00), Outcome::refuse_region);
  expect_dropped(request(destination_base + 1, 256), Outcome::refuse_align);
  expect_dropped(request(destination_base + 32, 256), Outcome::refuse_align);
  expect_dropped(request(destination_base - 256, 256), Outcome::refuse_region);
  expect_dropped(request(destination_base - 256, 512), Outcome::refuse_region);
  expect_dropped(request(end - 256, 257), Outcome::refuse_region);
  expect_dropped(request(end, 1), Outcome::refuse_region);
  expect_dropped(request(0, 256), Outcome::refuse_region);
  expect_dropped(request(destination_base | 1ull << 48, 256), Outcome::refuse_region);
  expect_dropped(request(0xffff'ffff'ffff'ff00, 256), Outcome::refuse_region);
  expect_dropped(request(0xffff'ffff'ffff'ff00, 512), Outcome::refuse_region);
  bench_.expect_outcome(flits_of(request(end - 256, 256)), Outcome::grant);
}

TEST_F(BadPackets, AnswersThatNobodyWaitsFor) {
  for (const Ptype type : {Ptype::rsp, Ptype::resend, Ptype::done}) {
    for (const uint16_t sid : {0, 1023, 1024, 0xffff}) {
      Header header = header_to_zero(type);
      header.sid = sid;
      expect_dropped(header, Outcome::stale);
    }
  }
  Header refusal = header_to_zero(Ptype::rsp);
  refusal.arg = 4;
  expect_dropped(refusal, Outcome::stale);
}

TEST_F(BadPackets, SilentSenderIsForgotten) {
  EXPECT_TRUE(bench_.write(reg::RX_TIMEOUT, 20));
  EXPECT_TRUE(bench_.write(reg::MAX_SILENT, 3));
  granted();
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.count(Outcome::reclaim) == 1; }, 100'000));
  EXPECT_EQ(bench_.count(Outcome::ask_one), 3u);
  bench_.expect_settled();
}

// --- Posts
// -----------------------------------------------------------------------------------------------------------

class Posts : public testing::Test {
 protected:
  Posts() : bench_(EngineBench::alone()) {}

  void expect_status(const driver::RdmaRequest& request, Status status, Outcome outcome) {
    const uint64_t before = bench_.count(outcome);
    bench_.completions[0].clear();
    bench_.system.node(0).driver().post(request);
    EXPECT_TRUE(
        bench_.system.run_until([&] { return bench_.completions[0].contains(request.tag); }, 500'000));
    EXPECT_EQ(formats::name(bench_.completions[0][request.tag]), formats::name(status));
    EXPECT_EQ(bench_.count(outcome), before + 1);
  }

  EngineBench bench_;
};

TEST_F(Posts, Rejected) {
  const uint64_t d = destination_base;
  const uint64_t s = source_base;
  expect_status({s, d, 256, 0x10000, 1}, Status::bad_node, Outcome::reject_node);
  expect_status({s, d, 256, 0xffffffff, 2}, Status::bad_node, Outcome::reject_node);
  expect_status({s, d, 0, 0, 3}, Status::bad_length, Outcome::reject_length);
  expect_status({s, d, 0xffffffff, 0, 4}, Status::bad_length, Outcome::reject_length);
  expect_status({s + 1, d, 256, 0, 5}, Status::misaligned, Outcome::reject_align);
  expect_status({s, d + 128, 256, 0, 6}, Status::misaligned, Outcome::reject_align);
  expect_status({1ull << 48, d, 256, 0, 7}, Status::bad_address, Outcome::reject_address);
  expect_status({(1ull << 48) - 256, d, 257, 0, 8}, Status::bad_address, Outcome::reject_address);
  expect_status({s, (1ull << 48) - 256, 512, 0, 9}, Status::bad_address, Outcome::reject_address);
  expect_status({s, 0xffff'ffff'ffff'ff00, 512, 0, 10}, Status::bad_address, Outcome::reject_address);
  EXPECT_EQ(bench_.system.node(0).scoreboard().packets().packets(), 0u);
  bench_.expect_settled();
}

TEST_F(Posts, RefusedByTheReceiver) {
  expect_status({source_base, destination_base + region_bytes, 256, 0, 1}, Status::bad_region,
                Outcome::refused);
  expect_status({source_base, destination_base - 256, 512, 0, 2}, Status::bad_region, Outcome::refused);
  EXPECT_EQ(bench_.written(), 0u);
  bench_.expect_settled();
}

TEST_F(Posts, ToItself) {
  const std::vector<uint8_t> bytes(1000, 0x3c);
  bench_.system.node(0).memory().memory().write(source_base, bytes);
  expect_status({source_base, destination_base, 1000, 0, 1}, Status::ok, Outcome::complete);
  EXPECT_TRUE(bench_.system.node(0).memory().memory().equals(destination_base, bytes));
  bench_.expect_settled();
}

TEST_F(Posts, NobodyAnswers) {
  EXPECT_TRUE(bench_.write(reg::TX_RETRY, 20));
  EXPECT_TRUE(bench_.write(reg::MAX_RETRY, 2));
  expect_status({source_base, destination_base, 1000, 7, 1}, Status::no_answer, Outcome::give_up);
  EXPECT_EQ(bench_.count(Outcome::retry_rqt), 2u);
  bench_.expect_settled();
}

TEST_F(Posts, PeerFallsSilent) {
  EXPECT_TRUE(bench_.write(reg::TX_DEAD, 50));
  bench_.system.node(0).driver().post({source_base, destination_base, 1000, 7, 1});
  bench_.run(500);
  Header response = header_to_zero(Ptype::rsp);
  response.sid = 0;
  response.msgid = 0;
  response.cid = 9;
  response.gen = 4;
  const rdma::Sender& sender = bench_.system.node(0).scoreboard().sender();
  for (uint16_t sid = 0; sid < 1024; ++sid) {
    if (sender.context(sid).state != rdma::TxContext::State::free) response.sid = sid;
  }
  bench_.system.node(0).receive(flits_of(response));
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.completions[0].contains(1); }, 100'000));
  EXPECT_EQ(formats::name(bench_.completions[0][1]), "DEAD_PEER");
  EXPECT_EQ(bench_.count(Outcome::send), 4u);
  bench_.expect_settled();
}

TEST_F(Posts, SourceThatCannotBeReadIsNotSent) {
  EXPECT_TRUE(bench_.write(reg::RX_TIMEOUT, 60));
  AxiMemory& memory = bench_.system.node(0).memory();
  const std::vector<uint8_t> bytes(2000, 0x77);
  memory.memory().write(source_base, bytes);
  memory.inject_errors(source_base + 512, source_base + 513);
  bench_.system.node(0).driver().post({source_base, destination_base, 2000, 0, 1});
  bench_.run(1500);
  EXPECT_FALSE(bench_.completions[0].contains(1));
  EXPECT_GT(bench_.read(reg::BUS_ERRORS), 0u);
  EXPECT_EQ(bench_.read(reg::BUS_ERRORS), memory.errors());
  EXPECT_EQ(bench_.read(reg::IRQ_STATUS) & 2u, 2u);
  memory.inject_errors(0, 0);
  EXPECT_TRUE(bench_.system.run_until([&] { return bench_.completions[0].contains(1); }, 500'000));
  EXPECT_TRUE(memory.memory().equals(destination_base, bytes));
  bench_.expect_settled();
}

// --- Registers
// -------------------------------------------------------------------------------------------------------

class Registers : public testing::Test {
 protected:
  Registers() : bench_(EngineBench::alone()) {}
  ~Registers() override { bench_.expect_no_findings(); }
  EngineBench bench_;
};

TEST_F(Registers, Identity) {
  EXPECT_EQ(bench_.read(reg::ID), formats::reset::ID);
  EXPECT_EQ(bench_.read(reg::VERSION), formats::reset::VERSION);
  EXPECT_EQ(bench_.read(reg::CAPS0), 32u << 16 | 256u);
  EXPECT_EQ(bench_.read(reg::CAPS1), 1024u << 16 | 1024u);
  EXPECT_EQ(bench_.read(reg::STATUS) & 1u, 1u);
}

TEST_F(Registers, HoldWhatIsWrittenWithinTheirWidth) {
  const std::vector<std::pair<uint32_t, int>> writable = {
      {reg::IRQ_ENABLE, formats::width::IRQ_ENABLE},
      {reg::REGION_BASE_LO, 32},
      {reg::REGION_BASE_HI, 32},
      {reg::REGION_LIMIT_LO, 32},
      {reg::REGION_LIMIT_HI, 32},
      {reg::TICK_CYCLES, formats::width::TICK_CYCLES},
      {reg::RX_TIMEOUT, formats::width::RX_TIMEOUT},
      {reg::TX_RETRY, formats::width::TX_RETRY},
      {reg::TX_DEAD, formats::width::TX_DEAD},
      {reg::ASK_FROM_AFTER, formats::width::ASK_FROM_AFTER},
      {reg::MAX_SILENT, formats::width::MAX_SILENT},
      {reg::MAX_RETRY, formats::width::MAX_RETRY},
      {reg::POST_SRC_LO, 32},
      {reg::POST_SRC_HI, 32},
      {reg::POST_DST_LO, 32},
      {reg::POST_DST_HI, 32},
      {reg::POST_BYTES, 32},
      {reg::POST_NODE, 32},
      {reg::NODE_ID, formats::width::NODE_ID},
  };
  for (const auto& [address, width] : writable) {
    for (const uint32_t value : {0xffffffffu, 0xa5a5a5a5u, 0u}) {
      EXPECT_TRUE(bench_.write(address, value)) << address;
      EXPECT_EQ(bench_.read(address), masked(value, static_cast<uint32_t>(width))) << address;
    }
  }
}

TEST_F(Registers, BadAccessesAnswerAnErrorAndChangeNothing) {
  uint32_t bad = 0;
  EXPECT_EQ(bench_.read(reg::BAD_ACCESS), bad);
  for (const uint32_t hole : {0x058u, 0x05cu, 0x084u, 0x3fcu, 0x500u, 0xffcu}) {
    EXPECT_FALSE(bench_.write(hole, 1)) << hole;
    bench_.read(hole, false);
    bad += 2;
  }
  for (const uint32_t read_only :
       {reg::ID, reg::VERSION, reg::STATUS, reg::CPL, reg::OUTCOME, reg::OUTCOME + 252}) {
    EXPECT_FALSE(bench_.write(read_only, 1)) << read_only;
    bad++;
  }
  bench_.read(reg::POST, false);
  bad++;
  const uint32_t before = bench_.read(reg::RX_TIMEOUT);
  for (const uint8_t strobes : {0x0, 0x1, 0x7, 0xe}) {
    EXPECT_FALSE(bench_.write(reg::RX_TIMEOUT, before ^ 0xff, strobes));
    EXPECT_FALSE(bench_.write(reg::POST, 1, strobes));
    bad += 2;
  }
  EXPECT_EQ(bench_.read(reg::RX_TIMEOUT), before);
  EXPECT_EQ(bench_.read(reg::BAD_ACCESS), bad);
  bench_.expect_settled();  // and nothing was posted
}

TEST(PostQueue, RefusesWhenFull) {
  EngineBench bench(EngineBench::alone("small"));
  bench.system.node(0).serve_interrupts(false);
  EXPECT_TRUE(bench.write(reg::POST_NODE, 0x10000));  // each post completes with an error
  uint32_t accepted = 0;
  while (accepted < 1000 && bench.write(reg::POST, accepted)) accepted++;
  EXPECT_LT(accepted, 1000u) << "completions are not served, so posts must stop at some point";
  EXPECT_GE(accepted, find_rdma_build("small")->post_depth);
  EXPECT_EQ(bench.read(reg::STATUS) & 6u, 6u);
  EXPECT_TRUE(bench.system.node(0).irq());
  EXPECT_EQ(bench.read(reg::BAD_ACCESS), 1u);
  bench.system.node(0).serve_interrupts(true);
  EXPECT_TRUE(bench.system.run_until([&] { return bench.completions[0].size() == accepted; }, 100'000));
  bench.expect_settled();
  EXPECT_FALSE(bench.system.node(0).irq());
}

TEST(PostQueue, OrdinaryUseOfTheSmallEngine) {
  EngineBench bench(EngineBench::alone("small"));
  Draw draw(5);
  RandomTraffic traffic(bench, draw, 40);
  traffic.post();
  EXPECT_TRUE(bench.system.run_until([&] { return traffic.complete(); }, 5'000'000));
  bench.expect_settled();
  traffic.expect_bytes();
  EXPECT_GT(bench.count(Outcome::backoff), 0u) << "more transfers than receive contexts";
}

}  // namespace
}  // namespace weft::tb
