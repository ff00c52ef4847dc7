// SPDX-License-Identifier: Apache-2.0
// What configuration files say about nodes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "boot/config.hpp"
#include "boot/words.hpp"
#include "common/input_file.hpp"

namespace weft::boot {

namespace {

namespace fs = std::filesystem;

/// Lines of a file; faults get their number.
template <typename Take>
void for_each_line(const fs::path& file, Take take) {
  const std::string text = read_whole<Fault>(file);
  uint32_t line = 0;
  for (const std::string_view each : split(text, '\n')) {
    ++line;
    try {
      take(each, line);
    } catch (const Fault& fault) {
      throw Fault(fmt::format("{}:{}: {}", file.string(), line, fault.what()));
    }
  }
}

class Dnsmasq {
 public:
  std::vector<Entry> read(const fs::path& file) {
    for_each_line(file, [&](std::string_view line, uint32_t number) { take(line, number); });
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto script = scripts_.find(tags_[i]);
      if (script == scripts_.end())
        throw Fault(fmt::format("{}:{}: no dhcp-boot for the tag {}", file.string(), entries_[i].line,
                                in_quotes(tags_[i])));
      entries_[i].script = script->second;
    }
    return std::move(entries_);
  }

 private:
  void take(std::string_view line, uint32_t number) {
    constexpr std::string_view host = "dhcp-host=", boot = "dhcp-boot=tag:ipxe,tag:";
    if (line.starts_with(host)) {
      const auto parts = split(line.substr(host.size()), ',');
      if (parts.size() != 4 || !parts[1].starts_with("set:"))
        throw Fault("dhcp-host must be MAC,set:TAG,ADDRESS,NAME");
      entries_.push_back({mac_of(parts[0]), address_of(parts[2]), "", number, 0});
      tags_.emplace_back(parts[1].substr(4));
    } else if (line.starts_with(boot)) {
      const auto parts = split(line.substr(boot.size()), ',');
      if (parts.size() != 2) throw Fault("dhcp-boot must be tag:ipxe,tag:TAG,SCRIPT");
      if (!scripts_.emplace(parts[0], parts[1]).second)
        throw Fault(fmt::format("the tag {} has a script already", in_quotes(parts[0])));
    }
  }

  std::vector<Entry> entries_;
  std::vector<std::string> tags_;  ///< of the entries
  std::map<std::string, std::string> scripts_;
};

std::vector<Entry> read_kea(const fs::path& file) {
  std::vector<Entry> entries;
  try {
    const auto dhcp = nlohmann::json::parse(read_whole<Fault>(file)).at("Dhcp4");
    std::map<std::string, std::string> scripts;
    std::map<std::string, uint32_t> next_servers;
    for (const auto& each : dhcp.at("client-classes")) {
      for (const auto& option : each.value("option-data", nlohmann::json::array())) {
        if (option.at("name") == "root-path")
          scripts[each.at("name").get<std::string>()] = option.at("data").get<std::string>();
      }
      if (each.contains("next-server"))
        next_servers[each.at("name").get<std::string>()] =
            address_of(each.at("next-server").get<std::string>());
    }
    for (const auto& subnet : dhcp.at("subnet4")) {
      for (const auto& each : subnet.at("reservations")) {
        const auto name = each.at("client-classes").at(0).get<std::string>();
        const auto next_server = next_servers.find(name);
        entries.push_back({mac_of(each.at("hw-address").get<std::string>()),
                           address_of(each.at("ip-address").get<std::string>()), scripts.at(name), 0,
                           next_server == next_servers.end() ? 0 : next_server->second});
      }
    }
  } catch (const std::exception& error) {
    throw Fault(fmt::format("{}: {}", file.string(), error.what()));
  }
  return entries;
}

/// A word of a line without the mark behind it.
std::string_view bare(std::string_view word) {
  word.remove_suffix(word.ends_with(';') ? 1 : 0);
  return word.size() > 1 && word.starts_with('"') && word.ends_with('"') ? word.substr(1, word.size() - 2)
                                                                         : word;
}

std::string_view after(const std::vector<std::string_view>& found, std::string_view word) {
  const auto at = std::find(found.begin(), found.end(), word);
  if (at == found.end() || at + 1 == found.end()) throw Fault(fmt::format("no '{}'", word));
  return bare(at[1]);
}

std::vector<Entry> read_dhcpd(const fs::path& file) {
  std::vector<Entry> entries;
  std::string script;
  uint32_t next_server = 0;
  for_each_line(file, [&](std::string_view line, uint32_t number) {
    const auto found = words(line);
    if (found.empty()) return;
    if (found[0] == "group") script.clear(), next_server = 0;
    if (found[0] == "next-server") next_server = address_of(after(found, "next-server"));
    if (found[0] == "if") script = after(found, "filename");
    if (found[0] == "host")
      entries.push_back({mac_of(after(found, "ethernet")), address_of(after(found, "fixed-address")), script,
                         number, next_server});
  });
  return entries;
}

/// Address and path of a URL.
std::optional<std::pair<uint32_t, std::string>> place_of(std::string_view url) {
  for (const std::string_view scheme : {"http://", "tftp://"}) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    const std::size_t slash = std::min(url.find('/'), url.size());
    return std::pair(address_of(url.substr(0, slash)),
                     std::string(url.substr(std::min(slash + 1, url.size()))));
  }
  return std::nullopt;
}

/// The path that all these name, and that was named before, if one was.
std::string chain_in(const std::vector<std::string_view>& urls, std::string before) {
  for (const std::string_view url : urls) {
    const auto place = place_of(url);
    if (!place || place->second.find("..") != std::string::npos ||
        (!before.empty() && before != place->second))
      throw Fault("weft.chain must name one file of a chain");
    before = place->second;
  }
  return before;
}

}  // namespace

std::vector<Entry> read_entries(const fs::path& file, Program program) {
  switch (program) {
    case Program::dnsmasq:
      return Dnsmasq().read(file);
    case Program::kea:
      return read_kea(file);
    case Program::dhcpd:
      break;
  }
  return read_dhcpd(file);
}

Script read_script(const fs::path& file) {
  constexpr std::string_view chain = "weft.chain=";
  Script script;
  for_each_line(file, [&](std::string_view line, uint32_t) {
    const auto found = words(line);
    if (found.empty() || (found[0] != "kernel" && found[0] != "initrd")) return;
    const std::size_t name = found.size() > 1 && found[1] == "--timeout" ? 3 : 1;
    const auto place = found.size() <= name ? std::nullopt : place_of(found[name]);
    if (!place) throw Fault(fmt::format("{} must be followed by http:// or tftp://ADDRESS/IMAGE", found[0]));
    if (found[0] == "kernel")
      script.servers.push_back(place->first);
    else if (script.servers.empty() || script.servers.back() != place->first)
      throw Fault("initrd must be from the server of the kernel before");
    for (const std::string_view word : found)
      if (word.starts_with(chain))
        script.chain = chain_in(split(word.substr(chain.size()), ','), script.chain);
  });
  return script;
}

}  // namespace weft::boot
