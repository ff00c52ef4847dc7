// SPDX-License-Identifier: Apache-2.0
// Texts for the readers of files.
#include "file_inputs.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "common/fault.hpp"
#include "ib/journal.hpp"
#include "mcast/checker.hpp"
#include "mcast/groups.hpp"
#include "mcast/images.hpp"
#include "mcast/mcfdbs.hpp"
#include "mcast/tables.hpp"
#include "topology/distances.hpp"
#include "topology/generate.hpp"
#include "topology/ibnet.hpp"

namespace weft::fuzz {

namespace {

/// "file:12: what", "file: what"; one line.
bool is_one_line_of_the_file(std::string_view said) {
  return said.starts_with("file:") && said.size() > 6 && said.find('\n') == std::string_view::npos;
}

/// Whether it does without Fault, which must be what the user can read.
template <typename Work>
bool succeeds(Work&& work) {
  try {
    std::forward<Work>(work)();
    return true;
  } catch (const Fault& fault) {
    if (!is_one_line_of_the_file(fault.what()))
      throw Wrong(std::string("not one line that names the file: ") + fault.what());
    return false;
  }
}

void expect(bool holds, const std::string& what) {
  if (!holds) throw Wrong(what);
}

/// Six switches in a ring of three and two, two hosts each.
const topology::Graph& some_fabric() {
  static const topology::Graph graph = topology::torus({3, 2, 1}, 2);
  return graph;
}

std::string text_of(const mcast::Groups& groups) {
  std::string text;
  for (uint32_t group = 0; group < groups.count(); ++group) {
    for (const uint32_t host : groups.members(group)) text += std::to_string(host) + ' ';
    text += '\n';
  }
  return text;
}

}  // namespace

void play_topology(std::string_view text) {
  succeeds([&] {
    const topology::Graph graph = topology::read_ibnet(text, "file");
    std::string again;
    try {
      again = write_ibnet(graph);
    } catch (const std::invalid_argument&) {
      return;  // names too long for ibsim
    }
    expect(topology::read_ibnet(again, "again") == graph,
           "not the same when written and read again:\n" + again);
    expect(diameter(graph) != topology::unreachable, "not connected:\n" + again);
  });
}

void play_groups(std::string_view text) {
  succeeds([&] {
    const topology::Graph& graph = some_fabric();
    const mcast::Groups groups = mcast::read_groups(text, "file", graph);
    for (uint32_t group = 0; group < groups.count(); ++group) {
      const auto members = groups.members(group);
      expect(members.size() > 1, "a group of one host");
      expect(std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end(),
             "members are not rising");
      expect(members.back() < graph.hosts(), "a host that is not there");
    }
    expect(mcast::read_groups(text_of(groups), "again", graph) == groups,
           "not the same groups: " + text_of(groups));
  });
}

void play_mcfdbs(std::string_view text) {
  succeeds([&] {
    mcast::ForwardingTables tables = mcast::read_mcfdbs(text, "file");
    const std::string again = write_mcfdbs(tables);
    std::erase_if(tables, [](const auto& sw) { return sw.second.empty(); });
    expect(mcast::read_mcfdbs(again, "again") == tables, "not the same tables:\n" + again);
  });
}

void play_mft(std::string_view text) {
  succeeds([&] {
    const topology::Graph& graph = some_fabric();
    const mcast::FabricTables tables = mcast::read_tables(text, "file", graph);
    const std::string again = write_tables(tables, graph);
    expect(mcast::read_tables(again, "again", graph) == tables, "not the same tables:\n" + again);
    try {
      images_of(tables, graph);
    } catch (const Fault&) {  // names no file
    }
    mcast::Groups groups;
    for (std::size_t group = 0; group < tables.groups.size(); ++group)
      groups.add(tables.groups[group].colour == mcast::none ? std::vector<uint32_t>{1}
                                                            : std::vector<uint32_t>{0, 1, 5});
    if (groups.count() > 0) check(graph, groups, tables);  // right or not, it comes to an end
  });
}

void play_journal(std::string_view text) {
  succeeds([&] {
    const ib::Plan plan = ib::read_journal(text, "file");
    expect(ib::read_journal(ib::write_journal(plan), "again") == plan, "not the same plan");
  });
}

}  // namespace weft::fuzz
