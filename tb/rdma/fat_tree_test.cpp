// SPDX-License-Identifier: Apache-2.0
// RDMA engines on a two-dimensional fat tree of which switches and links die while they write: nothing
// between live nodes is lost, nothing wrong is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "fabric/random.hpp"
#include "rdma_system.hpp"
#include "switchfabric/carrier.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::tb {
namespace {

using route::Health;
using switchfabric::FatTreeCarrier;

constexpr uint16_t key = 0x5eed;
constexpr uint64_t sources = 0x10'0000, targets = 0x80'0000, room = 0x1'0000;
constexpr uint32_t bytes = 20'000;
constexpr route::Grid grid{4, 4, 1};

struct Death {
  route::What what = route::What::leaf;
  std::string where;  ///< as command lines name it

  std::optional<uint32_t> node() const {
    if (what != route::What::leaf) return std::nullopt;
    return grid.number({static_cast<uint32_t>(where.at(2) - '0'), static_cast<uint32_t>(where.at(0) - '0')});
  }
  friend std::ostream& operator<<(std::ostream& out, const Death& death) {
    constexpr std::array names{"leaf", "row switch", "column switch", "row link", "column link"};
    return out << names.at(static_cast<std::size_t>(death.what)) << ' ' << death.where;
  }
};
using Deaths = std::vector<Death>;

/// 16 nodes on 4x4 leaves, every other one the golden model. Nodes of leaves that will die take no part.
class FatTree : public testing::TestWithParam<Deaths> {
 protected:
  FatTree()
      : carrier_(std::make_shared<FatTreeCarrier>(
            Health(grid), route::Options{},
            switchfabric::Config{
                .planes = 2, .switch_clocks = 5, .end_clocks = 3, .buffer = 4, .credit_clocks = 5},
            switchfabric::ManagerConfig{.notice_clocks = 3000, .rewrite_clocks = 20})),
        system_(config()) {}

  SystemConfig config() {
    SystemConfig config;
    config.nodes = grid.leaves();
    config.node.build = *find_rdma_build("w128");
    for (uint32_t node = 1; node < config.nodes; node += 2) config.golden.insert(node);
    config.carrier = carrier_;
    return config;
  }

  bool dies(uint32_t node) const {
    return std::ranges::any_of(GetParam(), [node](const Death& death) { return death.node() == node; });
  }

  void start() {
    driver::RdmaSetup setup;
    setup.regions = {{targets, targets + grid.leaves() * room, key}};
    setup.tick_cycles = 16;
    setup.rx_timeout = setup.tx_retry = 400;  // longer than packets wait in the fabric
    setup.timeout_floor = 200;
    setup.adapt = true;
    setup.rx_ahead = 0;  // packets of a transfer take different planes
    system_.start(setup);
    ASSERT_TRUE(system_.run_until([this] { return system_.all_ready(); }, 200'000));
  }

  /// Each node that stays writes to each other one.
  void post() {
    for (uint32_t from = 0; from < system_.size(); ++from) {
      if (dies(from)) continue;
      RandomStream random(7, from);
      std::vector<uint8_t> own(bytes);
      for (uint8_t& byte : own) byte = static_cast<uint8_t>(random.next());
      system_.node(from).memory().memory().write(sources, own);
      system_.node(from).on_completion([this](const driver::RdmaCompletion& completion) {
        ++completions_;
        EXPECT_EQ(completion.status, rdma::formats::Status::ok) << rdma::formats::name(completion.status);
      });
      for (uint32_t to = 0; to < system_.size(); ++to) {
        if (to == from || dies(to)) continue;
        system_.node(from).driver().post({sources, targets + from * room, bytes, static_cast<uint16_t>(to),
                                          static_cast<uint16_t>(to), driver::rdma_rkey(0, key)});
        ++posted_;
      }
    }
  }

  void expect_bytes() {
    for (uint32_t from = 0; from < system_.size(); ++from)
      for (uint32_t to = 0; to < system_.size(); ++to) {
        if (from == to || dies(from) || dies(to)) continue;
        EXPECT_TRUE(system_.node(to).memory().memory().equals(
            targets + from * room, system_.node(from).memory().memory().read(sources, bytes)))
            << from << " to " << to;
      }
  }

  uint64_t resent() {
    uint64_t packets = 0;
    for (uint32_t node = 0; node < system_.size(); ++node)
      packets += system_.node(node).counts().resent_packets;
    return packets;
  }

  std::shared_ptr<FatTreeCarrier> carrier_;
  RdmaSystem system_;
  uint64_t posted_ = 0, completions_ = 0;
};

TEST_P(FatTree, LosesNothingBetweenTheLiving) {
  start();
  post();
  Health alive(grid);
  for (const Death& death : GetParam()) {
    // Each time there are packets in what dies, or below nothing would be lost.
    EXPECT_FALSE(system_.run_until([this] { return completions_ == posted_; }, 1500)) << "still busy";
    route::fail(alive, death.what, death.where);
    carrier_->strike(alive);
    if (const auto node = death.node()) system_.halt_node(*node);
  }
  EXPECT_TRUE(system_.run_until([this] { return completions_ == posted_ && system_.settled(); }, 400'000));
  EXPECT_EQ(completions_, posted_);
  expect_bytes();
  system_.check_at_end();
  EXPECT_FALSE(system_.findings().any()) << system_.findings().summary();
  if (GetParam().empty()) {
    EXPECT_EQ(system_.network().counters().lost, 0u);
    EXPECT_EQ(carrier_->detoured(), 0u);
    EXPECT_EQ(resent(), 0u) << "only overtaken, nothing lost";
    return;
  }
  EXPECT_GT(system_.network().counters().lost, 0u);
  EXPECT_GT(carrier_->detoured(), 0u);
  EXPECT_GT(resent(), 0u);
  EXPECT_GT(carrier_->manager().rewritten(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Dead, FatTree,
    testing::Values(Deaths{}, Deaths{{route::What::leaf, "2,1"}},
                    Deaths{
                        {route::What::leaf, "2,1"}, {route::What::leaf, "0,3"}, {route::What::leaf, "1,0"}},
                    Deaths{{route::What::row_link, "2,1"}, {route::What::row_link, "0,3"}},
                    Deaths{{route::What::row_switch, "1"}}, Deaths{{route::What::column_switch, "2"}}));

}  // namespace
}  // namespace weft::tb
