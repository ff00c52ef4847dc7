// SPDX-License-Identifier: Apache-2.0
// Simulated NICs, each with its administrator.
#include "nodes.hpp"

#include <fmt/format.h>

#include <optional>

#include "common/fault.hpp"

namespace weft::tb {

namespace {

constexpr uint64_t reply_cycles = 50'000'000;

}  // namespace

bool Nodes::clearing() {
  for (uint32_t node = 0; node < size(); ++node) {
    if (server(node).clearing()) return true;
  }
  return false;
}

driver::RdmaSetup node_setup() {
  driver::RdmaSetup setup;
  setup.rx_timeout = setup.tx_retry = 73;
  setup.adapt = true;
  setup.timeout_floor = 4;
  setup.rx_ahead = 1;
  setup.tx_dead = 2000;
  setup.rx_quota = 256;
  setup.ticket_quota = 8;
  setup.answer_quota = 1;
  return setup;
}

uint32_t take_place(Nodes& nodes, uint32_t node) {
  if (node >= nodes.size()) throw Fault(driver::has_no_node(node, nodes.size()));
  const auto place = nodes.server(node).attach();
  if (!place) throw Fault(fmt::format("node {} has no place for another application", node));
  return *place;
}

InProcessPort::InProcessPort(Nodes& nodes, uint32_t node)
    : nodes_(nodes), node_(node), place_(take_place(nodes, node)) {}

InProcessPort::~InProcessPort() { nodes_.server(node_).detach(place_); }

driver::Reply InProcessPort::ask(const driver::Request& request) {
  driver::NodeServer& server = nodes_.server(node_);
  if (request.ask == driver::Ask::attach) return server.attached(place_);
  const auto got = std::make_shared<std::optional<driver::Reply>>();
  server.handle(place_, request, [got](const driver::Reply& reply) { *got = reply; });
  for (uint64_t cycle = 0; !*got; ++cycle) {
    if (cycle == reply_cycles) throw Fault("the node does not answer");
    nodes_.step();
  }
  return **got;
}

}  // namespace weft::tb
