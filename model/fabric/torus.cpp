// SPDX-License-Identifier: Apache-2.0
// Routers, the links between them, and the nodes at them.
#include "fabric/torus.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::fabric {

namespace {

constexpr uint32_t node_link_clocks = 1;

void check(const char* what, uint32_t value, uint32_t least, uint32_t most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument(std::string(what) + " is " + std::to_string(value) + ", must be " +
                              std::to_string(least) + " to " + std::to_string(most));
}

const TorusConfig& checked(const TorusConfig& config) {
  check("buffer_flits", config.buffer_flits, 1, 255);
  check("link_clocks", config.link_clocks, 1, 1000);
  if (!(config.link_loss >= 0 && config.link_loss <= 1))
    throw std::invalid_argument("link_loss is " + std::to_string(config.link_loss) +
                                ", must be a probability from 0 to 1");
  return config;
}

}  // namespace

Torus::Node::Node(const TorusConfig& config) : calendar(switch_clocks + node_link_clocks) {
  for (uint32_t i = 0; i < config.channels; ++i) credits[i] = config.buffer_flits;
}

Torus::Torus(const TorusConfig& config, uint64_t seed)
    : config_(checked(config)),
      seed_(seed),
      geometry_(config.sizes, config.joined),
      routing_(geometry_, config.algorithm, config.channels) {
  build();
}

void Torus::build() {
  const uint32_t nodes = geometry_.nodes();
  routers_.clear();
  nodes_.clear();
  routers_.reserve(nodes);
  nodes_.reserve(nodes);
  for (uint32_t node = 0; node < nodes; ++node) {
    routers_.emplace_back(node, routing_, config_.channels, config_.buffer_flits, config_.link_clocks,
                          config_.entry_patience, seed_);
    nodes_.emplace_back(config_);
  }
  for (uint32_t node = 0; node < nodes; ++node) {
    for (uint32_t port = 0; port < local_port; ++port) {
      if (!geometry_.has_link(node, port)) continue;
      Router& other = routers_[geometry_.neighbour(node, port)];
      routers_[node].connect(port, {&other.calendar(), opposite(port), config_.link_clocks});
      routers_[node].set_loss(port, config_.link_loss);
    }
    routers_[node].connect(local_port, {&nodes_[node].calendar, local_port, node_link_clocks});
  }
}

void Torus::flush() {
  std::vector<std::pair<uint32_t, uint32_t>> cut;
  for (uint32_t node = 0; node < geometry_.nodes(); ++node) {
    for (uint32_t port = 0; port < local_port; ++port) {
      if (routers_[node].is_cut(port)) cut.emplace_back(node, port);
    }
  }
  build();
  for (const auto& [node, port] : cut) routers_[node].set_cut(port, true);
}

void Torus::send(uint32_t from, uint32_t to, uint32_t flits, uint32_t handle) {
  check("flits", flits, 1, 65535);
  check("to", to, 0, geometry_.nodes() - 1);
  Node& node = nodes_.at(from);
  node.waiting.push_back({to, flits, handle});
  node.sent_flits += flits;
}

void Torus::set_cut(uint32_t node, uint32_t port, bool cut) {
  check("node", node, 0, geometry_.nodes() - 1);
  if (port >= local_port || !geometry_.has_link(node, port))
    throw std::invalid_argument("node " + std::to_string(node) + " has no link at port " +
                                std::to_string(port));
  routers_[node].set_cut(port, cut);
}

void Torus::step(uint32_t first, uint32_t behind) {
  for (uint32_t node = first; node < behind; ++node) {
    take(node);
    if (!nodes_[node].waiting.empty()) enter(node);
  }
  for (uint32_t node = first; node < behind; ++node) routers_[node].step(now_);
}

/// What the router hands over is taken at once.
void Torus::take(uint32_t number) {
  Node& node = nodes_[number];
  Slot& slot = node.calendar.at(now_);
  uint64_t channels = slot.credits[local_port];
  while (channels != 0) node.credits[take_first(channels)]++;
  slot.credits[local_port] = 0;
  node.has_arrived = false;
  if (slot.came[local_port] == 0) return;
  slot.came[local_port] = 0;
  const Flit& flit = slot.flits[local_port];
  node.arrived_flits++;
  node.has_arrived = flit.tail;
  node.arrived = flit.handle;
  routers_[number].calendar().at(now_ + credit_clocks + node_link_clocks).credits[local_port] |=
      static_cast<uint8_t>(only(flit.channel));
}

/// In turn, one that has places. A packet that goes out behind another may follow it on the same channel.
bool Torus::find_channel(Node& node) const {
  for (uint32_t i = 1; i <= config_.channels; ++i) {
    const uint32_t channel = (node.channel + i) % config_.channels;
    if (node.credits[channel] == 0) continue;
    node.channel = channel;
    return true;
  }
  return false;
}

void Torus::enter(uint32_t number) {
  Node& node = nodes_[number];
  if (node.entered == 0 ? !find_channel(node) : node.credits[node.channel] == 0) return;
  const Node::Waiting& packet = node.waiting.front();
  Flit flit;
  flit.handle = packet.handle;
  flit.to = packet.to & (max_nodes - 1);
  flit.channel = node.channel & (max_channels - 1);
  flit.flits = std::min(packet.flits, most_told_flits) & most_told_flits;
  flit.head = node.entered == 0;
  flit.tail = ++node.entered == packet.flits;
  node.credits[node.channel]--;
  Slot& slot = routers_[number].calendar().at(now_ + switch_clocks - 1 + node_link_clocks);
  slot.flits[local_port] = flit;
  slot.came[local_port] = 1;
  if (!flit.tail) return;
  node.waiting.pop_front();
  node.entered = 0;
}

uint64_t Torus::sent_flits() const {
  return std::accumulate(nodes_.begin(), nodes_.end(), uint64_t{0},
                         [](uint64_t sum, const Node& node) { return sum + node.sent_flits; });
}

uint64_t Torus::arrived_flits() const {
  return std::accumulate(nodes_.begin(), nodes_.end(), uint64_t{0},
                         [](uint64_t sum, const Node& node) { return sum + node.arrived_flits; });
}

uint64_t Torus::lost_flits() const {
  return std::accumulate(routers_.begin(), routers_.end(), uint64_t{0},
                         [](uint64_t sum, const Router& router) { return sum + router.lost_flits(); });
}

uint64_t Torus::flit_hops() const {
  return std::accumulate(routers_.begin(), routers_.end(), uint64_t{0},
                         [](uint64_t sum, const Router& router) { return sum + router.flit_hops(); });
}

}  // namespace weft::fabric
