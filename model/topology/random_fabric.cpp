// SPDX-License-Identifier: Apache-2.0
// Random fabrics: ports are paired at random, then what is wrong with the pairs is mended by swaps with other
// random pairs.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/random.hpp"
#include "topology/generate.hpp"
#include "topology/maker.hpp"

namespace weft::topology {

namespace {

constexpr uint32_t most_tries = 200;  // for a pair that is there already; a link more between the two remains

/// Ports of all switches, `degree` each: port p belongs to switch p / degree.
class Pairing {
 public:
  Pairing(uint32_t switches, uint32_t degree, uint64_t seed)
      : switches_(switches), degree_(degree), random_(seed) {
    draw();
    mend();
    while (join()) {
    }
  }

  struct Pair {
    uint32_t one, other;
  };
  const std::vector<Pair>& pairs() const { return pairs_; }
  uint32_t owner(uint32_t port) const { return port / degree_; }

 private:
  void draw() {
    std::vector<uint32_t> ports(std::size_t{switches_} * degree_);
    std::iota(ports.begin(), ports.end(), 0);
    for (std::size_t left = ports.size(); left > 1; --left)
      std::swap(ports[left - 1], ports[random_.below(left)]);
    for (std::size_t i = 0; i + 1 < ports.size(); i += 2) {
      pairs_.push_back({ports[i], ports[i + 1]});
      count(pairs_.back(), 1);
    }
  }

  bool is_loop(const Pair& pair) const { return owner(pair.one) == owner(pair.other); }
  uint64_t key(const Pair& pair) const {
    const uint32_t one = owner(pair.one), other = owner(pair.other);
    return uint64_t{std::min(one, other)} << 32 | std::max(one, other);
  }
  void count(const Pair& pair, int change) { links_[key(pair)] += change; }
  bool is_new(const Pair& pair) const {
    const auto known = links_.find(key(pair));
    return !is_loop(pair) && (known == links_.end() || known->second == 0);
  }

  /// Pairs (a, b), (c, d) become (a, c), (b, d).
  void swap(Pair& one, Pair& other) {
    count(one, -1);
    count(other, -1);
    std::swap(one.other, other.one);
    count(one, 1);
    count(other, 1);
  }

  /// With as many ports as switches, or more, several links between two cannot be helped.
  bool is_wrong(const Pair& pair) { return is_loop(pair) || (degree_ < switches_ && links_[key(pair)] > 1); }

  void mend() {
    for (Pair& pair : pairs_) {
      for (uint32_t i = 0; i < most_tries && is_wrong(pair); ++i) try_swap(pair);
      if (is_loop(pair)) unloop(pair);
    }
  }

  void try_swap(Pair& pair) {
    Pair& other = pairs_[random_.below(pairs_.size())];
    if (random_.chance(0.5)) std::swap(other.one, other.other);
    const Pair first{pair.one, other.one}, second{pair.other, other.other};
    if (&other != &pair && is_new(first) && is_new(second) && key(first) != key(second)) swap(pair, other);
  }

  /// A pair that does not touch this switch takes the loop apart. There is one: else all ports of others
  /// would be joined to this switch, which has as many ports as each of them and has used some for the loop.
  void unloop(Pair& loop) {
    const uint32_t sw = owner(loop.one);
    const auto apart = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
      return owner(pair.one) != sw && owner(pair.other) != sw;
    });
    if (apart != pairs_.end()) swap(loop, *apart);
  }

  /// Joins two parts of the fabric; false if there is but one. Pairs that close a ring hold nothing together,
  /// so one of them, and any of another part, may be swapped.
  bool join() {
    std::vector<uint32_t> parent(switches_);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](uint32_t at) {
      while (parent[at] != at) at = parent[at] = parent[parent[at]];
      return at;
    };
    std::vector<std::size_t> closing;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const uint32_t one = root(owner(pairs_[i].one)), other = root(owner(pairs_[i].other));
      if (one == other) closing.push_back(i);
      parent[one] = other;
    }
    for (const std::size_t i : closing) {
      const uint32_t part = root(owner(pairs_[i].one));
      const auto elsewhere = std::find_if(pairs_.begin(), pairs_.end(),
                                          [&](const Pair& pair) { return root(owner(pair.one)) != part; });
      if (elsewhere == pairs_.end()) return false;  // all others are in this part
      swap(pairs_[i], *elsewhere);
      return true;
    }
    return false;
  }

  uint32_t switches_, degree_;
  RandomStream random_;
  std::vector<Pair> pairs_;
  std::unordered_map<uint64_t, int> links_;  // how many there are between two switches
};

void check(uint32_t switches, uint32_t ports, uint32_t hosts) {
  check_range("SWITCHES", switches, 1, most_switches);
  check_range("PORTS", ports, 1, most_ports);
  check_range("HOSTS_PER_SWITCH", hosts, 1, ports);
  check_size(switches, uint64_t{switches} * hosts, ports);
  const uint32_t degree = ports - hosts;
  if (uint64_t{switches} * degree > most_links)
    throw std::invalid_argument(fmt::format("{} ports between switches, at most {} are possible",
                                            uint64_t{switches} * degree, most_links));
  if (switches > 1 && degree < (switches == 2 ? 1 : 2))
    throw std::invalid_argument(
        fmt::format("{} ports of each switch remain to join {} switches: too few", degree, switches));
}

}  // namespace

Graph random_fabric(uint32_t switches, uint32_t ports, uint32_t hosts, uint64_t seed) {
  check(switches, ports, hosts);
  const uint32_t degree = ports - hosts;
  Maker maker;
  for (uint32_t sw = 0; sw < switches; ++sw) {
    maker.add_switch(fmt::format("switch-{}", sw), ports);
    maker.add_hosts(sw, hosts);
  }
  if (switches > 1) {
    const Pairing pairing(switches, degree, seed);
    for (const auto& [one, other] : pairing.pairs())
      maker.connect(pairing.owner(one), hosts + 1 + one % degree, pairing.owner(other),
                    hosts + 1 + other % degree);
  }
  return std::move(maker).finish();
}

}  // namespace weft::topology
