// SPDX-License-Identifier: Apache-2.0
// The program `weft topology` as its users call it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "topology/ibnet.hpp"
#include "topology/spec.hpp"
#include "weft_command.hpp"

namespace weft::test {
namespace {

using nlohmann::json;

class WeftTopology : public WeftCommand {
 protected:
  WeftTopology() : WeftCommand("topology") {}
};

TEST_F(WeftTopology, SaysWhatItIs) {
  const auto file = path("summary.json");
  const auto run = weft("topology kfat2d:2x3:4 --json " + file.string());
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.output,
            "switches  11, of 2 to 6 ports\n"
            "hosts     24\n"
            "links     36: 12 between switches, 24 to hosts\n"
            "diameter  4 links between switches\n"
            "unused    0 ports of switches\n");
  EXPECT_EQ(json::parse(read(file)),
            json::parse(R"({"topology": "kfat2d:2x3:4", "switches": 11, "hosts": 24, "links": 36,
      "switch_links": 12, "host_links": 24, "diameter": 4, "least_ports": 2, "most_ports": 6, "unused_ports": 0, "seed": 1})"));
}

TEST_F(WeftTopology, WritesWhatItReads) {
  const auto file = path("net"), again = path("again");
  EXPECT_EQ(weft("topology random:20,9,3,4 --format ibnet -o " + file.string()).output, "");
  EXPECT_TRUE(topology::read_ibnet_file(file) == topology::load("random:20,9,3,4"));
  EXPECT_EQ(weft("topology file:" + file.string() + " --format ibnet -o " + again.string()).exit_code, 0);
  EXPECT_EQ(read(file), read(again));
  EXPECT_EQ(weft("topology random:20,9,3,4 --format ibnet").output, read(file));
}

TEST_F(WeftTopology, WritesJson) {
  const auto run = weft("topology torus3d:2x1x1:1 --format json");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(json::parse(run.output), json::parse(R"({
    "switches": [{"guid": "0x0000001000000000", "name": "switch-0-0-0", "ports": 7},
                 {"guid": "0x0000001000000001", "name": "switch-1-0-0", "ports": 7}],
    "hosts": [{"guid": "0x0000002000000000", "name": "host-0", "ports": 1},
              {"guid": "0x0000002000000010", "name": "host-1", "ports": 1}],
    "switch_links": [{"a": 0, "a_port": 1, "b": 1, "b_port": 2}, {"a": 0, "a_port": 2, "b": 1, "b_port": 1}],
    "host_links": [{"host": 0, "host_port": 1, "switch": 0, "switch_port": 7, "port_guid": "0x0000002000000001"},
                   {"host": 1, "host_port": 1, "switch": 1, "switch_port": 7, "port_guid": "0x0000002000000011"}]})"));
}

TEST_F(WeftTopology, WritesDot) {
  const auto net = write("net",
                         "Switch 1 \"s\" # \"a \\ \"b\"\"\n[1] \"h\"\n\n"
                         "Ca 1 \"h\"\n[1] \"s\"\n");
  const auto run = weft("topology file:" + net.string() + " --format dot");
  EXPECT_EQ(run.output,
            "graph fabric {\n"
            "  s0 [shape=box, label=\"a \\\\ \\\"b\\\"\"];\n"
            "  h0 [label=\"h\"];\n"
            "  h0 -- s0 [taillabel=1, headlabel=1];\n"
            "}\n");
}

TEST_F(WeftTopology, BadInputIsOneLine) {
  expect_bad("fattree3:5", "fattree3:5: K is 5, must be even");
  expect_bad("file:" + path("none").string(), path("none").string() + ": no such file");
  const auto net = write("net", "Switch 4 \"S1\"\n[1] \"x\"\n").string();
  expect_bad("file:" + net, net + ": there is no host in it");
  expect_bad("torus3d:1x1x1:300 --format ibnet",
             "torus3d:1x1x1:300: \"switch-0-0-0\" has 306 ports, more than the 254 of InfiniBand");
  expect_bad("fattree3:4 -o " + path("x").string(), "-o needs --format: ibnet, json or dot");
  expect_bad("", "SPEC is required (see --help)");
  expect_bad("''", std::string("an empty text is no topology, which is ") + topology::spec_forms);
  expect_bad("file:", "file:: must be file:PATH, the path is missing");
  EXPECT_EQ(weft("topology fattree3:4 --format svg").exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("x")));
  expect_bad("fattree3:4 --format dot -o /dev/full", "/dev/full: cannot be written: No space left on device");
  expect_bad("fattree3:4 --format dot >/dev/full", "standard output cannot be written");
}

}  // namespace
}  // namespace weft::test
