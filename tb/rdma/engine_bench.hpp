// SPDX-License-Identifier: Apache-2.0
// What the whole-engine tests share: a running system and its completions.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "made_packets.hpp"
#include "rdma_system.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {

inline constexpr uint64_t region_bytes = 1 << 20;

/// A system that is up, with the region [destination_base, + region_bytes) open on every node.
class EngineBench {
 public:
  explicit EngineBench(const SystemConfig& config, const driver::RdmaSetup& setup = usual_setup())
      : setup_(setup), system(config) {
    for (uint32_t index = 0; index < system.size(); ++index) {
      system.node(index).on_completion(
          [this, index](const driver::RdmaCompletion& got) { completions[index][got.tag] = got.status; });
    }
    start();
  }

  static driver::RdmaSetup usual_setup() {
    driver::RdmaSetup setup;
    setup.regions = {{destination_base, destination_base + region_bytes}};
    return setup;
  }

  /// One engine alone: what it sends goes nowhere, what it gets is made by the test.
  static SystemConfig alone(const std::string& build = "w32") {
    SystemConfig config;
    config.nodes = 1;
    config.node.build = *find_rdma_build(build);
    return config;
  }

  void start() {
    system.start(setup_);
    ASSERT_TRUE(system.run_until([this] { return system.all_ready(); }, 200'000)) << problems();
  }

  /// Starts a node that was reset alone, its transfers numbered from `first_msgid` on.
  void restart(uint32_t node, uint32_t first_msgid) {
    driver::RdmaSetup setup = setup_;
    setup.node_id = static_cast<uint16_t>(node);
    setup.first_msgid = first_msgid;
    system.node(node).driver().start(setup);
    ASSERT_TRUE(system.run_until([&] { return system.node(node).driver().ready(); }, 200'000)) << problems();
  }

  void run(uint64_t cycles) {
    system.run_until([] { return false; }, cycles);
  }

  /// Until nothing is under way, then compares all counters.
  void expect_settled(uint64_t max_cycles = 5'000'000) {
    EXPECT_TRUE(system.run_until([this] { return system.settled(); }, max_cycles)) << "still busy";
    system.check_at_end();
    expect_no_findings();
  }

  void expect_no_findings() { EXPECT_FALSE(system.findings().any()) << problems(); }
  std::string problems() { return system.findings().summary(); }

  uint64_t count(rdma::formats::Outcome outcome, uint32_t node = 0) {
    return system.node(node).scoreboard().outcomes(outcome);
  }

  /// Bytes the engine has written to its host's memory.
  uint64_t written(uint32_t node = 0) { return system.node(node).scoreboard().writes().answered_bytes(); }

  /// Sends a packet and expects exactly this event of it, in RTL and golden model.
  void expect_outcome(const std::vector<uint8_t>& flits, rdma::formats::Outcome outcome) {
    const uint64_t before = count(outcome);
    const uint64_t events = system.node(0).scoreboard().events();
    system.node(0).receive(flits);
    run(150 + flits.size() / 32);
    EXPECT_EQ(count(outcome), before + 1) << rdma::formats::name(outcome);
    EXPECT_EQ(system.node(0).scoreboard().events(), events + 1) << rdma::formats::name(outcome);
  }

  uint32_t read(uint32_t address, bool expect_ok = true) {
    std::optional<uint32_t> value;
    system.node(0).registers().read(address, [&](bool ok, uint32_t data) {
      EXPECT_EQ(ok, expect_ok) << "read of " << address;
      value = data;
    });
    system.run_until([&] { return value.has_value(); }, 1000);
    EXPECT_TRUE(value.has_value()) << "no answer to a read of " << address;
    return value.value_or(0);
  }

  bool write(uint32_t address, uint32_t data, uint8_t strobes = 0xf) {
    std::optional<bool> answer;
    system.node(0).registers().write_strobed(address, data, strobes, [&](bool ok) { answer = ok; });
    system.run_until([&] { return answer.has_value(); }, 1000);
    EXPECT_TRUE(answer.has_value()) << "no answer to a write of " << address;
    return answer.value_or(false);
  }

 private:
  driver::RdmaSetup setup_;

 public:
  std::map<uint16_t, rdma::formats::Status> completions[8];  ///< by node, then by tag
  RdmaSystem system;
};

}  // namespace weft::tb
