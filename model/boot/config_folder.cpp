// SPDX-License-Identifier: Apache-2.0
// Folders of configuration files: written as a whole, read back.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "boot/config.hpp"
#include "boot/words.hpp"
#include "common/crc32.hpp"
#include "common/input_file.hpp"

namespace weft::boot {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Of a folder that write_config made. Throws Fault.
json manifest_of(const fs::path& folder) {
  const fs::path file = folder / manifest_name;
  try {
    json manifest = json::parse(read_whole<Fault>(file));
    if (manifest.at("weft_boot") != 1) throw Fault("not of this version");
    for (const json& entry : manifest.at("files")) entry.at("name").get_ref<const std::string&>();
    return manifest;
  } catch (const json::exception&) {
    throw Fault(file.string() + ": is not a manifest of weft boot");
  }
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& each : fs::recursive_directory_iterator(folder)) {
    if (!each.is_directory()) found.insert(each.path().lexically_relative(folder).string());
  }
  return found;
}

/// All that is in it was written by weft boot: what is replaced is gone.
void expect_replaceable(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  if (fs::is_symlink(folder, error)) throw Fault(folder.string() + ": is a link; name the folder itself");
  if (!fs::is_directory(folder, error)) throw Fault(folder.string() + ": is not a folder");
  if (fs::is_empty(folder, error)) return;
  if (!fs::exists(folder / manifest_name, error))
    throw Fault(folder.string() + ": has other files; only a folder of weft boot is replaced");
  std::set<std::string> others = files_in(folder);
  others.erase(std::string(manifest_name));
  const json manifest = manifest_of(folder);
  for (const json& file : manifest.at("files")) others.erase(file.at("name").get<std::string>());
  if (!others.empty())
    throw Fault(
        fmt::format("{}: has '{}', which weft boot did not write; only a folder of weft boot is replaced",
                    folder.string(), *others.begin()));
}

/// Removed when this ends.
class Scratch {
 public:
  explicit Scratch(const fs::path& beside) {
    std::string name = beside.string() + ".part-XXXXXX";
    if (mkdtemp(name.data()) == nullptr)
      throw Fault(fmt::format("{}: cannot be written: {}", beside.string(), std::strerror(errno)));
    path_ = name;
    fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                               fs::perms::others_read | fs::perms::others_exec);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Where `folder` was, `made` is from one moment to the next; what was there goes to `made`.
void put_in_place(const fs::path& made, const fs::path& folder) {
  std::error_code error;
  const bool is_there = fs::exists(folder, error);
  if (renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), is_there ? RENAME_EXCHANGE : 0) != 0)
    throw Fault(fmt::format("{}: cannot be written: {}", folder.string(), std::strerror(errno)));
}

std::vector<std::string> against_manifest(const fs::path& folder, const json& manifest) {
  std::vector<std::string> faults;
  std::set<std::string> there = files_in(folder);
  there.erase(std::string(manifest_name));
  for (const json& file : manifest.at("files")) {
    const auto name = file.at("name").get<std::string>();
    if (there.erase(name) == 0) {
      faults.push_back(fmt::format("{}: is in the manifest, but not there", name));
      continue;
    }
    const std::string text = read_whole<Fault>(folder / name);
    if (text.size() != file.at("bytes") || fmt::format("{:08x}", crc32_of(text)) != file.at("crc32"))
      faults.push_back(fmt::format("{}: is not as it was written", name));
  }
  for (const std::string& name : there) faults.push_back(fmt::format("{}: is not in the manifest", name));
  return faults;
}

/// The nodes of a plan against what was read.
class Comparison {
 public:
  Comparison(const fs::path& folder, const Machine& machine, const Nodes& nodes, const Way& way)
      : folder_(folder), machine_(machine), nodes_(nodes), way_(way) {
    for (std::size_t i = 0; i < nodes.macs.size(); ++i) places_.emplace(nodes.macs[i], i);
    if (way.chains) chain_of_ = chains_of_places(*way.chains);
  }

  void take(const Entry& entry) {
    const auto place = places_.find(entry.mac);
    if (place == places_.end()) return fail(mac_text(entry.mac), "is none of the plan");
    const std::size_t i = place->second;
    const std::string who = fmt::format("node {} ({})", nodes_.cpus[i], mac_text(entry.mac));
    if (!seen_.insert(i).second) return fail(who, "is there twice");
    const auto& addresses = machine_.addresses;
    if (entry.address != addresses.node(nodes_.cpus[i]))
      fail(who, fmt::format("has the address {}, not {}", address_text(entry.address),
                            address_text(addresses.node(nodes_.cpus[i]))));
    const Script& script = script_of(entry.script);
    const std::vector<uint32_t> wanted = {addresses.server(way_.plan.servers[i]),
                                          addresses.server(way_.plan.backups[i])};
    if (script.servers != wanted)
      fail(who, fmt::format("boots from {}, not {}", list(script.servers), list(wanted)));
    if (script.chain.empty() && !way_.chains) return;
    const auto givers = givers_of(i, script), planned = planned_givers_of(i);
    if (givers != planned)
      fail(who, fmt::format("has the image from {}, not {}", list(givers), list(planned)));
  }

  /// Who sends which part to whom.
  void take_multicast() {
    if (!way_.multicast) return;
    for (const Part& part : parts_of(machine_, *way_.multicast)) {
      const std::string name = sender_script_name(part.server);
      if (read_sender(folder_ / name, machine_.addresses) != part)
        fail(name, fmt::format("does not send bytes {} to {} with {} kb/s from server {}", part.first,
                               part.first + part.bytes - 1, part.kbps, part.server));
    }
    std::vector<uint32_t> wanted;
    for (const uint32_t cpu : nodes_.cpus) wanted.push_back(machine_.addresses.node(cpu));
    if (read_listeners(folder_ / listeners_name) != wanted)
      fail(std::string(listeners_name), "are not the nodes of the plan");
  }

  std::vector<std::string> faults() && {
    for (std::size_t i = 0; i < nodes_.cpus.size(); ++i) {
      if (!seen_.contains(i)) fail(fmt::format("node {}", nodes_.cpus[i]), "is not there");
    }
    return std::move(faults_);
  }

 private:
  void fail(const std::string& who, const std::string& what) { faults_.push_back(who + ": " + what); }

  static std::string list(const std::vector<uint32_t>& servers) {
    std::string text;
    for (const uint32_t server : servers) text += (text.empty() ? "" : ", then ") + address_text(server);
    return text.empty() ? "nowhere" : text;
  }

  const Script& script_of(const std::string& name) {
    const auto known = scripts_.find(name);
    if (known != scripts_.end()) return known->second;
    return scripts_.emplace(name, read_script(folder_ / name)).first->second;
  }

  static std::vector<std::size_t> chains_of_places(const Chains& chains) {
    std::vector<std::size_t> found(chains.order.size());
    for (std::size_t chain = 0; chain < chains.count(); ++chain)
      for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at)
        found[chains.order[at]] = chain;
    return found;
  }

  /// Nodes, then servers.
  std::vector<uint32_t> givers_in(const ChainFile& chain, std::size_t i) const {
    const uint32_t self = machine_.addresses.node(nodes_.cpus[i]);
    if (std::find(chain.nodes.begin(), chain.nodes.end(), self) == chain.nodes.end()) return {};
    auto givers = parents_in(chain, self);
    givers.insert(givers.end(), chain.servers.begin(), chain.servers.end());
    return givers;
  }

  std::vector<uint32_t> givers_of(std::size_t i, const Script& script) {
    if (script.chain.empty()) return {};
    auto known = chains_.find(script.chain);
    if (known == chains_.end())
      known = chains_.emplace(script.chain, read_chain(folder_ / script.chain)).first;
    return givers_in(known->second, i);
  }

  std::vector<uint32_t> planned_givers_of(std::size_t i) {
    if (!way_.chains) return {};
    const auto chain = chain_file_of(machine_, nodes_, *way_.chains, chain_of_[i], "image");
    return givers_in(chain, i);
  }

  const fs::path& folder_;
  const Machine& machine_;
  const Nodes& nodes_;
  const Way& way_;
  std::unordered_map<uint64_t, std::size_t> places_;
  std::set<std::size_t> seen_;
  std::map<std::string, Script> scripts_;
  std::map<std::string, ChainFile> chains_;
  std::vector<std::size_t> chain_of_;  ///< of each place in the list of nodes
  std::vector<std::string> faults_;
};

}  // namespace

void write_config(const fs::path& folder, const std::vector<OutputFile>& files) {
  const fs::path whole = fs::absolute(folder / "").parent_path();
  expect_replaceable(whole);
  const Scratch scratch(whole);
  std::vector<OutputFile> within;
  for (const OutputFile& file : files) {
    fs::create_directories((scratch.path() / file.path).parent_path());
    within.push_back({scratch.path() / file.path, file.text});
  }
  try {
    write_whole(within);
  } catch (const std::runtime_error& error) {
    throw Fault(error.what());
  }
  put_in_place(scratch.path(), whole);
}

std::vector<std::string> differences(const fs::path& folder, const Machine& machine, const Nodes& nodes,
                                     const Way& way) {
  const json manifest = manifest_of(folder);
  const auto program = program_named(manifest.value("program", ""));
  if (!program) throw Fault((folder / manifest_name).string() + ": names no program that is known");
  auto faults = against_manifest(folder, manifest);
  try {
    Comparison comparison(folder, machine, nodes, way);
    for (const Entry& entry : read_entries(folder / config_name(*program), *program)) comparison.take(entry);
    comparison.take_multicast();
    auto more = std::move(comparison).faults();
    faults.insert(faults.end(), more.begin(), more.end());
  } catch (const Fault& fault) {
    faults.emplace_back(fault.what());
  }
  return faults;
}

}  // namespace weft::boot
