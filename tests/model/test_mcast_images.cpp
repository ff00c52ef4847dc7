// SPDX-License-Identifier: Apache-2.0
// Table images of trees: read again they are the tables, and a packet that is led by the lookups of all
// switches comes to each other member once.
#include "mcast/images.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "drawn_groups.hpp"
#include "mcast/batch.hpp"
#include "property.hpp"
#include "switch/lookup.hpp"

namespace weft::mcast::test {
namespace {

using switch_lookup::Image;
using switch_lookup::ImageLoader;
using switch_lookup::Lookup;
using switch_lookup::Ports;
using switch_lookup::Result;
using switch_lookup::Sizes;
using switch_lookup::formats::Kind;
using switch_lookup::formats::Outcome;
using switch_lookup::formats::Request;

constexpr uint32_t block_colours = 1024;

Sizes sizes_for(const topology::Graph& graph, const FabricTables& tables) {
  Sizes sizes;
  for (uint32_t sw = 0; sw < graph.switches(); ++sw)
    sizes.ports = std::max(sizes.ports, graph.switch_info(sw).ports);
  sizes.colours = block_colours;
  sizes.per_port = tables.kind == Tables::of_port;
  return sizes;
}

Image loaded(const std::vector<uint32_t>& words, uint64_t guid, const Sizes& sizes) {
  ImageLoader loader(sizes, guid);
  for (const uint32_t word : words) {
    RC_ASSERT(loader.state() == ImageLoader::State::more);
    loader.take(word);
  }
  RC_ASSERT(loader.state() == ImageLoader::State::done);
  return loader.image();
}

/// Entries by colour and port, of tables and of an image: the ports that a packet goes to from there.
using Copies = std::map<std::pair<uint32_t, uint32_t>, Ports>;

Copies copies_of(const std::vector<TableEntry>& entries) {
  Copies copies;
  for (const TableEntry& entry : entries) {
    Ports all = 0;
    for (const uint16_t port : entry.ports) all |= Ports{1} << (port - 1);
    for (const uint16_t port : entry.ports) copies[{entry.colour, port}] = all;
  }
  return copies;
}

Copies copies_of(const Image& image, bool per_port) {
  Copies copies;
  for (const auto& entry : image.multicast)
    for (uint32_t port = 1; port <= 64; ++port)
      if (per_port ? entry.index >> 16 == port - 1 : (entry.ports >> (port - 1) & 1) != 0)
        copies[{entry.index & 0xffff, port}] = entry.ports;
  return copies;
}

/// Each switch of a fabric with its lookup block.
class Blocks {
 public:
  Blocks(const topology::Graph& graph, const FabricTables& tables)
      : graph_(graph), sizes_(sizes_for(graph, tables)) {
    const auto images = images_of(tables, graph);
    RC_ASSERT(images.size() == graph.switches());
    for (uint32_t sw = 0; sw < graph.switches(); ++sw) {
      const uint64_t guid = graph.switch_info(sw).guid;
      const Image image = loaded(write_image(images[sw]), guid, sizes_);
      RC_ASSERT(image == read_image_bytes(write_image_bytes(images[sw]), guid, sizes_));
      RC_ASSERT(copies_of(image, sizes_.per_port) == copies_of(tables.switches[sw]));
      RC_ASSERT(image.unicast.empty());
      lookups_.emplace_back(sizes_);
      lookups_.back().set_tables(image);
    }
  }

  /// Copies that come to each host.
  std::map<uint32_t, uint32_t> send(uint32_t host, uint32_t colour) {
    std::map<uint32_t, uint32_t> copies;
    const topology::Arc& arc = graph_.attachments(host).front();
    std::vector<std::pair<uint32_t, uint16_t>> packets{{arc.node, arc.peer_port}};
    for (std::size_t i = 0; i < packets.size(); ++i) {
      RC_ASSERT(packets.size() <= graph_.switches());  // no switch twice
      const auto [sw, port] = packets[i];
      Request request;
      request.kind = static_cast<uint8_t>(Kind::multicast);
      request.in_port = static_cast<uint8_t>(port);
      request.index = static_cast<uint16_t>(colour);
      const Result result = lookups_[sw].look(request, switch_lookup::all_ports(sizes_.ports));
      RC_ASSERT(result.outcome == Outcome::forward);
      for (Ports left = result.ports; left != 0; left &= left - 1)
        leave(sw, static_cast<uint32_t>(std::countr_zero(left)) + 1, packets, copies);
    }
    return copies;
  }

 private:
  void leave(uint32_t sw, uint32_t port, std::vector<std::pair<uint32_t, uint16_t>>& packets,
             std::map<uint32_t, uint32_t>& copies) const {
    const uint32_t id = graph_.link_at(sw, static_cast<uint16_t>(port));
    RC_ASSERT(id != topology::no_link);
    const topology::Link& link = graph_.link(id);
    if (graph_.is_host_link(id))
      ++copies[link.a];
    else if (link.a == sw && link.a_port == port)
      packets.emplace_back(link.b, link.b_port);
    else
      packets.emplace_back(link.a, link.a_port);
  }

  const topology::Graph& graph_;
  Sizes sizes_;
  std::vector<Lookup> lookups_;
};

TEST(McastImages, LookupsBringEachMemberOneCopy) {
  EXPECT_PROPERTY("one copy", [] {
    const topology::Graph graph = drawn_fabric();
    const Groups groups = drawn_groups(graph);
    const Hops hops(graph);
    const Forest forest = route_together(hops, groups, {drawn_options(), 0, 1, {}});
    const FabricTables tables = tables_of(forest);
    Blocks blocks(graph, tables);
    for (uint32_t group = 0; group < groups.count(); ++group) {
      if (groups.is_local(group)) continue;
      const auto hosts =
          forest.hosts_of(forest.groups_on(forest.tree_of(group)));  // several groups if merged
      for (const uint32_t from : groups.members(group)) {
        const auto copies = blocks.send(from, tables.groups[group].colour);
        for (const uint32_t to : hosts) RC_ASSERT(copies.contains(to) == (to != from));
        RC_ASSERT(copies.size() == hosts.size() - 1);
        for (const auto& [to, count] : copies) RC_ASSERT(count == 1u);
      }
    }
  });
}

TEST(McastImages, SwitchesOfMorePortsAreRefused) {
  const auto graph = topology::torus({2, 1, 1}, 59);  // 65 ports
  FabricTables tables;
  tables.switches.resize(2);
  try {
    images_of(tables, graph);
    ADD_FAILURE() << "65 ports are taken";
  } catch (const Fault& fault) {
    EXPECT_STREQ(fault.what(), "switch 0x0000001000000000 has 65 ports, lookup blocks have at most 64");
  }
}

}  // namespace
}  // namespace weft::mcast::test
