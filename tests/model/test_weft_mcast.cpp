// SPDX-License-Identifier: Apache-2.0
// The program `weft mcast` as its users call it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "weft_command.hpp"

namespace weft::test {
namespace {

using nlohmann::json;

class WeftMcast : public WeftCommand {
 protected:
  WeftMcast() : WeftCommand("mcast") {}

  json checked(const std::string& arguments) const { return results(arguments + " --check"); }
};

TEST_F(WeftMcast, SaysHowGoodTreesAre) {
  const json found = checked("--topology fattree3:8 --groups grid:4x4x8");
  for (const char* key : {"hosts", "switches", "groups", "trees", "colors_used", "colors_lower_bound",
                          "max_efi", "mean_efi", "max_efi_switch", "max_tfi", "mean_tfi", "merged_groups",
                          "max_tree_height", "route_seconds", "seconds_per_group", "seed"})
    EXPECT_TRUE(found.contains(key)) << key;
  EXPECT_EQ(found["hosts"], 128);
  EXPECT_EQ(found["groups"], 32 + 32 + 16);
  EXPECT_EQ(found["trees"], 80);
  EXPECT_EQ(found["colors_lower_bound"], 9);
  EXPECT_EQ(found["max_tree_height"], 2);
  EXPECT_EQ(found["checked"], true);
}

TEST_F(WeftMcast, EveryEngineIsRight) {
  for (const std::string engine : {"mr4lms", "paper", "fbtc", "fctb", "minhop", "sssp", "sssp-load"})
    EXPECT_EQ(checked("--topology random:20,9,4,1 --groups grid:4x4x5 --engine " + engine)["engine"], engine);
}

TEST_F(WeftMcast, Optimizes) {
  const std::string fabric = "--topology random:60,12,6,1 --groups grid:6x7x8 ";
  EXPECT_LT(checked(fabric + "--optimize 0.3")["colors_used"], results(fabric)["colors_used"]);
  for (const std::string arguments : {"--optimize 1 --per-port", "--optimize 1 --engine fbtc"})
    expect_bad(fabric + arguments, "--optimize: works for --engine mr4lms without --per-port only");
}

TEST_F(WeftMcast, LimitsAreKept) {
  for (const char* merge : {" --merge rebuild", " --merge graft"})
    for (const char* with : {" --merge-with similar", " --merge-with least-loaded"})
      for (const char* engine : {" --engine mr4lms", " --engine paper"}) {
        std::string arguments = "--topology random:20,9,4,1 --groups grid:4x4x5 --colors 6";
        for (const char* more : {merge, with, engine}) arguments += more;
        const json found = checked(arguments);
        EXPECT_LE(found["colors_used"], 6);
        EXPECT_GT(found["merged_groups"], 0);
      }
  EXPECT_EQ(checked("--topology random:20,9,4,1 --groups grid:4x4x5 --per-port")["merged_groups"], 0);
}

TEST_F(WeftMcast, TablesAreCheckedAgain) {
  const auto file = path("tables.json"), dump = path("opensm.mcfdbs");
  const std::string fabric = "--topology fattree3:4 --groups grid:4x4 ";
  EXPECT_EQ(weft("mcast " + fabric + "--mft " + file.string() + " --mcfdbs " + dump.string()).exit_code, 0);
  EXPECT_EQ(read(dump).substr(0, 51), "\nSwitch 0x0000001000000000\nLID    : Out Port(s)\n0xC");
  const auto again = weft("mcast " + fabric + "--tables " + file.string());
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.output, "");
  const auto limited = weft("mcast " + fabric + "--colors 1 --tables " + file.string());
  EXPECT_EQ(limited.exit_code, 1);
  EXPECT_TRUE(contains(limited.output, "weft: switch 0 has color 1, only 1 are allowed\n")) << limited.output;
  EXPECT_TRUE(contains(weft("mcast --topology fattree3:4 --groups grid:2x8 --tables " + file.string()).output,
                       "weft: tables for 8 groups, there are 10\n"));
}

TEST_F(WeftMcast, BadInputIsOneLine) {
  const std::string fabric = "--topology fattree3:4 ";
  expect_bad(fabric + "--groups grid:4x5", "grid:4x5: more processes than the 16 that 16 hosts have");
  const auto groups = write("groups", "0 1\n2\n").string();
  expect_bad(fabric + "--groups file:" + groups, groups + ":2: a group of one host");
  expect_bad("--topology fattree3:5 --groups grid:2x2", "fattree3:5: K is 5, must be even");
  const auto expect_bad_colours = [&](const std::string& colours) {
    std::string message = "--colors: '";
    message += colours;
    message += "' is neither inf nor a whole number from 1 to 16384 (see --help)";
    std::string arguments = fabric;
    arguments += "--groups grid:4x4 --colors ";
    expect_bad(arguments += colours, message);
  };
  for (const char* colours : {"0", "16385", "many", "-1"}) expect_bad_colours(colours);
  expect_bad(fabric + "--groups grid:4x4 --threads 0",
             "--threads: '0' is not a whole number from 1 to 1024 (see --help)");
  expect_bad(fabric, "--groups is required (see --help)");
  expect_bad(fabric + "--groups grid:4x4 --engine sssp --colors 4",
             "--engine sssp: knows neither --colors nor --per-port");
  expect_bad(fabric + "--groups grid:4x4 --tables " + path("none").string(),
             path("none").string() + ": cannot be read");
  expect_bad(fabric + "--groups grid:4x4 --tables " + groups, groups + ":1: is no JSON");
  expect_bad(fabric + "--groups grid:4x4 --mft /dev/full",
             "/dev/full: cannot be written: No space left on device");
  expect_bad(fabric + "--groups grid:4x4 --per-port --mcfdbs " + path("x").string(),
             "mcfdbs has no tables of ports");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

}  // namespace
}  // namespace weft::test
