// SPDX-License-Identifier: Apache-2.0
// Stock OpenSM on a simulated subnet: hosts join groups, its dump is read, and equals what infiniband-diags
// read back from the switches.
#include "opensm.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ibsim.hpp"
#include "mcast/mcfdbs.hpp"
#include "read_back.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

class StockOpenSm : public TemporaryFolder {
 protected:
  void SetUp() override {
    if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
    for (const std::string& missing : {Ibsim::missing(), OpenSm::missing()})
      if (!missing.empty()) FAIL() << missing;
  }

  void expect_dump_equals_switches(const std::string& spec, const std::string& engine,
                                   const std::vector<Members>& groups) {
    Ibsim ibsim(topology::load(spec), path(""));
    ASSERT_TRUE(ibsim.wait()) << ibsim.log();
    OpenSm opensm(ibsim, path("opensm"), {engine, "", {}});
    ASSERT_TRUE(opensm.wait()) << opensm.log();
    const auto mlids = opensm.join(groups);
    ASSERT_TRUE(mlids) << opensm.log();

    const mcast::ForwardingTables dump = opensm.dump();
    EXPECT_EQ(mcast::write_mcfdbs(dump), read(opensm.dump_file()));
    EXPECT_TRUE(wait_until(20, [&] { return read_back(ibsim) == dump; })) << opensm.log();
    const auto [guid, entries] = *dump.begin();
    EXPECT_EQ(read_back(ibsim, guid), (mcast::ForwardingTables{{guid, entries}}));
    EXPECT_TRUE(contains(opensm.log(), engine + " tables configured")) << opensm.log();
  }
};

const std::vector<Members> some_groups{{0, 1, 15}, {2, 3}, {4, 7, 8, 9, 11}, {5, 6, 10}};

TEST_F(StockOpenSm, MinHopOnAFatTree) { expect_dump_equals_switches("fattree3:4", "minhop", some_groups); }
TEST_F(StockOpenSm, SsspOnAFatTree) { expect_dump_equals_switches("fattree3:4", "sssp", some_groups); }
TEST_F(StockOpenSm, MinHopOnATorus) { expect_dump_equals_switches("torus3d:4x4x1:1", "minhop", some_groups); }
TEST_F(StockOpenSm, SsspOnARandomFabric) {
  expect_dump_equals_switches("random:8,18,4,1", "sssp", some_groups);
}

// More than one block of 32 MLIDs, more than one part of 16 ports.
TEST_F(StockOpenSm, ManyGroupsOnLargerSwitches) {
  std::vector<Members> groups;
  for (uint32_t group = 0; group < 70; ++group) groups.push_back({group % 64, (3 * group + 1) % 64, 63});
  expect_dump_equals_switches("random:4,28,16,1", "minhop", groups);
}

// More than 256 switches: OpenSM does not write them in the order of their GUIDs.
TEST_F(StockOpenSm, ManySwitches) {
  expect_dump_equals_switches("torus3d:7x7x6:1", "minhop", {{0, 293}, {40, 17, 290}, {255, 256, 257}});
}

// Entries of others that stand in a block of OpenSM's go when it computes tables anew, in the switches that
// have this block; entries beyond stay.
TEST_F(StockOpenSm, OverwritesWhatWasPushedIntoItsBlocks) {
  constexpr uint64_t guid = 0x1000000000;
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), {});
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  ASSERT_TRUE(opensm.join({{0, 1}}));
  mcast::PortMask port;
  port.set(4);
  const mcast::Entries entries{{0xc010, port}, {0xc020, port}, {0xc100, port}};
  write("pushed", mcast::write_mcfdbs({{guid, entries}, {guid + 5, entries}}));
  const auto push = ibsim.run_inside(WEFT_BINARY " push pushed --journal journal", 1);
  ASSERT_EQ(push.exit_code, 0) << push.output;
  ASSERT_EQ(read_back(ibsim, guid)[guid].size(), 4u);

  ASSERT_TRUE(opensm.join({{0, 2}}));
  mcast::ForwardingTables expected = opensm.dump();
  expected[guid][0xc020] = expected[guid][0xc100] = port;
  expected[guid + 5] = entries;  // OpenSM has nothing in this switch
  EXPECT_TRUE(wait_until(20, [&] { return read_back(ibsim) == expected; }));
}

TEST_F(StockOpenSm, ForgetsAGroupThatAllHaveLeft) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  OpenSm opensm(ibsim, path("opensm"), {});
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  ASSERT_TRUE(opensm.join({{0, 1}, {2, 9}}));
  EXPECT_EQ(opensm.change("leave", 1, {2, 9}), "");
  EXPECT_TRUE(wait_until(20, [&] { return read_back(ibsim).size() == 1; }));
}

}  // namespace
}  // namespace weft::test
