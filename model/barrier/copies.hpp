// SPDX-License-Identifier: Apache-2.0
// Trees along which routers copy one packet to all nodes of a mesh.
//
// Source of MR4LMS: its paper, Alg. 1 to 7 (model/mcast).
#pragma once

#include <vector>

#include "barrier/mesh.hpp"

namespace weft::barrier {

/// By link of the mesh: a packet that comes over one of them, or starts, goes on over all others of its node.
using Copies = std::vector<bool>;

/// Shortest ways from one node to all.
Copies shortest_copies(const Mesh& mesh, const Routes& routes, Node from);

/// The tree that MR4LMS gives a group of all nodes, each at a router of its own; one for whoever sends.
/// @throws Fault if two nodes are more than 254 links apart
Copies mr4lms_copies(const Mesh& mesh);

/// By node: whom it passes on to what started at `from`.
std::vector<std::vector<Node>> passes_on(const Mesh& mesh, const Copies& copies, Node from);
/// By node: over how many links it comes there; of those that it does not come to 0.
std::vector<uint32_t> hops_of_copies(const Mesh& mesh, const Copies& copies, Node from);

}  // namespace weft::barrier
