// SPDX-License-Identifier: Apache-2.0
// All ways that a packet can take along PLAIN tables.
#include "switchtables/plain_check.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "switch/lookup.hpp"

namespace weft::switchtables {

namespace {

using namespace switch_lookup;

constexpr uint32_t unseen = no_promise - 1, open = no_promise - 2;
constexpr uint32_t draws = 64;  // numbers that lead to every one of so many backups

Slot slot_of(const Image& image, uint32_t lid) {
  const auto at = std::ranges::lower_bound(image.unicast, lid, {}, &formats::Entry::index);
  if (at == image.unicast.end() || at->index != lid) return {};
  return {true, false, at->primary, at->ports};
}

/// To one host.
class Ways {
 public:
  Ways(uint32_t host, const Fabric& alive, std::span<const Images* const> mixture, const Sizes& sizes)
      : host_(host), alive_(alive), sizes_(sizes), request_(unicast_to(alive, host)), first_{0} {
    for (uint32_t sw = 0; sw < alive.graph().switches(); ++sw) {
      first_.push_back(first_.back() + alive.ports(sw) + 1);
      slots_.emplace_back();
      for (const Images* images : mixture) slots_.back().push_back(slot_of((*images)[sw], request_.index));
      heads_.push_back((*mixture.front())[sw].head);
    }
    most_.assign(first_.back(), unseen);
  }

  /// Links from here on, of a packet that came in by this port.
  uint32_t from(uint32_t sw, uint32_t port) {
    uint32_t& known = most_[first_[sw] + port];
    if (known == open) return no_promise;  // in a ring
    if (known != unseen) return known;
    known = open;
    uint32_t most = 0;
    for (const Slot& slot : slots_[sw]) most = std::max(most, along(sw, port, slot));
    return most_[first_[sw] + port] = most;
  }

 private:
  uint32_t along(uint32_t sw, uint32_t port, const Slot& slot) {
    Fetched fetched{request_, true, heads_[sw], slot};
    fetched.request.in_port = static_cast<uint8_t>(port);
    uint32_t most = 0;
    Ports tried = 0;
    for (uint32_t draw = 0; draw < draws && most != no_promise; ++draw) {
      const Result result = decide(fetched, sizes_, alive_.alive(sw), draw << 26);
      if (result.outcome != formats::Outcome::forward) return no_promise;
      if ((tried & result.ports) == 0) most = std::max(most, behind(sw, result.ports));
      tried |= result.ports;
      if (result.ports == port_bit(slot.primary)) break;  // nothing is drawn
    }
    return most;
  }

  uint32_t behind(uint32_t sw, Ports port) {
    const Far& far = alive_.behind(sw, static_cast<uint32_t>(std::countr_zero(port)) + 1);
    if (far.kind == Far::Kind::host) return far.node == host_ ? 0 : no_promise;
    if (far.kind == Far::Kind::nothing) return no_promise;
    const uint32_t rest = from(far.node, far.port);
    return rest == no_promise ? no_promise : rest + 1;
  }

  uint32_t host_;
  const Fabric& alive_;
  const Sizes& sizes_;
  formats::Request request_;
  std::vector<uint32_t> first_;  // of each switch: place of its port 0
  std::vector<std::vector<Slot>> slots_;
  std::vector<formats::Image> heads_;
  std::vector<uint32_t> most_;  // of each switch and input port
};

}  // namespace

std::vector<uint32_t> most_hops_to(uint32_t host, const Fabric& alive, std::span<const Images* const> mixture,
                                   const Sizes& sizes) {
  Ways ways(host, alive, mixture, sizes);
  std::vector<uint32_t> most(alive.graph().switches(), no_promise);
  for (uint32_t sw = 0; sw < most.size(); ++sw)
    if (const auto hosts = alive.graph().hosts_at(sw); !hosts.empty())
      most[sw] = ways.from(sw, hosts.front().port);
  return most;
}

}  // namespace weft::switchtables
