// SPDX-License-Identifier: Apache-2.0
// What is done in which order.
#include "mcast/batch.hpp"

#include <chrono>
#include <utility>

#include "mcast/bounds.hpp"
#include "mcast/improver.hpp"

namespace weft::mcast {

namespace {

constexpr uint64_t tries_per_group = 30;
constexpr uint32_t most_to_save = 2;  // times the limit: beyond that groups are merged at once

class Batch {
 public:
  Batch(const Hops& hops, const Groups& groups, const BatchOptions& options)
      : hops_(hops), groups_(groups), options_(options) {}

  Forest run() const {
    const uint32_t limit = options_.router.colours;
    const bool may_improve =
        options_.router.algorithm == Algorithm::weft && options_.router.tables == Tables::of_switch;
    Forest free = routed(may_improve ? no_limit : limit);
    if (!may_improve) return free;
    if (options_.seconds > 0)
      improve_for_seconds(free);
    else if (free.colours() > limit && free.colours() / most_to_save <= limit)
      improve_by_tries(free, limit);
    return free.colours() <= limit ? std::move(free) : routed(limit);
  }

 private:
  Forest routed(uint32_t limit) const {
    RouterOptions options = options_.router;
    options.colours = limit;
    Router router(hops_, options);
    router.create_all(groups_, [this](uint32_t done, uint32_t of) { tell("routing", done, of); });
    return std::move(router).forest();
  }

  void improve_for_seconds(Forest& forest) const {
    const auto start = std::chrono::steady_clock::now();
    const auto enough = colour_bounds(hops_, groups_, Tables::of_switch).value();
    const auto go_on = [&] {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
      tell("improving", static_cast<uint32_t>(spent.count()), static_cast<uint32_t>(options_.seconds) + 1);
      return spent.count() < options_.seconds;
    };
    Improver(forest, hops_, options_.seed).run(go_on, enough);
  }

  void improve_by_tries(Forest& forest, uint32_t enough) const {
    const uint32_t most = static_cast<uint32_t>(tries_per_group * groups_.count());
    uint32_t tries = 0;
    const auto go_on = [&] {
      tell("improving", tries, most);
      return ++tries < most;
    };
    Improver(forest, hops_, options_.seed).run(go_on, enough);
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
