// SPDX-License-Identifier: Apache-2.0
// What is done in which order.
#include "mcast/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "mcast/bounds.hpp"
#include "mcast/figures.hpp"
#include "mcast/improver.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t tries_per_group = 5, least_tries = 5000;
constexpr uint32_t most_to_save = 2;  // times the limit: beyond that groups are merged at once

bool is_no_worse(const Figures& a, const Figures& b) {
  return a.max_efi <= b.max_efi && a.merged_groups <= b.merged_groups && a.max_tfi <= b.max_tfi &&
         a.max_tree_height <= b.max_tree_height && a.colours_used <= b.colours_used;
}

class Batch {
 public:
  Batch(const Hops& hops, const Groups& groups, const BatchOptions& options)
      : hops_(hops), groups_(groups), options_(options) {}

  Forest run() const {
    Forest forest = routed(may_improve() ? no_limit : limit());
    if (!may_improve()) return forest;
    if (is_near(forest)) improve_by_tries(forest);
    if (options_.seconds > 0) return after_seconds(std::move(forest));
    return forest.colours() <= limit() ? std::move(forest) : merged(forest);
  }

 private:
  uint32_t limit() const { return options_.router.colours; }
  bool may_improve() const {
    return options_.router.algorithm == Algorithm::weft && options_.router.tables == Tables::of_switch;
  }
  /// Too many colours, but not so many that nearly everything must be merged.
  bool is_near(const Forest& forest) const {
    return forest.colours() > limit() && forest.colours() / most_to_save <= limit();
  }

  Router router(uint32_t limit) const {
    RouterOptions options = options_.router;
    options.colours = limit;
    return {hops_, options};
  }

  Forest routed(uint32_t limit) const {
    Router router = this->router(limit);
    router.create_all(groups_, [this](uint32_t done, uint32_t of) { tell("routing", done, of); });
    return std::move(router).forest();
  }

  /// What needs more colours than there are, with groups merged.
  Forest merged(const Forest& forest) const {
    if (!is_near(forest)) return routed(limit());
    Router router = this->router(limit());
    router.adopt(forest);
    return std::move(router).forest();
  }

  /// Where groups had to be merged, what comes of more time is taken only if no figure is worse: not even
  /// without merging, if a link then carries more.
  Forest after_seconds(Forest forest) const {
    std::optional<Forest> before;
    if (forest.colours() > limit()) before.emplace(merged(forest));
    improve_for_seconds(forest);
    if (!before) return forest;
    if (forest.colours() > limit() && !is_near(forest)) return std::move(*before);
    Forest after = forest.colours() > limit() ? merged(forest) : std::move(forest);
    return is_no_worse(figures_of(after), figures_of(*before)) ? std::move(after) : std::move(*before);
  }

  void improve_for_seconds(Forest& forest) const {
    const auto start = std::chrono::steady_clock::now();
    const auto enough = colour_bounds(hops_, groups_, Tables::of_switch).value();
    const auto go_on = [&] {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      tell_colours(forest, static_cast<uint32_t>(100 * spent.count()),
                   static_cast<uint32_t>(100 * options_.seconds));
      return spent.count() < options_.seconds;
    };
    Improver(forest, hops_, options_.seed).run(go_on, enough);
  }

  void improve_by_tries(Forest& forest) const {
    const auto most = static_cast<uint32_t>(std::max(least_tries, tries_per_group * groups_.count()));
    uint32_t tries = 0;
    const auto go_on = [&] {
      tell_colours(forest, tries, most);
      return ++tries < most;
    };
    Improver(forest, hops_, options_.seed).run(go_on, limit());
  }

  void tell_colours(const Forest& forest, uint32_t done, uint32_t of) const {
    if (options_.progress) options_.progress(fmt::format("improving, {} colors", forest.colours()), done, of);
  }

  void tell(std::string_view what, uint32_t done, uint32_t of) const {
    if (options_.progress) options_.progress(what, done, of);
  }

  const Hops& hops_;
  const Groups& groups_;
  const BatchOptions& options_;
};

}  // namespace

Forest route_together(const Hops& hops, const Groups& groups, const BatchOptions& options) {
  return Batch(hops, groups, options).run();
}

}  // namespace weft::mcast
