// SPDX-License-Identifier: Apache-2.0
// Makes the incident of a plan happen.
#include "soak_incident.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

namespace weft::sim {

namespace formats = rdma::formats;

namespace {

/// Posts that the engine has taken from its queue.
uint64_t posts_taken(const tb::Scoreboard& board) {
  uint64_t count = 0;
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
    const auto outcome = static_cast<formats::Outcome>(code);
    const bool of_post = outcome == formats::Outcome::submit || formats::name(outcome).starts_with("REJECT_");
    if (of_post) count += board.outcomes()[code];
  }
  return count;
}

}  // namespace

void SoakIncident::step() {
  switch (phase_) {
    case Phase::early:
      if (ledger_.ended() < incident_.after_completions) return;
      next_ = system_.cycle() + incident_.after_cycles;
      phase_ = Phase::soon;
      return;
    case Phase::soon:
      if (system_.cycle() < next_) return;
      next_ = system_.cycle() + incident_.cycles + after_each_other();
      begin();
      phase_ = incident_.kind == IncidentKind::death ? Phase::over : Phase::under_way;
      return;
    case Phase::under_way:
      if (system_.cycle() < next_) return;
      end();
      phase_ = incident_.kind == IncidentKind::reset ? Phase::restarting : Phase::over;
      return;
    case Phase::restarting:
      if (!system_.node(incident_.node).driver().ready() || !hooks_.bring_up(incident_.node)) return;
      ledger_.end_excuses(system_.cycle());
      phase_ = Phase::over;
      return;
    case Phase::over:
      return;
  }
}

void SoakIncident::begin() {
  switch (incident_.kind) {
    case IncidentKind::none:
      return;
    case IncidentKind::stall:
      return system_.node(incident_.node).stall_output(true);
    case IncidentKind::reset:
      lose_node();
      return system_.reset_node(incident_.node);
    case IncidentKind::death:
      lose_node();
      ledger_.silent_from(incident_.node, system_.cycle() + plan_.bounds.chain());
      return system_.halt_node(incident_.node);
    case IncidentKind::long_cut:
      excuse_links();
      [[fallthrough]];
    case IncidentKind::short_cut:
      return set_links(true);
  }
}

void SoakIncident::end() {
  switch (incident_.kind) {
    case IncidentKind::none:
    case IncidentKind::death:
      return;
    case IncidentKind::stall:
      return system_.node(incident_.node).stall_output(false);
    case IncidentKind::reset:
      return restart();
    case IncidentKind::long_cut:
      ledger_.expect_ended(must_end_, system_.cycle(),
                           "although the network was cut for longer than its timers");
      ledger_.end_excuses(system_.cycle());
      [[fallthrough]];
    case IncidentKind::short_cut:
      return set_links(false);
  }
}

void SoakIncident::lose_node() {
  hooks_.on_loss(incident_.node);
  ledger_.lose(incident_.node);
  const bool comes_back = incident_.kind == IncidentKind::reset;  // its engine before its queues
  for (uint32_t other = 0; other < system_.size(); ++other) {
    if (other != incident_.node) excuse(other, incident_.node, comes_back);
  }
}

void SoakIncident::set_links(bool cut) {
  for (const auto& [from, to] : incident_.links) {
    if (cut) {
      system_.network().cut(from, to);
    } else {
      system_.network().heal(from, to);
    }
  }
}

/// A sender with a window has one for several destinations: who does not answer keeps the others' packets
/// from getting in.
void SoakIncident::excuse(uint32_t from, uint32_t to, bool queues_closed) {
  const rdma::Params& params = plan_.system.node.build.params;
  const auto share_window = [&](uint32_t other) {
    return params.scheme == rdma::Scheme::sender_window &&
           other % params.n_send_buffers == to % params.n_send_buffers;
  };
  for (uint32_t other = 0; other < system_.size(); ++other) {
    if (other == to || share_window(other)) ledger_.excuse(from, other, system_.cycle(), queues_closed);
  }
}

/// A long cut lasts so much longer, as transfers that share a sender's window may have to end one after the
/// other: what waits for room gets some whenever one before it is given up, and then has its whole time
/// again.
uint64_t SoakIncident::after_each_other() const {
  const rdma::Params& params = plan_.system.node.build.params;
  if (incident_.kind != IncidentKind::long_cut || params.scheme != rdma::Scheme::sender_window) return 0;
  size_t most = 1;
  for (uint32_t from = 0; from < system_.size(); ++from) {
    const uint64_t taken = posts_taken(system_.node(from).scoreboard());
    std::vector<size_t> of_window(params.n_send_buffers);
    for (uint32_t to = 0; to < system_.size(); ++to)
      of_window[to % params.n_send_buffers] += ledger_.open_among_first(taken, from, to).size();
    most = std::max(most, std::ranges::max(of_window));
  }
  return (most - 1) * plan_.bounds.give_up;
}

/// A transfer needs both directions.
void SoakIncident::excuse_links() {
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const auto& [from, to] : incident_.links) {
    pairs.emplace(from, to);
    pairs.emplace(to, from);
  }
  for (const auto& [from, to] : pairs) {
    excuse(from, to, false);
    if (plan_.nic) continue;  // what waits in queues is not in the order in which it was posted
    const uint64_t taken = posts_taken(system_.node(from).scoreboard());
    const auto open = ledger_.open_among_first(taken, from, to);
    must_end_.insert(must_end_.end(), open.begin(), open.end());
  }
}

void SoakIncident::restart() {
  driver::RdmaSetup setup = plan_.setups[incident_.node];
  const uint32_t mask = (1u << plan_.system.node.build.params.msgid_bits) - 1;
  setup.first_msgid = (setup.first_msgid + incident_.msgid_step) & mask;
  if (plan_.nic) setup.first_read_number = (setup.first_read_number + incident_.msgid_step) & mask;
  system_.node(incident_.node).driver().start(setup);
}

}  // namespace weft::sim
