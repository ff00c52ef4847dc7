// SPDX-License-Identifier: Apache-2.0
// SSSP-MC exactly as stock OpenSM computes it.
#include "mcast/opensm_sssp.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "common/fault.hpp"
#include "mcast/opensm_heap.hpp"
#include "mcast/opensm_order.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t infinity = 0x7fffffff;
constexpr uint8_t no_way = 255;
constexpr const char* too_large = "the fabric is too large for OpenSM's sssp: its weights overflow";

/// Switches in OpenSM's order.
std::vector<uint32_t> opensm_switches(const topology::Graph& graph) {
  std::vector<uint32_t> switches(graph.switches());
  std::iota(switches.begin(), switches.end(), 0);
  std::sort(switches.begin(), switches.end(), [&graph](uint32_t a, uint32_t b) {
    return opensm_key(graph.switch_info(a).guid) < opensm_key(graph.switch_info(b).guid);
  });
  return switches;
}

}  // namespace

/// Hops of unicast ways between switches, a byte each.
class OpenSmSssp::Hops {
 public:
  explicit Hops(uint32_t switches) : switches_(switches), hops_(std::size_t{switches} * switches, no_way) {}

  void set(uint32_t from, uint32_t to, uint8_t hops) { hops_[std::size_t{to} * switches_ + from] = hops; }
  uint8_t get(uint32_t from, uint32_t to) const { return hops_[std::size_t{to} * switches_ + from]; }

 private:
  uint32_t switches_;
  std::vector<uint8_t> hops_;
};

/// Searches of shortest ways by weights that every search changes. Switches have numbers in OpenSM's order
/// here; a source that is a host comes after them all.
class OpenSmSssp::Searches {
 public:
  explicit Searches(const topology::Graph& graph)
      : order_(opensm_switches(graph)),
        index_(graph.switches()),
        vertices_(graph.switches() + 1),
        heap_(graph.switches() + 1) {
    for (uint32_t i = 0; i < order_.size(); ++i) index_[order_[i]] = i;
    uint64_t ends = graph.switches();
    for (uint32_t host = 0; host < graph.hosts(); ++host)
      if (!graph.host_info(host).router) ends += graph.attachments(host).size();
    for (uint32_t i = 0; i < order_.size(); ++i) {
      vertices_[i].first_side = static_cast<uint32_t>(sides_.size());
      vertices_[i].ends = static_cast<uint32_t>(graph.hosts_at(order_[i]).size()) + 1;
      for (const topology::Arc& arc : graph.neighbours(order_[i]))
        sides_.push_back({i, index_[arc.node], arc.link, ends * ends});
    }
    vertices_.back().first_side = static_cast<uint32_t>(sides_.size());
  }

  const std::vector<uint32_t>& order() const { return order_; }
  uint32_t index(uint32_t sw) const { return index_[sw]; }

  void from_switch(uint32_t sw) {
    reset();
    start(index_[sw]);
    run();
  }
  void from_host_at(uint32_t sw) {
    reset();
    const auto source = static_cast<uint32_t>(order_.size());
    vertices_[source].reset();
    heap_.insert(source, infinity);
    start(source);
    take_next();
    Vertex& first = vertices_[index_[sw]];
    first.distance = 1;
    first.after_host = true;
    heap_.lower(index_[sw], 1);
    run();
  }

  /// All ends behind each switch are to use its way from the source.
  void add_weights() {
    for (uint32_t i = 0; i < order_.size(); ++i)
      for (uint32_t at = i; vertices_[at].side != none; at = sides_[vertices_[at].side].from)
        sides_[vertices_[at].side].weight += vertices_[i].ends;
  }

  bool all_reached() const {
    return std::all_of(vertices_.begin(), vertices_.end() - 1,
                       [](const Vertex& vertex) { return vertex.reached(); });
  }

  /// Links between switches from the source of the last search; only if it is a switch. 255: no way.
  uint8_t hops(uint32_t sw) const {
    if (!reached(sw)) return no_way;
    uint32_t count = 0;
    for (uint32_t at = index_[sw]; vertices_[at].side != none; at = sides_[vertices_[at].side].from) ++count;
    return static_cast<uint8_t>(std::min<uint32_t>(count, no_way));
  }
  /// Adds the way from the source of the last search to a switch, up to where it meets the tree.
  void add_way(uint32_t sw, Tree& tree, std::vector<uint8_t>& joined) const {
    for (uint32_t at = index_[sw]; vertices_[at].side != none; at = sides_[vertices_[at].side].from) {
      if (std::exchange(joined[order_[at]], 1) != 0) return;
      tree.switches.push_back(order_[at]);
      tree.links.push_back(sides_[vertices_[at].side].link);
    }
  }
  bool reached(uint32_t sw) const { return vertices_[index_[sw]].distance < infinity; }

 private:
  /// A link in one direction.
  struct Side {
    uint32_t from, to, link;
    uint64_t weight;
  };
  struct Vertex {
    uint32_t first_side = 0, ends = 0;
    uint32_t side = none;     // by which it was reached from another switch
    bool after_host = false;  // it was reached from a host
    bool done = false;
    uint64_t distance = 0;

    bool reached() const { return side != none || after_host; }
    void reset() {
      side = none;
      after_host = done = false;
      distance = infinity;
    }
  };

  void reset() {
    heap_.clear();
    for (uint32_t i = 0; i < order_.size(); ++i) {
      vertices_[i].reset();
      heap_.insert(i, infinity);
    }
  }
  void start(uint32_t source) {
    vertices_[source].distance = 0;
    heap_.lower(source, 0);
  }
  uint32_t take_next() {
    const uint32_t next = heap_.take();
    vertices_[next].done = true;
    return next;
  }
  void run() {
    while (!heap_.empty()) {
      const uint32_t at = take_next();
      for (uint32_t id = vertices_[at].first_side; id < vertices_[at + 1].first_side; ++id) {
        Vertex& next = vertices_[sides_[id].to];
        const uint64_t distance = vertices_[at].distance + sides_[id].weight;
        if (next.done || distance >= next.distance) continue;
        next.side = id;
        next.distance = distance;
        heap_.lower(sides_[id].to, distance);
      }
    }
  }

  std::vector<uint32_t> order_, index_;
  std::vector<Vertex> vertices_;
  std::vector<Side> sides_;  // of each switch by port
  OpenSmHeap heap_;
};

OpenSmSssp::OpenSmSssp(const topology::Graph& graph)
    : graph_(graph),
      searches_(std::make_unique<Searches>(graph)),
      hops_(std::make_unique<Hops>(graph.switches())) {
  searches_->from_host_at(graph.attachments(0).front().node);
  if (!searches_->all_reached()) throw Fault(too_large);
  route_unicast();
}

OpenSmSssp::~OpenSmSssp() = default;

/// Hosts first, those of switches with many before those of switches with few; then the switches.
void OpenSmSssp::route_unicast() {
  std::vector<uint32_t> switches = searches_->order();
  std::stable_sort(switches.begin(), switches.end(), [this](uint32_t a, uint32_t b) {
    return graph_.hosts_at(a).size() > graph_.hosts_at(b).size();
  });
  for (const uint32_t sw : switches)
    for (const topology::Arc& arc : graph_.hosts_at(sw)) {
      if (graph_.host_info(arc.node).router) continue;
      searches_->from_host_at(sw);
      searches_->add_weights();
    }
  for (const uint32_t sw : switches) {
    searches_->from_switch(sw);
    searches_->add_weights();
    for (uint32_t from = 0; from < graph_.switches(); ++from) hops_->set(from, sw, searches_->hops(from));
  }
}

uint32_t OpenSmSssp::root_for(const Ends& ends) const {
  uint32_t root = none, least = no_way + 1u;
  for (const uint32_t sw : searches_->order()) {
    uint32_t farthest = 0;
    for (const uint32_t end : ends.switches) farthest = std::max<uint32_t>(farthest, hops_->get(sw, end));
    if (farthest >= least) continue;
    least = farthest;
    root = sw;
  }
  return root;
}

Tree OpenSmSssp::build(const Ends& ends) {
  const uint32_t root = root_for(ends);
  Tree tree{root, 0, none, {root}, {}};
  std::vector<uint8_t> joined(graph_.switches());
  joined[root] = 1;
  searches_->from_switch(root);
  for (const uint32_t end : ends.switches) {
    if (!searches_->reached(end)) throw Fault(too_large);
    tree.height = std::max<uint32_t>(tree.height, searches_->hops(end));
    searches_->add_way(end, tree, joined);
  }
  tree.links.insert(tree.links.end(), ends.host_links.begin(), ends.host_links.end());
  return tree;
}

}  // namespace weft::mcast
