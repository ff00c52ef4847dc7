// SPDX-License-Identifier: Apache-2.0
// Whether an engine knows the requests that it has granted (docs/rdma.md, Repeated requests).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rdma/repeats.hpp"

namespace weft::tb {

/// Requests are judged as they retire. Some clocks after one whose context turns out to be over the engine
/// forgets it: until then it may know it still, and may forget with it one that has taken its place
/// meanwhile.
class RepeatWatch {
 public:
  using Header = rdma::formats::Header;

  explicit RepeatWatch(const rdma::Params& params)
      : granted_(params), places_(granted_.places()), lag_(pipeline + params.n_rx_ctx) {}

  /// What is wrong about this request, nothing if all is well.
  /// @param known the engine took it for one that it has granted before
  std::optional<std::string> judge(const Header& request, bool known, const rdma::RxResult& result,
                                   uint64_t cycle) {
    using rdma::formats::Outcome;
    if (!rdma::is_remembered(request) || result.outcome == Outcome::drop_busy) return std::nullopt;
    const auto cid = granted_.context_of(request);
    Place& place = places_[granted_.place_of(request)];
    if (known && cid != result.cid) return "a request taken for one granted before, which it is not";
    if (known && place.forgotten && !place.doubtful && cycle > *place.forgotten + lag_)
      return "a request known long after its context was found to be over";
    if (!known && cid && !place.forgotten && !place.unsure)
      return fmt::format("a request that has context {} taken for a new one", *cid);
    if (result.outcome == Outcome::drop_asked) forget(place, cycle);
    if (result.outcome == Outcome::grant) {
      place.forgotten.reset();
      place.doubtful = false;
      place.unsure = place.last_forgotten && cycle <= *place.last_forgotten + lag_;
      granted_.granted(request, result.cid);
    }
    return std::nullopt;
  }

  void reset() {
    granted_.reset();
    places_.assign(places_.size(), {});
    last_ = nullptr;
  }

 private:
  static constexpr uint64_t pipeline = 16;  // clocks from decision to retirement, and to the table

  struct Place {
    std::optional<uint64_t> forgotten;       // cycle; its request may be known for a few clocks more
    std::optional<uint64_t> last_forgotten;  // any request
    bool doubtful = false;                   // ... or for longer, as another one was to be forgotten as well
    bool unsure = false;                     // its request may have been forgotten with the one before
  };

  /// Only one can wait to be forgotten.
  void forget(Place& place, uint64_t cycle) {
    const bool crowded = last_ && last_ != &place && cycle <= *last_->last_forgotten + lag_;
    if (crowded) place.doubtful = last_->doubtful = true;
    if (!place.forgotten) place.forgotten = cycle;
    place.last_forgotten = cycle;
    last_ = &place;
  }

  rdma::GrantedRequests granted_;
  std::vector<Place> places_;
  Place* last_ = nullptr;  // of the request that was to be forgotten last
  uint64_t lag_;           // the table is written in a clock without a grant
};

}  // namespace weft::tb
