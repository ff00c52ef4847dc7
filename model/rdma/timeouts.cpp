// SPDX-License-Identifier: Apache-2.0
// Round trips, and which events begin and end them.
#include "rdma/timeouts.hpp"

#include <algorithm>

#include "rdma/timer.hpp"

namespace weft::rdma {

using formats::Outcome;

void RoundTrip::sample(uint16_t ticks) {
  const uint32_t s = std::min(ticks, longest_timeout);
  if (!known_) {
    known_ = true;
    srtt_ = 8 * s;
    rttvar_ = 2 * s;  // half of it
    return;
  }
  const uint32_t mean = srtt_ / 8;
  const uint32_t off = s > mean ? s - mean : mean - s;
  rttvar_ = rttvar_ - rttvar_ / 4 + off;
  srtt_ = srtt_ - mean + s;
}

std::optional<uint16_t> RoundTrip::timeout() const {
  if (!known_) return std::nullopt;
  return static_cast<uint16_t>(
      std::min<uint32_t>(srtt_ / 8 + std::max({1u, srtt_ / 8, rttvar_}), longest_timeout));
}

void Stopwatch::see(const Event& event) {
  if (begun_ && begun_->id == event.id && (event.ends || event.cancels)) {
    if (event.ends) round_trip_.sample(static_cast<uint16_t>(event.now - begun_->now));
    begun_.reset();
  } else if (event.begins && !begun_) {
    begun_ = {event.id, event.now};
  }
}

void ReceiverTimes::see(Outcome outcome, uint16_t cid, uint16_t now) {
  const bool advances = outcome == Outcome::advance;
  const bool finishes = outcome == Outcome::finish;
  const bool accepts = outcome == Outcome::accept;
  const bool asks =
      outcome == Outcome::ask_one || outcome == Outcome::ask_from || outcome == Outcome::ask_map;
  const bool cancels = asks || outcome == Outcome::reclaim || outcome == Outcome::released ||
                       outcome == Outcome::released_failed;
  answer_.see({cid, now, outcome == Outcome::grant, accepts || advances || finishes, cancels});
  pace_.see({cid, now, advances, advances || finishes, cancels || accepts});
}

std::optional<uint16_t> ReceiverTimes::timeout() const {
  const auto answer = answer_.round_trip().timeout();
  const auto pace = pace_.round_trip().timeout();
  if (!answer || !pace) return answer;
  return std::max(*answer, *pace);
}

void SenderTimes::see(Outcome outcome, uint16_t sid, uint16_t now) {
  const bool answered =
      outcome == Outcome::granted || outcome == Outcome::backoff || outcome == Outcome::refused;
  const bool cancels = outcome == Outcome::retry_rqt || outcome == Outcome::give_up;
  request_.see({sid, now, outcome == Outcome::submit, answered, cancels});
}

uint16_t timeout_in_use(const Config& config, std::optional<uint16_t> measured, uint16_t set) {
  if (!config.weft_mode || !config.adapt || !measured) return set;
  return std::min(std::max(*measured, config.timeout_floor), set);
}

uint8_t doublings(const Config& config, uint8_t in_vain) {
  return config.weft_mode ? std::min(in_vain, config.backoff) : uint8_t{0};
}

}  // namespace weft::rdma
