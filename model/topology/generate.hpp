// SPDX-License-Identifier: Apache-2.0
// Fabrics by formula: the topologies of the MR4LMS paper (4.2.1) and of VTFTR.
//
// Every generator numbers ports of hosts first where switches have both, and hosts in the order of their
// switches. Which port leads where stands in docs/topology.md. All throw std::invalid_argument for what
// cannot be built.
#pragma once

#include <array>
#include <cstdint>

#include "topology/graph.hpp"

namespace weft::topology {

/// Three levels of switches with `k` ports, even, 2 to 160: k^3/4 hosts, 5 k^2/4 switches (Petrini, Vanneschi
/// 1997). Switches: edge switches pod by pod, aggregation switches pod by pod, core.
Graph fat_tree(uint32_t k);

/// Switch x + X (y + Y z), `hosts` at each. A dimension of one switch has no links, one of two has two links
/// between them.
Graph torus(const std::array<uint32_t, 3>& sizes, uint32_t hosts);

/// Groups of `a` switches, each with `p` hosts and `h` links to other groups; a h + 1 groups, one link
/// between any two of them (Kim et al. 2008), arranged relatively (Hastings et al. 2015).
Graph dragonfly(uint32_t a, uint32_t p, uint32_t h);

/// Switches whose ports behind those of `hosts` are joined at random: connected, no switch to itself, several
/// links between two switches only where few others are left, at most one port in the whole fabric unused.
/// The same for the same seed on every machine.
Graph random_fabric(uint32_t switches, uint32_t ports, uint32_t hosts, uint64_t seed);

/// Trimmed fat tree: modules of 256 hosts (16 leaves and 16 middle switches) on directors of 324 ports (18
/// line and 18 spine switches), each director joined to each module by `paths` links, which are the paths
/// from each leaf to each spine. @param directors times `paths`: at least 16, divisible by 16
struct TrimmedFatTree {
  uint32_t modules = 0, directors = 0, paths = 0;
};
Graph trimmed_fat_tree(const TrimmedFatTree& shape);
inline constexpr TrimmedFatTree bluelight{34, 16, 8};
inline constexpr TrimmedFatTree taihulight{160, 32, 2};

/// The two-dimensional fat tree of VTFTR: leaf x + columns * y on row switch y and column switch x, `hosts`
/// at each leaf. Switches: leaves, row switches, column switches. With spines, each row and column switch is
/// a fat tree of two levels: edge switches with equal parts of its leaves, then spine switches.
Graph kfat2d(uint32_t rows, uint32_t columns, uint32_t hosts, uint32_t edges = 1, uint32_t spines = 0);

}  // namespace weft::topology
