// SPDX-License-Identifier: Apache-2.0
// weft images and weft image: table images of a fabric's switches as files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "mcast/images.hpp"
#include "switch/management.hpp"
#include "switchtables/image_folder.hpp"
#include "switchtables/plan.hpp"
#include "topology/spec.hpp"
#include "weft_command.hpp"

namespace weft::test {
namespace {

class WeftImages : public WeftCommand {
 protected:
  WeftImages() : WeftCommand("images") {}

  std::string folder(const std::string& name) const { return path(name).string(); }
  switch_lookup::Image image(const char* in, const switch_lookup::Image& like) const {
    return switch_lookup::read_image_bytes(read(path(in) / mcast::image_file_name(like)), like.head.switch_id,
                                           {64, 256, 2048, false});
  }
};

TEST_F(WeftImages, AreThoseOfTheFabricWithBothTables) {
  for (const std::string topology : {"kfat2d:3x4:2", "torus3d:3x3x3:1"}) {
    const auto name = topology.substr(0, 3);
    const auto found =
        results("--topology " + topology + " --groups random:6:4:1 --images " + folder(name.c_str()));
    const switchtables::Fabric fabric(topology);
    EXPECT_EQ(found["switches"], fabric.graph().switches());
    EXPECT_EQ(found["merged_groups"], 0);
    const mcast::Hops hops(fabric.graph());
    switchtables::PlanOptions options;
    options.sizes = {fabric.most_ports(), 256, 2048, false};
    const auto groups = mcast::load_groups("random:6:4:1", fabric.graph());
    for (auto& made : make_plan(fabric, hops, groups, {}, options).images) {
      const auto read = image(name.c_str(), made);
      EXPECT_EQ(read.multicast, made.multicast);
      EXPECT_EQ(read.unicast, made.unicast);
      EXPECT_FALSE(read.unicast.empty());
      EXPECT_EQ(read.head.role, made.head.role);
    }
  }
}

TEST_F(WeftImages, OfAnUpdateHaveOldAndNewTrees) {
  const std::string fabric = "--topology torus3d:3x3x3:1 --groups random:6:4:1 ";
  results(fabric + "--images " + folder("old"));
  const auto both = results(fabric + "--fail-switch 13 --first-color 128 --other --image-version 2 --with " +
                            folder("old") + " --images " + folder("both"));
  EXPECT_EQ(both["switches"], 26);
  results(fabric + "--fail-switch 13 --first-color 128 --other --image-version 3 --images " + folder("new"));
  for (const auto& each : switchtables::heads_of(switchtables::Fabric("torus3d:3x3x3:1"), 1)) {
    if (each.head.switch_id == 0x100000000d) continue;
    const auto old = image("old", each), mixed = image("both", each), fresh = image("new", each);
    EXPECT_EQ(mixed.multicast.size(), old.multicast.size() + fresh.multicast.size());
    EXPECT_EQ(mixed.unicast, fresh.unicast);
    EXPECT_EQ(mixed.head.table_version, 2u);
    EXPECT_EQ(fresh.head.table_version, 3u);
  }
}

// Fabrics that are generated have the same GUIDs.
TEST_F(WeftImages, OfAnotherFabricAreNoOldOnes) {
  results("--topology kfat2d:4x4:4 --groups random:6:4:1 --images " + folder("grid"));
  results("--topology torus3d:3x3x2:1 --groups random:6:4:1 --images " + folder("torus"));
  const auto with = [&](const std::string& fabric, const std::string& old) {
    return fabric + " --groups random:6:4:1 --first-color 128 --with " + folder(old) + " --images " +
           folder("both");
  };
  const std::string file = "/0x0000001000000000.image: ";
  expect_bad(with("--topology torus3d:3x3x2:1", "grid"),
             folder("grid") + file + "of a switch at another place, of another fabric perhaps");
  expect_bad(with("--topology fattree3:4", "torus"),
             folder("torus") + file +
                 "word 11: an entry is out of range, out of order, or names a port that is not there");
  EXPECT_FALSE(std::filesystem::exists(path("both")));
}

TEST_F(WeftImages, AreNotReplacedByThoseOfAnotherFabric) {
  const std::string groups = " --groups random:6:4:1 --images " + folder("used");
  results("--topology kfat2d:2x2:4" + groups);
  const auto refused = run("--topology kfat2d:4x4:4" + groups);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.output, "of a switch at another place, of another fabric perhaps"))
      << refused.output;
  for (const auto& each : std::filesystem::directory_iterator(path("used")))  // what is no image is nobody's
    std::ofstream(each.path()) << "nothing";
  results("--topology kfat2d:4x4:4" + groups);
}

TEST_F(WeftImages, DoNotMixWithThoseOfOtherSwitches) {
  const std::string more = "--topology kfat2d:4x4:4 --groups random:6:4:1 --images " + folder("used");
  const std::string fewer = "--topology kfat2d:2x2:4 --groups random:6:4:1 --images " + folder("used");
  results(more);
  EXPECT_EQ(run(more).exit_code, 0);
  const auto refused = run(fewer);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(contains(refused.output, folder("used") + ": holds 0x")) << refused.output;
  expect_bad("--topology kfat2d:4x4:4 --groups random:6:4:1 --first-color 128 --with " + folder("used") +
                 " --images " + folder("used") + "/.",
             "--with " + folder("used") + ": the folder of --images; old images would be lost");
}

/// One of them has a single member left.
TEST_F(WeftImages, SayWhatEachGroupSendsBy) {
  write("groups", "host-0 host-14\nhost-0 host-5 host-9\nhost-0 host-5 host-8\n");
  results("--topology fattree3:4 --fail-switch 7 --first-color 40 --groups file:" + folder("groups") +
          " --images " + folder("images"));
  EXPECT_EQ(read(path("images") / "colors"), "0 -\n1 40\n2 41\n");
  weft("mcast --topology fattree3:4 --groups random:3:4:1 --images " + folder("mcast"));
  EXPECT_EQ(read(path("mcast") / "colors").substr(0, 2), "0 ");
}

TEST_F(WeftImages, ColorsOfAFileThatIsNoneAreRefused) {
  mcast::Groups groups;
  groups.add({0, 5});
  groups.add({3});
  const auto said = [&](const std::string& text) -> std::string {
    write("colors", text);
    try {
      switchtables::read_colours(path("").string(), groups, {8, 128, 64, false});
    } catch (const Fault& fault) {
      const std::string file = (path("") / "colors").string();
      EXPECT_TRUE(std::string(fault.what()).starts_with(file)) << fault.what();
      return std::string(fault.what()).substr(file.size());
    }
    return "";
  };
  EXPECT_EQ(said("0 7\n1 -\n"), "");
  EXPECT_EQ(said("0 127\n1 0"), "");
  EXPECT_EQ(said("0 7\n"), ": colors of 1 groups, not of 2");
  EXPECT_EQ(said("0 7\n1 -\n2 8\n"), ": colors of 3 groups, not of 2");
  EXPECT_EQ(said("0 -\n1 -\n"), ":1: no color, but the group has 2 members");
  EXPECT_EQ(said("0 128\n1 -\n"), ":1: color 128: the lookup blocks have 128 entries");
  for (const char* wrong : {"1 x", "1", "1 ", "1 4294967295", "1 -1", "1 7 ", "2 7", "", "1 99999999999"})
    EXPECT_EQ(said(std::string("0 7\n") + wrong + "\n"),
              ":2: \"" + std::string(wrong) + "\": must be \"1 COLOR\", or - for none");
  EXPECT_EQ(said("0 7\r\n1 -\r\n"), ":1: \"0 7\\r\": must be \"0 COLOR\", or - for none");
}

/// Whatever port of a neighbour is dead, images of before and of now fit.
TEST_F(WeftImages, OfAnUpdateAreTakenWhereverSomethingDies) {
  const std::string fabric = "--topology kfat2d:3x3:2 --groups random:4:4:1 ";
  results(fabric + "--images " + folder("old"));
  int number = 0;
  for (const char* fault : {"--fail 2,2", "--fail 0,0", "--fail-column 2", "--fail-row 2",
                            "--fail-row-link 0,2", "--fail-column-link 2,0"}) {
    const auto made = run(fabric + fault + " --first-color 128 --with " + folder("old") + " --images " +
                          folder(std::to_string(number++)));
    EXPECT_EQ(made.exit_code, 0) << fault << ": " << made.output;
  }
}

/// By number in the dump, though hosts behind ports beyond 64 are left out.
TEST_F(WeftImages, KnowMembersByTheirNumbersInTheDump) {
  const std::string dump = std::string("file:") + WEFT_TEST_DATA + "/topology/ndr_cluster.ibnetdiscover";
  const auto graph = topology::load(dump);
  const auto name = [&](uint32_t host) { return fmt::format("{:#x}", graph.host_info(host).guid); };
  const switchtables::Fabric fabric(dump);
  ASSERT_GT(fabric.kept().at(300), 300u);
  const uint32_t one = fabric.kept().at(100), other = fabric.kept().at(300);
  write("numbers", fmt::format("{} {}\n", one, other));
  write("guids", name(one) + " " + name(other) + "\n");
  const auto groups = [&](const std::string& file) {
    return switchtables::load_groups("file:" + folder(file), dump, fabric);
  };
  EXPECT_TRUE(groups("numbers") == groups("guids"));
  EXPECT_EQ(groups("numbers").members(0).front(), 100u);
  uint32_t left_out = 0;
  while (fabric.kept().at(left_out) == left_out) ++left_out;
  write("behind", fmt::format("{} {}\n", one, left_out));
  expect_bad("--topology " + dump + " --groups file:" + folder("behind") + " --images " + folder("x"),
             fmt::format("file:{}: group 0: host {}, \"{}\", is behind a port beyond 64", folder("behind"),
                         left_out, graph.host_info(left_out).name));
}

/// LIDs are those of the whole fabric, whoever dies.
TEST_F(WeftImages, KeepTheirLidsWhenHostsDie) {
  write("net",
        "Switch\t4 \"S-0000000000000001\"\n[1] \"H-0000000000000010\"[1]\n[2] \"S-0000000000000002\"[2]\n"
        "[3] \"H-0000000000000030\"[1]\n"
        "Switch\t4 \"S-0000000000000002\"\n[1] \"H-0000000000000020\"[1]\n[2] \"S-0000000000000001\"[2]\n"
        "Ca\t1 \"H-0000000000000010\"\n[1] \"S-0000000000000001\"[1] # lid 5 lmc 0\n"
        "Ca\t1 \"H-0000000000000020\"\n[1] \"S-0000000000000002\"[1]\n"
        "Ca\t1 \"H-0000000000000030\"\n[1] \"S-0000000000000001\"[3] # lid 8 lmc 0\n");
  const switchtables::Fabric whole("file:" + folder("net"));
  switchtables::Faults faults(whole.graph());
  faults.switches[1] = true;
  const auto alive = whole.alive_of(faults);
  EXPECT_FALSE(alive.has_lids());
  EXPECT_EQ(unicast_to(alive, 1).index, unicast_to(whole, 2).index);
  expect_bad("--topology file:" + folder("net") + " --groups random:1:2:1 --images " + folder("x"),
             "file:" + folder("net") + ": host 1, \"H-0000000000000020\", has no LID, but others have");
}

/// Ports of hosts are at the LIDs that the dump of their subnet says.
TEST_F(WeftImages, HaveTheLidsOfTheSubnet) {
  const std::string dump = std::string("file:") + WEFT_TEST_DATA + "/topology/ndr_cluster.ibnetdiscover";
  const auto made = results("--topology " + dump + " --groups random:3:4:1 --images " + folder("images"));
  EXPECT_EQ(made["lids"], "of the subnet");
  const switchtables::Fabric fabric(dump);
  ASSERT_TRUE(fabric.has_lids());
  const auto leaf = image("images", switchtables::heads_of(fabric, 1)[0]);
  EXPECT_EQ(leaf.head.switch_id, 0x2c5eab0300b87b40u);
  std::map<uint32_t, uint32_t> port_of;
  for (const auto& entry : leaf.unicast) port_of[entry.index] = entry.primary;
  EXPECT_EQ(port_of.at(647), 1u);
  EXPECT_EQ(port_of.at(641), 2u);
  EXPECT_EQ(port_of.at(610), 9u);
  EXPECT_EQ(port_of.size(), fabric.graph().hosts());
  EXPECT_EQ(unicast_to(fabric, fabric.behind(0, 9).node).index, 610);
  EXPECT_EQ(results("--topology fattree3:4 --groups random:3:4:1 --images " + folder("other"))["lids"],
            "counted from 1");
}

/// A host with two ports, four LIDs at one of them.
TEST_F(WeftImages, HaveAllLidsOfAPort) {
  const std::string ports =
      "Switch\t4 \"S-0000000000000001\"\n[1] \"H-0000000000000010\"[1]\n[2] \"H-0000000000000010\"[2]\n"
      "[3] \"H-0000000000000020\"[1]\n"
      "Ca\t2 \"H-0000000000000010\"\n[1] \"S-0000000000000001\"[1] # lid 8 lmc 2\n"
      "[2] \"S-0000000000000001\"[2] # lid 5 lmc 0\n"
      "Ca\t1 \"H-0000000000000020\"\n[1] \"S-0000000000000001\"[3]";
  const auto entries = [&](const std::string& name, const std::string& more) {
    const auto file = write(name, ports + more);
    results("--topology file:" + file.string() + " --groups random:1:2:1 --images " + folder(name + "_made"));
    const std::string shown = weft("image " + folder(name + "_made") + "/0x0000000000000001.image").output;
    return shown.substr(shown.find("  LID"));
  };
  EXPECT_EQ(entries("all", " # lid 2 lmc 0\n"),
            "  LID 2: port 3\n  LID 5: port 2\n  LID 8: port 1\n  LID 9: port 1\n  LID 10: port 1\n"
            "  LID 11: port 1\n");
}

TEST_F(WeftImages, AreRefusedWhole) {
  const std::string fabric = "--topology kfat2d:4x4:4 ";
  expect_bad(fabric + "--groups random:6:4:1 --first-color 256 --images " + folder("a"),
             "--first-color 256: the tables have 256 entries");
  expect_bad(fabric + "--groups random:6:4:1 --entries 8 --images " + folder("a"),
             "16 entries for leaf switches: the lookup blocks have 8");
  expect_bad(fabric + "--groups random:6:4:1 --entries 40000 --images " + folder("a"),
             "--entries: '40000' is not a whole number from 1 to 32768 (see --help)");
  expect_bad(fabric + "--groups random:6:4:1 --entries 3000 --images " + folder("a"),
             "--entries 3000: a table has a power of two of entries");
  const auto merged = run(fabric + "--groups random:600:12:1 --images " + folder("a"));
  EXPECT_EQ(merged.exit_code, 1);
  EXPECT_NE(merged.output.find("groups share trees"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path("a")));
  EXPECT_EQ(run(fabric + "--groups random:600:12:1 --merged --images " + folder("a")).exit_code, 0);
}

class WeftImage : public WeftCommand {
 protected:
  WeftImage() : WeftCommand("image") {
    weft("images --topology kfat2d:2x3:2 --groups random:3:4:1 --fail 1,1 --image-version 9 --images " +
         path("grid").string());
    weft("images --topology fattree3:4 --groups random:3:4:1 --per-port --images " + path("tree").string());
  }

  std::string file(const std::string& name) const { return path(name).string(); }
};

TEST_F(WeftImage, IsShownAsItWasMade) {
  for (const std::string name : {"grid", "tree"}) {
    const auto found = results(file(name) + "/*.image")["images"];
    EXPECT_EQ(found.size(), name == "grid" ? 10u : 20u);
    for (const auto& shown : found) {
      const auto image =
          switch_lookup::read_any_image(read(path(name) / (shown["switch"].get<std::string>() + ".image")));
      EXPECT_EQ(shown["version"], image.head.table_version);
      EXPECT_EQ(shown["row"], image.head.row);
      EXPECT_EQ(shown["per_port"], name == "tree");
      ASSERT_EQ(shown["multicast"].size(), image.multicast.size());
      ASSERT_EQ(shown["unicast"].size(), image.unicast.size());
      const auto ports = [](const nlohmann::json& numbers) {
        switch_lookup::Ports bits = 0;
        for (const uint32_t port : numbers) bits |= switch_lookup::port_bit(port);
        return bits;
      };
      for (std::size_t i = 0; i < image.multicast.size(); ++i) {
        const auto& entry = shown["multicast"][i];
        EXPECT_EQ(ports(entry["ports"]), image.multicast[i].ports);
        EXPECT_EQ(entry["color"].get<uint32_t>() | (entry.value("input_port", 1u) - 1) << 16,
                  image.multicast[i].index);
      }
      for (std::size_t i = 0; i < image.unicast.size(); ++i) {
        EXPECT_EQ(shown["unicast"][i]["index"], image.unicast[i].index);
        EXPECT_EQ(shown["unicast"][i]["primary"], image.unicast[i].primary);
        EXPECT_EQ(ports(shown["unicast"][i]["backups"]), image.unicast[i].ports);
      }
    }
  }
}

TEST_F(WeftImage, SaysRolesAndEntriesInWords) {
  const auto leaf = run(file("grid/0x0000001000000000.image"));
  EXPECT_TRUE(contains(leaf.output,
                       "0x0000001000000000  version 9, LEAF at row 0, column 0; row port 3, column port 4; "))
      << leaf.output;
  EXPECT_TRUE(contains(leaf.output, "\n  row 1, column 2: port ")) << leaf.output;
  const auto heads = run("--heads " + file("grid") + "/*.image");
  EXPECT_EQ(count(heads.output, "\n"), 10u);
  EXPECT_TRUE(contains(heads.output, ", ROW 1; ")) << heads.output;
  EXPECT_TRUE(contains(heads.output, ", COLUMN 2; ")) << heads.output;
  const auto plain = run(file("tree") + "/*.image");
  EXPECT_TRUE(contains(plain.output, "PLAIN; ")) << plain.output;
  EXPECT_TRUE(contains(plain.output, " multicast entries of input ports, ")) << plain.output;
  EXPECT_TRUE(contains(plain.output, " from port ")) << plain.output;
  EXPECT_TRUE(contains(plain.output, "\n  LID 16: port ")) << plain.output;
}

TEST_F(WeftImage, IsLoadedByItsManagementPackets) {
  const std::string name = "grid/0x0000001000000000.image";
  const auto image = switch_lookup::read_any_image(read(path(name)));
  const auto made =
      run("--heads " + file(name) + " --packets " + file("packets") + " --key 0xfedcba9876543210");
  ASSERT_EQ(made.exit_code, 0) << made.output;
  switch_lookup::Loader loader({4, 256, 64, false}, image.head.switch_id);
  switch_lookup::ManagementPort port(loader);
  port.set_key(0xfedcba9876543210);
  std::istringstream lines(read(path("packets")));
  uint32_t packets = 0;
  for (std::string line; std::getline(lines, line); ++packets) {
    std::istringstream words(line);
    std::vector<uint32_t> packet;
    for (uint32_t word = 0; words >> std::hex >> word;) packet.push_back(word);
    EXPECT_EQ(port.take(packet), std::nullopt) << line;
  }
  EXPECT_EQ(packets, 2u);  // START, DATA
  ASSERT_TRUE(loader.in_use());
  EXPECT_EQ(switch_lookup::write_image(*loader.in_use()), switch_lookup::write_image(image));
}

TEST_F(WeftImage, IsNotCutWithoutAKeyOrOfSeveral) {
  const std::string one = file("grid/0x0000001000000000.image"), packets = " --packets " + file("packets");
  expect_bad(one + packets, "--packets requires --key (see --help)");
  expect_bad(one + " --key 0x5", "--key requires --packets (see --help)");
  expect_bad(one + " " + one + packets + " --key 0x5", "--packets: of one image only");
  for (const std::string key : {"0x0", "5", "0x10000000000000000", "0xg", ""}) {
    const auto made = run(fmt::format("{}{} --key '{}'", one, packets, key));
    EXPECT_EQ(made.exit_code, 2) << key;
    EXPECT_TRUE(contains(made.output, "weft: --key: ")) << made.output;
  }
  write("wrong", "no image");
  expect_bad(file("wrong") + packets + " --key 0x5", file("wrong") + ": word 0: no table image");
  EXPECT_FALSE(std::filesystem::exists(path("packets")));
  expect_bad(
      one + " --packets " + file("no/packets") + " --key 0x5",
      "--packets: " + file("no/packets") + ": cannot be written: No such file or directory (see --help)");
}

TEST_F(WeftImage, IsRefusedAsALookupBlockDoes) {
  const std::string good = read(path("grid") / "0x0000001000000000.image");
  std::string wrong = good;
  wrong[40] = static_cast<char>(wrong[40] ^ 1);
  write("cut", good.substr(0, good.size() - 4));
  write("part", good.substr(0, 21));
  write("empty", "");
  write("wrong", wrong);
  write("long", good + "abcd");
  write("odd", good + "a");
  expect_bad(file("cut"), file("cut") + ": word " + std::to_string(good.size() / 4 - 1) + ": ends early");
  expect_bad(file("part"), file("part") + ": word 5: ends early");
  expect_bad(file("empty"), file("empty") + ": word 0: ends early");
  expect_bad(file("long"), file("long") + ": words behind its end");
  expect_bad(file("odd"), file("odd") + ": word " + std::to_string(good.size() / 4) + ": ends early");
  expect_bad(file("none"), file("none") + ": no such file");
  expect_bad("/dev/zero", "/dev/zero: has more than 50724904 bytes");
  const auto both = run("--heads " + file("wrong") + " " + file("grid/0x0000001000000000.image") + " " +
                        file("empty") + " --json " + file("not.json"));
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(count(both.output, "weft: "), 2u);
  EXPECT_EQ(count(both.output, "version 9"), 1u);
  EXPECT_FALSE(std::filesystem::exists(path("not.json")));
}

}  // namespace
}  // namespace weft::test
