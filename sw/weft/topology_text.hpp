// SPDX-License-Identifier: Apache-2.0
// Fabrics as text: for people, for machines, for Graphviz.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "topology/graph.hpp"

namespace weft::cli {

/// Numbers of a fabric: switches, hosts, links, ports, diameter.
nlohmann::json summary_of(const topology::Graph& graph);
/// The same as lines of a table.
std::string to_table(const nlohmann::json& summary);

/// Every node and link (docs/topology.md).
nlohmann::json to_json(const topology::Graph& graph);

/// An undirected Graphviz graph: switches as boxes, ports at the ends of links.
std::string to_dot(const topology::Graph& graph);

}  // namespace weft::cli
