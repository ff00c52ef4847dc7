// SPDX-License-Identifier: Apache-2.0
// What the rules make of packets, remembered.
#include "switchfabric/hops.hpp"

#include <bit>

namespace weft::switchfabric {

using route::Decision;
using route::Dimension;
using route::Outcome;

namespace {

constexpr std::size_t most_hops = 1 << 24;  // 32 MiB: 35 x 35 leaves with two channels
constexpr uint32_t leaf_inputs = 3;         // that differ to the rules: hosts, row, column

Hop hop_of(const Decision& decision) {
  Hop hop;
  hop.vc = decision.vc & 3U;
  hop.outcome = static_cast<uint16_t>(decision.outcome) & 31U;
  if (decision.outcome != Outcome::forward)
    hop.way = Hop::Way::dropped;
  else if (decision.deliver)
    hop.way = Hop::Way::host;
  else if (decision.up)
    hop.way = *decision.up == Dimension::row ? Hop::Way::row : Hop::Way::column;
  else if (decision.ports.count() > 1)
    hop.way = Hop::Way::several;
  else {
    hop.way = Hop::Way::port;
    hop.port = static_cast<uint16_t>(std::countr_zero(decision.ports.to_ullong())) & 63U;
  }
  return hop;
}

}  // namespace

Hops::Hops(const route::Tables& tables, const route::Health& alive)
    : rules_(tables, alive), grid_(alive.grid()), vcs_(tables.options().channels) {
  uint32_t inputs = grid_.leaves() * leaf_inputs;
  for (uint32_t root = 0; root < grid_.roots(); ++root) {
    first_input_.push_back(inputs);
    inputs += grid_.root_ports(grid_.root(root));
  }
  const std::size_t hops = std::size_t{inputs} * vcs_ * grid_.leaves();
  if (hops <= most_hops) hops_.resize(hops);
}

template <typename Ask>
Hop Hops::remembered(std::size_t input, uint8_t vc, uint32_t to, const Ask& ask) {
  if (hops_.empty()) return hop_of(ask(grid_.leaf(to)));
  Hop& hop = hops_[(input * vcs_ + vc) * grid_.leaves() + to];
  if (hop.way == Hop::Way::unknown) hop = hop_of(ask(grid_.leaf(to)));
  return hop;
}

Hop Hops::at_leaf(route::Leaf at, route::From from, uint8_t vc, uint32_t to) {
  const uint32_t kind = !from ? 0 : 1 + static_cast<uint32_t>(*from);
  return remembered(std::size_t{grid_.number(at)} * leaf_inputs + kind, vc, to,
                    [&](route::Leaf leaf) { return rules_.at_leaf(at, from, vc, leaf); });
}

Hop Hops::at_root(const route::RootPort& input, uint8_t vc, uint32_t to) {
  return remembered(first_input_[grid_.number(input.root)] + input.port, vc, to,
                    [&](route::Leaf leaf) { return rules_.at_root(input, vc, leaf); });
}

}  // namespace weft::switchfabric
