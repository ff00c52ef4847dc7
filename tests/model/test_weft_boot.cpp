// SPDX-License-Identifier: Apache-2.0
// `weft boot` as its users call it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "weft_command.hpp"

namespace weft::test {
namespace {

class WeftBoot : public WeftCommand {
 protected:
  WeftBoot() : WeftCommand("boot") {}

  void expect_bad_machine(const std::string& text, const std::string& fault) const {
    const auto file = write("machine.json", text);
    expect_bad("--machine " + file.string(), file.string() + fault);
  }

  void expect_bad_nodes(const std::string& text, const std::string& fault) const {
    const auto file = write("nodes", text);
    expect_bad("--nodes file:" + file.string(), file.string() + fault);
  }
};

TEST_F(WeftBoot, SaysWhatTheMachineOfThePaperNeeds) {
  const auto found = results("--supernodes 20 --algorithm bcda");
  EXPECT_EQ(found["algorithm"], "bcda");
  EXPECT_EQ(found["nodes"], 5120);
  EXPECT_EQ(found["servers"], 160);
  EXPECT_EQ(found["min_mbps_per_cpu"], 31.25);
  EXPECT_EQ(found["boot_seconds"], 12.8);
  EXPECT_EQ(found["limiting_segment"], "N4,N5");
  EXPECT_EQ(found["fraction_of_bound"], 1);
}

TEST_F(WeftBoot, PrintsATableAsThePaperRounds) {
  const auto finished = run("--nodes supernodes:1 --algorithm scda,bcda");
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(contains(finished.output, " 78.13 ")) << finished.output;
  EXPECT_TRUE(contains(finished.output, "  3.91 ")) << finished.output;
  EXPECT_EQ(count(finished.output, "\n"), 3u) << finished.output;
}

TEST_F(WeftBoot, ReadsAMachineAndFlagsReplaceIt) {
  write("image", std::string(1000000, 'x'));
  const auto file = write("machine.json", R"({
  "cpus_per_board": 2, "boards_per_supernode": 4, "supernodes": 2,
  "servers": 3, "servers_per_edge": 2,
  "links": {"n1": {"mbps": 100}, "n3": {"mbps": 500, "count": 2}},
  "image": "image",
  "unequal_servers": [{"number": 1, "mbps": 10}, {"number": 2, "disk_mbps": 40}],
  "failed_servers": [0]
})");
  const auto found = results("--machine " + file.string() + " --mapping");
  EXPECT_EQ(found["nodes"], 16);
  EXPECT_EQ(found["servers"], 2);
  EXPECT_NEAR(found["bound_mbps_per_cpu"].get<double>(), 50.0 / 16, 1e-12);
  EXPECT_NEAR(found["min_mbps_per_cpu"].get<double>(), 40.0 / 13, 1e-12);
  EXPECT_NEAR(found["boot_seconds"].get<double>(), 8 * 13 / 40.0, 1e-12);
  EXPECT_EQ(found["mapping"]["servers"].size(), 16u);
  const auto replaced =
      results("--machine " + file.string() + " --n5-mbps 80 --image-size 2MB --fail 1 --nodes 3");
  EXPECT_EQ(replaced["servers"], 1);
  EXPECT_EQ(replaced["min_mbps_per_cpu"], 40);
  EXPECT_EQ(replaced["boot_seconds"], 0.4);
}

TEST_F(WeftBoot, TakesNodesByPlaceFromAFile) {
  const auto file = write("nodes", "# two boards\n0.0.0 02:00:00:00:00:01\n\n1.0.7  02:00:00:00:00:02\n");
  const auto found = results("--nodes file:" + file.string() + " --mapping");
  EXPECT_EQ(found["mapping"]["nodes"], nlohmann::json({0, 263}));
}

TEST_F(WeftBoot, TakesNodesFromAMachineFile) {
  write("some", "3\n9\n");
  const auto file = write("machine.json", "{\"nodes\":\n\"file:some\"}").string();
  EXPECT_EQ(results("--machine " + file)["nodes"], 2);
  EXPECT_EQ(results("--machine " + file + " --nodes boards:1")["nodes"], 8);
  EXPECT_EQ(results("--machine " + write("machine.json", "{\"nodes\": \"boards:3\"}").string())["nodes"], 24);
  expect_bad_machine("{\n\"nodes\": \"boards:0\"}", ":2: nodes boards:0: '0' is not a number from 1 to 5120");
  expect_bad_machine("{\n\n\"nodes\": \"7,7\"}", ":3: nodes 7,7: node 7 is there twice");
  expect_bad_machine("{\"nodes\": 7}", ":1: nodes: must be a text");
  expect_bad_machine("{\n\"nodes\": \"\"}", ":2: nodes: names no nodes");
  expect_bad_machine("{\n\"nodes\": \"file:none\"}",
                     ":2: nodes: " + path("none").string() + ": no such file");
  expect_bad("--nodes file:" + path("none").string(), "--nodes: " + path("none").string() + ": no such file");
  write("some", "3\n3\n");
  expect_bad("--machine " + write("machine.json", "{\"nodes\": \"file:some\"}").string(),
             path("some").string() + ":2: node 3 is in line 1 already");
}

TEST_F(WeftBoot, RefusesMachinesThatCannotBe) {
  expect_bad_machine("{\n \"servers\": 0\n}\n", ":2: servers: must be at least 1");
  expect_bad_machine("{\"servers\": 2,\n\n\"failed_servers\": [0,\n 1]}",
                     ":4: failed_servers: no server is left");
  expect_bad_machine("{\"failed_servers\": [\n7\n,\n7]}", ":4: failed_servers: 7 is there twice");
  expect_bad_machine("{\"failed_servers\": [\n7,\n200\n\n]}",
                     ":3: failed_servers: there is no server 200, only 0 to 159");
  expect_bad_machine("{\n\"links\": {\n\"n6\": {\"mbps\": 1}}}",
                     ":3: 'links.n6.mbps' is nothing that a machine has");
  expect_bad_machine("{\"excluded\": [\n3]}", ":2: 'excluded' is nothing that a machine has");
  for (const std::string text :
       {"\"links\": 3", "\"links\": {\"n1\": 3}", "\"servers\": [3, 4]", "\"failed_servers\": 3",
        "\"failed_servers\": [[3]]", "\"unequal_servers\": {\"number\": 3}", "\"unequal_servers\": [3]",
        "\"nodes\": [\"all\"]"}) {
    const auto finished = run("--machine " + write("machine.json", "{\n" + text + "}").string());
    EXPECT_EQ(finished.exit_code, 2) << text;
    EXPECT_TRUE(contains(finished.output, "machine.json:2: ")) << finished.output;
    EXPECT_TRUE(contains(finished.output, ": is not of this kind\n")) << finished.output;
  }
  expect_bad_machine("{\"links\": {\n\"n5\": {\n\"mbps\": -1}}}",
                     ":3: links.n5.mbps: must be a number from 1e-6 to 1e12");
  for (const std::string rate : {"1e-7", "1e13"})
    expect_bad_machine("{\"links\": {\n\"n1\": {\"mbps\": " + rate + "}}}",
                       ":2: links.n1.mbps: must be a number from 1e-6 to 1e12");
  expect_bad_machine("{\"supernodes\": 1.5}", ":1: supernodes: must be a whole number");
  expect_bad_machine("{\"servers\": 3,\n\"servers\": 4}", ":2: 'servers' is there twice");
  expect_bad_machine("{\"servers\": 3,\n\n}", ":3: is not JSON from here on");
  expect_bad_machine("[1]", ":1: a machine is an object: {...}");
  expect_bad_machine("{\"boards_per_supernode\": 1000000}",
                     ":1: supernodes: the machine has more than 16777216 CPUs");
  expect_bad_machine("{\"unequal_servers\": [\n{\"mbps\": 3}]}", ":2: a server without 'number'");
  expect_bad("--machine " + path("none").string(), path("none").string() + ": no such file");
}

TEST_F(WeftBoot, RefusesAnImageThatIsNotThere) {
  expect_bad_machine("{\n\"image\": \"none\"}", ":2: image: " + path("none").string() + ": no such image");
  expect_bad("--image " + path("none").string(), path("none").string() + ": no such image");
  const auto empty = write("empty", "");
  expect_bad("--image " + empty.string(), empty.string() + ": the image is empty");
}

TEST_F(WeftBoot, TakesAnImageOrItsSize) {
  write("small.img", std::string(250000, 'x'));
  write("boot.img", std::string(500000, 'x'));
  write("rd.img", std::string(1500000, 'x'));
  const auto seconds = [&](const std::string& text, const std::string& more) {
    const auto file = write("machine.json", text);
    return results("--nodes 0 --machine " + file.string() + more)["boot_seconds"];
  };
  const std::string image = " --image " + path("small.img").string(), size = " --image-size 5MB";
  EXPECT_EQ(seconds(R"({"image": "boot.img"})", image), 0.002);
  EXPECT_EQ(seconds(R"({"image_size": "1MB"})", image), 0.002);
  EXPECT_EQ(seconds(R"({"image": "boot.img", "initrd": "rd.img"})", size), 0.04);
  EXPECT_EQ(seconds(R"({"image_size": "1MB"})", size), 0.04);
  const std::string both = "only one of image and image_size can be";
  expect_bad_machine("{\"image\": \"boot.img\",\n\"image_size\": \"1MB\"}", ":2: " + both);
  expect_bad_machine("{\"image_size\": \"1MB\",\n\"image\": \"boot.img\"}", ":2: " + both);
  const auto nodes = write("nodes", "0 02:00:00:00:00:01\n");
  const auto machine = write("machine.json", R"({"image": "boot.img"})");
  expect_bad("--machine " + machine.string() + size + " --nodes file:" + nodes.string() + " --dnsmasq " +
                 path("config").string(),
             "a configuration needs the image: --image FILE");
}

TEST_F(WeftBoot, RefusesWhatHasNoEffect) {
  const std::string small = "--nodes 0-7 --image-size 100kB ";
  expect_bad(small + "--packets --simulate --begin-within 1",
             "boot: --begin-within: not with --packets, where all begin at once");
  expect_bad(small + "--simulate --loss 0.01", "boot: --loss: is of --algorithm multicast only");
  expect_bad(small + "--simulate --wait-seconds 1", "boot: --wait-seconds: is of --algorithm multicast only");
  EXPECT_EQ(run(small + "--simulate --loss 0.01 --algorithm balanced,multicast").exit_code, 0);
  EXPECT_EQ(run(small + "--packets --simulate --begin-within 0").exit_code, 0);
  const auto mapping = run(small + "--mapping");
  EXPECT_EQ(mapping.exit_code, 2);
  EXPECT_TRUE(contains(mapping.output, "--mapping requires --json")) << mapping.output;
  EXPECT_EQ(count(mapping.output, "\n"), 1u) << mapping.output;
  expect_bad("--fail 3,0,3", "boot: --fail: 3 is there twice");
  expect_bad(small + "--simulate --kill-node 5,5 --kill-after 1", "boot: --kill-node: 5 is there twice");
  expect_bad("--algorithm scda,bcda,scda", "boot: --algorithm: scda is there twice");
}

TEST_F(WeftBoot, LooksAtAddressesAlsoWithoutFiles) {
  expect_bad("--first-node 10.0.0.3",
             "boot: addresses.first_node: nodes and servers would have the same addresses");
  expect_bad("--subnet 10.0.0.1/8", "boot: addresses.subnet: 10.0.0.1/8 has bits beyond its prefix");
  const auto file = write("machine.json", R"({"addresses": {"subnet": "10.0.0.0/9"}})").string();
  EXPECT_EQ(run("--machine " + file).exit_code, 0);
  expect_bad("--machine " + file + " --supernodes 60000",
             "boot: addresses.first_node: 15360000 addresses from 10.64.0.0 on do not fit into 10.0.0.0/9");
  EXPECT_EQ(run("--supernodes 65536 --servers 4 --nodes 0").exit_code, 0) << "nobody asked for addresses";
}

TEST_F(WeftBoot, WritesFilesForServersAndReadsThemBack) {
  write("boot.img", "image");
  const auto nodes = write("nodes", "0 02:00:00:00:00:01\n9 02:00:00:00:00:02\n");
  const std::string image = path("boot.img").string();
  for (const std::string program : {"dnsmasq", "kea", "dhcpd"}) {
    const auto folder = path(program).string();
    const auto with = [&](const std::string& more) {
      return run(
          fmt::format("--servers 3 --image {} --nodes file:{} {} {}", image, nodes.string(), more, folder));
    };
    EXPECT_EQ(with("--" + program).exit_code, 0);
    const auto same = with("--check");
    EXPECT_EQ(same.exit_code, 0);
    EXPECT_TRUE(contains(same.output, folder + ": all 2 nodes have the server and the backup of the plan\n"))
        << same.output;
    const auto other = with("--algorithm scda --check");
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(contains(other.output, "node 9 (02:00:00:00:00:02): boots from 10.0.0.2, then "))
        << other.output;
  }
}

using Options = std::map<std::string, std::string>;  // by name

std::string line_of(const Options& options) {
  std::string line;
  for (const auto& [name, value] : options) line += fmt::format(" --{} {}", name, value);
  return line;
}

/// All of a folder, by path.
std::map<std::string, std::string> texts_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> texts;
  for (const auto& each : std::filesystem::recursive_directory_iterator(folder)) {
    std::ifstream file(each.path(), std::ios::binary);
    if (!each.is_directory())
      texts[each.path().lexically_relative(folder).string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return texts;
}

class WeftBootCheck : public WeftBoot {
 protected:
  WeftBootCheck() {
    std::string listed, swapped;
    for (int node = 0; node < 8; ++node) {
      listed += fmt::format("{} 02:00:00:00:00:{:02x}\n", node, node);
      swapped += fmt::format("{} 02:00:00:00:00:{:02x}\n", node, 7 - node);
    }
    write("nodes", listed);
    write("swapped", swapped);
    write("others", listed.substr(0, listed.size() / 2));
    write("boot.img", std::string(100000, 'x'));
    write("other.img", std::string(100000, 'x'));
    write("rd.img", std::string(50000, 'x'));
    write("vmlinuz", std::string(20000, 'x'));
    write("other.linux", std::string(20000, 'x'));
    std::filesystem::create_directory(path("larger"));
    write("larger/boot.img", std::string(100001, 'x'));
    write("unequal.json", R"({"unequal_servers": [{"number": 1, "mbps": 10000}]})");
  }

  std::string file(const std::string& name) const { return path(name).string(); }

  Options options_of(const std::string& algorithm) const {
    Options options = {{"algorithm", algorithm},
                       {"supernodes", "2"},
                       {"boards", "2"},
                       {"cpus", "2"},
                       {"servers", "4"},
                       {"servers-per-edge", "2"},
                       {"image", file("boot.img")},
                       {"nodes", "file:" + file("nodes")}};
    if (algorithm != "balanced") options["kernel"] = file("vmlinuz");
    return options;
  }

  /// Each differs from options_of() in one thing.
  std::vector<std::pair<std::string, std::string>> changes() const {
    return {{"algorithm", "scda"},
            {"algorithm", "bcda"},
            {"algorithm", "balanced"},
            {"algorithm", "peers"},
            {"algorithm", "multicast"},
            {"machine", file("unequal.json")},
            {"supernodes", "4"},
            {"boards", "4"},
            {"cpus", "4"},
            {"servers", "3"},
            {"servers-per-edge", "1"},
            {"n1-mbps", "10"},
            {"n1-count", "7"},
            {"n2-mbps", "10"},
            {"n3-mbps", "1"},
            {"n4-mbps", "10"},
            {"n4-count", "9"},
            {"n5-mbps", "10"},
            {"n5-count", "2"},
            {"image", file("other.img")},
            {"image", file("larger/boot.img")},
            {"initrd", file("rd.img")},
            {"kernel", file("other.linux")},
            {"piece-size", "1MB"},
            {"fail", "0"},
            {"fail", "1"},
            {"subnet", "10.0.0.0/9"},
            {"first-server", "10.0.0.2"},
            {"first-node", "10.65.0.0"},
            {"serve-from", "/srv/other"},
            {"serve-by", "tftp"},
            {"kernel-arguments", "quiet"},
            {"nodes", "file:" + file("swapped")},
            {"nodes", "file:" + file("others")},
            {"supernodes-per-cabinet", "1"}};
  }
};

/// A folder passes exactly if these arguments would have written it.
TEST_F(WeftBootCheck, NoticesEachArgumentThatChangesAFile) {
  const std::vector<std::pair<std::string, std::string>> ways = {
      {"balanced", "dnsmasq"}, {"peers", "kea"}, {"multicast", "dhcpd"}};
  std::map<std::string, uint32_t> noticed;
  for (const auto& [algorithm, program] : ways) {
    const std::string folder = file(algorithm), other = file("other");
    ASSERT_EQ(run(fmt::format("{} --{} {}", line_of(options_of(algorithm)), program, folder)).exit_code, 0);
    EXPECT_EQ(run(line_of(options_of(algorithm)) + " --check " + folder).exit_code, 0);
    for (const auto& [name, value] : changes()) {
      Options changed = options_of(algorithm);
      changed[name] = value;
      if (name == "algorithm" && value != "peers" && value != "multicast") changed.erase("kernel");
      const auto written = run(fmt::format("{} --{} {}", line_of(changed), program, other));
      const auto checked = run(line_of(changed) + " --check " + folder);
      if (written.exit_code != 0) {  // not with this algorithm
        EXPECT_EQ(checked.exit_code, 2) << algorithm << name;
        continue;
      }
      const bool same = texts_of(other) == texts_of(folder);
      EXPECT_EQ(checked.exit_code, same ? 0 : 1) << algorithm << " --" << name << value << checked.output;
      noticed[name] += same ? 0 : 1;
    }
  }
  for (const char* name :
       {"algorithm", "machine", "servers", "image", "initrd", "kernel", "fail", "subnet", "first-server",
        "first-node", "serve-from", "serve-by", "kernel-arguments", "nodes", "cpus", "n5-mbps"})
    EXPECT_GT(noticed[name], 0u) << name;
}

/// Moved to a server, with what that gives beside it.
TEST_F(WeftBootCheck, ReadsAFolderWhereItWasPut) {
  const std::string arguments = line_of(options_of("balanced"));
  ASSERT_EQ(run(arguments + " --dnsmasq " + file("config")).exit_code, 0);
  std::filesystem::create_directories(path("srv/boot"));
  std::filesystem::create_directories(path("etc/dnsmasq.d"));
  std::filesystem::rename(path("config"), path("srv/boot"));
  for (const char* name : {"boot.img", "undionly.kpxe", "ipxe.efi"})
    write(std::string("srv/boot/") + name, read(path("boot.img")));
  const std::string check = arguments + " --check " + file("srv/boot");
  EXPECT_EQ(run(check).exit_code, 0) << run(check).output;

  std::filesystem::rename(path("srv/boot/dnsmasq.conf"), path("etc/dnsmasq.d/boot.conf"));
  std::filesystem::rename(path("srv/boot/nginx.conf"), path("etc/nginx.conf"));
  EXPECT_TRUE(contains(run(check).output, "nginx.conf: is in the manifest, but not there\n"));
  const std::string of_etc =
      check + " --check-dhcp " + file("etc/dnsmasq.d/boot.conf") + " --check-nginx " + file("etc/nginx.conf");
  EXPECT_EQ(run(of_etc).exit_code, 0) << run(of_etc).output;

  const std::string config = read(path("etc/dnsmasq.d/boot.conf"));
  const std::string more = fmt::format(":{}: has 'port=53', should be nothing\n", count(config, "\n") + 1);
  write("srv/boot/dnsmasq.conf", config + "port=53\n");
  EXPECT_TRUE(contains("\n" + run(of_etc).output, "\ndnsmasq.conf" + more));
  std::filesystem::remove(path("srv/boot/dnsmasq.conf"));
  write("etc/dnsmasq.d/boot.conf", config + "port=53\n");
  EXPECT_TRUE(contains(run(of_etc).output, file("etc/dnsmasq.d/boot.conf") + more));
  write("etc/dnsmasq.d/boot.conf", config);

  write("srv/boot/boot.img", std::string(100000, 'y'));
  EXPECT_TRUE(contains(run(of_etc).output, "boot.img: is not the same as " + file("boot.img") + "\n"));
  EXPECT_EQ(run(of_etc).exit_code, 1);
}

TEST_F(WeftBootCheck, SaysWhatOtherArgumentsWouldWrite) {
  const std::string arguments = line_of(options_of("balanced"));
  ASSERT_EQ(run(arguments + " --dnsmasq " + file("config")).exit_code, 0);
  const auto other = run(arguments + " --check " + file("config") + " --serve-from /srv/other");
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.output,
                       "dnsmasq.conf:7: has 'tftp-root=/srv/boot', of these arguments it is "
                       "'tftp-root=/srv/other'\n"))
      << other.output;
  Options larger = options_of("balanced");
  larger["image"] = file("larger/boot.img");
  const auto found = run(line_of(larger) + " --check " + file("config"));
  EXPECT_TRUE(contains(found.output, "manifest.json:")) << found.output;
  write("config/rd.img", read(path("rd.img")));
  const auto half = run(arguments + " --initrd " + file("rd.img") + " --check " + file("config"));
  EXPECT_TRUE(contains(half.output, "boot.img: is not there, but other files of an image are\n"))
      << half.output;
}

TEST_F(WeftBoot, RefusesFilesForServersThatCannotBe) {
  const auto image = write("boot.img", "image");
  const auto nodes = write("nodes", "0 02:00:00:00:00:01\n");
  const std::string to = " --dnsmasq " + path("config").string();
  const std::string of = "--nodes file:" + nodes.string() + to;
  expect_bad("--nodes 0" + to,
             "boot: configuration files need MAC addresses: --nodes file:PATH with lines NODE MAC");
  expect_bad(of, "a configuration needs the image: --image FILE");
  expect_bad(of + " --algorithm scda,bcda", "boot: configuration files are of one --algorithm");
  expect_bad(of + " --subnet 10.0.0.0/16",
             "boot: addresses.first_node: 40960 addresses from 10.64.0.0 on do not fit into 10.0.0.0/16");
  expect_bad(of + " --first-node 10.0.0.160",
             "boot: addresses.first_node: nodes and servers would have the same addresses");
  expect_bad(of + " --first-server 10.0.0", "'10.0.0' is not an IPv4 address");
  const std::string with_image = of + " --image " + image.string();
  expect_bad(with_image + " --serve-from boot",
             "'boot' is not an absolute path of letters, digits, '.', '_' and '-'");
  expect_bad(
      "--check " + path("config").string() + " --nodes file:" + nodes.string() + " --image " + image.string(),
      path("config/manifest.json").string() + ": no such file");
  EXPECT_EQ(run(of + " --check-dhcp " + nodes.string()).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("config")));
  std::filesystem::create_directory(path("config"));
  write("config/mine", "");
  expect_bad(with_image,
             path("config").string() + ": has other files; only a folder of weft boot is replaced");
  std::filesystem::remove_all(path("config"));
  expect_bad(with_image + " --kea " + path("kea").string(),
             "boot: one folder a run: --dnsmasq, --kea, --dhcpd or --check");
  EXPECT_FALSE(std::filesystem::exists(path("config"))) << "all of a run, or nothing";
}

/// The folder from which servers serve has the image in it.
TEST_F(WeftBoot, WhatIsNotItsOwnIsNeverReplaced) {
  const auto nodes = write("nodes", "0 02:00:00:00:00:00\n"), image = write("boot.img", "image");
  const std::string with_image =
      "--nodes file:" + nodes.string() + " --image " + image.string() + " --dnsmasq ";
  results(with_image + path("config").string());
  results(with_image + path("config").string());
  write("config/boot.img", "image");
  expect_bad(with_image + path("config").string(),
             path("config").string() +
                 ": has 'boot.img', which weft boot did not write; only a folder of weft boot is replaced");
  EXPECT_TRUE(std::filesystem::exists(path("config/boot.img")));
  std::filesystem::create_directory_symlink(path("config"), path("link"));
  expect_bad(with_image + path("link").string(),
             path("link").string() + ": is a link; name the folder itself");
}

TEST_F(WeftBoot, ReplacesNothingIfItFails) {
  const auto nodes = write("nodes", "0 02:00:00:00:00:00\n"), image = write("boot.img", "image");
  const std::string of = fmt::format("--nodes file:{} --image {} --dnsmasq {}", nodes.string(),
                                     image.string(), path("config").string());
  const std::string full = "/dev/full: cannot be written: No space left on device";
  expect_bad(of + " --json /dev/full", full);
  EXPECT_FALSE(std::filesystem::exists(path("config")));
  results(of);
  const auto before = texts_of(path("config"));
  expect_bad(of + " --kernel-arguments quiet --json /dev/full", full);
  EXPECT_EQ(texts_of(path("config")), before);
}

TEST_F(WeftBoot, SimulatesAPlanWithADeadServer) {
  const auto same = results("--nodes boards:20 --algorithm bcda --simulate --protocol none");
  EXPECT_NEAR(same["simulated"]["last_seconds"].get<double>(), 3.2, 1e-6);
  EXPECT_EQ(same["simulated"]["without_image"], 0);
  const auto killed =
      results("--nodes boards:20 --simulate --kill 3 --kill-after 0 --notice-seconds 2 --begin-within 5");
  EXPECT_GT(killed["simulated"]["begun_again"], 0);
  EXPECT_GT(killed["simulated"]["last_seconds"].get<double>(), 3.2);
  expect_bad("--simulate --kill 160 --kill-after 1", "boot: --kill: there is no server 160 that is alive");
  expect_bad("--servers 1 --simulate --kill 0 --kill-after 1", "boot: --kill: no other server is left");
  expect_bad("--kill 0 --kill-after 1", "boot: --kill and --kill-node need --simulate or --packets");
  const std::string when =
      "boot: --kill-after says when the server of --kill and the nodes of --kill-node die";
  expect_bad("--simulate --kill 0", when);
  expect_bad("--simulate --kill-after 1", when);
  expect_bad("--nodes 0-7 --simulate --kill-node 3,9 --kill-after 1",
             "boot: --kill-node: 9 is not among the nodes that boot");
  expect_bad("--nodes 3 --simulate --kill-node 3 --kill-after 1", "boot: --kill-node: no node is left");
}

TEST_F(WeftBoot, SimulatesDeathsHoweverNodesBoot) {
  const auto found = results(
      "--supernodes 2 --boards 4 --cpus 2 --servers 4 --servers-per-edge 2 --image-size 1MB --simulate "
      "--packets --algorithm scda,bcda,balanced,peers,multicast --kill 0 --kill-node 1,5 --kill-after 0.004 "
      "--notice-seconds 0.01");
  for (const auto& run : found["runs"]) {
    for (const char* kind : {"simulated", "packets"}) {
      const auto& times = run[kind];
      EXPECT_EQ(times["died"], 2) << run["algorithm"] << kind;
      EXPECT_EQ(times["without_image"], 0) << run["algorithm"] << kind;
      EXPECT_GT(times["begun_again"], 0) << run["algorithm"] << kind;
      EXPECT_GT(times["last_seconds"].get<double>(), run["boot_seconds"].get<double>());
    }
  }
  const auto finished = run("--nodes 0-15 --algorithm peers --simulate --kill-node 3 --kill-after 0");
  EXPECT_TRUE(contains(finished.output, "\npeers     15 of 16 nodes have the image, 1 died\n"))
      << finished.output;
}

TEST_F(WeftBoot, PlansPeersAndMulticast) {
  const auto peers = results("--algorithm peers --simulate --protocol none --mapping --piece-size 64KiB");
  EXPECT_LT(peers["boot_seconds"], 2.0);
  EXPECT_LE(peers["simulated"]["last_seconds"].get<double>(), peers["boot_seconds"].get<double>() * 1.000001);
  EXPECT_EQ(peers["bound_mbps_per_cpu"], 1000);
  std::size_t heads = 0;
  for (const auto& from : peers["mapping"]["from_nodes"]) heads += from.is_null() ? 1 : 0;
  EXPECT_EQ(heads, peers["chains"].get<std::size_t>());
  const auto multicast = results(
      "--algorithm multicast --nodes supernodes:4 --simulate --begin-within 3 --wait-seconds 2 --loss 0.001");
  EXPECT_EQ(multicast["boot_seconds"], 0.4);
  EXPECT_EQ(multicast["fraction_of_bound"], 1);
  EXPECT_EQ(multicast["trees"]["links"], 4 * 256 + 4 * 32 + 4 + 2);
  EXPECT_GT(multicast["simulated"]["rounds"].size(), 1u);
  EXPECT_NEAR(multicast["simulated"]["late"].get<double>(), 1024 / 3.0, 100);
  const auto packets = results("--nodes boards:20 --image-size 100kB --algorithm scda --packets");
  EXPECT_NEAR(packets["packets"]["last_seconds"].get<double>(), 160 * 70 * 1538 * 8 / 1e9, 1e-4);
  EXPECT_EQ(run("--packets").exit_code, 2);
  expect_bad("--algorithm peers --piece-size 0B",
             "'0B' is not a size such as 50MB (B, kB, MB, GB, KiB, MiB, GiB)");
  const auto nodes = write("nodes", "0 02:00:00:00:00:01\n");
  expect_bad("--algorithm multicast --nodes file:" + nodes.string() + " --dnsmasq " + path("config").string(),
             "boot: configuration files for multicast need --kernel FILE: a small system that gets the image "
             "(docs/boot.md)");
  const auto kernel = write("vmlinuz", std::string(1000000, 'x'));
  const std::string with = " --image " + write("boot.img", std::string(2000000, 'x')).string() +
                           " --kernel " + kernel.string() + " --nodes file:" + nodes.string();
  expect_bad("--algorithm balanced" + with + " --dnsmasq " + path("config").string(),
             "boot: --kernel: not with balanced, where iPXE boots the image itself");
  for (const std::string algorithm : {"peers", "multicast"}) {
    const std::string way = std::string("--algorithm ").append(algorithm).append(with);
    EXPECT_EQ(results(way + " --kea " + path(algorithm).string())["kernel_seconds"], 0.008);
    EXPECT_EQ(run(way + " --check " + path(algorithm).string()).exit_code, 0);
    write(algorithm + "/nginx.conf", "");
    EXPECT_EQ(run(way + " --check " + path(algorithm).string()).exit_code, 1);
  }
}

TEST_F(WeftBoot, GivesAnInitialRamDisk) {
  const auto image = write("linux", std::string(500000, 'x'));
  const auto initrd = write("initrd.img", std::string(1500000, 'x'));
  const auto nodes = write("nodes", "0 02:00:00:00:00:01\n");
  const std::string both = "--image " + image.string() + " --initrd " + initrd.string();
  EXPECT_EQ(results("--nodes 0 " + both)["boot_seconds"], 0.016);
  const auto folder = path("config").string();
  const std::string of = " --servers 2 --nodes file:" + nodes.string() + " --dnsmasq " + folder;
  EXPECT_EQ(run(both + of + " --kernel-arguments quiet").exit_code, 0);
  EXPECT_EQ(read(path("config/ipxe/0-1.ipxe")), R"(#!ipxe
# server 0, backup 1
:server
imgfree
kernel --timeout 5000 http://10.0.0.1/linux initrd=initrd.img quiet || goto backup
initrd --timeout 5000 http://10.0.0.1/initrd.img || goto backup
boot
:backup
imgfree
kernel --timeout 5000 http://10.0.0.2/linux initrd=initrd.img quiet || goto again
initrd --timeout 5000 http://10.0.0.2/initrd.img || goto again
boot
:again
sleep 5
goto server
)");
  expect_bad("--initrd " + initrd.string(), "boot: --initrd and --kernel need an image");
  expect_bad("--image " + image.string() + " --initrd " + path("none").string(),
             path("none").string() + ": no such image");
  expect_bad("--image " + image.string() + " --initrd " + image.string() + of,
             "'linux': image, initrd or kernel have the same name");
}

TEST_F(WeftBoot, TakesKernelAndInitialRamDiskFromAMachineFile) {
  write("boot.img", std::string(500000, 'x'));
  write("rd.img", std::string(1500000, 'x'));
  write("vmlinuz", std::string(1000000, 'x'));
  const auto seconds = [&](const std::string& text) {
    return results("--nodes 0 --machine " + write("machine.json", text).string());
  };
  EXPECT_EQ(seconds(R"({"initrd": "rd.img", "image": "boot.img"})")["boot_seconds"], 0.016);
  const auto small = seconds(R"({"image": "boot.img", "initrd": "rd.img", "kernel": "vmlinuz"})");
  EXPECT_EQ(small["boot_seconds"], 0.004);
  expect_bad_machine("{\"initrd\":\n\"rd.img\"}", ":2: kernel and initrd need an image");
  expect_bad_machine("{\"image\": \"boot.img\",\n\"initrd\": \"none\"}",
                     ":2: initrd: " + path("none").string() + ": no such image");
}

TEST_F(WeftBoot, RefusesAddressesAndSizesOfAFileWithTheirLine) {
  expect_bad_machine("{\n\"addresses\": {\"subnet\": \"10.0.0.0/8\",\n\"first_node\": \"10.0.0.1\"}}",
                     ":3: addresses.first_node: nodes and servers would have the same addresses");
  expect_bad_machine("{\"addresses\": {\n\"subnet\": \"10.0.0.1/8\"}}",
                     ":2: addresses.subnet: 10.0.0.1/8 has bits beyond its prefix");
  expect_bad_machine("{\"addresses\": {\n\"first_server\": 1}}",
                     ":2: addresses.first_server: must be a text");
  expect_bad_machine("{\n\"image_size\": \"50\"}",
                     ":2: image_size: '50' is not a size such as 50MB (B, kB, MB, GB, KiB, MiB, GiB)");
}

TEST_F(WeftBoot, RefusesNodesThatCannotBe) {
  expect_bad_nodes("1\n2\n1\n", ":3: node 1 is in line 1 already");
  expect_bad_nodes("1\n0.0.1\n", ":2: node 0.0.1 is in line 1 already");
  expect_bad_nodes("1 02:00:00:00:00:01\n2 02:00:00:00:00:01\n",
                   ":2: 02:00:00:00:00:01 is in line 1 already");
  expect_bad_nodes("1 02:00:00:00:00:01\n2\n", ":2: either all nodes have a MAC address or none");
  expect_bad_nodes("1 02:00:00:00:00\n", ":1: '02:00:00:00:00' is not a MAC address");
  expect_bad_nodes("1 03:00:00:00:00:00\n", ":1: '03:00:00:00:00:00' is not the MAC address of one card");
  expect_bad_nodes("\n40960\n", ":2: there is no node '40960'");
  expect_bad_nodes("# none\n", ":1: no node");
  expect_bad_nodes("# none\n\n# any", ":3: no node");
  expect_bad_nodes("", ":1: no node");
  expect_bad("--nodes 3,0-7", "--nodes 3,0-7: node 3 is there twice");
  expect_bad("--nodes boards:0", "--nodes boards:0: '0' is not a number from 1 to 5120");
  expect_bad("--nodes half", "--nodes half: 'half' is not a node or range of nodes");
}

TEST_F(WeftBoot, WritesNothingWhenItRefuses) {
  for (const std::string arguments :
       {"--servers 0", "--servers 2 --fail 0,1", "--nodes 7-3", "--algorithm none", "--n5-mbps nan",
        "--supernodes 1000000", "--fail 160"}) {
    const auto finished = run(arguments + " --json " + path("results.json").string());
    EXPECT_EQ(finished.exit_code, 2) << arguments;
    EXPECT_EQ(count(finished.output, "\n"), 1u) << arguments << finished.output;
    EXPECT_FALSE(std::filesystem::exists(path("results.json"))) << arguments;
  }
}

}  // namespace
}  // namespace weft::test
