// SPDX-License-Identifier: Apache-2.0
// The program `weft trace` as its users call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "run_weft.hpp"
#include "temporary_folder.hpp"

namespace weft::test {
namespace {

class WeftTrace : public TemporaryFolder {
 protected:
  static std::string good() {
    return "# weft-trace 1 unit=rdma node=0\n"
           "cycle=10 unit=rx event=packet outcome=GRANT cid=3 wbase=0\n"
           "cycle=12 unit=tx event=turn outcome=SEND sid=1 next=1\n"
           "cycle=14 unit=rx event=packet outcome=ADVANCE cid=3 wbase=1\n"
           "cycle=16 unit=rx event=packet outcome=ADVANCE cid=4 wbase=2\n"
           "# end records=4\n";
  }
  static std::string faulty() {
    std::string text = good();
    text.replace(text.find("cid=4 wbase=2"), 13, "cid=4 wbase=3");
    return text;
  }
  std::string file(const std::string& name, const std::string& text) const {
    return write(name, text).string();
  }
  void expect_bad(const Finished& run, const std::string& message) const {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_TRUE(contains(run.output, message)) << run.output;
    EXPECT_EQ(std::count(run.output.begin(), run.output.end(), '\n'), 1) << run.output;
  }
};

TEST_F(WeftTrace, DiffOfEqualTraces) {
  const auto run = weft("trace diff " + file("a", good()) + " " + file("b", good()));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output, "the traces are equal\n");
}

TEST_F(WeftTrace, DiffFindsAPlantedFault) {
  const auto a = file("a", good());
  const auto b = file("b", faulty());
  const auto json = path("result.json");
  const auto run = weft("trace diff --context 1 --json " + json.string() + " " + a + " " + b);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.output, "first difference: rx record 3, " + a + ":5 against " + b +
                            ":5\n"
                            "    cycle=14 unit=rx event=packet outcome=ADVANCE cid=3 wbase=1\n"
                            "A > cycle=16 unit=rx event=packet outcome=ADVANCE cid=4 wbase=2\n"
                            "B > cycle=16 unit=rx event=packet outcome=ADVANCE cid=4 wbase=3\n"
                            "  wbase: 2 | 3\n"
                            "look at cycle 16 in the waves\n");
  EXPECT_TRUE(contains(read(json), "\"equal\": false"));
  EXPECT_TRUE(contains(read(json), "\"cycle\": 16"));
  EXPECT_EQ(weft("trace diff --ignore wbase " + a + " " + b).exit_code, 0);
  const auto misspelt = weft("trace diff --ignore wbaes " + a + " " + b);
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_TRUE(contains(misspelt.output, "--ignore wbaes: no record of either trace has this key"))
      << misspelt.output;
}

TEST_F(WeftTrace, DiffOfATraceThatEndsEarly) {
  const auto a = file("a", good());
  const auto b = file("b",
                      "# weft-trace 1 unit=rdma node=0\n"
                      "cycle=10 unit=rx event=packet outcome=GRANT cid=3 wbase=0\n# end records=1\n");
  const auto run = weft("trace diff " + a + " " + b);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(contains(run.output, b + " has no more tx records\nlook at cycle 12 in the waves\n"))
      << run.output;
}

TEST_F(WeftTrace, BadInputIsOneLineThatNamesFileLineAndFault) {
  const auto a = file("a", good());
  const auto diff_with = [&](const std::string& b) { return weft("trace diff " + a + " " + b); };
  expect_bad(diff_with(path("none").string()), path("none").string() + ": no such file");
  expect_bad(diff_with(path("").string()), ": is a folder");
  const auto truncated = file("truncated", good().substr(0, good().size() - 40));
  expect_bad(diff_with(truncated), truncated + ":5: the trace is cut off");
  const auto garbage = file("garbage", std::string("\x7f\x45LF\x00\x01\x02\xff", 8));
  expect_bad(diff_with(garbage), garbage + ":1: ");
  expect_bad(weft("trace show " + truncated + " --cid 77"), truncated + ":5: the trace is cut off");
  expect_bad(weft("trace diff " + a), "B is required");
  expect_bad(weft("trace diff " + a + " " + a + " --json /no/such/folder/x"),
             "/no/such/folder/x: cannot be written");
  expect_bad(weft("trace show " + a + " --unit ry"), "--unit");
  expect_bad(weft("trace show " + a + " --outcome ADVANSE"), "ADVANSE");
  expect_bad(weft("trace"), "A subcommand is required");
  expect_bad(weft("trace dif " + a + " " + a), "dif: there is no such subcommand");
  expect_bad(weft("trace diff --context -1 " + a + " " + a), "--context: '-1' is not a whole number");
  expect_bad(weft("trace diff '' " + a), "A: the name is empty");
  expect_bad(weft("trace diff --nonsense " + a + " " + a), "nonsense");
}

TEST_F(WeftTrace, ShowFilters) {
  const auto a = file("a", good());
  const auto lines = [&](const std::string& filter) {
    const auto run = weft("trace show " + a + " " + filter);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    return std::count(run.output.begin(), run.output.end(), '\n');
  };
  EXPECT_EQ(lines(""), 4);
  EXPECT_EQ(lines("--unit rx"), 3);
  EXPECT_EQ(lines("--unit tx"), 1);
  EXPECT_EQ(lines("--outcome ADVANCE"), 2);
  EXPECT_EQ(lines("--outcome ADVANCE --cid 3"), 1);
  EXPECT_EQ(lines("--sid 1"), 1);
  EXPECT_EQ(lines("--cid 9"), 0);
}

TEST_F(WeftTrace, ShowAsJson) {
  const auto json = path("records.json");
  EXPECT_EQ(weft("trace show --unit tx --json " + json.string() + " " + file("a", good())).exit_code, 0);
  EXPECT_TRUE(contains(read(json), "\"outcome\": \"SEND\""));
  EXPECT_FALSE(contains(read(json), "GRANT"));
}

TEST_F(WeftTrace, Help) {
  for (const char* command : {"--help", "trace --help", "trace diff --help", "trace show --help"}) {
    const auto run = weft(command);
    EXPECT_EQ(run.exit_code, 0) << command;
    EXPECT_TRUE(contains(run.output, "Usage: weft")) << run.output;
  }
}

}  // namespace
}  // namespace weft::test
