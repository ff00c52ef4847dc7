// SPDX-License-Identifier: Apache-2.0
// weft push on simulated subnets: what it programs is what infiniband-diags read back; faults on the way.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ibsim.hpp"
#include "mcast/mcfdbs.hpp"
#include "opensm.hpp"
#include "read_back.hpp"
#include "temporary_folder.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

using mcast::ForwardingTables;

mcast::PortMask mask_of(const std::vector<uint32_t>& ports) {
  mcast::PortMask mask;
  for (const uint32_t port : ports) mask.set(port);
  return mask;
}

constexpr uint64_t guid = 0x1000000000;  // of the first switch; others follow

class Push : public TemporaryFolder {
 protected:
  void SetUp() override {
    if (const std::string unfit = unfit_inside(); !unfit.empty()) GTEST_SKIP() << unfit;
    if (const std::string missing = Ibsim::missing(); !missing.empty()) FAIL() << missing;
  }

  void write_tables(const std::string& name, const ForwardingTables& tables) const {
    write(name, mcast::write_mcfdbs(tables));
  }
  Finished push(const Ibsim& ibsim, const std::string& arguments) const {
    return ibsim.run_inside(std::string(WEFT_BINARY) + " push " + arguments);
  }
  Finished push_with(const std::string& fault, int at, const Ibsim& ibsim,
                     const std::string& arguments) const {
    return ibsim.run_inside(
        fmt::format("sh -c 'export WEFT_FAULT={} WEFT_FAULT_AT={} WEFT_FAULT_PROCESS={}; "
                    "LD_PRELOAD={}:$LD_PRELOAD exec {} push {}'",
                    fault, at, ibsim.process(), WEFT_FAULTY_UMAD, WEFT_BINARY, arguments));
  }
  nlohmann::json results() const { return nlohmann::json::parse(read(path("json"))); }
};

/// Some tables on the switches of fattree3:4.
const ForwardingTables first{{guid, {{0xc001, mask_of({1, 2})}, {0xc021, mask_of({3, 4})}}},
                             {guid + 1, {{0xc001, mask_of({2})}}},
                             {guid + 5, {{0xc3ff, mask_of({0, 1, 4})}}}},
    second{{guid, {{0xc001, mask_of({2, 3})}}},
           {guid + 1, {{0xc001, mask_of({2, 4})}, {0xc3ff, mask_of({1})}}},
           {guid + 2, {{0xc001, mask_of({1, 2, 3, 4})}, {0xc021, mask_of({1})}}}};

TEST_F(Push, ProgramsWhatOpenSmHasComputed) {
  if (const std::string missing = OpenSm::missing(); !missing.empty()) FAIL() << missing;
  const auto graph = topology::load("fattree3:4");
  ForwardingTables dump;
  {
    Ibsim ibsim(graph, path(""));
    ASSERT_TRUE(ibsim.wait()) << ibsim.log();
    OpenSm opensm(ibsim, path("opensm"), {"sssp", "", {}});
    ASSERT_TRUE(opensm.wait()) << opensm.log();
    ASSERT_TRUE(opensm.join({{0, 1, 15}, {2, 3}, {4, 7, 8, 9, 11}}));
    dump = opensm.dump();
  }
  Ibsim ibsim(graph, path(""));  // another one, empty
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  const auto run = push(ibsim, "opensm/opensm.mcfdbs --journal journal --json json");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_back(ibsim), dump);
  EXPECT_EQ(results()["switches"], 20);
  EXPECT_EQ(results()["blocks_verified"], results()["blocks_to_change"]);

  OpenSm opensm(ibsim, path("opensm2"), {});  // gives LIDs, which ibroute needs
  ASSERT_TRUE(opensm.wait()) << opensm.log();
  for (const auto& [sw, entries] : dump) EXPECT_EQ(read_back(ibsim, sw), (ForwardingTables{{sw, entries}}));
}

TEST_F(Push, ProgramsWhatWeftMcastHasComputed) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  ASSERT_EQ(ibsim.run_inside("ibnetdiscover fabric").exit_code, 0);
  const auto trees =
      weft(fmt::format("mcast --topology file:{} --groups grid:4x4 --colors 4 --check --mcfdbs {}",
                       path("fabric").string(), path("tables").string()));
  ASSERT_EQ(trees.exit_code, 0) << trees.output;
  const auto run = push(ibsim, "tables --journal journal");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_back(ibsim), mcast::read_mcfdbs_file(path("tables")));
}

TEST_F(Push, SendsOnlyWhatChanges) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  write_tables("second", second);
  ASSERT_EQ(push(ibsim, "first --journal a --json json").exit_code, 0);
  EXPECT_EQ(results()["blocks_written"], 4);
  const auto again = push(ibsim, "first --journal b --json json");
  EXPECT_EQ(again.output, "0 of 20 switches changed: 0 blocks\n");
  EXPECT_EQ(results()["blocks_written"], 0);
  EXPECT_FALSE(std::filesystem::exists(path("b"))) << "there is nothing to undo";

  const auto run = push(ibsim, "second --journal b --json json");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(results()["blocks_to_change"], 7);
  EXPECT_EQ(results()["blocks_written"], 8) << "one loses a port and gets another";
  EXPECT_EQ(read_back(ibsim), second);
  ASSERT_EQ(push(ibsim, "--roll-back b").exit_code, 0);
  EXPECT_EQ(read_back(ibsim), first);
}

TEST_F(Push, LeavesOtherMlidsAlone) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  write_tables("more", {{guid, {{0xc002, mask_of({4})}}}});
  ASSERT_EQ(push(ibsim, "first --journal a").exit_code, 0);
  ASSERT_EQ(push(ibsim, "more --journal b").exit_code, 0);
  ForwardingTables both = first;
  both[guid][0xc002] = mask_of({4});
  EXPECT_EQ(read_back(ibsim), both);
  ASSERT_EQ(push(ibsim, "more --journal c --clear-others").exit_code, 0);
  EXPECT_EQ(read_back(ibsim), (ForwardingTables{{guid, {{0xc002, mask_of({4})}}}}));
}

TEST_F(Push, DryRunPrintsAndChangesNothing) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  const auto run = push(ibsim, "first --dry-run");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "switch 0x0000001000000000\n  0xC001 : +0x001 +0x002\n  0xC021 : +0x003 +0x004\n"
            "switch 0x0000001000000001\n  0xC001 : +0x002\n"
            "switch 0x0000001000000005\n  0xC3FF : +0x000 +0x001 +0x004\n"
            "3 of 20 switches would change: 4 blocks\n");
  EXPECT_TRUE(read_back(ibsim).empty());
}

// Ports above 31 as well; OpenSM's own switches here have fewer.
TEST_F(Push, ProgramsEveryPortOfALargeSwitch) {
  Ibsim ibsim(topology::load("random:2,60,58,1"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  ForwardingTables tables;
  for (uint32_t port = 0; port <= 60; ++port)
    tables[guid][static_cast<uint16_t>(0xc000 + 7 * port)].set(port);
  write_tables("all", tables);
  const auto run = push(ibsim, "all --journal a");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_back(ibsim), tables);
}

TEST_F(Push, SilentSwitchIsNamedAndThePushResumedOrUndone) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  write_tables("second", second);
  ASSERT_EQ(push(ibsim, "first --journal a").exit_code, 0);
  for (const bool many : {false, true})
    for (const std::string way : {"--roll-back", "--resume"}) {
      std::filesystem::remove(path("b"));
      const auto run =
          push_with("silent", 4, ibsim,
                    fmt::format("second --journal b --timeout 20 --json json --in-flight {}", many ? 4 : 1));
      EXPECT_EQ(run.exit_code, 1) << run.output;
      EXPECT_EQ(run.output,
                fmt::format("switch 0x0000001000000000: changed\n"
                            "switch 0x0000001000000001: uncertain\n"
                            "switch 0x0000001000000002: {}\n"
                            "switch 0x0000001000000005: changed\n"
                            "weft: switch 0x0000001000000001 (edge-0-1): cannot write its multicast table: "
                            "no answer within 4 "
                            "attempts of 20 ms; weft push --resume b goes on, --roll-back b undoes it\n",
                            many ? "changed" : "unchanged"));
      EXPECT_NE(read_back(ibsim), first);
      EXPECT_NE(read_back(ibsim), second);
      const auto rest = push(ibsim, way + " b");
      EXPECT_EQ(rest.exit_code, 0) << rest.output;
      EXPECT_EQ(read_back(ibsim), way == "--resume" ? second : first);
      if (way == "--resume") {
        ASSERT_EQ(push(ibsim, "--roll-back b").exit_code, 0);
      }
    }
}

TEST_F(Push, HoldsTheSameHoweverManyDatagramsAreUnderWay) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  write_tables("second", second);
  for (const int in_flight : {1, 3, 64}) {
    const auto way = fmt::format("--in-flight {} --json json", in_flight);
    ASSERT_EQ(push(ibsim, "second --clear-others --journal a " + way).exit_code, 0);
    EXPECT_EQ(read_back(ibsim), second);
    EXPECT_EQ(results()["blocks_verified"], results()["blocks_to_change"]);
    ASSERT_EQ(push(ibsim, "--roll-back a " + way).exit_code, 0);
    EXPECT_TRUE(read_back(ibsim).empty());
    std::filesystem::remove(path("a"));
  }
}

TEST_F(Push, KilledPushIsResumed) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  write_tables("second", second);
  ASSERT_EQ(push(ibsim, "first --journal a").exit_code, 0);
  EXPECT_NE(push_with("die", 5, ibsim, "second --journal b").exit_code, 0);
  EXPECT_NE(read_back(ibsim), second);
  const auto rest = push(ibsim, "--resume b --dry-run");
  EXPECT_TRUE(contains(rest.output, "would change")) << rest.output;
  EXPECT_NE(read_back(ibsim), second);
  ASSERT_EQ(push(ibsim, "--resume b").exit_code, 0);
  EXPECT_EQ(read_back(ibsim), second);
}

TEST_F(Push, RaisesTheLastMlidOfSwitchesThatHeedIt) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  const auto topped = [&](const std::string& arguments) {
    return ibsim.run_inside(fmt::format("sh -c 'LD_PRELOAD={}:$LD_PRELOAD exec {} push {}'", WEFT_TOPPED_UMAD,
                                        WEFT_BINARY, arguments));
  };
  const auto plan = topped("first --dry-run");
  EXPECT_TRUE(contains(plan.output, "switch 0x0000001000000000\n  last MLID: 0xC01F -> 0xC03F\n"))
      << plan.output;
  EXPECT_EQ(count(plan.output, "last MLID"), 2u) << "one switch needs MLIDs of the first block only";
  const auto run = topped("first --journal a");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(read_back(ibsim), first);
  EXPECT_TRUE(contains(read(path("a")), "\"top\": {")) << read(path("a"));
}

TEST_F(Push, SubnetThatVanishesIsNamed) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  const auto run = push_with("stop", 2, ibsim, "first --journal a --timeout 20");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_TRUE(contains(run.output, "uncertain")) << run.output;
  EXPECT_TRUE(contains(run.output, "weft push --resume a goes on")) << run.output;
}

TEST_F(Push, BadInputIsOneLine) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""), {"-M", "512"});
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  const auto expect = [&](const ForwardingTables& tables, const std::string& message) {
    write_tables("tables", tables);
    const auto run = push(ibsim, "tables --journal a");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.output, "weft: " + message + "\n");
    EXPECT_FALSE(std::filesystem::exists(path("a")));
  };
  expect({{7, {{0xc000, mask_of({1})}}}}, "tables: switch 0x0000000000000007 is not in this subnet");
  expect({{guid, {{0xc200, mask_of({1})}}}},
         "tables: switch 0x0000001000000000: MLID 0xC200 is out of its range: it has 512 from 0xC000 on");
  expect({{guid, {{0xc000, mask_of({5})}}}},
         "tables: switch 0x0000001000000000: MLID 0xC000 has port 5, of 4");
  EXPECT_TRUE(read_back(ibsim).empty());

  write_tables("first", {{guid, {{0xc000, mask_of({4})}}}});
  ASSERT_EQ(push(ibsim, "first --journal a").exit_code, 0);
  write_tables("second", {{guid, {{0xc000, mask_of({3})}}}});
  ASSERT_EQ(push(ibsim, "second --journal b").exit_code, 0);
  write_tables("third", {{guid, {{0xc000, mask_of({2})}}}});
  ASSERT_EQ(push(ibsim, "third --journal c").exit_code, 0);
  const auto late = push(ibsim, "--roll-back a");
  EXPECT_EQ(late.exit_code, 2);
  EXPECT_EQ(
      late.output,
      "weft: a: switch 0x0000001000000000: block 0 position 0 is neither as before nor as after the push: "
      "somebody else has changed it\n");
  const auto used = push(ibsim, "first --journal a");
  EXPECT_EQ(used.exit_code, 2);
  EXPECT_EQ(used.output, "weft: a: is there already: --resume or --roll-back it, or remove it\n");
}

TEST_F(Push, NothingIsChangedIfTheJournalCannotBeWritten) {
  Ibsim ibsim(topology::load("fattree3:4"), path(""));
  ASSERT_TRUE(ibsim.wait()) << ibsim.log();
  write_tables("first", first);
  std::filesystem::create_directories(path("a.part") / "in the way");  // of the journal until it is whole
  const auto run = push(ibsim, "first --journal a");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output, "weft: a: cannot be written: Is a directory\n");
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  EXPECT_TRUE(read_back(ibsim).empty());
}

TEST_F(Push, SpoiltFilesAreNamedWithTheirLine) {
  const auto expect = [&](const std::string& text, const std::string& message) {
    const auto file = write("spoilt", text).string();
    const auto run = weft("push " + file + " --journal " + path("journal").string());
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.output, "weft: " + file + message + "\n");
    EXPECT_FALSE(std::filesystem::exists(path("journal")));
  };
  expect("\nSwitch 0x1\nLID    : Out Port(s)\n0xC000 : 0x0FF\n", ":4: '0x0FF' is not a port, 0x000 to 0x0FE");
  expect("\nSwitch 0x1\n", ":2: the file ends after the name of a switch");
  const auto file = write("spoilt", "{\n\"format\": \"weft push journal 1\",\n\"switches\": [7]}\n").string();
  for (const std::string option : {"--resume ", "--roll-back "}) {
    const auto run = weft(std::string("push ").append(option).append(file));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.output, "weft: " + file + ":1: is no journal of weft push: switches has number in it\n");
  }
}

// With --clear-others such a file would empty all switches.
TEST_F(Push, FilesWithoutAnEntryAreRefused) {
  for (const std::string text : {"", "\n", "\nSwitch 0x1\nLID    : Out Port(s)\n"}) {
    const auto file = write("empty", text).string();
    for (const std::string more : {"--dry-run", "--dry-run --clear-others"}) {
      const auto run = weft(fmt::format("push {} --device weft-test {}", file, more));
      EXPECT_EQ(run.exit_code, 2);
      EXPECT_EQ(run.output, "weft: " + file + ": there is no entry in it\n");
    }
  }
}

TEST_F(Push, NoSubnetIsOneLine) {
  write_tables("first", first);
  const auto run = weft("push " + path("first").string() + " --dry-run --device weft-test");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output, "weft: no subnet: weft-test port any has no InfiniBand port that is up\n");
  EXPECT_EQ(weft(fmt::format("push {} --device weft-test --journal {} --json {}", path("first").string(),
                             path("journal").string(), path("json").string()))
                .exit_code,
            2);
  EXPECT_FALSE(std::filesystem::exists(path("journal")) || std::filesystem::exists(path("json")));
  EXPECT_EQ(weft("push").exit_code, 2);
  EXPECT_EQ(weft("push " + path("first").string()).output,
            "weft: push needs --journal FILE (or --dry-run)\n");
}

}  // namespace
}  // namespace weft::test
