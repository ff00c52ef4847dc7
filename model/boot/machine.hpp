// SPDX-License-Identifier: Apache-2.0
// The machine that boots: CPUs on boards, boards in supernodes, a core, edge switches, boot servers.
//
// Every CPU's image comes along five links: N1 CPU to board, N2 board to supernode switch, N3 supernode to
// core, N4 core to edge switch, N5 edge switch to server (SCDA/BCDA, 1.3). The core itself does not block.
// CPUs are numbered through: ((supernode * boards) + board) * CPUs + CPU. Bandwidths are in Mb/s.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "boot/addresses.hpp"
#include "common/fault.hpp"

namespace weft::boot {

inline constexpr uint32_t segments = 5;  ///< N1 to N5, as 0 to 4
inline constexpr uint64_t most_nodes = 1u << 24;
inline constexpr uint32_t most_servers = 1u << 20;

/// The links of one place of a segment, which carry its traffic together.
struct Link {
  double mbps = 1000;
  uint32_t count = 1;
  double total() const { return mbps * count; }
};

/// What a server has that others have not.
struct OwnLimits {
  std::optional<double> mbps;  ///< of its link
  double disk_mbps = std::numeric_limits<double>::infinity();
};

/// As in the paper: 160 supernodes and as many servers, 50 MB.
struct Machine {
  uint32_t cpus_per_board = 8;
  uint32_t boards_per_supernode = 32;
  uint32_t supernodes_per_cabinet = 4;
  uint32_t supernodes = 160;
  uint32_t servers = 160;
  uint32_t servers_per_edge = 20;
  std::array<Link, segments> links = {{{1000, 1}, {1000, 1}, {10000, 2}, {10000, 2}, {1000, 1}}};
  /// Mb/s at each place where those of a segment are not alike: of nodes, boards, supernodes, edge switches,
  /// by number. Empty: all as in `links`.
  std::array<std::vector<double>, segments - 1> own_mbps;
  double image_megabits = 400;
  /// Files, if they are known. The initrd is fetched with the image; or with the kernel, a small system that
  /// gets the image by itself.
  std::filesystem::path image, initrd, kernel;
  double kernel_megabits = 0;  ///< of kernel and initrd, if they come before the image
  Addresses addresses;
  std::map<uint32_t, OwnLimits> unequal_servers;
  std::set<uint32_t> failed_servers;
  /// Which nodes boot, as nodes_of() takes it, and "FILE:LINE: nodes" where a machine file says so. Empty:
  /// all.
  std::string boots_now, boots_now_place;
  /// Of a machine from a topology, by number; "" where nobody is. Empty: all are there, without names.
  std::vector<std::string> node_names, server_names;

  uint64_t boards() const { return uint64_t{supernodes} * boards_per_supernode; }
  uint64_t nodes() const { return boards() * cpus_per_board; }
  uint32_t edges() const { return (servers + servers_per_edge - 1) / servers_per_edge; }
  bool has_node(uint64_t node) const {
    return node < nodes() && (node_names.empty() || !node_names[node].empty());
  }
  uint32_t board_of(uint32_t node) const { return node / cpus_per_board; }
  uint32_t supernode_of(uint32_t node) const { return board_of(node) / boards_per_supernode; }
  uint32_t edge_of(uint32_t server) const { return server / servers_per_edge; }
  /// What a server can give: the lesser of its link and its disk.
  double server_mbps(uint32_t server) const;
  /// Of N1 at a node, N2 at a board, N3 at a supernode, N4 at an edge switch, N5 at a server.
  double link_mbps(uint32_t segment, uint32_t number) const {
    if (segment + 1 == segments) return server_mbps(number);
    return own_mbps[segment].empty() ? links[segment].total() : own_mbps[segment][number];
  }
};

struct Impossible {
  std::string field;  ///< as in the machine file
  std::string fault;
};

/// The first thing in a machine that cannot be; its addresses are not looked at.
std::optional<Impossible> impossible(const Machine& machine);

/// The first thing in the addresses of a machine that can be.
std::optional<Impossible> impossible_addresses(const Machine& machine);

/// Reads a machine file (docs/boot.md) over `machine`; what it does not name stays. Throws Fault,
/// "FILE:LINE: fault".
void read_machine(const std::filesystem::path& file, Machine& machine);

/// Size of an image file in Mb. Throws Fault, "FILE: fault".
double image_megabits(const std::filesystem::path& file);

/// Takes sizes from the files of a machine with an image. Throws Fault.
void measure_files(Machine& machine);

/// Mb of a size such as "50MB" (B, kB, MB, GB, KiB, MiB, GiB). Throws Fault.
double megabits_of_size(std::string_view size);

}  // namespace weft::boot
