// SPDX-License-Identifier: Apache-2.0
// ibsim (Debian: ibsim-utils) loads what is written, and ibnetdiscover (infiniband-diags) finds the same
// fabric in it: same GUIDs, names, ports, links.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "run_weft.hpp"
#include "temporary_folder.hpp"
#include "topology/ibnet.hpp"
#include "topology/spec.hpp"

namespace weft::test {
namespace {

using topology::Graph;

/// ibsim on a netlist. It listens on sockets of the abstract name space that vanish with it; their name has
/// the number of this process in it, so that others can run beside.
class Ibsim {
 public:
  Ibsim(const std::filesystem::path& net, std::filesystem::path log)
      : name_("weft-test-" + std::to_string(getpid())), log_(std::move(log)) {
    process_ = fork();
    if (process_ == 0) run(net);
  }
  ~Ibsim() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Ibsim(const Ibsim&) = delete;
  Ibsim& operator=(const Ibsim&) = delete;

  /// Until it listens; false if it has ended before, or does not in half a minute.
  bool wait() const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < end && waitpid(process_, nullptr, WNOHANG) == 0) {
      std::ostringstream sockets;
      sockets << std::ifstream("/proc/net/unix").rdbuf();
      if (contains(sockets.str(), "@" + name_ + ":ctl")) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  /// A program that sees the simulated fabric from its first switch.
  Finished run_inside(const std::string& command) const {
    return run_command("IBSIM_SOCKNAME=" + name_ + " timeout 60 ibsim-run " + command);
  }

 private:
  [[noreturn]] void run(const std::filesystem::path& net) const {
    const int log = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    setenv("IBSIM_SOCKNAME", name_.c_str(), 1);
    execlp("ibsim", "ibsim", "-s", "-n", net.c_str(), nullptr);
    _exit(127);
  }

  std::string name_;
  std::filesystem::path log_;
  pid_t process_ = -1;
};

Graph dump(const std::string& name) {
  return topology::read_ibnet_file(std::filesystem::path(WEFT_TEST_DATA) / "topology" / name);
}

/// ibsim counts GUIDs of ports from that of their host, lets routers say that they are hosts, and takes a
/// name to end at its first quotation mark.
Graph as_ibsim_sees(const Graph& graph) {
  topology::Parts parts;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw) parts.switches.push_back(graph.switch_info(sw));
  for (uint32_t host = 0; host < graph.hosts(); ++host) {
    parts.hosts.push_back(graph.host_info(host));
    std::string& name = parts.hosts.back().name;
    name = name.substr(0, name.find('"'));
    parts.hosts.back().router = false;
  }
  for (uint32_t id = 0; id < graph.links(); ++id) {
    const topology::Link& link = graph.link(id);
    if (graph.is_host_link(id))
      parts.host_links.push_back({link.a, link.b, link.a_port, link.b_port, 0});
    else
      parts.switch_links.push_back(link);
  }
  return Graph(std::move(parts));
}

class IbsimLoads : public TemporaryFolder {
 protected:
  void SetUp() override {
    for (const char* program : {"ibsim", "ibsim-run", "ibnetdiscover"})
      if (run_command(std::string("command -v ") + program).exit_code != 0)
        GTEST_SKIP() << program << " is missing: Debian packages ibsim-utils and infiniband-diags";
  }

  void expect_same(const Graph& graph) {
    const auto net = path("net"), found = path("found");
    write("net", topology::write_ibnet(graph));
    const Ibsim ibsim(net, path("log"));
    ASSERT_TRUE(ibsim.wait()) << read(path("log"));
    const auto run = ibsim.run_inside("ibnetdiscover " + found.string());
    ASSERT_EQ(run.exit_code, 0) << run.output << read(path("log"));
    EXPECT_TRUE(by_guid(topology::read_ibnet_file(found)) == by_guid(graph)) << read(found);
  }
};

TEST_F(IbsimLoads, FatTree) { expect_same(topology::load("fattree3:4")); }
TEST_F(IbsimLoads, Torus) { expect_same(topology::load("torus3d:3x2x4:2")); }
TEST_F(IbsimLoads, Dragonfly) { expect_same(topology::load("dragonfly:4,2,2")); }
TEST_F(IbsimLoads, Random) { expect_same(topology::load("random:16,9,3,11")); }
TEST_F(IbsimLoads, TwoDimensionalFatTree) { expect_same(topology::load("kfat2d:3x4:2")); }

TEST_F(IbsimLoads, NetlistByHand) { expect_same(dump("by_hand.ibsim")); }
TEST_F(IbsimLoads, DumpOfTwoLeaves) { expect_same(as_ibsim_sees(dump("two_leaves.ibnetdiscover"))); }
TEST_F(IbsimLoads, DumpGroupedByChassis) { expect_same(as_ibsim_sees(dump("chassis.ibnetdiscover"))); }

}  // namespace
}  // namespace weft::test
