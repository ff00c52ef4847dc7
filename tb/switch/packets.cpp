// SPDX-License-Identifier: Apache-2.0
// Packets on their way from switch to switch.
#include "switch/packets.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

namespace weft::tb {

using switch_lookup::formats::Outcome;
using switch_lookup::formats::Request;

namespace {
constexpr uint32_t most_hops = 255;
}

Packets::Packets(const switchtables::Fabric& fabric, LookupBlocks& blocks, uint32_t threads)
    : fabric_(fabric),
      blocks_(blocks),
      threads_(threads),
      now_(fabric.graph().switches()),
      next_(fabric.graph().switches()) {}

void Packets::inject(uint32_t host, Request request, uint32_t tag) {
  const topology::Arc& arc = fabric_.attachment(host);
  request.in_port = static_cast<uint8_t>(arc.peer_port);
  next_[arc.node].flights.push_back({tag, 0});
  next_[arc.node].requests.push_back(request);
  ++flying_;
}

/// Switches share nothing, so threads take one after the other.
void Packets::look() {
  std::atomic<uint32_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto look_at = [&](uint32_t sw) {
    if (now_[sw].requests.empty()) return;
    const uint32_t node = fabric_.whole_switch(sw);
    try {
      blocks_[node]->look(now_[sw].requests, now_[sw].results);
    } catch (const LookupMismatch& mismatch) {
      throw LookupMismatch("switch " + std::to_string(node) + ": " + mismatch.what());
    }
  };
  const auto work = [&] {
    try {
      for (uint32_t sw = next++; sw < now_.size(); sw = next++) look_at(sw);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (uint32_t i = 1; i < threads_; ++i) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

void Packets::arrive(uint32_t sw, uint32_t port, const Flight& flight, const Request& request, uint8_t vc) {
  const switchtables::Far& far = fabric_.behind(sw, port);
  if (far.kind == switchtables::Far::Kind::host) {
    arrivals_.push_back({flight.tag, far.node, flight.hops});
    return;
  }
  if (flight.hops == most_hops || far.kind == switchtables::Far::Kind::nothing) {
    losses_.push_back({flight.tag, sw, Outcome::forward});
    return;
  }
  Request onward = request;
  onward.in_port = static_cast<uint8_t>(far.port);
  onward.vc = vc;
  next_[far.node].flights.push_back({flight.tag, flight.hops + 1});
  next_[far.node].requests.push_back(onward);
  ++flying_;
}

void Packets::forward(uint32_t sw) {
  Inbox& inbox = now_[sw];
  for (std::size_t i = 0; i < inbox.flights.size(); ++i) {
    const switch_lookup::Result& result = inbox.results[i];
    if (result.outcome != Outcome::forward) losses_.push_back({inbox.flights[i].tag, sw, result.outcome});
    for (uint64_t ports = result.ports; ports != 0; ports &= ports - 1)
      arrive(sw, static_cast<uint32_t>(std::countr_zero(ports)) + 1, inbox.flights[i], inbox.requests[i],
             result.vc);
  }
  inbox.flights.clear();
  inbox.requests.clear();
}

void Packets::run(const std::function<void()>& between) {
  arrivals_.clear();
  losses_.clear();
  while (flying_ > 0) {
    if (between) between();
    std::swap(now_, next_);
    lookups_ += flying_;
    flying_ = 0;
    look();
    for (uint32_t sw = 0; sw < now_.size(); ++sw) forward(sw);
  }
}

}  // namespace weft::tb
