// SPDX-License-Identifier: Apache-2.0
// The program `weft mcast` as its users call it.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "mcast/images.hpp"
#include "topology/spec.hpp"
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
  EXPECT_EQ(again.output, "right for 8 groups: 3 colors, up to 3 entries in a switch\n");
  const json found = results(fabric + "--tables " + file.string());
  EXPECT_EQ(found["checked"], true);
  EXPECT_EQ(found["colors_used"], 3);
  for (const std::string more :
       {"--engine fctb", "--per-port", "--optimize 1", "--merge graft", "--merge-with similar"})
    expect_bad(fabric + more + " --tables " + file.string(),
               more.substr(0, more.find(' ')) + " excludes --tables (see --help)");
  const auto limited = weft("mcast " + fabric + "--colors 1 --tables " + file.string());
  EXPECT_EQ(limited.exit_code, 1);
  EXPECT_TRUE(contains(limited.output, "weft: switch 0 \"edge-0-0\" has color 1, only 0 to 0 are allowed\n"))
      << limited.output;
  EXPECT_TRUE(contains(weft("mcast --topology fattree3:4 --groups grid:2x8 --tables " + file.string()).output,
                       "weft: tables for 8 groups, there are 10\n"));
}

TEST_F(WeftMcast, KeepsTreesOfGroupsThatAreTheSame) {
  const auto old = write("old", "0 1 2 3\n4 8 12\n5 9 13 2\n6 10\n7 11\n1 6\n"),
             now = write("now", "5 9 13 2\n0 1 2 3 7\n14 15\n8 9\n12 13\n4 5\n1 6\n");
  const auto tables = path("tables.json"), next = path("next.json");
  const std::string fabric = "--topology fattree3:4 --groups file:";
  EXPECT_EQ(weft("mcast " + fabric + old.string() + " --engine sssp --mft " + tables.string()).exit_code, 0);
  const std::string keep = " --keep " + tables.string(), kept = " --kept-groups file:" + old.string();
  const json found = checked(fabric + now.string() + keep + kept + " --mft " + next.string());
  EXPECT_EQ(found["kept_groups"], (json{{"same", 2}, {"changed", 1}, {"gone", 3}, {"new", 4}}));
  const json before = json::parse(read(tables)), after = json::parse(read(next));
  EXPECT_EQ(after["groups"][0]["color"], before["groups"][2]["color"]);
  expect_bad(fabric + now.string() + keep, "--keep requires --kept-groups (see --help)");
  expect_bad(fabric + now.string() + kept, "--kept-groups requires --keep (see --help)");
  const auto wrong = run(fabric + now.string() + keep + " --kept-groups file:" + now.string());
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(contains(wrong.output, "weft: --keep " + tables.string() +
                                         ": is not right for --kept-groups file:" + now.string() +
                                         " in this fabric: "))
      << wrong.output;
  expect_bad(fabric + now.string() + keep + kept + " --per-port",
             "--keep " + tables.string() + ": has tables of switches, goes without --per-port only");
  const std::string arguments = fabric + now.string() + keep + kept;
  for (const std::string more : {" --optimize 1", " --engine minhop"})
    expect_bad(arguments + more, "--keep: not with --optimize, nor with --engine minhop, sssp or sssp-load");
}

TEST_F(WeftMcast, KeptTreesAreGraftedUnlessToldOtherwise) {
  const auto old = write("old", "0 4\n1 8\n9 14\n"), now = write("now", "0 4\n1 8\n9 14\n2 6 10\n3 12 5\n");
  const auto tables = path("tables.json"), next = path("next.json");
  const std::string fabric = "--topology fattree3:4 --colors 1 --groups file:";
  EXPECT_EQ(weft("mcast " + fabric + old.string() + " --mft " + tables.string()).exit_code, 0);
  const auto tables_with = [&](const std::string& more) {
    checked(fabric + now.string() + " --keep " + tables.string() + " --kept-groups file:" + old.string() +
            more + " --mft " + next.string());
    return read(next);
  };
  EXPECT_EQ(tables_with(""), tables_with(" --merge graft"));
  EXPECT_NE(tables_with(""), tables_with(" --merge rebuild"));
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
  for (const char* mlid : {"49152", "0xBFFF", "0xFFFF", "C000"})
    expect_bad(fabric + "--groups grid:4x4 --mcfdbs " + path("x").string() + " --first-mlid " + mlid,
               "--first-mlid: '" + std::string(mlid) +
                   "' is not a hexadecimal number (0x...) from 0xC000 to 0xFFFE (see --help)");
  expect_bad(fabric, "--groups is required (see --help)");
  expect_bad(fabric + "--groups grid:4x4 --engine sssp --colors 4",
             "--engine sssp: knows neither --colors nor --per-port");
  expect_bad(fabric + "--groups grid:4x4 --tables " + path("none").string(),
             path("none").string() + ": no such file");
  expect_bad(fabric + "--groups grid:4x4 --tables " + groups, groups + ":1: is no JSON");
  expect_bad(fabric + "--groups grid:4x4 --mft /dev/full",
             "/dev/full: cannot be written: No space left on device");
  expect_bad(fabric + "--groups grid:4x4 --per-port --mcfdbs " + path("x").string(),
             "mcfdbs has no tables of ports");
  EXPECT_FALSE(std::filesystem::exists(path("x")));
}

/// Each kind of bad input of fabrics and groups, with all results asked for.
class WeftMcastRefuses : public WeftMcast {
 protected:
  void SetUp() override {
    WeftMcast::SetUp();
    write("fabric", fabric_);
    for (const char* name : {"mft", "mcfdbs", "json", "images"})
      results_.push_back(path("out-" + std::string(name)));
  }

  /// The line that it says, once it is seen that it is one and that no result is there.
  std::string refusal(const std::string& fabric, const std::string& groups,
                      const std::string& more = "") const {
    std::string arguments = "--topology file:" + fabric + " --groups file:" + groups + " " + more;
    const char* options[] = {" --mft ", " --mcfdbs ", " --json ", " --images "};
    for (std::size_t i = 0; i < results_.size(); ++i) arguments += options[i] + results_[i].string();
    const auto finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(count(finished.output, "\n"), 1u) << finished.output;
    for (const auto& entry : std::filesystem::directory_iterator(path("")))
      EXPECT_FALSE(contains(entry.path().filename().string(), "out-") || entry.path().extension() == ".part")
          << entry.path();
    return finished.output;
  }
  void expect_fabric(const std::string& from, const std::string& to, const std::string& message) const {
    std::string text = fabric_;
    text.replace(text.find(from), from.size(), to);
    const auto file = write("spoilt", text).string();
    EXPECT_EQ(refusal(file, write("groups", "0 1\n").string()), "weft: " + file + ":" + message + "\n");
  }
  void expect_groups(const std::string& text, const std::string& message) const {
    const auto file = write("groups", text).string();
    EXPECT_EQ(refusal(path("fabric").string(), file), "weft: " + file + ":" + message + "\n");
  }

  const std::string fabric_ =
      "switchguid=0x1\nSwitch 3 \"S1\"\n[1] \"H1\"[1]\n[2] \"S2\"[2]\n\n"
      "switchguid=0x2\nSwitch 3 \"S2\"\n[1] \"H2\"[1]\n[2] \"S1\"[2]\n\n"
      "caguid=0x10\nCa 1 \"H1\"\n[1](11) \"S1\"[1]\n\ncaguid=0x20\nCa 1 \"H2\"\n[1](21) \"S2\"[1]\n";
  std::vector<std::filesystem::path> results_;
};

TEST_F(WeftMcastRefuses, SpoiltFabrics) {
  expect_fabric("Switch 3 \"S2\"", "Switch three \"S2\"", "7: a number expected at 'three \"S2\"'");
  expect_fabric("[2] \"S2\"[2]", "[2] \"S3\"[2]", "4: a link to \"S3\", which is not there");
  expect_fabric("[2] \"S2\"[2]", "[2] \"S2\"[9]", "4: a link to port 9 of \"S2\", which has 1 to 3");
  expect_fabric("caguid=0x20", "caguid=0x1", "16: GUID 0x1 of \"H2\" is also that of \"S1\" in line 2");
  expect_fabric("[1](21)", "[1](11)", "17: port GUID 0x11 is also that of the port in line 13");
  std::string parted = fabric_;
  for (const char* link : {"[2] \"S2\"[2]", "[2] \"S1\"[2]"}) parted.replace(parted.find(link), 11, "");
  const auto file = write("parted", parted).string();
  EXPECT_EQ(refusal(file, write("groups", "0 1\n").string()),
            "weft: " + file + ":7: \"S2\" is not connected with \"S1\" in line 2\n");
  EXPECT_EQ(refusal(path("none").string(), path("groups").string()),
            "weft: " + path("none").string() + ": no such file\n");
}

TEST_F(WeftMcastRefuses, SpoiltGroups) {
  expect_groups("0 1\n0 2\n", "2: there is no host 2, only 0 to 1");
  expect_groups("0 H3\n", "1: there is no host 'H3'");
  expect_groups("# first\n\n0 0x21 H2\n", "3: host 1 is there twice");
  expect_groups("0 1\nH1\n", "2: a group of one host");
  expect_groups("0 \"H2\n", "1: a quotation mark is not closed");
  expect_groups("# none\n", " there is no group in it");
  write("groups", "0 1\n");
  EXPECT_EQ(refusal(path("fabric").string(), path("groups").string(), "--colors 0"),
            "weft: --colors: '0' is neither inf nor a whole number from 1 to 16384 (see --help)\n");
}

/// A disk that takes all results but one: none of them is there afterwards, and older ones are as before.
TEST_F(WeftMcast, NothingIsWrittenToAFullDisk) {
  const std::string fabric = "--topology fattree3:4 --groups grid:4x4";
  const char* options[] = {"--mft", "--mcfdbs", "--json"};
  const auto old = write("old", "old");
  for (const std::string full : options) {
    std::string arguments = fabric;
    for (const std::string option : options)
      arguments += " " + option + " " + (option == full ? "/dev/full" : path(option).string());
    expect_bad(arguments + " --images " + path("images").string(),
               "/dev/full: cannot be written: No space left on device");
    for (const char* option : options) EXPECT_FALSE(std::filesystem::exists(path(option))) << option;
    EXPECT_FALSE(std::filesystem::exists(path("images")));
  }
  // no file may grow beyond a block: --mft asks for more, the one before does not
  const auto limited =
      run_command("(ulimit -f 1; " WEFT_BINARY " mcast --topology fattree3:8 --groups grid:8x16 --mft " +
                  old.string() + " --json " + path("json").string() + ")");
  EXPECT_EQ(limited.exit_code, 2);
  EXPECT_EQ(limited.output, "weft: " + old.string() + ": cannot be written: File too large\n");
  EXPECT_EQ(read(old), "old");
  EXPECT_FALSE(std::filesystem::exists(path("json")));
  EXPECT_FALSE(std::filesystem::exists(old.string() + ".part"));
  const auto printed = run_command("(" WEFT_BINARY " mcast " + fabric + " >/dev/full)");
  EXPECT_EQ(printed.exit_code, 2);
  EXPECT_TRUE(contains(printed.output, "No space left on device\n")) << printed.output;
}

TEST_F(WeftMcast, ResultsDoNotGoToTheSamePlace) {
  const auto file = path("x").string();
  expect_bad("--topology fattree3:4 --groups grid:4x4 --mft " + file + " --json " + file,
             file + ": cannot be written: two results are to go there");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(WeftMcast, WritesAnImageForEachSwitch) {
  const std::string fabric = "mcast --topology fattree3:4 --groups grid:4x4 ";
  for (const std::string kind : {"", "--per-port "}) {
    const auto folder = path("images" + kind.substr(0, 5));
    ASSERT_EQ(weft(fabric + kind + "--check --mft " + path("mft").string() + " --images " + folder.string())
                  .exit_code,
              0);
    const topology::Graph graph = topology::load("fattree3:4");
    const auto images = mcast::images_of(mcast::read_tables(read(path("mft")), "mft", graph), graph);
    const switch_lookup::Sizes sizes{4, 128, 256, !kind.empty()};
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder)) ++files;
    EXPECT_EQ(files, 21u) << "with the colors";
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      const auto bytes = read(folder / mcast::image_file_name(images[sw]));
      EXPECT_EQ(switch_lookup::read_image_bytes(bytes, graph.switch_info(sw).guid, sizes).multicast,
                images[sw].multicast);
    }
    EXPECT_FALSE(images[0].multicast.empty());
  }
  expect_bad("--topology bluelight --groups grid:2x2 --images " + write("file", "").string(),
             path("file").string() + ": cannot be made: File exists");
}

}  // namespace
}  // namespace weft::test
