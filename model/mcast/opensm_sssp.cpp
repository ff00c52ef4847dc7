// SPDX-License-Identifier: Apache-2.0
// Multicast trees as OpenSM's engine sssp computes them.
#include <algorithm>

#include "mcast/fault.hpp"
#include "mcast/opensm_common.hpp"
#include "mcast/opensm_engines.hpp"
#include "mcast/opensm_heap.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t infinity = 0x7fffffff;
constexpr uint32_t nothing = topology::no_link;

/// Searches of shortest ways by weights that every search changes. Switches have numbers in OpenSM's order
/// here; a source that is a host comes after them all.
class Searches {
 public:
  explicit Searches(const topology::Graph& graph)
      : graph_(graph),
        order_(opensm_switches(graph)),
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
      for (uint32_t at = i; vertices_[at].side != nothing; at = sides_[vertices_[at].side].from)
        sides_[vertices_[at].side].weight += vertices_[i].ends;
  }

  bool all_reached() const {
    return std::all_of(vertices_.begin(), vertices_.end() - 1,
                       [](const Vertex& vertex) { return vertex.reached(); });
  }

  /// Links between switches from the source of the last search; only if it is a switch. 255: no way.
  uint8_t hops(uint32_t sw) const {
    if (!reached(sw)) return HopMatrix::unknown;
    uint32_t count = 0;
    for (uint32_t at = index_[sw]; vertices_[at].side != nothing; at = sides_[vertices_[at].side].from)
      ++count;
    return static_cast<uint8_t>(std::min<uint32_t>(count, HopMatrix::unknown));
  }
  /// Links on the way from the source of the last search to a switch.
  void add_way(uint32_t sw, std::set<uint32_t>& links) const {
    for (uint32_t at = index_[sw]; vertices_[at].side != nothing; at = sides_[vertices_[at].side].from)
      links.insert(sides_[vertices_[at].side].link);
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
    uint32_t side = nothing;  // by which it was reached from another switch
    bool after_host = false;  // it was reached from a host
    bool done = false;
    uint64_t distance = 0;

    bool reached() const { return side != nothing || after_host; }
    void reset() {
      side = nothing;
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

  const topology::Graph& graph_;
  std::vector<uint32_t> order_, index_;
  std::vector<Vertex> vertices_;
  std::vector<Side> sides_;  // of each switch by port
  OpenSmHeap heap_;
};

class Sssp : public OpenSmEngine {
 public:
  explicit Sssp(const topology::Graph& graph) : graph_(graph), searches_(graph), hops_(graph.switches()) {
    searches_.from_host_at(opensm_port(graph, 0).node);
    if (!searches_.all_reached())
      throw Fault("the fabric is too large for OpenSM's sssp: its weights overflow");
    route_unicast();
  }

  OpenSmTree build(std::span<const uint32_t> hosts) override {
    const std::vector<uint32_t> members = member_switches(graph_, hosts);
    OpenSmTree tree;
    tree.root = opensm_root(searches_.order(), members, hops_);
    searches_.from_switch(tree.root);
    std::set<uint32_t> links;
    for (const uint32_t member : members) {
      if (!searches_.reached(member))
        throw Fault("the fabric is too large for OpenSM's sssp: its weights overflow");
      searches_.add_way(member, links);
    }
    for (const uint32_t host : hosts) links.insert(opensm_port(graph_, host).link);
    tree.links.assign(links.begin(), links.end());
    return tree;
  }

 private:
  /// Hosts first, by switches with many ends before those with few; then the switches, in the same order.
  void route_unicast() {
    std::vector<uint32_t> switches = searches_.order();
    std::stable_sort(switches.begin(), switches.end(), [this](uint32_t a, uint32_t b) {
      return graph_.hosts_at(a).size() > graph_.hosts_at(b).size();
    });
    for (const uint32_t sw : switches)
      for (const topology::Arc& arc : graph_.hosts_at(sw)) {
        if (graph_.host_info(arc.node).router) continue;
        searches_.from_host_at(sw);
        searches_.add_weights();
      }
    for (const uint32_t sw : switches) {
      searches_.from_switch(sw);
      searches_.add_weights();
      for (uint32_t from = 0; from < graph_.switches(); ++from) hops_.set(from, sw, searches_.hops(from));
    }
  }

  const topology::Graph& graph_;
  Searches searches_;
  HopMatrix hops_;
};

}  // namespace

std::unique_ptr<OpenSmEngine> opensm_sssp(const topology::Graph& graph) {
  return std::make_unique<Sssp>(graph);
}

}  // namespace weft::mcast
