// SPDX-License-Identifier: Apache-2.0
// Configuration files of boot servers: what is read back is the plan, and what was changed is found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "boot/config.hpp"
#include "drawn_machine.hpp"
#include "property.hpp"
#include "temporary_folder.hpp"

namespace weft::boot {
namespace {

constexpr std::array<Program, 3> programs = {Program::dnsmasq, Program::kea, Program::dhcpd};

Nodes with_macs(std::vector<uint32_t> cpus) {
  Nodes nodes{std::move(cpus), {}};
  for (const uint32_t cpu : nodes.cpus) nodes.macs.push_back(0x020000000000 + cpu * 3);
  return nodes;
}

class BootConfig : public test::TemporaryFolder {
 protected:
  BootConfig() {
    machine_.cpus_per_board = 2;
    machine_.boards_per_supernode = 4;
    machine_.supernodes = 2;
    machine_.servers = 4;
  }

  void write_files(Program program) const {
    write_config(path("config"), config_files(machine_, nodes_, {plan_}, with(program)));
  }

  std::vector<std::string> found() const {
    return differences({path("config")}, machine_, nodes_, {plan_}, serving_);
  }

  Serving with(Program program) const {
    Serving serving = serving_;
    serving.program = program;
    return serving;
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read(path("config") / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    write("config/" + file, text.replace(at, from.size(), to));
  }

  void expect_found(const std::string& fault) const {
    const auto faults = found();
    EXPECT_NE(std::find(faults.begin(), faults.end(), fault), faults.end())
        << fault << "\nnot in\n"
        << fmt::format("{}", fmt::join(faults, "\n"));
  }

  Machine machine_;
  Nodes nodes_ = with_macs({0, 1, 2, 3, 8, 9});
  Plan plan_{{0, 1, 2, 3, 0, 1}, {1, 2, 3, 0, 2, 3}};
  Serving serving_{Program::dnsmasq, "boot.img", "", "/srv/boot", ""};
};

TEST_F(BootConfig, GivesEveryNodeExactlyTheServersOfThePlan) {
  EXPECT_PROPERTY("read back, a folder is the plan", [&] {
    const Machine machine = drawn_machine();
    const Nodes nodes = with_macs(drawn_cpus(machine));
    const Plan made =
        plan(machine, nodes.cpus, *rc::gen::element(Algorithm::scda, Algorithm::bcda, Algorithm::balanced));
    const Program program = *rc::gen::elementOf(programs);
    const Serving serving{program, "boot.img", "initrd.img", "/srv/boot", "quiet"};
    write_config(path("config"), config_files(machine, nodes, {made}, serving));
    RC_ASSERT(differences({path("config")}, machine, nodes, {made}, serving).empty());

    // not by the code that compares
    std::map<uint64_t, std::vector<uint32_t>> servers;
    for (const Entry& entry : read_entries(path("config") / config_name(program), program))
      RC_ASSERT(servers.emplace(entry.mac, read_script(path("config") / entry.script).servers).second);
    RC_ASSERT(servers.size() == nodes.cpus.size());
    for (std::size_t i = 0; i < nodes.cpus.size(); ++i) {
      RC_ASSERT(servers.at(nodes.macs[i]) ==
                std::vector<uint32_t>(
                    {machine.addresses.server(made.servers[i]), machine.addresses.server(made.backups[i])}));
    }
  });
}

TEST_F(BootConfig, FindsANodeThatBootsFromAnotherServer) {
  for (const Program program : programs) {
    write_files(program);
    EXPECT_TRUE(found().empty());
    plan_.servers[4] = 3;
    expect_found(
        "node 8 (02:00:00:00:00:18): boots from 10.0.0.1, then 10.0.0.3, not 10.0.0.4, then 10.0.0.3");
    plan_.servers[4] = 0;
  }
}

TEST_F(BootConfig, FindsNodesThatAreMissingOrTooMany) {
  for (const Program program : programs) {
    write_files(program);
    Nodes others = with_macs({0, 1, 2, 3, 8, 10});
    std::swap(nodes_, others);
    expect_found("02:00:00:00:00:1b: is none of the plan");
    expect_found("node 10: is not there");
    std::swap(nodes_, others);
  }
}

TEST_F(BootConfig, FindsWhatWasChangedByHand) {
  write_files(Program::dnsmasq);
  replace("dnsmasq.conf", "10.64.0.8", "10.64.0.9");
  expect_found(
      "dnsmasq.conf:19: has 'dhcp-host=02:00:00:00:00:18,set:s0b2,10.64.0.9,node-8', should be "
      "'dhcp-host=02:00:00:00:00:18,set:s0b2,10.64.0.8,node-8'");
  expect_found("node 8 (02:00:00:00:00:18): has the address 10.64.0.9, not 10.64.0.8");
  write_files(Program::dnsmasq);
  replace("dnsmasq.conf", "02:00:00:00:00:03", "02:00:00:00:00:00");
  expect_found("node 0 (02:00:00:00:00:00): is there twice");
  write_files(Program::dnsmasq);
  replace("ipxe/0-2.ipxe", "10.0.0.3", "10.0.0.2");
  expect_found("node 8 (02:00:00:00:00:18): boots from 10.0.0.1, then 10.0.0.2, not 10.0.0.1, then 10.0.0.3");
  write_files(Program::dnsmasq);
  std::filesystem::remove(path("config/nginx.conf"));
  write("config/ipxe/3-3.ipxe", "");
  EXPECT_EQ(found(), std::vector<std::string>({"nginx.conf: is in the manifest, but not there",
                                               "ipxe/3-3.ipxe: is not in the manifest"}));
  std::filesystem::remove(path("config/ipxe/3-3.ipxe"));
  write_files(Program::dnsmasq);
  replace("dnsmasq.conf", "set:s0b2", "set:none");
  expect_found(path("config/dnsmasq.conf").string() + ":19: no dhcp-boot for the tag 'none'");
}

TEST_F(BootConfig, SaysWhereAFileWasChangedByHand) {
  write_files(Program::dnsmasq);
  replace("nginx.conf", "listen 80 ", "listen 81 ");
  EXPECT_EQ(found(), std::vector<std::string>{"nginx.conf:8: has '81', should be '80'"});
  replace("nginx.conf", "listen 81 ", "listen 80 default ");
  EXPECT_EQ(found(), std::vector<std::string>{
                         "nginx.conf:8: has 'default default_server', should be 'default_server'"});
  write_files(Program::dnsmasq);
  write("config/nginx.conf", read(path("config/nginx.conf")) + "user x;\n");
  EXPECT_EQ(found(), std::vector<std::string>{"nginx.conf:12: has 'user x;', should be nothing"});
  serving_.folder = "/srv/other";
  expect_found("nginx.conf: is not as it was written");
  expect_found("nginx.conf:9: has '/srv/boot;', of these arguments it is '/srv/other;'");
}

TEST_F(BootConfig, FindsAnotherTftpServer) {
  for (const auto& [program, line, server] : std::vector<std::tuple<Program, std::string, std::string>>{
           {Program::kea, "kea-dhcp4.conf:", "\"next-server\": \"10.0.0.1\""},
           {Program::dhcpd, "dhcpd.conf:", "next-server 10.0.0.1;"}}) {
    write_files(program);
    std::string other = server;
    replace(std::string(config_name(program)), server, other.replace(other.find(".1"), 2, ".9"));
    const auto faults = found();
    ASSERT_EQ(faults.size(), 2u) << fmt::format("{}", fmt::join(faults, "\n"));
    EXPECT_TRUE(faults[0].starts_with(line)) << faults[0];
    EXPECT_NE(faults[0].find(", should be "), std::string::npos) << faults[0];
    EXPECT_EQ(faults[1], "node 0 (02:00:00:00:00:00): has the TFTP server 10.0.0.9, not 10.0.0.1");
    replace(std::string(config_name(program)), program == Program::kea ? other + "," : other, "");
    expect_found("node 0 (02:00:00:00:00:00): has the TFTP server that answers, not 10.0.0.1");
  }
}

TEST_F(BootConfig, ReadsNoManifestOfAnotherVersion) {
  write_files(Program::dnsmasq);
  replace("manifest.json", "\"weft_boot\": 1", "\"weft_boot\": 2");
  try {
    found();
    FAIL();
  } catch (const Fault& fault) {
    EXPECT_EQ(fault.what(), path("config/manifest.json").string() +
                                ":2: is of a version of weft boot that this one cannot read");
  }
}

TEST_F(BootConfig, PutsBackWhatWasThereUnlessItIsKept) {
  const auto files = config_files(machine_, nodes_, {plan_}, with(Program::kea));
  { const ConfigFolder made(path("config"), files); }
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
  write_files(Program::dnsmasq);
  {
    const ConfigFolder made(path("config"), files);
    EXPECT_TRUE(std::filesystem::exists(path("config/kea-dhcp4.conf")));
  }
  EXPECT_TRUE(found().empty());
  EXPECT_FALSE(std::filesystem::exists(path("config/kea-dhcp4.conf")));
}

TEST_F(BootConfig, GivesEveryNodeThePlaceInItsChain) {
  EXPECT_PROPERTY("read back, a folder is the plan of chains", [&] {
    const Machine machine = drawn_machine();
    const Nodes nodes = with_macs(drawn_cpus(machine));
    Way way;
    way.chains = plan_chains(machine, nodes.cpus, *rc::gen::element(0.5, 400.0));
    way.plan = servers_of(*way.chains);
    const Program program = *rc::gen::elementOf(programs);
    const Serving serving{program, "boot.img", "rd.img", "/srv/boot", "", "vmlinuz"};
    write_config(path("config"), config_files(machine, nodes, way, serving));
    RC_ASSERT(differences({path("config")}, machine, nodes, way, serving).empty());

    // not by the code that compares: each node in one chain, which begins at a server that is alive
    std::set<uint32_t> seen;
    for (std::size_t chain = 0; chain < way.chains->count(); ++chain) {
      const ChainFile file = read_chain(path(fmt::format("config/chains/{}", chain)));
      for (const uint32_t server : file.servers)
        RC_ASSERT(!machine.failed_servers.contains(server - machine.addresses.first_server));
      for (std::size_t i = 0; i < file.nodes.size(); ++i) {
        RC_ASSERT(seen.insert(file.nodes[i] - machine.addresses.first_node).second);
        const auto parents = parents_in(file, file.nodes[i]);
        RC_ASSERT(parents.size() == std::min<std::size_t>(i, 2));
        for (std::size_t back = 0; back < parents.size(); ++back)
          RC_ASSERT(parents[back] == file.nodes[i - 1 - back]);
      }
    }
    RC_ASSERT(seen == std::set<uint32_t>(nodes.cpus.begin(), nodes.cpus.end()));
  });
}

TEST_F(BootConfig, FindsAChainOfAnotherOrder) {
  Way way;
  way.chains = Chains{{0, 1, 2, 3, 4, 5}, {0, 3, 6}, {1, 0}, {2, 3}, 1, {}};
  way.plan = servers_of(*way.chains);
  const Serving serving{Program::dnsmasq, "boot.img", "", "/srv/boot", "", "vmlinuz"};
  const auto faults_after = [&](const std::string& file, const std::string& from, const std::string& to) {
    write_config(path("config"), config_files(machine_, nodes_, way, serving));
    EXPECT_TRUE(differences({path("config")}, machine_, nodes_, way, serving).empty());
    replace(file, from, to);
    return fmt::format("{}", fmt::join(differences({path("config")}, machine_, nodes_, way, serving), "\n"));
  };
  EXPECT_EQ(faults_after("chains/0", "node 10.64.0.1\nnode 10.64.0.2", "node 10.64.0.2\nnode 10.64.0.1"),
            "chains/0:8: has '10.64.0.2', should be '10.64.0.1'\n"
            "node 1 (02:00:00:00:00:03): has the image from 10.64.0.2, then 10.64.0.0, then 10.0.0.2, then "
            "10.0.0.3, "
            "not 10.64.0.0, then 10.0.0.2, then 10.0.0.3\n"
            "node 2 (02:00:00:00:00:06): has the image from 10.64.0.0, then 10.0.0.2, then 10.0.0.3, not "
            "10.64.0.1, "
            "then 10.64.0.0, then 10.0.0.2, then 10.0.0.3");
  EXPECT_EQ(
      faults_after("ipxe/chain-1.ipxe", "http://10.0.0.1/chains/1", "http://10.0.0.1/chains/0"),
      "ipxe/chain-1.ipxe:5: has 'weft.chain=http://10.0.0.1/chains/0,http://10.0.0.4/chains/1', should be "
      "'weft.chain=http://10.0.0.1/chains/1,http://10.0.0.4/chains/1'\n" +
          path("config/ipxe/chain-1.ipxe").string() + ":5: weft.chain must name one file of a chain");
  EXPECT_EQ(faults_after("chains/1", "node 10.64.0.8\n", "nobody\n"),
            "chains/1:8: has 'nobody', should be 'node 10.64.0.8'\n" + path("config/chains/1").string() +
                ":8: must be a word and a value");
}

TEST_F(BootConfig, SendsEachByteOfTheImageOnceToAllNodes) {
  EXPECT_PROPERTY("read back, a folder is the plan of a multicast", [&] {
    Machine machine = drawn_machine();
    machine.image_megabits = *rc::gen::inRange(1, 100000) * 8 / 1e6;
    const Nodes nodes = with_macs(drawn_cpus(machine));
    Way way;
    way.multicast = plan_multicast(machine, nodes.cpus);
    way.plan = plan(machine, nodes.cpus, Algorithm::balanced);
    const Serving serving{Program::dnsmasq, "boot.img", "", "/srv/boot", "", "vmlinuz"};
    write_config(path("config"), config_files(machine, nodes, way, serving));
    RC_ASSERT(differences({path("config")}, machine, nodes, way, serving).empty());

    std::map<uint64_t, Part> sent;  // by the first byte
    std::map<uint32_t, double> planned;
    for (const Sender& sender : way.multicast->senders) planned[sender.server] = sender.mbps;
    for (const auto& each : std::filesystem::directory_iterator(path("config/multicast"))) {
      if (!each.path().filename().string().starts_with("send-")) continue;
      const Part part = read_sender(each.path(), machine.addresses);
      RC_ASSERT(sent.emplace(part.first, part).second);
      RC_ASSERT(planned.contains(part.server));
      RC_ASSERT(static_cast<double>(part.kbps) <= std::max(1.0, planned[part.server] * 1000));
    }
    uint64_t end = 0;
    for (const auto& [first, part] : sent) {
      RC_ASSERT(first == end);
      end += part.bytes;
    }
    RC_ASSERT(end == static_cast<uint64_t>(std::llround(machine.image_megabits * 1e6 / 8)));
    const auto listeners = read_listeners(path("config/multicast/nodes"));
    RC_ASSERT(listeners.size() == nodes.cpus.size());
    for (std::size_t i = 0; i < listeners.size(); ++i)
      RC_ASSERT(listeners[i] == machine.addresses.node(nodes.cpus[i]));
  });
}

TEST_F(BootConfig, FindsASenderOfOtherBytesOrToOtherNodes) {
  Way way{plan_, {}, Multicast{{{1, 100}, {3, 300}}, {}}};
  machine_.image_megabits = 8;
  const Serving serving{Program::dnsmasq, "boot.img", "", "/srv/boot", "", "vmlinuz"};
  const auto faults_after = [&](const std::string& file, const std::string& from, const std::string& to) {
    write_config(path("config"), config_files(machine_, nodes_, way, serving));
    EXPECT_TRUE(differences({path("config")}, machine_, nodes_, way, serving).empty());
    replace(file, from, to);
    return differences({path("config")}, machine_, nodes_, way, serving).back();
  };
  const std::string fault =
      "multicast/send-3.sh: does not send bytes 250000 to 999999 with 285000 kb/s from server 3";
  EXPECT_EQ(faults_after("multicast/send-3.sh", "tail -c +250001", "tail -c +250000"), fault);
  EXPECT_EQ(faults_after("multicast/send-3.sh", "head -c 750000", "head -c 75000"), fault);
  EXPECT_EQ(faults_after("multicast/send-3.sh", "-R 285000", "-R 28500"), fault);
  EXPECT_EQ(faults_after("multicast/send-3.sh", "-I 10.0.0.4", "-I 10.0.0.3"), fault);
  EXPECT_EQ(faults_after("multicast/nodes", "0x0A400008\n", ""),
            "multicast/nodes: are not the nodes of the plan");
}

TEST_F(BootConfig, NamesTftpWhereItIsWanted) {
  serving_.initrd = "rd.img";
  serving_.tftp = true;
  write_config(path("config"), config_files(machine_, nodes_, {plan_}, with(Program::dhcpd)));
  EXPECT_TRUE(found().empty());
  const std::string script = read(path("config/ipxe/0-1.ipxe"));
  EXPECT_NE(script.find("kernel --timeout 5000 tftp://10.0.0.1/boot.img initrd=rd.img || goto backup\n"
                        "initrd --timeout 5000 tftp://10.0.0.1/rd.img || goto backup\n"),
            std::string::npos)
      << script;
  EXPECT_EQ(script.find("http"), std::string::npos);
}

TEST_F(BootConfig, ReplacesOnlyItsOwnFolders) {
  std::filesystem::create_directory(path("config"));
  write_files(Program::kea);
  write_files(Program::dhcpd);
  EXPECT_FALSE(std::filesystem::exists(path("config/kea-dhcp4.conf")));
  EXPECT_TRUE(found().empty());
  std::filesystem::remove(path("config/manifest.json"));
  EXPECT_THROW(write_files(Program::kea), Fault);
  EXPECT_TRUE(std::filesystem::exists(path("config/dhcpd.conf")));
  EXPECT_THROW(found(), Fault);
  uint32_t things = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(path(""))) ++things;
  EXPECT_EQ(things, 1u) << "temporary folders are left";
}

TEST_F(BootConfig, WritesNothingIfAFileCannotBeWritten) {
  std::vector<OutputFile> files = config_files(machine_, nodes_, {plan_}, with(Program::kea));
  files.push_back({"kea-dhcp4.conf", "twice"});
  EXPECT_THROW(write_config(path("config"), files), Fault);
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST(BootAddresses, AreReadAndWritten) {
  EXPECT_EQ(address_of("10.64.0.255"), 0x0a4000ffu);
  EXPECT_EQ(address_text(0xc0a80001), "192.168.0.1");
  for (const char* text : {"10.0.0", "10.0.0.256", "10.0.0.1.2", "10..0.1", "a.b.c.d", ""})
    EXPECT_THROW(address_of(text), Fault) << text;
  Addresses addresses;
  addresses.set_subnet("192.168.4.0/22");
  EXPECT_EQ(addresses.subnet_text(), "192.168.4.0/22");
  EXPECT_TRUE(addresses.is_host(address_of("192.168.7.254")));
  EXPECT_FALSE(addresses.is_host(address_of("192.168.7.255")));
  EXPECT_FALSE(addresses.is_host(address_of("192.168.4.0")));
  for (const char* text : {"10.0.0.0", "10.0.0.0/0", "10.0.0.0/31", "10.0.0.0/8/8"})
    EXPECT_THROW(addresses.set_subnet(text), Fault) << text;
}

TEST(BootImage, HasASizeWithAUnit) {
  EXPECT_EQ(megabits_of_size("50MB"), 400);
  EXPECT_EQ(megabits_of_size("1GiB"), 8589.934592);
  EXPECT_EQ(megabits_of_size("125000B"), 1);
  for (const char* text : {"50", "MB", "0MB", "50Mb", "50 MB", "-1MB", "1.5GB", ""})
    EXPECT_THROW(megabits_of_size(text), Fault) << text;
}

}  // namespace
}  // namespace weft::boot
