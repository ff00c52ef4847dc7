// SPDX-License-Identifier: Apache-2.0
// Configuration files of boot servers as text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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
constexpr std::string_view bios_loader = "undionly.kpxe", efi_loader = "ipxe.efi",
                           arm_loader = "ipxe-arm64.efi";

using Pair = std::pair<uint32_t, uint32_t>;  // server, backup

/// Nodes that boot with the same script.
struct Group {
  Pair servers;
  std::string tag, script;           ///< as DHCP servers name them
  std::string arguments;             ///< that a small system gets to find the image
  std::vector<std::size_t> members;  ///< places in the list of nodes
};
using Groups = std::vector<Group>;

std::string http_text(const Addresses& addresses, uint32_t server) {
  return "http://" + address_text(addresses.server(server));
}

/// One for each pair of server and backup.
Groups groups_of_pairs(const Machine& machine, const Way& way) {
  std::map<Pair, std::vector<std::size_t>> pairs;
  for (std::size_t i = 0; i < way.plan.servers.size(); ++i)
    pairs[{way.plan.servers[i], way.plan.backups[i]}].push_back(i);
  Groups groups;
  for (auto& [pair, members] : pairs) {
    std::string arguments;
    if (way.multicast)
      arguments = fmt::format(" weft.multicast={},{}", http_text(machine.addresses, pair.first),
                              http_text(machine.addresses, pair.second));
    groups.push_back({pair, fmt::format("s{}b{}", pair.first, pair.second),
                      fmt::format("ipxe/{}-{}.ipxe", pair.first, pair.second), arguments,
                      std::move(members)});
  }
  return groups;
}

std::string chain_name(std::size_t chain) { return fmt::format("chains/{}", chain); }

Groups groups_of_chains(const Machine& machine, const Chains& chains) {
  Groups groups;
  for (std::size_t chain = 0; chain < chains.count(); ++chain) {
    const Pair pair = {chains.servers[chain], chains.backups[chain]};
    const auto order = chains.order.begin();
    groups.push_back({pair,
                      fmt::format("c{}", chain),
                      fmt::format("ipxe/chain-{}.ipxe", chain),
                      fmt::format(" weft.chain={0}/{2},{1}/{2}", http_text(machine.addresses, pair.first),
                                  http_text(machine.addresses, pair.second), chain_name(chain)),
                      {order + static_cast<std::ptrdiff_t>(chains.begins[chain]),
                       order + static_cast<std::ptrdiff_t>(chains.begins[chain + 1])}});
  }
  return groups;
}

Groups groups_of(const Machine& machine, const Way& way) {
  return way.chains ? groups_of_chains(machine, *way.chains) : groups_of_pairs(machine, way);
}

std::string name_of(uint32_t node) { return fmt::format("node-{}", node); }

std::string mask_of(const Addresses& addresses) { return address_text(~addresses.host_mask()); }

/// Milliseconds without a byte after which iPXE gives a download up. Without it a server that falls silent in
/// the middle is waited for for ever (or for two minutes, of newer ones).
constexpr uint32_t silence_ms = 5000;

/// All that a node needs from one server, or on to `otherwise`.
std::string fetch_text(const std::string& server, const Group& group, const Serving& serving,
                       std::string_view otherwise) {
  const std::string place = fmt::format("{}://{}/", serving.tftp ? "tftp" : "http", server);
  std::string arguments = serving.initrd.empty() ? "" : " initrd=" + serving.initrd;
  arguments += group.arguments;
  if (!serving.kernel_arguments.empty()) arguments += " " + serving.kernel_arguments;
  std::string text =
      fmt::format("imgfree\nkernel --timeout {} {}{}{} || goto {}\n", silence_ms, place,
                  serving.kernel.empty() ? serving.image : serving.kernel, arguments, otherwise);
  if (!serving.initrd.empty())
    text +=
        fmt::format("initrd --timeout {} {}{} || goto {}\n", silence_ms, place, serving.initrd, otherwise);
  return text + "boot\n";
}

/// From its server, else from its backup, else again.
std::string script_text(const Addresses& addresses, const Group& group, const Serving& serving) {
  const auto& [first, second] = group.servers;
  const std::string server = address_text(addresses.server(first));
  const std::string backup = address_text(addresses.server(second));
  return fmt::format("#!ipxe\n# server {}, backup {}\n:server\n{}:backup\n{}:again\nsleep 5\ngoto server\n",
                     first, second, fetch_text(server, group, serving, "backup"),
                     fetch_text(backup, group, serving, "again"));
}

std::string dnsmasq_text(const Machine& machine, const Nodes& nodes, const Groups& groups,
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
dhcp-match=set:arm,option:client-arch,11
dhcp-boot=tag:!ipxe,tag:efi,{4}
dhcp-boot=tag:!ipxe,tag:arm,{6}
dhcp-boot=tag:!ipxe,tag:!efi,tag:!arm,{5}
)",
                                 address_text(addresses.subnet), mask_of(addresses), nodes.cpus.size() + 1000,
                                 serving.folder, efi_loader, bios_loader, arm_loader);
  for (const Group& group : groups) {
    text += fmt::format("dhcp-boot=tag:ipxe,tag:{},{}\n", group.tag, group.script);
    for (const std::size_t i : group.members)
      text += fmt::format("dhcp-host={},set:{},{},{}\n", mac_text(nodes.macs[i]), group.tag,
                          address_text(addresses.node(nodes.cpus[i])), name_of(nodes.cpus[i]));
  }
  return text;
}

/// Kea puts the classes of reservations first, so that a boot file there would be that of the firmware too.
json kea_classes(const Addresses& addresses, const Groups& groups) {
  const std::string ipxe = "option[77].hex == 'iPXE'";
  const std::string efi = "(option[93].hex == 0x0007 or option[93].hex == 0x0009)";
  const std::string arm = "option[93].hex == 0x000b";
  const auto boots = [](const char* name, const std::string& test, std::string_view file) {
    return json{{"name", name}, {"test", test}, {"boot-file-name", file}};
  };
  json classes = {boots("ipxe", ipxe, root_path_script.name),
                  boots("efi", "not (" + ipxe + ") and " + efi, efi_loader),
                  boots("arm", "not (" + ipxe + ") and " + arm, arm_loader),
                  boots("bios", "not (" + ipxe + ") and not " + efi + " and not (" + arm + ")", bios_loader)};
  for (const Group& group : groups) {
    const json root_path = {{"name", "root-path"}, {"data", group.script}};
    classes.push_back({{"name", group.tag},
                       {"next-server", address_text(addresses.server(group.servers.first))},
                       {"option-data", json::array({root_path})}});
  }
  return classes;
}

std::string kea_text(const Machine& machine, const Nodes& nodes, const Groups& groups) {
  const Addresses& addresses = machine.addresses;
  json reservations = json::array();
  for (const Group& group : groups) {
    for (const std::size_t i : group.members)
      reservations.push_back({{"hw-address", mac_text(nodes.macs[i])},
                              {"ip-address", address_text(addresses.node(nodes.cpus[i]))},
                              {"hostname", name_of(nodes.cpus[i])},
                              {"client-classes", json::array({group.tag})}});
  }
  const json subnet = {{"id", 1},
                       {"subnet", addresses.subnet_text()},
                       {"reservations-in-subnet", true},
                       {"reservations", reservations}};
  const json config = {{"Dhcp4",
                        {{"interfaces-config", {{"interfaces", json::array({"*"})}}},
                         {"lease-database", {{"type", "memfile"}}},
                         {"host-reservation-identifiers", json::array({"hw-address"})},
                         {"client-classes", kea_classes(addresses, groups)},
                         {"subnet4", json::array({subnet})}}}};
  return config.dump(1) + "\n";
}

std::string dhcpd_text(const Machine& machine, const Nodes& nodes, const Groups& groups) {
  const Addresses& addresses = machine.addresses;
  std::string text = fmt::format(R"(# written by weft boot --dhcpd
option arch code 93 = unsigned integer 16;
deny unknown-clients;
subnet {} netmask {} {{ }}
)",
                                 address_text(addresses.subnet), mask_of(addresses));
  for (const Group& group : groups) {
    text += fmt::format(R"(group {{
  next-server {};
  if exists user-class and option user-class = "iPXE" {{ filename "{}"; }}
  elsif option arch = 00:07 or option arch = 00:09 {{ filename "{}"; }}
  elsif option arch = 00:0b {{ filename "{}"; }}
  else {{ filename "{}"; }}
)",
                        address_text(addresses.server(group.servers.first)), group.script, efi_loader,
                        arm_loader, bios_loader);
    for (const std::size_t i : group.members)
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

std::string manifest_text(const Machine& machine, const Nodes& nodes, const Serving& serving,
                          const std::vector<OutputFile>& files) {
  json listed = json::array();
  for (const OutputFile& file : files)
    listed.push_back({{"name", file.path.string()},
                      {"bytes", file.text.size()},
                      {"crc32", fmt::format("{:08x}", crc32_of(file.text))}});
  const json manifest = {
      {"weft_boot", 1},         {"program", config_name(serving.program)}, {"nodes", nodes.cpus.size()},
      {"image", serving.image}, {"image_bytes", image_bytes(machine)},     {"files", listed}};
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
  for (const std::string& name : {serving.image, serving.initrd, serving.kernel})
    if (!all_of(name, "._-"))
      throw Fault(in_quotes(name) + ": names of images have letters, digits, '.', '_' and '-' only");
  const std::array<std::string, 3> names = {serving.image, serving.initrd, serving.kernel};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty() && std::count(names.begin(), names.end(), names[i]) > 1)
      throw Fault(in_quotes(names[i]) + ": image, initrd or kernel have the same name");
  if (!serving.folder.starts_with('/') || !all_of(serving.folder, "/._-"))
    throw Fault(in_quotes(serving.folder) + " is not an absolute path of letters, digits, '.', '_' and '-'");
  const bool printable = std::all_of(serving.kernel_arguments.begin(), serving.kernel_arguments.end(),
                                     [](char c) { return c >= ' ' && c <= '~' && c != '|' && c != '$'; });
  if (!printable)
    throw Fault(in_quotes(serving.kernel_arguments) + ": '|', '$' and unprintable cannot stand in a script");
}

std::vector<OutputFile> config_files(const Machine& machine, const Nodes& nodes, const Way& way,
                                     const Serving& serving) {
  const Groups groups = groups_of(machine, way);
  std::vector<OutputFile> files;
  const std::string name(config_name(serving.program));
  switch (serving.program) {
    case Program::dnsmasq:
      files.push_back({name, dnsmasq_text(machine, nodes, groups, serving)});
      break;
    case Program::kea:
      files.push_back({name, kea_text(machine, nodes, groups)});
      files.push_back({root_path_script.name, std::string(root_path_script.text)});
      break;
    case Program::dhcpd:
      files.push_back({name, dhcpd_text(machine, nodes, groups)});
      break;
  }
  for (const Group& group : groups)
    files.push_back({group.script, script_text(machine.addresses, group, serving)});
  if (way.chains)
    for (std::size_t chain = 0; chain < way.chains->count(); ++chain)
      files.push_back(
          {chain_name(chain), chain_text(chain_file_of(machine, nodes, *way.chains, chain, serving.image))});
  if (way.multicast)
    for (OutputFile& file : multicast_files(machine, nodes, *way.multicast, serving))
      files.push_back(std::move(file));
  files.push_back({nginx_name, nginx_text(serving)});
  files.push_back({manifest_name, manifest_text(machine, nodes, serving, files)});
  return files;
}

ChainFile chain_file_of(const Machine& machine, const Nodes& nodes, const Chains& chains, std::size_t chain,
                        const std::string& image) {
  const Addresses& addresses = machine.addresses;
  ChainFile file{image, relay_port, {addresses.server(chains.servers[chain])}, {}};
  if (chains.backups[chain] != chains.servers[chain])
    file.servers.push_back(addresses.server(chains.backups[chain]));
  for (std::size_t at = chains.begins[chain]; at < chains.begins[chain + 1]; ++at)
    file.nodes.push_back(addresses.node(nodes.cpus[chains.order[at]]));
  return file;
}

}  // namespace weft::boot
