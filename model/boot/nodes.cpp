// SPDX-License-Identifier: Apache-2.0
// Which CPUs boot: specifications and files.
#include "boot/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "boot/words.hpp"
#include "common/input_file.hpp"

namespace weft::boot {

namespace {

Nodes first(uint64_t count) {
  Nodes nodes;
  nodes.cpus.resize(count);
  std::iota(nodes.cpus.begin(), nodes.cpus.end(), 0);
  return nodes;
}

Nodes first_of(std::string_view text, uint64_t there, uint64_t cpus_each) {
  const auto count = number(text);
  if (!count || *count == 0 || *count > there)
    throw Fault(fmt::format("{} is not a number from 1 to {}", in_quotes(text), there));
  return first(*count * cpus_each);
}

Nodes listed(std::string_view spec, const Machine& machine) {
  Nodes nodes;
  std::vector<bool> there(machine.nodes());
  for (const std::string_view part : split(spec, ',')) {
    const auto ends = split(part, '-');
    const auto from = number(ends.front()), to = number(ends.back());
    if (ends.size() > 2 || !from || !to || *from > *to)
      throw Fault(fmt::format("{} is not a node or range of nodes", in_quotes(part)));
    if (*to >= machine.nodes())
      throw Fault(fmt::format("there is no node {}, only 0 to {}", *to, machine.nodes() - 1));
    for (uint64_t node = *from; node <= *to; ++node) {
      if (!machine.has_node(node)) throw Fault(fmt::format("there is no node {}", node));
      if (there[node]) throw Fault(fmt::format("node {} is there twice", node));
      there[node] = true;
      nodes.cpus.push_back(static_cast<uint32_t>(node));
    }
  }
  return nodes;
}

/// Numbers of nodes by their names, where these have any.
using Names = std::unordered_map<std::string_view, uint32_t>;
constexpr uint32_t several = ~0u;

Names names_of(const Machine& machine) {
  Names names;
  for (uint32_t node = 0; node < machine.node_names.size(); ++node) {
    const auto [known, is_new] = names.emplace(machine.node_names[node], node);
    if (!is_new) known->second = several;
  }
  return names;
}

/// The CPU of a number, of SUPERNODE.BOARD.CPU, or of a name.
uint32_t cpu_of(std::string_view text, const Machine& machine, const Names& names) {
  if (const auto named = names.find(text); named != names.end()) {
    if (named->second == several) throw Fault(fmt::format("several nodes are called {}", in_quotes(text)));
    return named->second;
  }
  const auto parts = split(text, '.');
  uint64_t node = machine.nodes();
  if (parts.size() == 1) {
    node = number(text).value_or(machine.nodes());
  } else if (parts.size() == 3) {
    const auto supernode = number(parts[0]), board = number(parts[1]), cpu = number(parts[2]);
    if (supernode && board && cpu && *supernode < machine.supernodes &&
        *board < machine.boards_per_supernode && *cpu < machine.cpus_per_board)
      node = (*supernode * machine.boards_per_supernode + *board) * machine.cpus_per_board + *cpu;
  }
  if (!machine.has_node(node)) throw Fault(fmt::format("there is no node {}", in_quotes(text)));
  return static_cast<uint32_t>(node);
}

/// A file of lines "NODE [MAC]".
class NodeFile {
 public:
  explicit NodeFile(const Machine& machine) : machine_(machine), names_(names_of(machine)) {}

  Nodes read(const std::string& file, const std::string& text) {
    for (const std::string_view line : split(text, '\n')) {
      ++line_;
      try {
        take(line.substr(0, line.find('#')));
      } catch (const Fault& fault) {
        throw Fault(fmt::format("{}:{}: {}", file, line_, fault.what()));
      }
    }
    if (nodes_.cpus.empty())
      throw Fault(fmt::format("{}:{}: no node", file, text.ends_with('\n') ? line_ - 1 : line_));
    return std::move(nodes_);
  }

 private:
  void take(std::string_view line) {
    const auto found = words(line);
    if (found.empty()) return;
    if (found.size() > 2) throw Fault(fmt::format("{}: only NODE and MAC are wanted", in_quotes(found[2])));
    const bool with_mac = found.size() == 2;
    if (!nodes_.cpus.empty() && with_mac == nodes_.macs.empty())
      throw Fault("either all nodes have a MAC address or none");
    const uint32_t cpu = cpu_of(found[0], machine_, names_);
    if (const auto [before, is_new] = lines_of_cpus_.emplace(cpu, line_); !is_new)
      throw Fault(fmt::format("node {} is in line {} already", found[0], before->second));
    nodes_.cpus.push_back(cpu);
    if (!with_mac) return;
    const uint64_t mac = mac_of(found[1]);
    if (const auto [before, is_new] = lines_of_macs_.emplace(mac, line_); !is_new)
      throw Fault(fmt::format("{} is in line {} already", mac_text(mac), before->second));
    nodes_.macs.push_back(mac);
  }

  const Machine& machine_;
  Names names_;
  Nodes nodes_;
  std::unordered_map<uint32_t, uint32_t> lines_of_cpus_;
  std::unordered_map<uint64_t, uint32_t> lines_of_macs_;
  uint32_t line_ = 0;
};

/// Those that are there.
Nodes present(Nodes nodes, const Machine& machine) {
  std::erase_if(nodes.cpus, [&](uint32_t cpu) { return !machine.has_node(cpu); });
  if (nodes.cpus.empty()) throw Fault("none of these is there");
  return nodes;
}

std::string text_of(const std::string& file, const std::string& place) {
  try {
    return read_whole<Fault>(file);
  } catch (const Fault& fault) {
    throw Fault(fmt::format("{}: {}", place, fault.what()));
  }
}

Nodes from_text(const std::string& spec, const Machine& machine) {
  if (spec == "all") return present(first(machine.nodes()), machine);
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string_view rest = std::string_view(spec).substr(colon == std::string::npos ? 0 : colon + 1);
  const uint64_t board = machine.cpus_per_board;
  if (colon == std::string::npos) return listed(spec, machine);
  if (kind == "supernodes")
    return present(first_of(rest, machine.supernodes, board * machine.boards_per_supernode), machine);
  if (kind == "boards") return present(first_of(rest, machine.boards(), board), machine);
  if (kind == "cpus") return present(first_of(rest, machine.nodes(), 1), machine);
  throw Fault("must be all, supernodes:N, boards:N, cpus:N, a list such as 0-7,12, or file:PATH");
}

}  // namespace

Nodes nodes_of(const std::string& spec, const Machine& machine, const std::string& place) {
  if (spec.starts_with("file:")) {
    const std::string file = spec.substr(5);
    return NodeFile(machine).read(file, text_of(file, place));
  }
  try {
    return from_text(spec, machine);
  } catch (const Fault& fault) {
    throw Fault(fmt::format("{} {}: {}", place, spec.substr(0, 60), fault.what()));
  }
}

uint64_t mac_of(std::string_view text) {
  uint64_t mac = 0;
  const auto bytes = split(text, ':');
  for (const std::string_view byte : bytes) {
    const auto value = byte.size() == 2 ? number(byte, 16) : std::nullopt;
    if (!value || bytes.size() != 6) throw Fault(fmt::format("{} is not a MAC address", in_quotes(text)));
    mac = mac << 8 | *value;
  }
  if (mac == 0 || (mac >> 40 & 1) != 0)
    throw Fault(fmt::format("{} is not the MAC address of one card", in_quotes(text)));
  return mac;
}

std::string mac_text(uint64_t mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac >> 40 & 0xff, mac >> 32 & 0xff,
                     mac >> 24 & 0xff, mac >> 16 & 0xff, mac >> 8 & 0xff, mac & 0xff);
}

}  // namespace weft::boot
