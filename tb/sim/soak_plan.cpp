// SPDX-License-Identifier: Apache-2.0
// Draws a run of the fault campaign from its seed.
#include "soak_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rdma_run.hpp"
#include "soak_dice.hpp"
#include "soak_nic_plan.hpp"

namespace weft::sim {

namespace formats = rdma::formats;
using formats::Status;

namespace {

constexpr uint64_t plan_stream = 1ull << 40;  // beyond those of the simulation
constexpr uint64_t nic_stream =
    plan_stream + 1;  // whether the nodes are NICs: what else is drawn stays as it is
constexpr uint64_t older_stream = plan_stream + 2;
constexpr double most_loss = 0.2;         // with bit errors: of packets that do not arrive in order
constexpr uint64_t in_engines = 100;      // cycles, about
constexpr uint8_t max_tries = 15;         // MAX_SILENT, MAX_RETRY
constexpr double counter_share = 0.0125;  // of these, where each loss costs a whole transfer
constexpr double counter_corrupt_share =
    0.0625;                               // bit errors are rarer: so that they strike the few DONE, too
constexpr uint64_t healing_timeouts = 4;  // a short incident lasts up to so many, of 16 until one gives up

/// Small engines more often: their queues are full and their numbers wrap.
constexpr const char* usual_builds[] = {"small", "small", "small", "line", "wide", "w32", "w128"};
constexpr const char* usual_nics[] = {"nic_full", "nic_full", "nic_wide"};

/// What `older_engines` draws from.
constexpr const char* older_builds[] = {"rxcounter_small", "rxcounter_small", "rxcounter",
                                        "txwindow_small",  "txwindow_small",  "txwindow"};

const tb::RdmaBuild& build_named(const std::string& name) {
  const tb::RdmaBuild* build = tb::find_rdma_build(name);
  if (!build) throw BadInput(fmt::format("no engine '{}' is compiled in", name));
  return *build;
}

template <size_t count>
bool has_all(const char* const (&names)[count]) {
  return std::ranges::all_of(names, [](const char* name) { return tb::find_rdma_build(name) != nullptr; });
}

/// One run in three is of NICs.
std::string draw_build(Dice& dice, uint64_t seed) {
  const std::string engine = dice.pick(usual_builds);
  Dice nics(seed, nic_stream);
  return nics.one_in(3) ? nics.pick(usual_nics) : engine;
}

/// @param build as make_plan has it
std::string choose_build(Dice& dice, uint64_t seed, const std::string& build) {
  const std::string drawn = draw_build(dice, seed);  // also if it is not taken: the rest stays as it is
  if (build == older_engines) return Dice(seed, older_stream).pick(older_builds);
  return build.empty() ? drawn : build;
}

uint32_t draw_nodes(Dice& dice) {
  constexpr uint32_t counts[] = {2, 2, 2, 3, 3, 4};
  return dice.pick(counts);
}

tb::SystemConfig draw_system(Dice& dice, uint64_t seed, const std::string& build) {
  tb::SystemConfig system;
  system.seed = seed;
  system.node.build = build_named(choose_build(dice, seed, build));
  system.nodes = draw_nodes(dice);
  system.node.pause = dice.sometimes(0.5);
  system.node.memory_latency = static_cast<uint32_t>(dice.between(1, 40));
  system.node.memory_jitter = static_cast<uint32_t>(dice.below(40));
  return system;
}

fabric::Faults draw_faults(Dice& dice, double other_errors) {
  fabric::Faults faults;
  faults.corrupt = dice.sometimes(0.05);
  faults.loss = dice.sometimes(most_loss - other_errors - faults.corrupt);
  faults.duplicate = dice.sometimes(0.2);
  faults.reorder_degree = static_cast<uint32_t>(dice.sometimes(300));
  faults.hold_limit = static_cast<uint32_t>(dice.between(500, 8000));
  faults.delay = static_cast<uint32_t>(dice.between(1, 120));
  faults.jitter = static_cast<uint32_t>(dice.below(120));
  faults.duplicate_lag = static_cast<uint32_t>(dice.between(1, dice.one_in(3) ? 20'000 : 2000));
  return faults;
}

tb::HeaderErrorConfig draw_header_errors(Dice& dice, IncidentKind incident) {
  tb::HeaderErrorConfig errors;
  if (dice.one_in(2)) return errors;
  errors.rate = 0.002 + 0.05 * dice.fraction();
  errors.field = dice.pick(formats::fields);
  // A receiver that was reset counts its generations from the beginning. Then an error that the CRC does not
  // show could make an old packet one of a new transfer: nothing protects from both at once.
  errors.crc_mended = dice.one_in(2) && errors.field.name != "crc" && incident != IncidentKind::reset;
  return errors;
}

/// A receiver that counts asks for the whole transfer when a packet is lost, doubled, or later than its
/// timeout: with what the other schemes stand, long transfers would never end, and those behind them find no
/// context.
void spare_whole_transfers(fabric::Faults& faults, tb::HeaderErrorConfig& errors) {
  faults.loss *= counter_share;
  faults.corrupt *= counter_corrupt_share;
  faults.duplicate *= counter_share;  // counted twice: the count is right too early
  errors.rate *= counter_share;
  const auto below_timeouts = static_cast<uint32_t>(2 * (faults.delay + faults.jitter + in_engines));
  faults.hold_limit = std::min(faults.hold_limit, below_timeouts);
}

/// Ticks of a timeout and of so many more that double each time, at most `backoff` times.
uint64_t patience(uint64_t timeout, uint32_t more, uint32_t backoff) {
  uint64_t ticks = 0;
  for (uint32_t i = 0; i <= more; ++i) ticks += timeout << std::min(i, backoff);
  return ticks;
}

driver::RdmaSetup draw_timers(Dice& dice, const tb::SystemConfig& system) {
  driver::RdmaSetup setup;
  const tb::NodeConfig& node = system.node;
  const uint64_t round_trip = 2ull * (system.faults.delay + system.faults.jitter + node.memory_latency +
                                      node.memory_jitter + in_engines);
  const auto ticks = [&] {
    return static_cast<uint16_t>(dice.between(2 * round_trip, 4 * round_trip) / setup.tick_cycles + 1);
  };
  setup.tick_cycles = static_cast<uint16_t>(dice.between(60, 90));
  setup.rx_timeout = ticks();
  setup.tx_retry = ticks();
  setup.max_silent = setup.max_retry = max_tries;
  setup.backoff = static_cast<uint8_t>(dice.below(4));
  setup.tx_dead = static_cast<uint16_t>(patience(setup.rx_timeout, max_tries, setup.backoff) +
                                        3 * (setup.rx_timeout << setup.backoff));
  setup.rx_quota = dice.pick(std::array<uint16_t, 4>{0, 0, 1, 3});
  setup.ask_from_after = static_cast<uint8_t>(dice.below(4));
  setup.adapt = dice.one_in(2);
  setup.timeout_floor = static_cast<uint16_t>(2 * round_trip / setup.tick_cycles + 1);
  setup.rx_ahead = dice.pick(std::array<uint8_t, 4>{0, 1, 5, 40});
  if (node.build.params.scheme != rdma::Scheme::receiver_window)
    setup.max_busy = 0;  // slow: they refuse often
  return setup;
}

/// A sender that waits for room in its window has its turn before it, which is as good as being heard.
uint32_t waits_for_turns(const driver::RdmaSetup& setup, rdma::Scheme scheme) {
  return scheme == rdma::Scheme::sender_window ? setup.max_retry : 0;
}

Bounds bounds_of(const driver::RdmaSetup& setup, const fabric::Faults& faults, rdma::Scheme scheme) {
  const auto cycles = [&](uint64_t ticks) { return ticks * setup.tick_cycles; };
  Bounds bounds;
  const uint64_t requests = patience(setup.tx_retry, setup.max_retry + 1, setup.backoff);
  const uint32_t silences = 2 + waits_for_turns(setup, scheme);  // without a window twice TX_DEAD
  bounds.give_up = cycles(std::max<uint64_t>(requests, silences * (setup.tx_dead + 1u)));
  bounds.reclaim = cycles(patience(setup.rx_timeout, setup.max_silent + 1, setup.backoff));
  bounds.network = uint64_t{faults.hold_limit} + faults.delay + faults.jitter + faults.duplicate_lag;
  return bounds;
}

/// Each node's own: in half of the runs the receivers are of both modes; MSGID often wraps during the run.
void draw_setups(Dice& dice, Plan& plan, const driver::RdmaSetup& timers) {
  const bool mixed = dice.one_in(2);
  const bool weft_mode = dice.one_in(2);
  const uint64_t numbers = 1ull << plan.system.node.build.params.msgid_bits;
  for (uint32_t node = 0; node < plan.nodes(); ++node) {
    driver::RdmaSetup setup = timers;
    setup.node_id = static_cast<uint16_t>(node);
    setup.weft_mode = mixed ? dice.one_in(2) : weft_mode;
    setup.first_msgid =
        static_cast<uint32_t>(dice.one_in(2) ? numbers - dice.between(1, 8) : dice.below(numbers));
    plan.setups.push_back(setup);
  }
}

std::vector<std::pair<uint32_t, uint32_t>> draw_links(Dice& dice, uint32_t nodes) {
  std::vector<std::pair<uint32_t, uint32_t>> links;
  const auto both = [&](uint32_t a, uint32_t b) {
    links.emplace_back(a, b);
    links.emplace_back(b, a);
  };
  const auto one = static_cast<uint32_t>(dice.below(nodes));
  const auto other = static_cast<uint32_t>((one + dice.between(1, nodes - 1)) % nodes);
  switch (dice.below(3)) {
    case 0:  // one direction
      links.emplace_back(one, other);
      break;
    case 1:
      both(one, other);
      break;
    default:  // every node by itself
      for (uint32_t a = 0; a < nodes; ++a) {
        for (uint32_t b = 0; b < a; ++b) both(a, b);
      }
  }
  return links;
}

IncidentKind draw_kind(Dice& dice) { return static_cast<IncidentKind>(dice.below(incident_names.size())); }

/// Ticks, adapted or not.
uint16_t shortest_timeout(const driver::RdmaSetup& timers) {
  const uint16_t set = std::min(timers.rx_timeout, timers.tx_retry);
  return timers.adapt ? std::min(set, timers.timeout_floor) : set;
}

Incident draw_incident(Dice& dice, IncidentKind kind, const Plan& plan, const driver::RdmaSetup& timers) {
  Incident incident;
  incident.kind = kind;
  incident.node = static_cast<uint32_t>(dice.below(plan.nodes()));
  incident.after_completions = dice.below(plan.rounds[0].size() * 3 / 4);
  incident.after_cycles = dice.below(500);
  const uint64_t timeout = uint64_t{shortest_timeout(timers)} * timers.tick_cycles;
  const uint32_t msgid_bits = plan.system.node.build.params.msgid_bits;
  switch (kind) {
    case IncidentKind::none:
    case IncidentKind::death:
      break;
    case IncidentKind::stall:
    case IncidentKind::short_cut:
      incident.cycles = dice.between(1, healing_timeouts * timeout);
      break;
    case IncidentKind::long_cut:
      incident.cycles = plan.bounds.chain();
      break;
    case IncidentKind::reset:  // docs/rdma.md, Programmer's guide: other numbers, or time for the old to end
      if (msgid_bits >= 16 && dice.one_in(2)) {
        incident.msgid_step = 1u << (msgid_bits - 4);
        incident.cycles = dice.below(3000);
      } else {
        // answers to READs from before the reset are over when their senders have given up, too
        incident.cycles = plan.nic ? plan.bounds.chain() : plan.bounds.reclaim + plan.bounds.network;
      }
  }
  if (kind == IncidentKind::short_cut || kind == IncidentKind::long_cut) {
    incident.links = draw_links(dice, plan.nodes());
  }
  return incident;
}

/// Places posts in the memories so that no two touch, with a payload's room between them.
class PostDraw {
 public:
  PostDraw(Dice& dice, Plan& plan)
      : dice_(dice),
        plan_(plan),
        region_(static_cast<uint8_t>(dice.below(plan.system.node.build.params.n_regions))),
        key_(static_cast<uint16_t>(dice.below(1 << 16))),
        next_source_(plan.nodes(), soak_source_base),
        next_destination_(plan.nodes(), soak_destination_base),
        next_tag_(plan.nodes(), 0) {}

  void draw_round(std::vector<PlannedPost>& round, uint64_t most_per_node) {
    const uint64_t spread = dice_.one_in(2) ? 1 : 20'000;
    for (uint32_t node = 0; node < plan_.nodes(); ++node) {
      const uint64_t count = dice_.between(2, most_per_node);
      for (uint64_t i = 0; i < count; ++i) {
        PlannedPost post = good_post(node);
        post.after_cycles = dice_.below(spread);
        if (dice_.one_in(10)) spoil(post);
        round.push_back(post);
      }
    }
    std::ranges::stable_sort(round, {}, &PlannedPost::after_cycles);
  }

  /// The regions of every node, one of which is open; known when all posts are drawn.
  std::vector<driver::RdmaRegion> regions() const {
    std::vector<driver::RdmaRegion> all(region_ + 1u);
    all[region_] = {soak_destination_base, region_limit(), key_};
    return all;
  }

  /// Requests beyond the end of the region, which only now is known.
  void place_outside(std::vector<PlannedPost>& round) const {
    for (PlannedPost& post : round) {
      if (post.deserved == Status::bad_region) post.request.dst_addr = region_limit() - payload();
    }
  }

 private:
  uint64_t payload() const { return plan_.system.node.build.params.payload; }
  uint64_t region_limit() const { return *std::ranges::max_element(next_destination_); }

  uint64_t take(uint64_t& next, uint64_t bytes) const { return take_place(next, bytes, payload()); }

  PlannedPost good_post(uint32_t node) {
    PlannedPost post;
    post.node = node;
    driver::RdmaRequest& request = post.request;
    request.node = static_cast<uint32_t>(dice_.below(plan_.nodes()));
    request.bytes = draw_bytes(dice_, plan_.system.node.build.params);
    request.src_addr = take(next_source_[node], request.bytes);
    request.dst_addr = take(next_destination_[request.node], request.bytes);
    request.tag = next_tag_[node]++;
    request.rkey = driver::rdma_rkey(region_, key_);
    return post;
  }

  void spoil(PlannedPost& post) {
    const rdma::Params& params = plan_.system.node.build.params;
    driver::RdmaRequest& request = post.request;
    constexpr Status faults[] = {Status::bad_length, Status::bad_length,  Status::misaligned,
                                 Status::bad_node,   Status::bad_address, Status::bad_region,
                                 Status::bad_region, Status::bad_key,     Status::no_answer};
    post.deserved = dice_.pick(faults);
    switch (post.deserved) {
      case Status::bad_length:
        request.bytes = dice_.one_in(2) ? 0 : ~0u;
        break;
      case Status::misaligned:
        (dice_.one_in(2) ? request.src_addr : request.dst_addr) += dice_.between(1, payload() - 1);
        break;
      case Status::bad_node:
        request.node = (1u << params.node_bits) + static_cast<uint32_t>(dice_.below(3));
        break;
      case Status::bad_address:
        request.bytes = static_cast<uint32_t>(2 * payload());
        (dice_.one_in(2) ? request.src_addr : request.dst_addr) = (1ull << params.addr_bits) - payload();
        break;
      case Status::bad_region:
        request.bytes = static_cast<uint32_t>(payload() + dice_.between(1, payload()));
        break;
      case Status::bad_key:
        request.rkey ^= 1u << dice_.below(24);
        break;
      default:  // a node that does not exist
        request.node = plan_.nodes() + static_cast<uint32_t>(dice_.below(3));
    }
  }

  Dice& dice_;
  Plan& plan_;
  uint8_t region_;
  uint16_t key_;
  std::vector<uint64_t> next_source_, next_destination_;
  std::vector<uint16_t> next_tag_;
};

void draw_engine_posts(Dice& dice, Plan& plan) {
  PostDraw posts(dice, plan);
  posts.draw_round(plan.rounds[0], most_posts[0]);
  posts.draw_round(plan.rounds[1], most_posts[1]);
  for (auto& round : plan.rounds) posts.place_outside(round);
  for (driver::RdmaSetup& setup : plan.setups) setup.regions = posts.regions();
}

/// A dead node posts nothing in the second round and answers nothing.
void bury(std::vector<PlannedPost>& round, uint32_t dead) {
  std::erase_if(round, [&](const PlannedPost& post) { return post.node == dead; });
  for (PlannedPost& post : round) {
    const bool would_be_sent = is_sent(post.deserved);
    if (would_be_sent && post.request.node == dead) post.deserved = Status::no_answer;
  }
}

}  // namespace

std::string status_name(Status status) {
  const std::string_view known = formats::name(status);
  if (known != "?") return std::string(known);
  return std::string(rdma_queues::formats::name(static_cast<rdma_queues::formats::QueueStatus>(status)));
}

bool is_sent(Status deserved) {
  return deserved == Status::ok || deserved == Status::bad_region || deserved == Status::bad_key ||
         deserved == Status::too_long;
}

uint64_t Bounds::chain() const {
  constexpr uint64_t in_queues = 20'000;  // with pauses, and timers that are looked at in turn
  return give_up + reclaim + network + in_queues;
}

bool has_soak_engines() { return has_all(usual_builds) && has_all(usual_nics); }

Plan make_plan(uint64_t seed, const std::string& build) {
  Dice dice(seed, plan_stream);
  Plan plan;
  plan.seed = seed;
  plan.system = draw_system(dice, seed, build);
  const IncidentKind kind = draw_kind(dice);
  plan.header_errors = draw_header_errors(dice, kind);
  plan.system.faults = draw_faults(dice, plan.header_errors.rate);
  if (plan.system.node.build.params.scheme == rdma::Scheme::receiver_counter)
    spare_whole_transfers(plan.system.faults, plan.header_errors);
  const driver::RdmaSetup timers = draw_timers(dice, plan.system);
  plan.bounds = bounds_of(timers, plan.system.faults, plan.system.node.build.params.scheme);
  draw_setups(dice, plan, timers);
  if (plan.system.node.build.queues > 0) {
    plan.header_errors.crc_mended = false;  // nothing tells a wrong immediate but the CRC
    draw_nic_posts(dice, plan);
  } else {
    draw_engine_posts(dice, plan);
  }
  plan.incident = draw_incident(dice, kind, plan, timers);
  if (kind == IncidentKind::death) bury(plan.rounds[1], plan.incident.node);
  return plan;
}

}  // namespace weft::sim
