// SPDX-License-Identifier: Apache-2.0
// Folders of configuration files: written as a whole, read back.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
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

/// The line in which a word is first.
std::size_t line_of(const std::string& text, std::string_view word) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(text.find(word), text.size()));
  return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Of a folder that write_config made. Throws Fault.
json manifest_of(const fs::path& folder) {
  const fs::path file = folder / manifest_name;
  const std::string text = read_whole<Fault>(file);
  try {
    json manifest = json::parse(text);
    if (manifest.at("weft_boot") != 1)
      throw Fault(fmt::format("{}:{}: is of a version of weft boot that this one cannot read", file.string(),
                              line_of(text, "\"weft_boot\"")));
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

}  // namespace

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

namespace {

/// Where `folder` was, `made` is from one moment to the next; what was there, if anything, is at `made` then.
bool put_in_place(const fs::path& made, const fs::path& folder, bool exchange) {
  return renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), exchange ? RENAME_EXCHANGE : 0) == 0;
}

/// A file of the folder, wherever it is now. Where it is in two places, both have to be right.
std::vector<fs::path> places_of(const std::string& name, const Deployed& deployed) {
  const bool is_dhcp = program_named(name).has_value();
  const fs::path& elsewhere = is_dhcp ? deployed.dhcp : deployed.nginx;
  const fs::path within = deployed.folder / name;
  if (elsewhere.empty() || (!is_dhcp && name != nginx_name)) return {within};
  std::error_code error;
  if (fs::exists(within, error)) return {elsewhere, within};
  return {elsewhere};
}

/// Those of weft boot stand alone in their folders.
bool is_beside_scripts(const std::string& name) {
  return std::ranges::any_of(script_folders,
                             [&](std::string_view folder) { return name.starts_with(folder); });
}

/// The words of a line that are not as in the other; "nothing" if it is empty.
std::string unlike(std::string_view line, std::string_view other) {
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(line, other).in1 - line.begin());
  const std::size_t blank = line.substr(0, at).rfind(' ');
  constexpr std::size_t most_before = 50;  // of a long word, of which in_quotes() shows 60
  const std::size_t word = blank == std::string_view::npos ? 0 : blank + 1;
  const std::size_t from = at - word > most_before ? at - most_before / 2 : word;
  line.remove_prefix(from);
  other.remove_prefix(std::min(from, other.size()));
  for (;;) {  // words behind that are the same
    const std::size_t last = line.rfind(' '), others_last = other.rfind(' ');
    if (last == std::string_view::npos || others_last == std::string_view::npos) break;
    if (line.substr(last) != other.substr(others_last)) break;
    line = line.substr(0, last);
    other = other.substr(0, others_last);
  }
  return line.empty() ? "nothing" : in_quotes(line);
}

constexpr std::string_view by_hand = "should be", by_arguments = "of these arguments it is";

/// Of the first line that differs: "FILE:LINE: has 'this', WHY 'that'".
std::string first_difference(const std::string& file, std::string_view found, std::string_view wanted,
                             std::string_view why = by_arguments) {
  auto lines = split(found, '\n'), others = split(wanted, '\n');
  const std::size_t count = std::max(lines.size(), others.size());
  lines.resize(count);
  others.resize(count);
  const auto at = static_cast<std::size_t>(std::ranges::mismatch(lines, others).in1 - lines.begin());
  if (at == count) return file + ": has not as many lines as it should";
  return fmt::format("{}:{}: has {}, {} {}", file, at + 1, unlike(lines[at], others[at]), why,
                     unlike(others[at], lines[at]));
}

bool same_bytes(const fs::path& one, const fs::path& other) {
  if (fs::file_size(one) != fs::file_size(other)) return false;
  std::ifstream first(one, std::ios::binary), second(other, std::ios::binary);
  return std::equal(std::istreambuf_iterator<char>(first), {}, std::istreambuf_iterator<char>(second));
}

/// Files against the manifest, and against those that would be written now.
class Texts {
 public:
  Texts(const Deployed& deployed, const json& manifest, const std::vector<OutputFile>& wanted)
      : deployed_(deployed) {
    for (const OutputFile& file : wanted) wanted_.emplace(file.path.string(), file.text);
    for (const json& file : manifest.at("files")) listed_.emplace(file.at("name").get<std::string>(), file);
  }

  std::vector<std::string> against_manifest() const {
    std::vector<std::string> faults;
    std::error_code error;
    for (const auto& [name, file] : listed_) {
      for (const fs::path& place : places_of(name, deployed_)) {
        if (!fs::exists(place, error))
          faults.push_back(fmt::format("{}: is in the manifest, but not there", shown(name, place)));
        else
          compare(name, file, place, faults);
      }
    }
    for (const std::string& name : files_in(deployed_.folder))
      if (is_beside_scripts(name) && !listed_.contains(name))
        faults.push_back(fmt::format("{}: is not in the manifest", name));
    return faults;
  }

  /// Of files that are as they were written.
  std::vector<std::string> against_arguments() const {
    std::vector<std::string> faults;
    for (const auto& [name, text] : wanted_) {
      if (name == manifest_name) continue;
      const auto listed = listed_.find(name);
      if (listed == listed_.end()) {
        faults.push_back(fmt::format("{}: is not in the manifest, but of these arguments", name));
        continue;
      }
      if (is_written(listed->second, text)) continue;
      if (const auto found = text_of(name); is_written(listed->second, found))
        faults.push_back(first_difference(name, found, text));
    }
    for (const auto& [name, file] : listed_)
      if (!wanted_.contains(name)) faults.push_back(fmt::format("{}: is not of these arguments", name));
    return faults;
  }

  /// What the manifest says beside its files.
  std::optional<std::string> manifest_against_arguments() const {
    const std::string name(manifest_name), found = read_whole<Fault>(deployed_.folder / manifest_name);
    if (found == wanted_.at(name)) return std::nullopt;
    return first_difference(name, found, wanted_.at(name));
  }

 private:
  static bool is_written(const json& file, std::string_view text) {
    return text.size() == file.at("bytes") && fmt::format("{:08x}", crc32_of(text)) == file.at("crc32");
  }

  /// If these arguments have written the file, what it has now is told by line; else that it is another.
  void compare(const std::string& name, const json& file, const fs::path& place,
               std::vector<std::string>& faults) const {
    const std::string found = read_whole<Fault>(place);
    if (is_written(file, found)) return;
    const auto wanted = wanted_.find(name);
    if (wanted != wanted_.end() && is_written(file, wanted->second)) {
      faults.push_back(first_difference(shown(name, place), found, wanted->second, by_hand));
      return;
    }
    faults.push_back(fmt::format("{}: is not as it was written", shown(name, place)));
    if (wanted != wanted_.end() && found != wanted->second)
      faults.push_back(first_difference(shown(name, place), found, wanted->second));
  }

  std::string shown(const std::string& name, const fs::path& place) const {
    return place == deployed_.folder / name ? name : place.string();
  }

  /// "" if it is not there.
  std::string text_of(const std::string& name) const {
    const fs::path place = places_of(name, deployed_).front();
    std::error_code error;
    return fs::exists(place, error) ? read_whole<Fault>(place) : "";
  }

  const Deployed& deployed_;
  std::map<std::string, std::string> wanted_;
  std::map<std::string, json> listed_;
};

/// A folder from which a server gives them has all of them; one that has none was only written.
std::vector<std::string> served_otherwise(const fs::path& folder, const Machine& machine) {
  std::vector<std::string> missing, faults;
  std::error_code error;
  std::size_t served = 0;
  for (const fs::path& file : {machine.image, machine.initrd, machine.kernel}) {
    if (file.empty()) continue;
    ++served;
    const std::string name = file.filename().string();
    if (!fs::exists(folder / name, error))
      missing.push_back(name + ": is not there, but other files of an image are");
    else if (!same_bytes(folder / name, file))
      faults.push_back(fmt::format("{}: is not the same as {}", name, file.string()));
  }
  if (missing.size() < served) faults.insert(faults.end(), missing.begin(), missing.end());
  return faults;
}

/// The nodes of a plan against what was read.
class Comparison {
 public:
  Comparison(const fs::path& folder, Program program, const Machine& machine, const Nodes& nodes,
             const Way& way)
      : folder_(folder), program_(program), machine_(machine), nodes_(nodes), way_(way) {
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
    const uint32_t next_server = program_ == Program::dnsmasq ? 0 : addresses.server(way_.plan.servers[i]);
    if (entry.next_server != next_server)
      fail(who, fmt::format("has the TFTP server {}, not {}", server_text(entry.next_server),
                            server_text(next_server)));
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

  static std::string server_text(uint32_t address) {
    return address == 0 ? "that answers" : address_text(address);
  }

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
  Program program_;
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

ConfigFolder::ConfigFolder(const fs::path& folder, const std::vector<OutputFile>& files)
    : folder_(fs::absolute(folder / "").parent_path()) {
  expect_replaceable(folder_);
  made_ = std::make_unique<Scratch>(folder_);
  std::vector<OutputFile> within;
  for (const OutputFile& file : files) {
    fs::create_directories((made_->path() / file.path).parent_path());
    within.push_back({made_->path() / file.path, file.text});
  }
  try {
    write_whole(within);
  } catch (const std::runtime_error& error) {
    throw Fault(error.what());
  }
  std::error_code error;
  was_there_ = fs::exists(folder_, error);
  if (!put_in_place(made_->path(), folder_, was_there_))
    throw Fault(fmt::format("{}: cannot be written: {}", folder_.string(), std::strerror(errno)));
}

ConfigFolder::~ConfigFolder() {
  if (kept_) return;
  if (was_there_)
    put_in_place(made_->path(), folder_, true);
  else
    put_in_place(folder_, made_->path(), false);
}

void write_config(const fs::path& folder, const std::vector<OutputFile>& files) {
  ConfigFolder(folder, files).keep();
}

std::vector<std::string> differences(const Deployed& deployed, const Machine& machine, const Nodes& nodes,
                                     const Way& way, const Serving& serving) {
  const json manifest = manifest_of(deployed.folder);
  const auto program = program_named(manifest.value("program", ""));
  if (!program) throw Fault((deployed.folder / manifest_name).string() + ": names no program that is known");
  Serving wanted = serving;
  wanted.program = *program;
  const Texts texts(deployed, manifest, config_files(machine, nodes, way, wanted));
  auto faults = texts.against_manifest();
  const auto add = [&](const std::vector<std::string>& more) {
    faults.insert(faults.end(), more.begin(), more.end());
  };
  try {
    Comparison comparison(deployed.folder, *program, machine, nodes, way);
    const fs::path dhcp = places_of(std::string(config_name(*program)), deployed).front();
    for (const Entry& entry : read_entries(dhcp, *program)) comparison.take(entry);
    comparison.take_multicast();
    add(std::move(comparison).faults());
  } catch (const Fault& fault) {
    faults.emplace_back(fault.what());
  }
  add(texts.against_arguments());
  add(served_otherwise(deployed.folder, machine));
  if (const auto fault = texts.manifest_against_arguments(); fault && faults.empty())
    faults.push_back(*fault);
  return faults;
}

}  // namespace weft::boot
