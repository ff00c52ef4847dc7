// SPDX-License-Identifier: Apache-2.0
// Stock OpenSM on a simulated subnet.
#include "opensm.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "mcast/mcfdbs.hpp"

namespace weft::test {

namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string request(const topology::Graph& graph, const std::string& verb, uint32_t group, uint32_t host) {
  return fmt::format("{} {} {:x}\n", verb, group, graph.port_guid(graph.attachments(host).front().link));
}

}  // namespace

OpenSm::OpenSm(const Ibsim& ibsim, std::filesystem::path folder, const Options& options)
    : ibsim_(ibsim), folder_(std::move(folder)), process_(program(options)) {}

Background::Program OpenSm::program(const Options& options) const {
  std::filesystem::create_directories(folder_);
  const auto settings = folder_ / "opensm.conf";
  std::ofstream(settings) << "force_log_flush TRUE\nsweep_interval 0\nmax_wire_smps 64\ndump_files_dir "
                          << folder_.string() << "/\n"
                          << options.more_settings;
  Ibsim::Environment environment = ibsim_.environment(0);
  environment.emplace_back("OSM_CACHE_DIR", folder_.string());
  environment.emplace_back("OSM_TMP_DIR", folder_.string());
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  return {{"ibsim-run", "opensm", "-F", settings.string(), "-R", options.engine, "-D", "0x43", "-f",
           (folder_ / "opensm.log").string()},
          environment,
          folder_,
          folder_ / "opensm.out"};
}

bool OpenSm::wait() {
  bool up = false;
  wait_until(60, [&] { return (up = contains(log(), "SUBNET UP")) || !process_.running(); });
  return up;
}

std::string OpenSm::log() const { return text_of(folder_ / "opensm.log"); }

mcast::ForwardingTables OpenSm::dump() const { return mcast::read_mcfdbs_file(dump_file()); }

bool OpenSm::all_there(const std::vector<Members>& groups, const std::vector<uint16_t>& mlids) const {
  const auto& graph = ibsim_.graph();
  const mcast::ForwardingTables tables = dump();
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const uint32_t host : groups[group]) {
      if (groups[group].size() < 2) continue;
      const topology::Arc& cable = graph.attachments(host).front();
      const auto entries = tables.find(graph.switch_info(cable.node).guid);
      if (entries == tables.end()) return false;
      const auto entry = entries->second.find(mlids[group]);
      if (entry == entries->second.end() || !entry->second.test(cable.peer_port)) return false;
    }
  return true;
}

std::optional<std::vector<uint16_t>> OpenSm::join(const std::vector<Members>& groups) {
  std::string requests;
  for (uint32_t group = 0; group < groups.size(); ++group)
    for (const uint32_t host : groups[group])
      requests += request(ibsim_.graph(), "join", groups_ + group, host);
  std::ofstream(folder_ / "joins") << requests;
  const Finished run = ibsim_.run_inside(fmt::format("{} < {}", WEFT_JOIN, (folder_ / "joins").string()), 1);
  if (run.exit_code != 0) return std::nullopt;

  std::vector<uint16_t> mlids(groups.size());
  std::istringstream answers(run.output);
  uint32_t group = 0, mlid = 0;
  while (answers >> std::dec >> group >> std::hex >> mlid)
    mlids.at(group - groups_) = static_cast<uint16_t>(mlid);
  groups_ += static_cast<uint32_t>(groups.size());

  std::string before;
  const bool done = wait_until(60, [&] {
    const std::string now = text_of(dump_file());
    const bool still = std::exchange(before, now) == now;
    try {
      if (still && all_there(groups, mlids)) return true;
    } catch (const Fault&) {  // is just being written
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return false;
  });
  if (!done) return std::nullopt;
  return mlids;
}

std::string OpenSm::change(const std::string& verb, uint32_t group, const Members& members) {
  std::string requests;
  for (const uint32_t host : members) requests += request(ibsim_.graph(), verb, group, host);
  std::ofstream(folder_ / "changes") << requests;
  const Finished run =
      ibsim_.run_inside(fmt::format("{} < {}", WEFT_JOIN, (folder_ / "changes").string()), 1);
  return run.exit_code == 0 ? "" : run.output;
}

std::string OpenSm::missing() {
  look_in_sbin();
  const bool there = run_command("command -v opensm").exit_code == 0;
  return there ? "" : "opensm is missing: Debian package opensm";
}

mcast::ForwardingTables renamed(const mcast::ForwardingTables& tables, const std::vector<uint16_t>& from,
                                const std::vector<uint16_t>& to) {
  mcast::ForwardingTables result;
  for (const auto& [guid, entries] : tables)
    for (std::size_t i = 0; i < from.size(); ++i)
      if (const auto entry = entries.find(from[i]); entry != entries.end())
        result[guid][to[i]] = entry->second;
  return result;
}

}  // namespace weft::test
