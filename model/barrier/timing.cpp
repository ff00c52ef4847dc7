// SPDX-License-Identifier: Apache-2.0
// Event by event: packets over links, engines that take them, messages that become ready.
#include "barrier/timing.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "fabric/random.hpp"

namespace weft::barrier {
namespace {

constexpr uint32_t background = UINT32_MAX;

struct Flight {
  uint32_t message;  ///< or background
  Node from, to;     ///< to_all: `from` is where it starts
  Node at, came;     ///< came: node before
  bool retrace, to_all;
};

enum class Kind : uint8_t { at_node, taken, inject };

struct Event {
  uint64_t time;
  uint64_t order;
  Kind kind;
  Flight flight;
  bool operator>(const Event& other) const {
    return std::tie(time, order) > std::tie(other.time, other.order);
  }
};

class Run {
 public:
  Run(const Plan& plan, const Mesh& mesh, const Routes& routes, const Timing& timing, uint64_t seed)
      : plan_(plan),
        mesh_(mesh),
        routes_(routes),
        timing_(timing),
        random_(seed, 0x6c6f6164),
        link_free_(size_t{mesh.links()} * 2),
        take_free_(mesh.nodes()),
        send_free_(mesh.nodes()),
        missing_(plan.messages.size()),
        after_(plan.messages.size()),
        leaving_(mesh.nodes()),
        releases_(plan.messages.size()) {
    for (uint32_t message = 0; message < plan.messages.size(); message++) {
      missing_[message] = static_cast<uint32_t>(plan.messages[message].needs.size());
      for (const uint32_t need : plan.messages[message].needs) after_[need].push_back(message);
    }
    for (Node node = 0; node < mesh.nodes(); node++) {
      leaving_[node] = static_cast<uint32_t>(plan.leaves[node].size());
      staying_ += leaving_[node] > 0;
      for (const uint32_t leave : plan.leaves[node]) releases_[leave] = true;
    }
  }

  uint64_t run(uint64_t limit) {
    const uint64_t start = start_load();
    for (uint32_t message = 0; message < missing_.size(); message++) {
      if (missing_[message] == 0) send(message, start);
    }
    last_ = start;
    while (staying_ > 0) {
      const Event event = events_.top();
      events_.pop();
      if (event.time > start + limit)
        throw std::runtime_error("the barrier does not complete: too much traffic");
      if (event.kind == Kind::inject) inject(event);
      if (event.kind == Kind::at_node) at_node(event);
      if (event.kind == Kind::taken) taken(event);
    }
    return last_ - start;
  }

 private:
  void push(uint64_t time, Kind kind, const Flight& flight) { events_.push({time, order_++, kind, flight}); }

  /// Background traffic from time 0. @return when the barrier starts
  uint64_t start_load() {
    if (timing_.load <= 0) return 0;
    for (Node node = 0; node < mesh_.nodes(); node++)
      push(gap(), Kind::inject, {background, node, node, node, node, false, false});
    return 2000;
  }

  /// Cycles between two packets of a node, uniform with the mean that the load asks for.
  uint64_t gap() {
    const auto mean = static_cast<uint64_t>(timing_.load_packet / timing_.load);
    return 1 + random_.below(2 * mean);
  }

  void inject(const Event& event) {
    Flight flight = event.flight;
    push(event.time + gap(), Kind::inject, flight);
    flight.to = static_cast<Node>(random_.below(mesh_.nodes()));
    move_on(event.time, flight);
  }

  void send(uint32_t message, uint64_t time) {
    const Message& what = plan_.messages[message];
    const uint64_t when = std::max(time, send_free_[what.from]);
    send_free_[what.from] = when + timing_.send;
    push(when, Kind::at_node, {message, what.from, what.to, what.from, what.from, what.retrace, what.to_all});
  }

  void at_node(const Event& event) {
    const Flight& flight = event.flight;
    if (flight.to_all) return copy(event.time, flight);
    if (flight.at != flight.to) return move_on(event.time, flight);
    if (flight.message != background) take(event.time, flight);
  }

  void take(uint64_t time, const Flight& flight) {
    const uint64_t begins = std::max(time, take_free_[flight.at]);
    take_free_[flight.at] = begins + timing_.engine_next;
    push(begins + timing_.engine, Kind::taken, flight);
  }

  /// Over all links of the tree but the one it came over.
  void copy(uint64_t time, const Flight& flight) {
    if (flight.at != flight.from) take(time, flight);
    for (const auto& other : mesh_.neighbours(flight.at)) {
      if (other.node != flight.came && plan_.copies[other.link]) over(time, flight, other);
    }
  }

  void move_on(uint64_t time, const Flight& flight) {
    if (flight.at == flight.to) return;
    over(time, flight, flight.retrace ? back(flight) : routes_.next(flight.at, flight.to));
  }

  /// Next step on the way from `to` to `from`, backwards.
  Mesh::Neighbour back(const Flight& flight) const {
    Node behind = flight.to;
    while (routes_.next(behind, flight.from).node != flight.at)
      behind = routes_.next(behind, flight.from).node;
    return {behind, routes_.next(behind, flight.from).link};
  }

  void over(uint64_t time, Flight flight, const Mesh::Neighbour& next) {
    const uint32_t occupied = flight.message == background ? timing_.load_packet : timing_.packet;
    uint64_t& free = link_free_[size_t{next.link} * 2 + (flight.at < next.node ? 1 : 0)];
    const uint64_t start = std::max(time, free);
    free = start + occupied;
    flight.came = flight.at;
    flight.at = next.node;
    push(start + timing_.hop + occupied - 1, Kind::at_node, flight);
  }

  void taken(const Event& event) {
    const uint32_t message = event.flight.message;
    const Node node = event.flight.at;
    if (releases_[message] && --leaving_[node] == 0) {
      staying_--;
      last_ = event.time;
    }
    for (const uint32_t next : after_[message]) {
      if (plan_.messages[next].from == node && --missing_[next] == 0) send(next, event.time);
    }
  }

  const Plan& plan_;
  const Mesh& mesh_;
  const Routes& routes_;
  const Timing& timing_;
  RandomStream random_;
  std::vector<uint64_t> link_free_, take_free_, send_free_;
  std::vector<uint32_t> missing_;             ///< by message: how many it still needs
  std::vector<std::vector<uint32_t>> after_;  ///< by message: those that need it
  std::vector<uint32_t> leaving_;             ///< by node: messages it still needs to leave
  std::vector<bool> releases_;                ///< by message: whoever gets it needs it to leave
  uint32_t staying_ = 0;
  uint64_t last_ = 0, order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

uint64_t cycles_of(const Plan& plan, const Mesh& mesh, const Routes& routes, const Timing& timing,
                   uint64_t seed, uint64_t limit) {
  return Run(plan, mesh, routes, timing, seed).run(limit);
}

}  // namespace weft::barrier
