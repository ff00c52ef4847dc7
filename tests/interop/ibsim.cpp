// SPDX-License-Identifier: Apache-2.0
// A simulated InfiniBand subnet.
#include "ibsim.hpp"

#include <fmt/format.h>

#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "topology/ibnet.hpp"

namespace weft::test {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string new_name() {
  static std::atomic<uint32_t> count = 0;
  return fmt::format("weft-test-{}-{}", getpid(), count++);
}

}  // namespace

Ibsim::Ibsim(const topology::Graph& graph, std::filesystem::path folder,
             const std::vector<std::string>& options)
    : graph_(graph), folder_(std::move(folder)), name_(new_name()), process_(program(options)) {}

Background::Program Ibsim::program(const std::vector<std::string>& options) const {
  const auto net = folder_ / "net", console = folder_ / "console";
  mkfifo(console.c_str(), 0600);  // or it is there already
  std::ofstream(net, std::ios::binary) << topology::write_ibnet(graph_);
  const uint32_t nodes = graph_.switches() + graph_.hosts();
  uint64_t ports = 0;
  for (uint32_t sw = 0; sw < graph_.switches(); ++sw) ports += graph_.switch_info(sw).ports + 1;
  for (uint32_t host = 0; host < graph_.hosts(); ++host) ports += graph_.host_info(host).ports + 1;
  std::vector<std::string> words{"ibsim", "-s",
                                 "-N",    std::to_string(nodes),
                                 "-S",    std::to_string(graph_.switches()),
                                 "-P",    std::to_string(ports)};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(net.string());
  return {words, {{"IBSIM_SOCKNAME", name_}}, folder_, folder_ / "ibsim.log", console};
}

void Ibsim::cut(uint32_t link) {
  const topology::Link& cable = graph_.link(link);
  std::ofstream(folder_ / "console") << fmt::format("Unlink \"S-{:016x}\"[{}]\n",
                                                    graph_.switch_info(cable.a).guid, cable.a_port);
}

bool Ibsim::wait() {
  const auto listens = [this] { return contains(text_of("/proc/net/unix"), "@" + name_ + ":ctl"); };
  bool up = false;
  wait_until(30, [&] { return (up = listens()) || !process_.running(); });
  return up;
}

std::string Ibsim::log() const { return text_of(folder_ / "ibsim.log"); }

Ibsim::Environment Ibsim::environment(uint32_t host) const {
  return {{"IBSIM_SOCKNAME", name_}, {"SIM_HOST", fmt::format("H-{:016x}", graph_.host_info(host).guid)}};
}

Finished Ibsim::run_inside(const std::string& command, uint32_t host) const {
  std::string all = fmt::format("cd {}", folder_.string());
  for (const auto& [name, value] : environment(host)) all += fmt::format("; export {}={}", name, value);
  return run_command(all + "; timeout 60 ibsim-run " + command);
}

std::string unfit_inside() {
#ifdef WEFT_SANITIZED
  return "ibsim's library reads beyond its own buffers, where sanitizers stop the program";
#else
  return {};
#endif
}

void look_in_sbin() {
  const std::string path = std::getenv("PATH") == nullptr ? "" : std::getenv("PATH");
  if (!contains(path, "/usr/sbin")) setenv("PATH", (path + ":/usr/sbin").c_str(), 1);
}

std::string Ibsim::missing() {
  look_in_sbin();
  for (const char* program : {"ibsim", "ibsim-run", "ibnetdiscover", "dump_mfts", "ibroute"})
    if (run_command(fmt::format("command -v {}", program)).exit_code != 0)
      return fmt::format("{} is missing: Debian packages ibsim-utils and infiniband-diags", program);
  return {};
}

}  // namespace weft::test
