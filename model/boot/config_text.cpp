// SPDX-License-Identifier: Apache-2.0
// Configuration files of boot servers as text.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "boot/config.hpp"
#include "boot/words.hpp"
#include "common/crc32.hpp"

namespace weft::boot {

namespace {

using json = nlohmann::ordered_json;

/// What other programs know by these names.
constexpr std::string_view bios_loader = "undionly.kpxe", efi_loader = "ipxe.efi";

using Pair = std::pair<uint32_t, uint32_t>;  // server, backup

/// Nodes of each pair of servers, as places in the list of nodes.
using Pairs = std::map<Pair, std::vector<std::size_t>>;

Pairs pairs_of(const Plan& plan) {
  Pairs pairs;
  for (std::size_t i = 0; i < plan.servers.size(); ++i)
    pairs[{plan.servers[i], plan.backups[i]}].push_back(i);
  return pairs;
}

std::string script_of(const Pair& pair) { return fmt::format("ipxe/{}-{}.ipxe", pair.first, pair.second); }
std::string tag_of(const Pair& pair) { return fmt::format("s{}b{}", pair.first, pair.second); }
std::string name_of(uint32_t node) { return fmt::format("node-{}", node); }

std::string mask_of(const Addresses& addresses) { return address_text(~addresses.host_mask()); }

/// All that a node needs from one server, or on to `otherwise`.
std::string fetch_text(const std::string& server, const Serving& serving, std::string_view otherwise) {
  std::string arguments = serving.initrd.empty() ? "" : " initrd=" + serving.initrd;
  if (!serving.kernel_arguments.empty()) arguments += " " + serving.kernel_arguments;
  std::string text =
      fmt::format("imgfree\nkernel http://{}/{}{} || goto {}\n", server, serving.image, arguments, otherwise);
  if (!serving.initrd.empty())
    text += fmt::format("initrd http://{}/{} || goto {}\n", server, serving.initrd, otherwise);
  return text + "boot\n";
}

/// From its server, else from its backup, else again.
std::string script_text(const Addresses& addresses, const Pair& pair, const Serving& serving) {
  const std::string server = address_text(addresses.server(pair.first));
  const std::string backup = address_text(addresses.server(pair.second));
  return fmt::format("#!ipxe\n# server {}, backup {}\n:server\n{}:backup\n{}:again\nsleep 5\ngoto server\n",
                     pair.first, pair.second, fetch_text(server, serving, "backup"),
                     fetch_text(backup, serving, "again"));
}

std::string dnsmasq_text(const Machine& machine, const Nodes& nodes, const Pairs& pairs,
                         const Serving& serving) {
  const Addresses& addresses = machine.addresses;
  std::string text = fmt::format(R"(# written by weft boot --dnsmasq; the same file for every boot server
port=0
dhcp-range={0},static,{1}
dhcp-ignore=tag:!known
dhcp-lease-max={2}
enable-tftp
tftp-root={3}
tftp-max=1000
dhcp-userclass=set:ipxe,iPXE
dhcp-match=set:efi,option:client-arch,7
dhcp-match=set:efi,option:client-arch,9
dhcp-boot=tag:!ipxe,tag:efi,{4}
dhcp-boot=tag:!ipxe,tag:!efi,{5}
)",
                                 address_text(addresses.subnet), mask_of(addresses), nodes.cpus.size() + 1000,
                                 serving.folder, efi_loader, bios_loader);
  for (const auto& [pair, members] : pairs) {
    text += fmt::format("dhcp-boot=tag:ipxe,tag:{},{}\n", tag_of(pair), script_of(pair));
    for (const std::size_t i : members)
      text += fmt::format("dhcp-host={},set:{},{},{}\n", mac_text(nodes.macs[i]), tag_of(pair),
                          address_text(addresses.node(nodes.cpus[i])), name_of(nodes.cpus[i]));
  }
  return text;
}

/// Kea puts the classes of reservations first, so that a boot file there would be that of the firmware too.
json kea_classes(const Addresses& addresses, const Pairs& pairs) {
  const std::string ipxe = "option[77].hex == 'iPXE'";
  const std::string efi = "(option[93].hex == 0x0007 or option[93].hex == 0x0009)";
  const auto boots = [](const char* name, const std::string& test, std::string_view file) {
    return json{{"name", name}, {"test", test}, {"boot-file-name", file}};
  };
  json classes = {boots("ipxe", ipxe, root_path_script.name),
                  boots("efi", "not (" + ipxe + ") and " + efi, efi_loader),
                  boots("bios", "not (" + ipxe + ") and not " + efi, bios_loader)};
  for (const auto& [pair, members] : pairs) {
    const json root_path = {{"name", "root-path"}, {"data", script_of(pair)}};
    classes.push_back({{"name", tag_of(pair)},
                       {"next-server", address_text(addresses.server(pair.first))},
                       {"option-data", json::array({root_path})}});
  }
  return classes;
}

std::string kea_text(const Machine& machine, const Nodes& nodes, const Pairs& pairs) {
  const Addresses& addresses = machine.addresses;
  json reservations = json::array();
  for (const auto& [pair, members] : pairs) {
    for (const std::size_t i : members)
      reservations.push_back({{"hw-address", mac_text(nodes.macs[i])},
                              {"ip-address", address_text(addresses.node(nodes.cpus[i]))},
                              {"hostname", name_of(nodes.cpus[i])},
                              {"client-classes", json::array({tag_of(pair)})}});
  }
  const json subnet = {{"id", 1},
                       {"subnet", addresses.subnet_text()},
                       {"reservations-in-subnet", true},
                       {"reservations", reservations}};
  const json config = {{"Dhcp4",
                        {{"interfaces-config", {{"interfaces", json::array({"*"})}}},
                         {"lease-database", {{"type", "memfile"}}},
                         {"host-reservation-identifiers", json::array({"hw-address"})},
                         {"client-classes", kea_classes(addresses, pairs)},
                         {"subnet4", json::array({subnet})}}}};
  return config.dump(1) + "\n";
}

std::string dhcpd_text(const Machine& machine, const Nodes& nodes, const Pairs& pairs) {
  const Addresses& addresses = machine.addresses;
  std::string text = fmt::format(R"(# written by weft boot --dhcpd
option arch code 93 = unsigned integer 16;
deny unknown-clients;
subnet {} netmask {} {{ }}
)",
                                 address_text(addresses.subnet), mask_of(addresses));
  for (const auto& [pair, members] : pairs) {
    text += fmt::format(R"(group {{
  next-server {};
  if exists user-class and option user-class = "iPXE" {{ filename "{}"; }}
  elsif option arch = 00:07 or option arch = 00:09 {{ filename "{}"; }}
  else {{ filename "{}"; }}
)",
                        address_text(addresses.server(pair.first)), script_of(pair), efi_loader, bios_loader);
    for (const std::size_t i : members)
      text += fmt::format(
          "  host {0} {{ hardware ethernet {1}; fixed-address {2}; option host-name \"{0}\"; }}\n",
          name_of(nodes.cpus[i]), mac_text(nodes.macs[i]), address_text(addresses.node(nodes.cpus[i])));
    text += "}\n";
  }
  return text;
}

/// The same on every boot server.
std::string nginx_text(const Serving& serving) {
  return fmt::format(R"(# written by weft boot: gives the image; no compression, no log of each node
worker_processes auto;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  sendfile on;
  server {{
    listen 80 default_server backlog=4096;
    root {};
  }}
}}
)",
                     serving.folder);
}

std::string manifest_text(const Nodes& nodes, const Serving& serving, const std::vector<OutputFile>& files) {
  json listed = json::array();
  for (const OutputFile& file : files)
    listed.push_back({{"name", file.path.string()},
                      {"bytes", file.text.size()},
                      {"crc32", fmt::format("{:08x}", crc32_of(file.text))}});
  const json manifest = {{"weft_boot", 1},
                         {"program", config_name(serving.program)},
                         {"nodes", nodes.cpus.size()},
                         {"image", serving.image},
                         {"files", listed}};
  return manifest.dump(1) + "\n";
}

bool all_of(std::string_view text, std::string_view more) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           more.find(c) != std::string_view::npos;
  });
}

}  // namespace

std::optional<Program> program_named(std::string_view name) {
  for (const Program program : {Program::dnsmasq, Program::kea, Program::dhcpd}) {
    if (name == config_name(program)) return program;
  }
  return std::nullopt;
}

std::string_view config_name(Program program) {
  switch (program) {
    case Program::dnsmasq:
      return "dnsmasq.conf";
    case Program::kea:
      return "kea-dhcp4.conf";
    case Program::dhcpd:
      break;
  }
  return "dhcpd.conf";
}

void expect_servable(const Serving& serving) {
  if (serving.image.empty()) throw Fault("a configuration needs the image: --image FILE");
  for (const std::string& name : {serving.image, serving.initrd})
    if (!all_of(name, "._-"))
      throw Fault(in_quotes(name) + ": names of images have letters, digits, '.', '_' and '-' only");
  if (serving.image == serving.initrd)
    throw Fault(in_quotes(serving.image) + ": image and initrd have the same name");
  if (!serving.folder.starts_with('/') || !all_of(serving.folder, "/._-"))
    throw Fault(in_quotes(serving.folder) + " is not an absolute path of letters, digits, '.', '_' and '-'");
  const bool printable = std::all_of(serving.kernel_arguments.begin(), serving.kernel_arguments.end(),
                                     [](char c) { return c >= ' ' && c <= '~' && c != '|' && c != '$'; });
  if (!printable)
    throw Fault(in_quotes(serving.kernel_arguments) + ": '|', '$' and unprintable cannot stand in a script");
}

std::vector<OutputFile> config_files(const Machine& machine, const Nodes& nodes, const Plan& plan,
                                     const Serving& serving) {
  const Pairs pairs = pairs_of(plan);
  std::vector<OutputFile> files;
  const std::string name(config_name(serving.program));
  switch (serving.program) {
    case Program::dnsmasq:
      files.push_back({name, dnsmasq_text(machine, nodes, pairs, serving)});
      break;
    case Program::kea:
      files.push_back({name, kea_text(machine, nodes, pairs)});
      files.push_back({root_path_script.name, std::string(root_path_script.text)});
      break;
    case Program::dhcpd:
      files.push_back({name, dhcpd_text(machine, nodes, pairs)});
      break;
  }
  for (const auto& [pair, members] : pairs)
    files.push_back({script_of(pair), script_text(machine.addresses, pair, serving)});
  files.push_back({"nginx.conf", nginx_text(serving)});
  files.push_back({manifest_name, manifest_text(nodes, serving, files)});
  return files;
}

}  // namespace weft::boot
