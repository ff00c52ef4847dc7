// SPDX-License-Identifier: Apache-2.0
// Proof of tables: dependencies of channels, and who reaches whom.
#include "route/checker.hpp"

#include <algorithm>

namespace weft::route {

namespace {

/// Channels by number: those of leaves, then those of spine switches.
class Channels {
 public:
  Channels(const Grid& grid, uint32_t vcs) : grid_(grid), vcs_(vcs), of_leaves_(grid.leaves() * 4 * vcs) {}
  uint32_t count() const { return of_leaves_ + grid_.roots() * grid_.spines * 2 * vcs_; }
  uint32_t number(const Channel& c) const {
    const uint32_t down = c.down ? 1 : 0;
    if (!c.at_leaf()) {
      const uint32_t link = grid_.number(grid_.edge_of(c.leaf, c.dimension)) * grid_.spines + c.spine;
      return of_leaves_ + (link * 2 + down) * vcs_ + c.vc;
    }
    const uint32_t kind = (c.dimension == Dimension::column ? 2u : 0u) + down;
    return (grid_.number(c.leaf) * 4 + kind) * vcs_ + c.vc;
  }
  Channel channel(uint32_t number) const {
    const auto vc = static_cast<uint8_t>(number % vcs_);
    if (number < of_leaves_) {
      const uint32_t kind = number / vcs_ % 4;
      return {grid_.leaf(number / vcs_ / 4), kind < 2 ? Dimension::row : Dimension::column, kind % 2 == 1,
              vc};
    }
    const uint32_t link = (number - of_leaves_) / vcs_ / 2;
    const Root edge = grid_.root(link / grid_.spines);
    return {grid_.leaf_below(edge, 0), edge.dimension, (number - of_leaves_) / vcs_ % 2 == 1, vc,
            static_cast<uint8_t>(link % grid_.spines)};
  }

 private:
  Grid grid_;
  uint32_t vcs_, of_leaves_;
};

/// Of packets that go on from somewhere, at the most.
struct Length {
  uint32_t steps = 0, links = 0;
  bool lost = false;  ///< one of them may be

  void include(const Length& other) {
    steps = std::max(steps, other.steps);
    links = std::max(links, other.links);
    lost = lost || other.lost;
  }
  /// After this channel.
  Length behind(const Channel& channel) const {
    return {steps + (channel.begins_step() ? 1 : 0), links + 1, lost};
  }
};

/// Directed graph on channels; edges are told more than once.
class Dependencies {
 public:
  explicit Dependencies(uint32_t channels) : next_(channels) {}

  void add(uint32_t from, uint32_t to) {
    auto& list = next_[from];
    const auto at = std::lower_bound(list.begin(), list.end(), to);
    if (at == list.end() || *at != to) list.insert(at, to);
  }
  uint64_t count() const {
    uint64_t edges = 0;
    for (const auto& list : next_) edges += list.size();
    return edges;
  }
  /// Channels of one cycle, or none: a depth-first search.
  std::vector<uint32_t> cycle() const {
    enum Mark : uint8_t { unseen, open, closed };
    std::vector<Mark> marks(next_.size(), unseen);
    std::vector<std::pair<uint32_t, std::size_t>> path;
    for (uint32_t root = 0; root < next_.size(); ++root) {
      if (marks[root] != unseen) continue;
      path.assign(1, {root, 0});
      marks[root] = open;
      while (!path.empty()) {
        auto& [at, edge] = path.back();
        if (edge == next_[at].size()) {
          marks[at] = closed;
          path.pop_back();
          continue;
        }
        const uint32_t to = next_[at][edge++];
        if (marks[to] == open) return ring(path, to);
        if (marks[to] == closed) continue;
        marks[to] = open;
        path.emplace_back(to, 0);
      }
    }
    return {};
  }

 private:
  static std::vector<uint32_t> ring(const std::vector<std::pair<uint32_t, std::size_t>>& path,
                                    uint32_t start) {
    std::vector<uint32_t> found;
    for (const auto& [at, edge] : path)
      if (at == start || !found.empty()) found.push_back(at);
    return found;
  }

  std::vector<std::vector<uint32_t>> next_;
};

/// All that packets to one destination can do.
class Explorer {
 public:
  Explorer(std::span<const Walker> walkers, const Channels& channels, Dependencies& edges, Report& report)
      : walkers_(walkers),
        channels_(channels),
        edges_(edges),
        report_(report),
        marks_(channels.count()),
        lengths_(channels.count()) {}

  void start(Leaf to) {
    to_ = to;
    std::fill(marks_.begin(), marks_.end(), unseen);
  }

  /// Of a packet injected here.
  Length inject(Leaf at) {
    Length most;
    for (const Walker& walker : walkers_) {
      const Decision decision = walker.at_leaf(at, std::nullopt, 0, to_);
      ++report_.drops[static_cast<std::size_t>(decision.outcome)];
      if (!decision.up) {
        most.lost = true;
        continue;
      }
      const Channel up{at, *decision.up, false, decision.vc};
      most.include(worst(up).behind(up));
    }
    return most;
  }

 private:
  enum Mark : uint8_t { unseen, open, closed };

  struct Frame {
    uint32_t at;
    Length most;
    std::size_t next = 0;
    std::vector<uint32_t> all;
  };

  /// Without recursion: a packet may pass thousands of channels under rules that do not end.
  Length worst(const Channel& from) {
    const uint32_t start = channels_.number(from);
    if (marks_[start] == closed) return lengths_[start];
    std::vector<Frame> path;
    path.push_back(enter(start));
    while (!path.empty()) {
      Frame& top = path.back();
      if (top.next < top.all.size()) {
        const uint32_t to = top.all[top.next];
        if (marks_[to] == unseen) {
          path.push_back(enter(to));
          continue;
        }
        ++top.next;
        if (marks_[to] == open)
          top.most.lost = true;
        else
          top.most.include(lengths_[to].behind(channels_.channel(to)));
        continue;
      }
      marks_[top.at] = closed;
      lengths_[top.at] = top.most;
      path.pop_back();
    }
    return lengths_[start];
  }

  Frame enter(uint32_t at) {
    marks_[at] = open;
    Frame frame{at, {}, 0, {}};
    for (const Walker& walker : walkers_) {
      const Decision decision = walker.step(channels_.channel(at), to_, [&](const Channel& next) {
        const uint32_t to = channels_.number(next);
        edges_.add(at, to);
        frame.all.push_back(to);
      });
      if (decision.outcome == Outcome::forward) continue;
      ++report_.drops[static_cast<std::size_t>(decision.outcome)];
      frame.most.lost = true;
    }
    return frame;
  }

  std::span<const Walker> walkers_;
  const Channels& channels_;
  Dependencies& edges_;
  Report& report_;
  Leaf to_;
  std::vector<Mark> marks_;
  std::vector<Length> lengths_;
};

}  // namespace

Report check(std::span<const Tables* const> mixture, const Health& alive, bool dead_too,
             const std::function<void(const Pair&, uint32_t links)>& each) {
  const Grid& grid = alive.grid();
  std::vector<Walker> walkers;
  for (const Tables* tables : mixture) {
    if (!(tables->grid() == grid)) throw Fault("tables of another fabric");
    walkers.emplace_back(*tables, alive);
  }
  Report report;
  const Channels channels(grid, mixture.front()->options().channels);
  Dependencies edges(channels.count());
  Explorer explorer(walkers, channels, edges, report);
  for (uint32_t d = 0; d < grid.leaves(); ++d) {
    const Leaf to = grid.leaf(d);
    if (!alive.alive(to) && !dead_too) continue;
    explorer.start(to);
    for (uint32_t s = 0; s < grid.leaves(); ++s) {
      const Leaf from = grid.leaf(s);
      if (s == d || !alive.alive(from)) continue;
      const Length length = explorer.inject(from);
      if (!alive.alive(to)) continue;
      ++report.pairs;
      if (length.lost) {
        report.lossy.push_back({from, to});
        continue;
      }
      report.max_steps = std::max(report.max_steps, length.steps);
      if (each) each({from, to}, length.links);
    }
  }
  report.drops[0] = 0;
  for (const uint32_t channel : edges.cycle()) report.cycle.push_back(channels.channel(channel));
  report.dependencies = edges.count();
  return report;
}

}  // namespace weft::route
