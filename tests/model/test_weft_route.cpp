// SPDX-License-Identifier: Apache-2.0
// The program `weft route` as its users call it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "every_set.hpp"
#include "weft_command.hpp"

namespace weft::test {
namespace {

using nlohmann::json;

class WeftRoute : public WeftCommand {
 protected:
  WeftRoute() : WeftCommand("route") {}
};

TEST_F(WeftRoute, Proves) {
  const json found = results("--topology kfat2d:8x8:8 --fail 3,4 0,0 --new-fail 5,5 --check");
  EXPECT_EQ(found["pairs"], 62 * 61);
  EXPECT_EQ(found["unreachable_pairs"], 0);
  EXPECT_EQ(found["deadlock_free"], true);
  EXPECT_EQ(found["max_steps"], 3);
  EXPECT_EQ(found["virtual_channels"], 2);
  EXPECT_EQ(found["from_whole"]["deadlock_free"], true);
  EXPECT_EQ(found["news"]["deadlock_free"], true);
}

// The library's own test of these is in test_route.cpp.
TEST_F(WeftRoute, ChecksEveryConfigurationOfFourWithUpToThreeFaults) {
  uint32_t configurations = 0;
  every_set(16, 3, [&](const std::vector<uint32_t>& dead) {
    ++configurations;
    std::string faults = dead.empty() ? "" : " --fail";
    for (const uint32_t leaf : dead)
      faults += " " + std::to_string(leaf / 4) + "," + std::to_string(leaf % 4);
    const json found = results("--topology kfat2d:4x4:1 --check" + faults);
    ASSERT_EQ(found["checked"], true) << faults;
    ASSERT_EQ(found["pairs"], (16 - dead.size()) * (15 - dead.size())) << faults;
    ASSERT_EQ(found["unreachable_pairs"], 0) << faults;
    ASSERT_LE(found["max_steps"], 3) << faults;
  });
  EXPECT_EQ(configurations, 1u + 16 + 120 + 560);
}

TEST_F(WeftRoute, PrintsTheCycle) {
  const std::string literal = "--topology kfat2d:4x4:1 --rules literal --check --new-fail 1,1";
  const json found = results(literal, 1);
  EXPECT_EQ(found["deadlock_free"], true);
  EXPECT_EQ(found["news"]["deadlock_free"], false);
  EXPECT_GE(found["news"]["cycle"].size(), 2u);
  EXPECT_TRUE(contains(weft("route " + literal).output,
                       "weft: new faults: packets can wait for each other in a ring"));
}

// One row, backups for whole columns: two dead leaves leave none, though a way of three steps is there.
TEST_F(WeftRoute, TellsTablesFromRules) {
  const std::string lines = "--topology kfat2d:4x4:2 --masks line --fail 0,0 1,1 2,2 3,3 --check";
  const json found = results(lines);
  ASSERT_GT(found["unreachable_pairs"], 0);
  for (const json& pair : found["unreachable"]) EXPECT_EQ(pair["obstacle"], "tables");
  EXPECT_TRUE(contains(weft("route " + lines).output, "no path by these tables, which lack leaf-"));
  const json ring =
      results("--topology kfat2d:4x4:1 --fail 0,2 0,3 1,0 1,3 2,0 2,1 3,1 3,2 --channels 3 --check");
  for (const json& pair : ring["unreachable"]) EXPECT_EQ(pair["obstacle"], "rules");
  EXPECT_GT(ring["unreachable_pairs"], 0);
}

TEST_F(WeftRoute, TellsThatTablesAreForOtherFaults) {
  const std::string folder = path("t").string();
  results("--topology kfat2d:4x4:1 --tables " + folder);
  const std::string from = "route --topology kfat2d:4x4:1 --from " + folder;
  const std::string words = "are not the tables for the faults that are known (--fail)";
  EXPECT_TRUE(contains(weft(from + " --fail 1,1").output, words));
  EXPECT_FALSE(contains(weft(from).output, words));
}

TEST_F(WeftRoute, ProvesWhoIsCutOff) {
  const json found = results("--topology kfat2d:4x4:1 --fail 0,1 0,2 0,3 1,0 2,0 3,0 --check");
  EXPECT_EQ(found["unreachable_pairs"], 2 * 9);
  for (const json& pair : found["unreachable"]) EXPECT_EQ(pair["obstacle"], "graph");
}

TEST_F(WeftRoute, TablesAreCheckedAgain) {
  const auto folder = path("tables").string();
  const std::string fabric = "--topology kfat2d:4x5:2 --fail 1,1 2,3 --check ";
  for (const std::string more : {"", "--masks line", "--rules detour"}) {
    const std::string chosen = std::string(fabric).append(more);
    const json made = results(std::string(chosen).append(" --tables ").append(folder));
    EXPECT_EQ(results(std::string(chosen).append(" --from ").append(folder)), made);
  }
  const std::string trees = "--topology kfat2d:4x6:2:2x3 --fail-row 1,4 --fail-column-link 5,1,0 --check ";
  const json made = results(trees + "--tables " + path("trees").string());
  EXPECT_EQ(made["unreachable_pairs"], 0);
  EXPECT_EQ(results(trees + "--from " + path("trees").string()), made);
  const std::string lfts = read(folder + "/opensm.lfts");
  EXPECT_EQ(count(lfts, "Unicast lids"), 29u);
  expect_bad("--topology kfat2d:5x4:2 --rules detour --from " + folder,
             folder + "/route.json: is for topology \"kfat2d:4x5:2\", not \"kfat2d:5x4:2\"");
  EXPECT_TRUE(
      contains(weft("route --topology kfat2d:4x4:1 --from " + path("none").string()).output, "no such file"));
}

TEST_F(WeftRoute, WritesImagesOfTheLookupBlock) {
  const auto folder = path("images");
  results("--topology kfat2d:4x5:2 --fail 1,1 --format image --tables " + folder.string());
  for (const char* name : {"leaf-4-3", "row-3", "column-4"})
    EXPECT_TRUE(std::filesystem::is_regular_file(folder / (std::string(name) + ".image"))) << name;
  expect_bad("--topology kfat2d:4x5:2 --rules literal --format image --tables " + folder.string(),
             "images are for the rules vtftr only");
}

TEST_F(WeftRoute, UpdatesTablesForNewFaults) {
  const std::string fabric = "--topology kfat2d:5x4:2 --fail 1,1 ", news = " --new-fail 3,2 0,0 ";
  const auto folder = [this](const char* name) { return path(name).string(); };
  results(fabric + "--tables " + folder("old"));
  const json update =
      results(fabric + news + "--from " + folder("old") + " --update " + folder("new"))["update"];
  results("--topology kfat2d:5x4:2 --fail 1,1 3,2 0,0 --tables " + folder("made"));
  for (const char* file : {"/route.json", "/opensm.lfts"})
    EXPECT_EQ(read(folder("new") + file), read(folder("made") + file));
  EXPECT_EQ(update["switches"], 5 * 4 + 5 + 4);
  EXPECT_EQ(update["unreachable_pairs"], 0);
  const json cut = results("--topology kfat2d:4x4:1 --new-fail-row 1 --new-fail-column-link 0,0 --update " +
                           folder("cut"))["update"];
  const json then = results("--topology kfat2d:4x4:1 --fail-row 1 --fail-column-link 0,0");
  EXPECT_GT(cut["unreachable_pairs"], 0);
  EXPECT_EQ(cut["unreachable_pairs"], then["unreachable_pairs"]);
  EXPECT_GT(update["changed"].size(), 0u);

  const std::string images = " --format image ";
  results(fabric + images + "--tables " + folder("old_images"));
  const json changed = results(fabric + news + images + "--update " + folder("new_images"))["update"];
  EXPECT_EQ(changed["changed"], update["changed"]);
  results("--topology kfat2d:5x4:2 --fail 1,1 3,2 0,0" + images + "--tables " + folder("made_images"));
  uint32_t written = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder("made_images"))) {
    const std::string name = entry.path().filename().string(), made = read(entry.path().string());
    const bool dead = name == "leaf-2-3.image" || name == "leaf-0-0.image";  // nobody can load it
    const bool differs = !dead && made != read(folder("old_images") + "/" + name);
    EXPECT_EQ(std::filesystem::exists(path("new_images") / name), differs) << name;
    if (!differs) continue;
    EXPECT_EQ(read(folder("new_images") + "/" + name), made) << name;
    ++written;
  }
  EXPECT_EQ(written, changed["changed"].size());
}

TEST_F(WeftRoute, NumbersImages) {
  const std::string fabric = "--topology kfat2d:2x2:1 --format image ";
  const auto has = [&](const char* in, const char* version) {
    return contains(weft("image --heads " + path(in).string() + "/leaf-0-0.image").output, version);
  };
  results(fabric + "--image-version 7 --tables " + path("all").string() +
          " --new-fail-row-link 0,0 --update " + path("some").string());
  EXPECT_TRUE(has("all", "version 7,"));
  EXPECT_TRUE(has("some", "version 7,"));
  results(fabric + "--tables " + path("plain").string());
  EXPECT_TRUE(has("plain", "version 0,"));
  results(fabric + "--fail 0,1 --tables " + path("live").string());
  EXPECT_TRUE(std::filesystem::exists(path("live") / "leaf-0-1.image"));
  EXPECT_FALSE(std::filesystem::exists(path("live") / "leaf-1-0.image"));  // dead
}

TEST_F(WeftRoute, RefusesUpdatesOfOtherTables) {
  expect_bad("--topology kfat2d:4x4:1 --update " + path("u").string(),
             "--update: there is no new fault (--new-fail)");
  results("--topology kfat2d:4x4:1 --fail 1,1 --tables " + path("t").string());
  expect_bad("--topology kfat2d:4x4:1 --new-fail 2,2 --from " + path("t").string() + " --update " +
                 path("u").string(),
             path("t").string() + ": are not the tables for the faults that are known (--fail)");
  EXPECT_FALSE(std::filesystem::exists(path("u")));
}

/// Nothing of a run that fails is written, whichever part of it fails.
TEST_F(WeftRoute, WritesAllOrNothing) {
  const std::string fabric =
      "--topology kfat2d:4x4:2 --tables " + path("t").string() + " --json " + path("j").string() + " ";
  for (const std::string more :
       {"--load 0.1 --strike 5", "--load 0.1 --switch-clocks 1", "--update . --new-fail 9,9",
        "--update /dev/null --new-fail 1,1", "--load 0.1 --strike 9 --clocks 9 --new-fail 1,1"}) {
    EXPECT_EQ(run(std::string(fabric).append(more)).exit_code, 2) << more;
    EXPECT_FALSE(std::filesystem::exists(path("t"))) << more;
    EXPECT_FALSE(std::filesystem::exists(path("j"))) << more;
  }
  const std::string whole = "--topology kfat2d:4x4:2 --tables " + path("t").string();
  results(whole);
  const std::string before = read(path("t").string() + "/route.json");
  std::filesystem::remove(path("t") / "opensm.lfts");
  std::filesystem::create_directory(path("t") / "opensm.lfts");
  EXPECT_EQ(weft("route " + whole + " --fail 1,1").exit_code, 2);
  EXPECT_EQ(read(path("t").string() + "/route.json"), before) << "tables without the routes of OpenSM";
}

TEST_F(WeftRoute, KeepsFilesOfFabricsApart) {
  const std::string folder = path("t").string(), images = path("i").string();
  results("--topology kfat2d:2x2:2 --tables " + folder);
  expect_bad("--topology kfat2d:2x2:300 --tables " + folder,
             folder + "/opensm.lfts: is of another fabric; this one has too many hosts for OpenSM");
  const std::string large = weft("route --topology kfat2d:2x2:300 --tables " + path("l").string()).output;
  EXPECT_TRUE(contains(large, "opensm.lfts  not written: at most 252 hosts a leaf and 49,151 LIDs"));
  results("--topology kfat2d:3x2:2 --format image --tables " + images);
  const std::string other = weft("route --topology kfat2d:2x2:2 --format image --tables " + images).output;
  EXPECT_TRUE(contains(other, ".image: is of another fabric")) << other;
}

TEST_F(WeftRoute, SaysWhatOpensmCannotHave) {
  const std::string words = "loaded alone it can deadlock";
  const std::string whole = "route --topology kfat2d:4x4:1 --tables " + path("t").string();
  EXPECT_FALSE(contains(weft(whole).output, words));
  EXPECT_TRUE(contains(weft(whole + " --fail 1,1").output, words));
}

// As printed, with one virtual channel: shortest ways, of which four go round a dead leaf.
TEST_F(WeftRoute, FindsThatTrafficStandsStill) {
  const std::string fabric =
      "--topology kfat2d:4x4:4 --fail 1,1 --load 1 --buffer 2 --clocks 8000 --switch-clocks 3 --end-clocks 2 "
      "--credit-clocks 2 ";
  EXPECT_GE(results(fabric + "--rules literal --channels 1", 1)["traffic"]["deadlock"].size(), 2u);
  EXPECT_TRUE(contains(weft("route " + fabric + "--rules literal --channels 1").output,
                       "standstill   deadlock in a ring of "));
  EXPECT_EQ(results(fabric)["traffic"]["deadlock"], json::array());
  // In a run that ends before the first search of every 1,000 clocks, too.
  std::string brief = fabric + "--rules literal --channels 1";
  brief.replace(brief.find("8000"), 4, "999");
  EXPECT_GE(results(brief, 1)["traffic"]["deadlock"].size(), 2u);
}

// As printed: packets to a dead leaf go round for ever, too few for a ring.
TEST_F(WeftRoute, FindsThatPacketsGoRound) {
  const std::string fabric =
      "--topology kfat2d:4x4:4 --planes 4 --load 0.01 --clocks 2500 --strike 500 --new-fail 1,1 "
      "--notice-clocks 500 --rewrite-clocks 5 ";
  const json live = results(fabric + "--rules literal", 1)["traffic"]["live"];
  EXPECT_EQ(live["deadlock"], json::array());
  EXPECT_GT(live["left"], 0);
  const auto left = std::string("; ").append(live["left"].dump()).append(" left\n");
  const std::string said = weft("route " + fabric + "--rules literal").output;
  EXPECT_TRUE(contains(said, left));
  EXPECT_TRUE(contains(said, "\nstandstill   "));
  EXPECT_EQ(results(fabric)["traffic"]["live"]["left"], 0);
}

// Packets that are long on their way are not given up.
TEST_F(WeftRoute, WaitsForLongLinks) {
  const json live =
      results("--topology kfat2d:2x2:1 --load 0.05 --clocks 100 --end-clocks 50000 --strike 5 --new-fail 0,0")
          ["traffic"]["live"];
  EXPECT_GT(live["arrived"], 0);
  EXPECT_EQ(live["left"], 0);
}

TEST_F(WeftRoute, TellsPhasesApart) {
  const json phases = results(
      "--topology kfat2d:4x4:4 --planes 4 --load 0.3 --clocks 6000 --strike 1000 "
      "--new-fail 1,1 --notice-clocks 700 --rewrite-clocks 10")["traffic"]["live"]["phases"];
  EXPECT_EQ(phases["before"]["clocks"], 500);
  EXPECT_EQ(phases["news"]["clocks"], 700);
  EXPECT_EQ(phases["rewriting"]["clocks"], (15 + 8 * 4 - 1) * 10);
  EXPECT_EQ(phases["after"]["clocks"], 6000 - 1000 - 700 - 460);
  for (const auto& [name, phase] : phases.items()) {
    // One packet in 16 goes to the dead leaf until hosts know.
    EXPECT_NEAR(phase["accepted"].get<double>(), name == "before" || name == "after" ? 0.3 : 0.3 * 15 / 16,
                0.01)
        << name;
    EXPECT_GT(phase["mean_latency_clocks"].get<double>(), 167) << name;
  }
  EXPECT_GT(phases["news"]["mean_latency_clocks"], phases["before"]["mean_latency_clocks"]);
}

TEST_F(WeftRoute, SaysWhatLiveFaultsDid) {
  const std::string fabric =
      "route --topology kfat2d:4x4:4 --planes 4 --load 0.3 --clocks 6000 --strike 1000 --new-fail-row 2 ";
  const std::string all = weft(fabric + "--notice-clocks 700 --rewrite-clocks 10").output;
  for (const char* text :
       {"\nbefore       0.3", " clocks\nnews         0.2", "\nrewriting    0.2", "\nafter        0.",
        " NO_BACKUP); 0 left\n", ", in 700 clocks\n", "\nrewritten    "})
    EXPECT_TRUE(contains(all, text)) << text << " in:\n" << all;
  EXPECT_FALSE(contains(all, "traffic ended") || contains(all, "saturated"));
  const std::string late = fabric + "--notice-clocks 9000";
  EXPECT_TRUE(contains(weft(late).output, "traffic ended before all tables were rewritten"));
  EXPECT_TRUE(results(late.substr(6))["traffic"]["live"]["phases"]["after"]["accepted"].is_null());
}

TEST_F(WeftRoute, SaysThatTrafficIsSaturated) {
  EXPECT_TRUE(
      contains(weft("route --topology kfat2d:4x4:4 --load 0.9 --clocks 3000").output, "\nsaturated    "));
  EXPECT_FALSE(contains(weft("route --topology kfat2d:4x4:4 --load 0.1 --clocks 3000").output, "saturated"));
}

TEST_F(WeftRoute, ProofsNameWhatIsTooMuch) {
  EXPECT_TRUE(contains(
      weft("route --topology kfat2d:8x8:4:4x4 --fail 0,0 1,1 --check").output,
      "leaf-0-1 leaf-2-1 leaf-2-0 leaf-1-0, of which a step ends at an edge switch that is neither"));
  const std::string isolated =
      "route --topology kfat2d:8x8:1 --fail-row-link 2,2 --fail-column-link 2,2 --check";
  EXPECT_TRUE(contains(weft(isolated).output, "\n             and 116 pairs more (--json)\n"));
}

TEST_F(WeftRoute, CarriesTraffic) {
  const json found =
      results("--topology kfat2d:4x4:4 --fail 1,1 --planes 4 --load 0.2 --clocks 4000")["traffic"];
  EXPECT_NEAR(found["accepted"].get<double>(), 0.2, 0.01);
  EXPECT_EQ(found["dropped"], 0);
  EXPECT_GT(found["mean_latency_clocks"].get<double>(), 167);
  EXPECT_LT(found["mean_latency_clocks"].get<double>(), 237);
}

// A lone host's link is never idle but for want of room: 62 + 35 clocks until it knows of any.
TEST_F(WeftRoute, TellsOfBuffersThatAreTooSmall) {
  const std::string fabric =
      "route --topology kfat2d:2x2:1 --planes 8 --load 1 --clocks 8000 --pattern transpose ";
  const json found = results(fabric.substr(6) + "--buffer 24")["traffic"];
  EXPECT_NEAR(found["host_link_limit"].get<double>(), 24.0 / 97, 1e-9);
  EXPECT_NEAR(found["accepted"].get<double>(), 24.0 / 97, 2e-3);
  EXPECT_TRUE(contains(weft(fabric + "--buffer 24").output,
                       "hosts        cannot send as much: 0.247 at most with such --buffer, --speedup\n"));
  EXPECT_FALSE(contains(weft(fabric + "--buffer 97").output, "cannot send"));
  EXPECT_NEAR(results(fabric.substr(6) + "--buffer 97")["traffic"]["accepted"].get<double>(), 1, 1e-3);
  for (const int speedup : {1, 2}) {  // a lane takes three turns a packet
    const json slow =
        results(fabric.substr(6) + "--buffer 400 --speedup " + std::to_string(speedup))["traffic"];
    EXPECT_NEAR(slow["host_link_limit"].get<double>(), speedup / 3.0, 1e-9);
    EXPECT_NEAR(slow["accepted"].get<double>(), speedup / 3.0, 2e-3);
  }
}

TEST_F(WeftRoute, CarriesPatterns) {
  for (const std::string pattern : {"transpose", "hotspot", "all-to-all"}) {
    const json found =
        results("--topology kfat2d:4x4:4 --fail 1,2 --planes 4 --load 0.1 --clocks 3000 --pattern " +
                pattern)["traffic"];
    EXPECT_EQ(found["pattern"], pattern);
    EXPECT_EQ(found["senders"], pattern == "transpose" ? 14 * 4 : 15 * 4);
    EXPECT_NEAR(found["accepted"].get<double>(), 0.1, 0.01) << pattern;
  }
}

TEST_F(WeftRoute, FaultsStrikeWhileTrafficRuns) {
  const std::string fabric =
      "--topology kfat2d:4x4:4 --planes 4 --load 0.3 --clocks 4000 --strike 1000 --notice-clocks 500 "
      "--rewrite-clocks 5 --new-fail 1,1 2,3 --strike-gap 300";
  const json live = results(fabric)["traffic"]["live"];
  EXPECT_EQ(live["twice"], 0);
  EXPECT_EQ(live["left"], 0);
  EXPECT_GT(live["detoured"], 0);
  EXPECT_EQ(live["deadlock"], json::array());
  EXPECT_GE(live["tables_done_clocks"], 500 + 300);
  const json literal = results(fabric + " --rules literal --buffer 8", 1)["traffic"]["live"];
  EXPECT_GE(literal["deadlock"].size(), 2u);
}

TEST_F(WeftRoute, BadInputIsOneLine) {
  expect_bad("--topology kfat2d:4x4:1 --load 0.1 --strike 5", "--strike: there is no new fault (--new-fail)");
  expect_bad("--topology kfat2d:4x4:1 --load 0.1 --strike 5 --clocks 5 --new-fail 0,0",
             "--strike: the last strike is in clock 5, traffic ends before 5");
  expect_bad("--topology kfat2d:1x1:1 --load 0.1 --strike 5 --new-fail 0,0", "no leaf is alive");
  expect_bad("--topology kfat2d:16x16:16 --load 0.1 --strike 5 --clocks 100000000 --new-fail 0,0",
             "--strike: 4096 hosts can send in at most 2097152 clocks, so that packets are told apart");
  expect_bad("--topology kfat2d:4x5:1 --load 0.1 --pattern transpose",
             "transpose: the fabric must be square");
  expect_bad("--topology kfat2d:4x4:1 --fail 4,0", "'4,0': there is no row 4, the last is 3");
  expect_bad("--topology kfat2d:1x1:1 --fail 0,0", "no leaf is alive");
  expect_bad("--topology kfat2d:4x0:1", "kfat2d:4x0:1: C is 0, must be 1 to 64");
  expect_bad("--topology torus3d:4x4x4:1", "torus3d:4x4x4:1: must be kfat2d:RxC:H or kfat2d:RxC:H:ExS");
  expect_bad("--topology kfat2d:4x6:1:4x2", "kfat2d:4x6:1:4x2: E must divide R and C");
  expect_bad("--topology kfat2d:4x4:1:2x2 --fail-row 1", "'1': a fault is R,N with whole numbers");
  expect_bad("--topology kfat2d:4x4:1:2x2 --fail-row-link 1,0,2",
             "'1,0,2': there is no spine switch 2, the last is 1");
  expect_bad("--topology kfat2d:4x4:1:2x2 --rules literal",
             "fat trees in rows and columns: only rules vtftr, masks destination");
  expect_bad("--topology kfat2d:4x4:1:2x2 --load 0.1 --planes 2",
             "planes are of row and column switches, not of trees");
  expect_bad("--topology kfat2d:4x4:1 --fail x", "'x': a fault is R,C with whole numbers");
  const std::string unused = "--new-fail: needs --check, --update or --strike";
  for (const std::string more : {"", " --load 0.1", " --tables t"})
    expect_bad("--topology kfat2d:4x4:1 --new-fail 1,1" + more, unused);
  expect_bad("--topology kfat2d:4x4:1 --check --new-fail 4,4", "'4,4': there is no row 4, the last is 3");
  expect_bad("--topology kfat2d:1x2:1 --check --fail 0,0 --new-fail 0,1", "no leaf is alive");
  expect_bad("--topology kfat2d:4x4:1 --format image", "--format: needs --tables or --update");
  expect_bad("--topology kfat2d:4x4:1 --image-version 2 --tables " + path("t").string(),
             "--image-version: needs --format image");
  for (const std::string use : {"--check", "--load 0.1 --strike 5"})
    expect_bad("--topology kfat2d:4x4:1 --fail 1,1 2,2 --new-fail 2,2 " + use,
               "--new-fail: all of it is dead already (--fail)");
  const std::string apart = "--any-channel: with faults packets could wait for each other for ever";
  expect_bad("--topology kfat2d:4x4:1 --load 0.1 --any-channel --fail 1,1", apart);
  expect_bad("--topology kfat2d:4x4:1 --load 0.1 --any-channel --strike 5 --new-fail 1,1", apart);
  expect_bad("--topology kfat2d:4x4:1 --load 0", "--load: '0' is not a number from 1e-06 to 1 (see --help)");
  for (const std::string option : {"--planes", "--pattern", "--clocks", "--any-channel", "--strike"}) {
    const std::string value = option == "--pattern" ? " hotspot" : option == "--any-channel" ? "" : " 2";
    expect_bad(std::string("--topology kfat2d:4x4:1 ").append(option).append(value),
               option + " requires --load (see --help)");
  }
}

}  // namespace
}  // namespace weft::test
