// SPDX-License-Identifier: Apache-2.0
// SEND, READ and write with immediate between two and three nodes over a bad network: every request ends in
// exactly one completion, the right bytes arrive, nothing is written after a completion, nothing is left
// over.
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "property.hpp"
#include "transfer_node.hpp"

namespace weft::rdma::test {
namespace {

constexpr uint32_t slot = 0x400;  // bytes of memory for each request; messages are shorter
constexpr uint64_t write_region = 0x1000, receive_region = 0x9000, read_region = 0x20000,
                   own_memory = 0x30000;
constexpr uint16_t receive_key = 0x111, read_key = 0x222;

Params party_params() {
  Params params = small_params();
  params.msgid_bits = 20;
  params.transfers = true;
  params.n_tickets = 6;
  params.n_queues = 2;
  return params;
}

uint16_t queue_key(uint8_t queue) { return static_cast<uint16_t>(0x7000 + queue); }

Config party_config(uint16_t node, bool weft_mode) {
  Config config = small_config(node);
  config.weft_mode = weft_mode;
  config.regions = {{write_region, receive_region, 0, true, false, false, uint8_t{0}},
                    {receive_region, read_region, receive_key, false, false, true},
                    {read_region, own_memory, read_key, false, true, false}};
  config.rx_timeout = config.tx_retry = 60;
  config.tx_dead = 4000;
  config.max_silent = config.max_retry = 15;
  // A receiver in paper mode never doubles its timeout: who did would ask too seldom to learn of its grant.
  config.backoff = weft_mode ? 3 : 0;
  config.ticket_quota = 4;
  config.answer_quota = 1;
  return config;
}

/// One request of a node's software. `number` is unique in a run; it is in its first bytes and its immediate.
struct Request {
  enum class Kind { send, write_imm, read };
  Kind kind = Kind::send;
  uint16_t from = 0;
  uint16_t to = 0;
  uint8_t queue = 0;
  uint32_t bytes = 0;
  uint32_t number = 0;
  bool has_imm = false;
};

std::vector<uint8_t> contents(const Request& request) {
  auto bytes = pattern(request.bytes, request.number * 97);
  for (uint32_t i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(request.number >> 8 * i);
  return bytes;
}

struct Setting {
  Weather weather;
  Manners manners;
  uint16_t nodes = 2;
  uint8_t max_silent = 15, max_retry = 15, max_busy = 255;
  std::optional<uint64_t> close_at;  // node 0 closes its queue 0
  std::vector<Request> requests;
};

class Parties {
 public:
  explicit Parties(const Setting& setting) : setting_(setting), dice_(setting.weather.seed) {
    for (uint16_t i = 0; i < setting_.nodes; ++i) {
      Config config = party_config(i, setting_.weather.weft_mode);
      config.max_silent = setting_.max_silent;
      config.max_retry = setting_.max_retry;
      config.max_busy = setting_.max_busy;
      networks_.push_back(std::make_unique<Network>(setting_.weather, dice_));
      sides_.push_back(std::make_unique<Side>());
      NodeEvents events;
      events.sent = [this](const Packet& packet) { networks_.at(packet.header.dst)->send(packet, now_); };
      events.landed = [this, i](const HostWrite& write) { landed(i, write); };
      events.completed = [this](const Completion& completion) { completed(completion); };
      events.ticket_completed = [this, i](const TicketCompletion& c) { ticket_completed(i, c); };
      nodes_.push_back(std::make_unique<TransferNode>(party_params(), config, setting_.weather,
                                                      setting_.manners, dice_, std::move(events)));
      for (uint8_t q = 0; q < party_params().n_queues; ++q) nodes_[i]->inbox.open(q, queue_key(q));
    }
    for (const Request& request : setting_.requests) prepare(request);
  }

  void run(uint64_t most_ticks) {
    for (now_ = 0; now_ < most_ticks && !over(); ++now_) {
      if (setting_.close_at == now_) nodes_[0]->inbox.close(0);
      if (everything_posted() && all_ended() && quiet()) close_all();
      for (auto& node : nodes_) node->start_tick(now_);
      post_next();
      for (uint16_t i = 0; i < setting_.nodes; ++i) {
        for (const auto& flits : networks_[i]->arrivals(now_)) nodes_[i]->arrive(flits);
        nodes_[i]->work();
      }
    }
  }

  bool over() const {
    const auto idle = [](const auto& node) { return node->idle(); };
    const auto empty = [](const auto& network) { return network->empty(); };
    return everything_posted() && std::ranges::all_of(nodes_, idle) && std::ranges::all_of(networks_, empty);
  }

  /// The end of a request as its own node was told, nothing if it was not.
  std::optional<Status> status(const Request& request) const {
    const auto& end = ends_.at(request.number);
    return end;
  }

  /// Status of the RECV that this message used up, if there is one.
  std::optional<Status> received(const Request& request) const {
    const auto found = received_.find(request.number);
    return found == received_.end() ? std::nullopt : std::optional(found->second);
  }

  bool is_at_destination(const Request& request) const {
    const uint16_t node = request.kind == Request::Kind::read ? request.from : request.to;
    return holds_contents(node, destination(request), request);
  }

  std::set<Outcome> outcomes() const {
    std::set<Outcome> all;
    for (const auto& node : nodes_) all.insert(node->outcomes.begin(), node->outcomes.end());
    return all;
  }

  /// What went wrong at the moment of an event; empty: nothing.
  const std::vector<std::string>& faults() const { return faults_; }
  std::size_t receives_owed() const { return receives_owed_; }

 private:
  struct Buffer {
    uint64_t address = 0;
    TicketKind kind = TicketKind::recv;
    bool ended = false;
    std::vector<uint8_t> final_bytes;
  };

  /// What the software of a node keeps. A buffer's tag is its index.
  struct Side {
    std::vector<Buffer> buffers;
    std::map<uint16_t, uint32_t> reads;  // tag → number of the request
    std::array<uint32_t, 2> receives{};  // still to be posted, by queue
    std::deque<Request> requests;
  };

  void prepare(const Request& request) {
    ends_[request.number];
    sides_[request.from]->requests.push_back(request);
    const bool read = request.kind == Request::Kind::read;
    const uint16_t holder = read ? request.to : request.from;
    const auto bytes = contents(request);
    std::ranges::copy(bytes, nodes_[holder]->memory.begin() + static_cast<std::ptrdiff_t>(source(request)));
    if (!read) sides_[request.to]->receives.at(request.queue) += 1;
  }

  static uint64_t source(const Request& request) {
    return (request.kind == Request::Kind::read ? read_region : own_memory) + uint64_t{slot} * request.number;
  }

  uint64_t destination(const Request& request) const {
    return request.kind == Request::Kind::read ? read_into_.at(request.number)
                                               : write_region + uint64_t{slot} * request.number;
  }

  bool holds_contents(uint16_t node, uint64_t address, const Request& request) const {
    const auto bytes = contents(request);
    return std::equal(bytes.begin(), bytes.end(),
                      nodes_[node]->memory.begin() + static_cast<std::ptrdiff_t>(address));
  }

  void post_next() {
    for (uint16_t i = 0; i < setting_.nodes; ++i) {
      Side& side = *sides_[i];
      for (uint8_t q = 0; q < 2; ++q) {
        if (side.receives[q] > 0 && nodes_[i]->inbox.held_by(q) < 2 && nodes_[i]->can_wait()) {
          side.receives[q] -= 1;
          TicketPost post = new_buffer(i, TicketKind::recv);
          post.queue = q;
          receives_owed_ += 1;
          nodes_[i]->post(post);
        }
      }
      if (!side.requests.empty() && dice_.hit(0.5)) start(i, side.requests.front());
    }
  }

  /// Posts the request if there is room for it.
  void start(uint16_t node, const Request& request) {
    if (request.kind == Request::Kind::read) {
      if (nodes_[node]->inbox.held_by(1) >= 4 || !nodes_[node]->can_wait()) return;
      TicketPost post = new_buffer(node, TicketKind::read);
      post.queue = 1;
      post.bytes = request.bytes;
      post.node = request.to;
      post.remote_addr = source(request);
      post.remote_rkey = {2, read_key};
      sides_[node]->reads[post.tag] = request.number;
      read_into_[request.number] = post.address;
      nodes_[node]->post(post);
    } else {
      if (!nodes_[node]->can_post()) return;
      Post post{source(request), 0, request.bytes, request.to, static_cast<uint16_t>(request.number)};
      if (request.kind == Request::Kind::send) {
        post.to = Post::To::queue;
        post.rkey = rkey({request.queue, queue_key(request.queue)});
      } else {
        post.dst_addr = destination(request);
      }
      if (request.has_imm) post.imm = request.number;
      nodes_[node]->post(post);
    }
    sides_[node]->requests.pop_front();
  }

  TicketPost new_buffer(uint16_t node, TicketKind kind) {
    auto& buffers = sides_[node]->buffers;
    TicketPost post;
    post.kind = kind;
    post.tag = static_cast<uint16_t>(buffers.size());
    post.address = receive_region + uint64_t{slot} * buffers.size();
    post.bytes = slot;
    post.rkey = {1, receive_key};
    buffers.push_back({post.address, kind, false, {}});
    return post;
  }

  void fault(const std::string& what) { faults_.push_back("tick " + std::to_string(now_) + ": " + what); }

  void landed(uint16_t node, const HostWrite& write) {
    for (const Buffer& buffer : sides_[node]->buffers) {
      const bool inside = write.addr >= buffer.address && write.addr < buffer.address + slot;
      if (inside && buffer.ended) fault("a write into a buffer whose request is over");
    }
  }

  void completed(const Completion& completion) { end(completion.tag, completion.status); }

  void end(uint32_t number, Status status) {
    if (!ends_.contains(number)) return fault("a completion without a request");
    if (ends_[number]) return fault("a second completion");
    ends_[number] = status;
  }

  void ticket_completed(uint16_t node, const TicketCompletion& completion) {
    Buffer& buffer = sides_[node]->buffers.at(completion.tag);
    if (buffer.ended) return fault("a second completion of a RECV or READ");
    if (buffer.kind != completion.kind) fault("a completion of another kind");
    buffer.ended = true;
    if (completion.kind == TicketKind::read)
      return end(sides_[node]->reads.at(completion.tag), completion.status);
    receives_owed_ -= 1;
    // What a write that failed has left in the buffer does not tell which message it was.
    const bool told = completion.status == Status::local_error && completion.imm;
    if (completion.status == Status::ok || told) arrived(node, completion, buffer);
  }

  /// Which message it was follows from the immediate, or from what is in the buffer.
  void arrived(uint16_t node, const TicketCompletion& completion, const Buffer& buffer) {
    const auto* at = &nodes_[node]->memory[buffer.address];
    const uint32_t in_buffer = at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24;
    const uint32_t number = completion.imm ? *completion.imm : in_buffer;
    const auto found = std::ranges::find(setting_.requests, number, &Request::number);
    if (found == setting_.requests.end()) return fault("a message that nobody has sent");
    const Request& request = *found;
    const bool write = request.kind == Request::Kind::write_imm;
    if (completion.node != request.from || completion.bytes != request.bytes || node != request.to ||
        completion.queue != request.queue || completion.imm.has_value() != request.has_imm ||
        completion.form != (write ? Form::immediate : Form::buffer)) {
      fault("a completion that tells of another message");
    }
    const uint64_t place = write ? destination(request) : buffer.address;
    if (completion.status == Status::ok && !holds_contents(node, place, request))
      fault("other bytes than sent");
    if (!received_.emplace(number, completion.status).second) fault("a message delivered twice");
  }

  bool everything_posted() const {
    return std::ranges::all_of(sides_, [](const auto& side) { return side->requests.empty(); });
  }
  bool all_ended() const {
    return std::ranges::all_of(ends_, [](const auto& end) { return end.second.has_value(); });
  }
  bool quiet() const {
    return std::ranges::all_of(nodes_, [](const auto& node) { return node->only_waits(); });
  }

  /// Unused RECVs end, those still to be posted are not posted.
  void close_all() {
    for (uint16_t i = 0; i < setting_.nodes; ++i) {
      sides_[i]->receives = {};
      for (uint8_t q = 0; q < 2; ++q) nodes_[i]->inbox.close(q);
    }
  }

  const Setting setting_;
  Dice dice_;
  std::vector<std::unique_ptr<Network>> networks_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<std::unique_ptr<TransferNode>> nodes_;
  std::map<uint32_t, std::optional<Status>> ends_;
  std::map<uint32_t, Status> received_;
  std::map<uint32_t, uint64_t> read_into_;
  std::vector<std::string> faults_;
  std::size_t receives_owed_ = 0;
  uint64_t now_ = 0;
};

std::vector<Request> random_requests(Dice& dice, uint16_t nodes, uint32_t count) {
  std::vector<Request> requests;
  for (uint32_t i = 0; i < count; ++i) {
    Request request;
    request.kind = static_cast<Request::Kind>(dice.below(3));
    request.from = static_cast<uint16_t>(dice.below(nodes));
    request.to = static_cast<uint16_t>((request.from + 1 + dice.below(nodes - 1u)) % nodes);
    request.queue = request.kind == Request::Kind::send ? static_cast<uint8_t>(dice.below(2)) : uint8_t{0};
    request.bytes = static_cast<uint32_t>(4 + dice.below(slot - 3));
    request.number = i;
    request.has_imm =
        request.kind == Request::Kind::write_imm || (request.kind == Request::Kind::send && dice.hit(0.5));
    requests.push_back(request);
  }
  return requests;
}

/// What follows from one random number. Weather never so bad that sixteen tries in a row fail.
Setting fair(uint64_t seed) {
  Dice dice(seed);
  const auto up_to = [&](double most) { return most * static_cast<double>(dice.below(101)) / 100; };
  Setting setting;
  setting.weather = {seed,          up_to(0.1),  up_to(0.3),
                     up_to(0.03),   up_to(0.05), 1 + dice.below(150),
                     dice.hit(0.5), 0,           dice.hit(0.5) ? 0 : up_to(1)};
  setting.manners.memory_waits = up_to(0.9);
  setting.nodes = static_cast<uint16_t>(2 + dice.below(2));
  setting.requests = random_requests(dice, setting.nodes, static_cast<uint32_t>(1 + dice.below(20)));
  return setting;
}

/// The same, but contexts are reclaimed early, requests given up early, a queue is closed in the middle,
/// memory fails and the network may lose nearly everything.
Setting storm(uint64_t seed) {
  Setting setting = fair(seed);
  Dice dice(~seed);
  if (dice.hit(0.5)) setting.weather.loss = static_cast<double>(dice.below(100)) / 100;
  setting.manners.memory_errors = dice.hit(0.5) ? 0.02 : 0;
  setting.max_silent = static_cast<uint8_t>(1 + dice.below(4));
  setting.max_retry = static_cast<uint8_t>(1 + dice.below(4));
  setting.max_busy = static_cast<uint8_t>(1 + dice.below(4));
  if (dice.hit(0.5)) setting.close_at = dice.below(2000);
  setting.manners.read_errors = dice.hit(0.5) ? 0.02 : 0;
  return setting;
}

constexpr uint64_t most_ticks = 400000;

/// rapidcheck begins with small numbers, which come again and again.
uint64_t any_seed() { return *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<uint64_t>()); }

void expect_all_well(const Parties& parties, const Setting& setting) {
  RC_ASSERT(parties.faults() == std::vector<std::string>{});
  RC_ASSERT(parties.over());
  RC_ASSERT(parties.receives_owed() == 0u);
  for (const Request& request : setting.requests) {
    RC_ASSERT(parties.status(request).has_value());
    RC_ASSERT(*parties.status(request) == Status::ok);
    if (request.kind == Request::Kind::read) {
      RC_ASSERT(parties.is_at_destination(request));
    } else {
      RC_ASSERT(parties.received(request) == std::optional(Status::ok));
    }
  }
}

TEST(TransferParties, EveryRequestSucceedsOverABadNetwork) {
  EXPECT_PROPERTY("transfers", [] {
    const Setting setting = fair(any_seed());
    Parties parties(setting);
    parties.run(most_ticks);
    expect_all_well(parties, setting);
  });
}

TEST(TransferParties, EveryRequestEndsOnceAndNothingIsLeftInAStorm) {
  EXPECT_PROPERTY("storm", [] {
    const Setting setting = storm(any_seed());
    Parties parties(setting);
    parties.run(most_ticks);
    RC_ASSERT(parties.faults() == std::vector<std::string>{});
    RC_ASSERT(parties.over());
    RC_ASSERT(parties.receives_owed() == 0u);
    for (const Request& request : setting.requests) {
      const auto status = parties.status(request);
      RC_ASSERT(status.has_value());
      if (*status != Status::ok) continue;
      const bool read = request.kind == Request::Kind::read;
      // Without an error of memory in the way the bytes are there.
      if (read) RC_ASSERT(parties.is_at_destination(request));
      if (!read && setting.manners.memory_errors == 0) {
        RC_ASSERT(parties.received(request) == std::optional(Status::ok));
      }
    }
  });
}

TEST(TransferParties, DeadNetworkEndsEveryRequestOnce) {
  Setting setting = fair(7);
  setting.weather.loss = 1;
  setting.max_retry = 2;
  Parties parties(setting);
  parties.run(most_ticks);
  EXPECT_TRUE(parties.over());
  EXPECT_EQ(parties.faults(), std::vector<std::string>{});
  EXPECT_EQ(parties.receives_owed(), 0u);
  ASSERT_FALSE(setting.requests.empty());
  for (const Request& request : setting.requests) EXPECT_EQ(parties.status(request), Status::no_answer);
}

TEST(TransferParties, FineAndFoulWeatherReachTheRareOutcomes) {
  std::set<Outcome> outcomes;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const Setting setting = seed % 2 == 0 ? fair(seed) : storm(seed);
    Parties parties(setting);
    parties.run(most_ticks);
    outcomes.merge(parties.outcomes());
  }
  for (const auto outcome : {Outcome::grant_again,
                             Outcome::drop_asked,
                             Outcome::refuse_queue,
                             Outcome::refuse_not_ready,
                             Outcome::refuse_not_wanted,
                             Outcome::read_taken,
                             Outcome::refuse_answers,
                             Outcome::wait,
                             Outcome::ask,
                             Outcome::reject_closed,
                             Outcome::retry_read,
                             Outcome::give_up_read,
                             Outcome::backoff_read,
                             Outcome::refused_read,
                             Outcome::drop_old_read,
                             Outcome::arrived,
                             Outcome::returned,
                             Outcome::cancel,
                             Outcome::drop_no_key,
                             Outcome::reclaim,
                             Outcome::released,
                             Outcome::released_failed,
                             Outcome::stale,
                             Outcome::source_failed,
                             Outcome::complete_error}) {
    EXPECT_TRUE(outcomes.contains(outcome)) << formats::name(outcome);
  }
}

}  // namespace
}  // namespace weft::rdma::test
