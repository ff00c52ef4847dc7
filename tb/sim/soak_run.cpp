// SPDX-License-Identifier: Apache-2.0
// One run of the fault campaign: two rounds of posts, an incident in the first, everything settled after
// each.
#include "soak_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "event_traces.hpp"
#include "soak_incident.hpp"
#include "soak_ledger.hpp"
#include "soak_memory.hpp"

namespace weft::sim {

namespace formats = rdma::formats;
using formats::Outcome;
using formats::Status;

namespace {

constexpr uint64_t start_cycles = 200'000;
constexpr uint64_t most_cycles = 10'000'000;  // with nothing given and no incident: far beyond any progress
constexpr uint64_t progress_check_cycles = 256;
constexpr uint64_t guard_bytes = 4096;              // around the region, also with known bytes in it
constexpr uint64_t first_byte_stream = 1ull << 41;  // beyond those of the plan

/// Events after which there is less left to do.
bool is_progress(Outcome outcome) {
  switch (outcome) {
    case Outcome::accept:
    case Outcome::advance:
    case Outcome::finish:
    case Outcome::released:
    case Outcome::released_failed:
    case Outcome::reclaim:
    case Outcome::submit:
    case Outcome::complete:
    case Outcome::complete_error:
    case Outcome::refused:
    case Outcome::give_up:
    case Outcome::wait:
    case Outcome::ask:
    case Outcome::arrived:
    case Outcome::returned:
    case Outcome::cancel:
    case Outcome::give_up_read:
    case Outcome::refused_read:
      return true;
    default:
      return formats::name(outcome).starts_with("REJECT_");
  }
}

class SoakRun {
 public:
  SoakRun(const Plan& plan, const SoakOptions& options);
  SoakResult run();

 private:
  static tb::SystemConfig system_config(const Plan& plan, const SoakOptions& options);
  std::vector<tb::HostMemory*> memories();
  void fill_memories();
  void watch_nodes();
  void start();
  void play(const std::vector<PlannedPost>& round);
  void give_due(std::deque<PlannedPost>& waiting, uint64_t began);
  void check_progress();
  void note_settled();
  bool is_done();
  void lose(uint32_t node);
  void keep_outcomes(uint32_t node);
  void collect();
  bool stop() { return system_.stopped() || system_.findings().any(); }
  void tell(const std::string& text) { system_.findings().add(0, system_.cycle(), text); }

  const Plan& plan_;
  const SoakOptions& options_;
  tb::RdmaSystem system_;
  SoakMemory memory_;
  SoakLedger ledger_;
  std::optional<SoakNics> nics_;
  SoakIncident incident_;
  std::optional<tb::HeaderErrors> header_errors_;
  uint64_t last_change_ = 0;  // cycle of the last post given and of the incident's end
  uint64_t last_progress_ = 0;
  uint64_t progress_ = 0;
  SoakResult result_;
};

tb::SystemConfig SoakRun::system_config(const Plan& plan, const SoakOptions& options) {
  tb::SystemConfig config = plan.system;
  config.waves = options.waves;
  return config;
}

std::vector<tb::HostMemory*> SoakRun::memories() {
  std::vector<tb::HostMemory*> list;
  for (uint32_t node = 0; node < system_.size(); ++node)
    list.push_back(&system_.node(node).memory().memory());
  return list;
}

SoakRun::SoakRun(const Plan& plan, const SoakOptions& options)
    : plan_(plan),
      options_(options),
      system_(system_config(plan, options)),
      memory_(memories(), system_.findings()),
      ledger_(plan.nodes(), system_.findings()),
      incident_(plan, system_, ledger_,
                {[this](uint32_t node) { lose(node); },
                 [this](uint32_t node) { return !nics_ || nics_->bring_up(node); }}) {
  if (plan.nic) nics_.emplace(plan, system_, ledger_, memory_);
  if (plan.header_errors.rate > 0) {
    header_errors_.emplace(plan.header_errors, plan.seed);
    system_.tamper_with([this](tb::Bytes& packet) { header_errors_->pass(packet); });
  }
}

void SoakRun::fill_memories() {
  uint64_t stream = 0;
  if (nics_) nics_->prepare();
  for (uint32_t node = 0; node < plan_.nodes() && !nics_; ++node) {
    const uint64_t first = plan_.setups[node].regions.back().base - guard_bytes;
    const uint64_t limit = plan_.setups[node].regions.back().limit + guard_bytes;
    memory_.fill(node, first, soak_bytes(limit - first, plan_.seed, stream++));
  }
  for (const auto& round : plan_.rounds) {
    for (const PlannedPost& post : round) {
      if (post.deserved != Status::ok || post.ring) continue;
      const driver::RdmaRequest& request = post.request;
      auto bytes = soak_bytes(request.bytes, plan_.seed, stream++);
      memory_.fill(post.node, request.src_addr, bytes);
      memory_.expect_transfer(request.node, request.dst_addr, std::move(bytes));
    }
  }
}

void SoakRun::watch_nodes() {
  for (uint32_t index = 0; index < plan_.nodes(); ++index) {
    tb::RdmaNode& node = system_.node(index);
    node.on_posted([this, index](uint16_t tag) { ledger_.accepted(index, tag); });
    node.on_completion([this, index](const driver::RdmaCompletion& got) {
      const PlannedPost* post = ledger_.completed(index, got.tag, got.status, system_.cycle());
      if (!post || post->deserved != Status::ok || got.status != Status::ok) return;
      memory_.arrived(post->request.node, post->request.dst_addr, system_.cycle());
    });
  }
}

void SoakRun::start() {
  for (uint32_t node = 0; node < plan_.nodes(); ++node) system_.node(node).driver().start(plan_.setups[node]);
  if (system_.run_until([this] { return system_.all_ready(); }, start_cycles)) return;
  tell("the engines do not get ready");
}

/// In the order of the plan for each node, or queue as far as it has room; a node that is down waits, a dead
/// one posts no more.
void SoakRun::give_due(std::deque<PlannedPost>& waiting, uint64_t began) {
  if (waiting.empty()) return;
  const uint64_t now = system_.cycle();
  std::erase_if(waiting, [&](const PlannedPost& post) {
    if (incident_.dead(post.node)) return true;
    if (began + post.after_cycles > now || incident_.down(post.node)) return false;
    if (post.ring && !nics_->can_take(post)) return false;
    ledger_.give(post, now);
    if (post.ring) {
      nics_->give(post);
    } else {
      system_.node(post.node).driver().post(post.request);
    }
    last_change_ = now;
    return true;
  });
}

void SoakRun::check_progress() {
  uint64_t progress = ledger_.ended();
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    const auto& outcomes = system_.node(node).scoreboard().outcomes();
    for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
      if (is_progress(static_cast<Outcome>(code))) progress += outcomes[code];
    }
  }
  if (progress != progress_ || incident_.under_way()) {
    progress_ = progress;
    last_progress_ = system_.cycle();
  }
}

/// All posts have ended; queues are disabled then, which ends the buffers that nothing has come for.
bool SoakRun::is_done() {
  if (!ledger_.requests_ended() || !(!nics_ || (nics_->all_delivered() && nics_->close()))) return false;
  return ledger_.all_ended();
}

void SoakRun::play(const std::vector<PlannedPost>& round) {
  const uint64_t began = last_progress_ = last_change_ = system_.cycle();
  std::deque<PlannedPost> waiting(round.begin(), round.end());
  if (nics_) nics_->open();
  while (!stop()) {
    if (!incident_.over()) {
      incident_.step();
      last_change_ = system_.cycle();
    }
    if (nics_) nics_->step();
    give_due(waiting, began);
    if (waiting.empty() && incident_.over() && is_done() && system_.settled()) return note_settled();
    if (system_.cycle() % progress_check_cycles == 0) check_progress();
    if (system_.cycle() - last_progress_ > plan_.bounds.chain() ||
        system_.cycle() - last_change_ > most_cycles) {
      tell(fmt::format("hang: no progress since cycle {}, the longest chain of timeouts takes {}",
                       last_progress_, plan_.bounds.chain()));
      return;
    }
    system_.step();
  }
}

void SoakRun::note_settled() {
  result_.settle_cycles = std::max(result_.settle_cycles, system_.cycle() - last_change_);
  system_.check_at_end();
}

void SoakRun::lose(uint32_t node) {
  keep_outcomes(node);
  if (nics_) nics_->lose(node);
}

void SoakRun::keep_outcomes(uint32_t node) {
  const auto& outcomes = system_.node(node).scoreboard().outcomes();
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) result_.outcomes[code] += outcomes[code];
}

void SoakRun::collect() {
  result_.cycles = system_.cycle();
  for (uint32_t node = 0; node < plan_.nodes(); ++node) {
    keep_outcomes(node);
    result_.events += system_.node(node).scoreboard().events();
  }
  result_.given = ledger_.given();
  result_.accepted = ledger_.accepted();
  result_.lost = ledger_.lost();
  result_.excused = ledger_.excused();
  result_.completions = ledger_.by_status();
  result_.network = system_.network().counters();
  result_.fates = system_.fates();
  if (header_errors_) result_.header_hits = header_errors_->hits();
  if (nics_) result_.nics = nics_->counts();
  result_.finding = system_.findings().summary();
}

SoakResult SoakRun::run() {
  if (!options_.trace_dir.empty()) open_traces(system_, options_.trace_dir);
  fill_memories();
  watch_nodes();
  start();
  for (const auto& round : plan_.rounds) {
    if (!stop()) play(round);
  }
  if (!stop()) ledger_.expect_all_ended(system_.cycle());  // else it did not come to its end
  memory_.check(system_.cycle());
  close_traces(system_);
  collect();
  return result_;
}

}  // namespace

std::vector<uint8_t> soak_bytes(uint64_t count, uint64_t seed, uint64_t stream) {
  RandomStream random(seed, first_byte_stream + stream);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

SoakResult run_soak(const Plan& plan, const SoakOptions& options) { return SoakRun(plan, options).run(); }

}  // namespace weft::sim
