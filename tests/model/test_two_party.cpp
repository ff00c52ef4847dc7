// SPDX-License-Identifier: Apache-2.0
// Sender and receiver together over a network that loses, duplicates, reorders, delays and corrupts packets.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "property.hpp"
#include "rdma/receiver.hpp"
#include "rdma/repeats.hpp"
#include "rdma/sender.hpp"
#include "small_engine.hpp"
#include "weather.hpp"

namespace weft::rdma::test {
namespace {

Params two_party_params(Scheme scheme, uint32_t window) {
  Params params = small_params();
  params.window = window;
  params.msgid_bits = 20;
  params.scheme = scheme;
  if (scheme == Scheme::receiver_counter) params.window = 64;
  params.n_send_buffers = 2;
  return params;
}

Config two_party_config(uint16_t node, bool weft_mode = false, uint8_t rx_ahead = 0) {
  Config config = small_config(node);
  config.weft_mode = weft_mode;
  config.rx_ahead = rx_ahead;
  config.rx_timeout = 60;
  config.tx_retry = 60;
  config.tx_dead = 4000;
  config.max_silent = config.max_retry = 15;
  config.backoff = 3;
  return config;
}

class TwoParties {
 public:
  explicit TwoParties(const Weather& weather, uint32_t window = small_params().window)
      : params(two_party_params(weather.scheme, window)),
        receiver(params, two_party_config(receiver_node, weather.weft_mode, weather.rx_ahead)),
        weather_(weather),
        dice_(weather.seed) {}

  void run(const std::vector<Post>& posts, uint64_t most_ticks) {
    std::size_t posted = 0;
    for (now_ = 0; now_ < most_ticks; ++now_) {
      rx_controls_ = tx_controls_ = resends_ = 0;
      if (mode_changes.contains(now_)) change_mode();
      if (cuts.contains(now_)) weather_.loss = 1 - weather_.loss;
      if (posted < posts.size() && sender.free_contexts() > 0) {
        TxInputs inputs = tx_inputs();
        inputs.offer = free_one(sender, params.n_tx_ctx, TxContext::State::free);
        take(sender.post(posts[posted++], inputs));
      }
      deliver();
      take_turn();
      take_buffer_turns();
      end_timers();
      if (posted == posts.size() && idle()) return;
    }
  }

  bool idle() const {
    return sender.free_contexts() == params.n_tx_ctx && receiver.free_contexts() == params.n_rx_ctx &&
           to_sender_.empty() && to_receiver_.empty() && buffers_empty();
  }

  const Params params;
  Sender sender{params, two_party_config(sender_node)};
  Receiver receiver;
  std::vector<uint8_t> source = pattern(0x8000, 77);
  std::vector<uint8_t> destination = std::vector<uint8_t>(0x9000, 0);
  std::multimap<uint16_t, Status> completions;
  std::set<Outcome> outcomes;
  std::set<uint64_t> mode_changes;  // of the receiver, ticks
  std::set<uint64_t> cuts;          // and healed, ticks
  std::size_t grants = 0, maps_asked = 0;

 private:
  // Each queue lets so many packets out in a tick. Without a limit, a duplicating network multiplies the
  // packets beyond the window: each DROP_WINDOW asks for its packet again at once.
  static constexpr int per_tick = 2;

  uint16_t tick() const { return static_cast<uint16_t>(now_ & tick_mask); }
  void change_mode() {
    weather_.weft_mode = !weather_.weft_mode;
    receiver.configure(two_party_config(receiver_node, weather_.weft_mode, weather_.rx_ahead));
  }

  bool room() { return !dice_.hit(weather_.no_room); }
  TxInputs tx_inputs() {
    return {room() && tx_controls_ < per_tick, room() && resends_ < per_tick, {}, tick()};
  }

  template <typename Engine, typename State>
  std::optional<uint16_t> free_one(const Engine& engine, uint32_t contexts, State free) {
    const auto first = static_cast<uint32_t>(dice_.below(contexts));
    for (uint32_t i = 0; i < contexts; ++i) {
      const auto index = static_cast<uint16_t>((first + i) % contexts);
      if (engine.context(index).state == free) return index;
    }
    return std::nullopt;
  }

  RxInputs rx_inputs() {
    return {room() && rx_controls_ < per_tick, free_one(receiver, params.n_rx_ctx, RxContext::State::free),
            tick()};
  }

  bool buffers_empty() const {
    for (uint16_t i = 0; i < sender.buffers(); ++i) {
      if (!sender.buffer(i).empty()) return false;
    }
    return true;
  }

  void deliver() {
    for (const auto& flits : to_receiver_.arrivals(now_)) {
      const auto arrival = check_arrival(flits, params, receiver_node);
      if (arrival.verdict != Outcome::none) {
        take(receiver.drop(arrival.verdict));
        continue;
      }
      RxInputs inputs = rx_inputs();
      if (!dice_.hit(weather_.forgets)) inputs.admission = granted_.admit(arrival.packet.header);
      const RxResult result = receiver.packet(arrival.packet, inputs);
      granted_.decided(arrival.packet.header, result);
      take(result);
    }
    for (const auto& flits : to_sender_.arrivals(now_)) {
      const auto arrival = check_arrival(flits, params, sender_node);
      if (arrival.verdict == Outcome::none) take(sender.packet(arrival.packet, tx_inputs()));
    }
  }

  void take_turn() {
    for (uint16_t i = 1; i <= params.n_tx_ctx; ++i) {
      const auto sid = static_cast<uint16_t>((last_turn_ + i) % params.n_tx_ctx);
      if (!sender.context(sid).turn) continue;
      last_turn_ = sid;
      take(sender.turn(sid, tx_inputs()));
      return;
    }
  }

  /// What buffers send once more.
  void take_buffer_turns() {
    for (uint16_t i = 0; i < sender.buffers(); ++i) {
      if (sender.buffer(i).next_again()) take(sender.buffer_turn(i, tx_inputs()));
    }
  }

  void end_timers() {
    for (uint16_t i = 0; i < sender.buffers(); ++i) {
      if (sender.buffer_due(i, tick())) take(sender.buffer_timeout(i, tx_inputs()));
    }
    for (uint16_t i = 0; i < params.n_tx_ctx; ++i) {
      if (sender.due(i, tick())) take(sender.timeout(i, tx_inputs()));
    }
    for (uint16_t i = 0; i < params.n_rx_ctx; ++i) {
      if (receiver.due(i, tick())) take(receiver.timeout(i, rx_inputs()));
    }
  }

  void take(const RxResult& result) {
    outcomes.insert(result.outcome);
    if (result.outcome == Outcome::grant) ++grants;
    if (result.outcome == Outcome::ask_map) ++maps_asked;
    if (result.write) {
      ASSERT_LE(result.write->addr + result.write->bytes.size(), destination.size());
      std::copy(result.write->bytes.begin(), result.write->bytes.end(),
                destination.begin() + static_cast<std::ptrdiff_t>(result.write->addr));
    }
    if (result.emitted) {
      to_sender_.send(*result.emitted, now_);
      rx_controls_ += 1;
    }
  }

  void take(const TxResult& result) {
    outcomes.insert(result.outcome);
    if (result.emitted) {
      to_receiver_.send(*result.emitted, now_);
      tx_controls_ += 1;
    }
    if (result.completion) completions.emplace(result.completion->tag, result.completion->status);
    if (result.data) {
      resends_ += result.data->resend ? 1 : 0;
      const auto from = source.begin() + static_cast<std::ptrdiff_t>(result.data->src_addr);
      to_receiver_.send({result.data->header, {from, from + result.data->header.len}}, now_);
    }
  }

  Weather weather_;
  Dice dice_;
  GrantedRequests granted_{params};
  Network to_receiver_{weather_, dice_};
  Network to_sender_{weather_, dice_};
  uint64_t now_ = 0;
  int rx_controls_ = 0, tx_controls_ = 0, resends_ = 0;  // in this tick
  uint16_t last_turn_ = 0;
};

/// Transfers of random length to places that do not overlap.
std::vector<Post> random_posts(Dice& dice, uint16_t count) {
  std::vector<Post> posts;
  for (uint16_t i = 0; i < count; ++i) {
    posts.push_back({dice.below(100) * 32, 0x1000u + i * 0x800u, static_cast<uint32_t>(1 + dice.below(0x800)),
                     receiver_node, i});
  }
  return posts;
}

/// What memory must hold after all posts are complete.
std::vector<uint8_t> expected_destination(const std::vector<Post>& posts,
                                          const std::vector<uint8_t>& source) {
  std::vector<uint8_t> result(0x9000, 0);
  for (const auto& post : posts) {
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(post.src_addr), post.bytes,
                result.begin() + static_cast<std::ptrdiff_t>(post.dst_addr));
  }
  return result;
}

TEST(TwoParties, FineWeatherNeedsNoRetries) {
  Dice dice(1);
  const auto posts = random_posts(dice, 3);
  TwoParties parties({1});
  parties.run(posts, 20000);
  EXPECT_TRUE(parties.idle());
  EXPECT_EQ(parties.destination, expected_destination(posts, parties.source));
  EXPECT_EQ(parties.outcomes,
            (std::set{Outcome::submit, Outcome::grant, Outcome::granted, Outcome::send, Outcome::advance,
                      Outcome::finish, Outcome::complete, Outcome::released}));
}

/// Weather and posts that follow from one random number, as shrinking makes no sense here. Never so bad that
/// all of 16 tries in a row can be expected to fail once in all runs of these tests: then a transfer rightly
/// ends with an error.
struct Case {
  explicit Case(uint64_t seed, uint64_t most_delay) : dice(seed) {
    weather.seed = seed;
    weather.loss = up_to(0.1);
    weather.duplication = up_to(0.3);
    weather.corruption = up_to(0.03);
    weather.no_room = up_to(0.05);
    weather.max_delay = 1 + dice.below(most_delay);
    weather.weft_mode = dice.hit(0.5);
    if (!weather.weft_mode) weather.duplication /= 3;  // what is asked for beyond the window comes in storms
    weather.rx_ahead = static_cast<uint8_t>(dice.below(4));
    weather.forgets = dice.hit(0.5) ? 0 : up_to(1);
    posts = random_posts(dice, static_cast<uint16_t>(1 + dice.below(16)));
  }

  Dice dice;
  Weather weather;
  std::vector<Post> posts;

 private:
  double up_to(double most) { return most * static_cast<double>(dice.below(101)) / 100; }
};

TEST(TwoParties, EveryByteArrivesWithOneCompletionAPostAndNoContextIsLeft) {
  EXPECT_PROPERTY("two parties", [](uint64_t seed) {
    const Case run(seed, two_party_config(0).rx_timeout - 1);
    TwoParties parties(run.weather);
    parties.run(run.posts, 300000);
    RC_ASSERT(parties.idle());
    RC_ASSERT(parties.completions.size() == run.posts.size());
    for (const auto& post : run.posts) {
      RC_ASSERT(parties.completions.count(post.tag) == 1u);
      RC_ASSERT(parties.completions.find(post.tag)->second == Status::ok);
    }
    RC_ASSERT(parties.destination == expected_destination(run.posts, parties.source));
  });
}

// Transfers of several windows; the mode changes while they are under way. Not too long: in paper mode what
// is asked for beyond the window leaves no room for what asks for the first packet missing.
TEST(TwoParties, TransfersOutliveChangesOfTheReceiversMode) {
  std::set<Outcome> outcomes;
  EXPECT_PROPERTY("changes of mode", [&](uint64_t seed) {
    Case run(seed, two_party_config(0).rx_timeout - 1);
    if (run.dice.hit(0.3)) run.weather.loss = run.weather.corruption = 0;
    run.posts.clear();
    run.weather.no_room = 0;
    for (uint16_t i = 0; i < 4; ++i) {
      run.posts.push_back({run.dice.below(100) * 32, 0x1000u + i * 0x1000u,
                           static_cast<uint32_t>(0x500 + run.dice.below(0x400)), receiver_node, i});
    }
    TwoParties parties(run.weather);
    const uint64_t changes = 1 + run.dice.below(6);
    for (uint64_t i = 0; i < changes; ++i) parties.mode_changes.insert(run.dice.below(1000));
    parties.run(run.posts, 300000);
    RC_ASSERT(parties.idle());
    RC_ASSERT(parties.completions.size() == run.posts.size());
    for (const auto& [tag, status] : parties.completions) RC_ASSERT(status == Status::ok);
    RC_ASSERT(parties.destination == expected_destination(run.posts, parties.source));
    outcomes.merge(parties.outcomes);
  });
  EXPECT_TRUE(outcomes.contains(Outcome::resend_from) && outcomes.contains(Outcome::acked));
}

// RSPs are lost and requests are doubled, but nothing is late.
TEST(TwoParties, ATransferTakesOneContextHoweverOftenItsRequestComes) {
  bool repeated = false;
  EXPECT_PROPERTY("repeated requests", [&](uint64_t seed) {
    Case run(seed, 1);
    run.weather.forgets = 0;
    TwoParties parties(run.weather);
    parties.run(run.posts, 300000);
    RC_ASSERT(parties.idle());
    RC_ASSERT(parties.grants == run.posts.size());
    repeated |= parties.outcomes.contains(Outcome::grant_again);
  });
  EXPECT_TRUE(repeated);
}

// A RSP later than the first RESEND of its context: the sender must not release what it is about to be
// granted.
TEST(TwoParties, DelaysBeyondTheTimeoutsEndEveryTransferWell) {
  EXPECT_PROPERTY("long delays", [](uint64_t seed) {
    const Case run(seed, 150);
    TwoParties parties(run.weather);
    parties.run(run.posts, 300000);
    RC_ASSERT(parties.idle());
    RC_ASSERT(parties.completions.size() == run.posts.size());
    for (const auto& post : run.posts) {
      RC_ASSERT(parties.completions.count(post.tag) == 1u);
      RC_ASSERT(parties.completions.find(post.tag)->second == Status::ok);
    }
    RC_ASSERT(parties.destination == expected_destination(run.posts, parties.source));
  });
}

// The one receive context is granted, its RSP lost: nothing else could be granted until that one is found.
TEST(TwoParties, GrantWhoseResponseIsLostIsFoundByItsFirstResend) {
  Params params = small_params();
  params.n_rx_ctx = 1;
  Sender sender(params, two_party_config(sender_node));
  Receiver receiver(params, two_party_config(receiver_node));
  const auto post = sender.post({0, 0x1000, 40, receiver_node, 1}, {true, true, 2, 0});
  ASSERT_TRUE(receiver.packet(*post.emitted, {true, 0, 0}).emitted);  // and lost
  const uint16_t later = two_party_config(0).rx_timeout;
  const auto asked = receiver.timeout(0, {true, {}, later});
  ASSERT_EQ(asked.outcome, Outcome::ask_one);
  EXPECT_EQ(sender.packet(*asked.emitted, {true, true, {}, later}).outcome, Outcome::granted);
  RxResult received;
  for (int i = 0; i < 2; ++i) {
    const auto sent = sender.turn(2, {true, true, {}, later});
    ASSERT_TRUE(sent.data);
    received =
        receiver.packet({sent.data->header, std::vector<uint8_t>(sent.data->header.len)}, {true, {}, later});
  }
  ASSERT_EQ(received.outcome, Outcome::finish);
  const auto completed = sender.packet(*received.emitted, {true, true, {}, later});
  EXPECT_EQ(completed.outcome, Outcome::complete);
  EXPECT_EQ(receiver.packet(*completed.emitted, {}).outcome, Outcome::released);
}

// The sender's node is reset after the first of two packets, and begins with the same number and request:
// what it is told OK for is what it has now.
TEST(TwoParties, RequestOfANodeThatWasResetGetsAContextOfItsOwn) {
  Sender sender(small_params(), two_party_config(sender_node));
  Receiver receiver(small_params(), two_party_config(receiver_node));
  GrantedRequests granted(small_params());
  std::vector<uint8_t> memory(0x2000);
  const Post post{0, 0x1000, 64, receiver_node, 1};
  const auto ask = [&](const Packet& request, uint16_t offer) {
    RxInputs inputs{true, offer, 0};
    inputs.admission = granted.admit(request.header);
    RxResult result = receiver.packet(request, inputs);
    granted.decided(request.header, result);
    return result;
  };
  const auto send = [&](uint8_t byte) {
    const auto sent = sender.turn(2, {});
    RxResult result =
        receiver.packet({sent.data->header, std::vector<uint8_t>(sent.data->header.len, byte)}, {});
    if (result.write) {
      std::ranges::copy(result.write->bytes,
                        memory.begin() + static_cast<std::ptrdiff_t>(result.write->addr));
    }
    return result;
  };
  auto request = *sender.post(post, {true, true, 2, 0}).emitted;
  sender.packet(*ask(request, 0).emitted, {});
  ASSERT_EQ(send(1).outcome, Outcome::advance);
  sender.reset();
  request = *sender.post(post, {true, true, 2, 0}).emitted;
  EXPECT_EQ(ask(request, 1).outcome, Outcome::drop_asked);
  const auto again = sender.timeout(2, {true, true, {}, two_party_config(0).tx_retry});
  const auto old = receiver.timeout(0, {true, {}, two_party_config(0).rx_timeout});
  const auto released = sender.packet(*old.emitted, {});
  EXPECT_EQ(released.outcome, Outcome::stale) << "it asks for packet 1, of none sent";
  EXPECT_EQ(receiver.packet(*released.emitted, {}).outcome, Outcome::released);
  const auto grant = ask(*again.emitted, 1);
  ASSERT_EQ(grant.outcome, Outcome::grant);
  sender.packet(*grant.emitted, {});
  send(2);
  const auto finish = send(2);
  ASSERT_EQ(finish.outcome, Outcome::finish);
  EXPECT_EQ(sender.packet(*finish.emitted, {}).outcome, Outcome::complete);
  EXPECT_EQ(std::vector(memory.begin() + 0x1000, memory.begin() + 0x1040), std::vector<uint8_t>(64, 2));
}

/// Every byte arrives, every post completes, and no context is left. Returns the outcomes that there were.
std::set<Outcome> delivers_all(const Case& run) {
  TwoParties parties(run.weather);
  parties.run(run.posts, 1'000'000);
  RC_ASSERT(parties.idle());
  RC_ASSERT(parties.completions.size() == run.posts.size());
  for (const auto& [tag, status] : parties.completions) RC_ASSERT(status == Status::ok);
  RC_ASSERT(parties.destination == expected_destination(run.posts, parties.source));
  return parties.outcomes;
}

// Not so much loss: a transfer of 64 packets of which each is lost with 10 % hardly ever arrives whole.
TEST(TwoParties, CountersBringEveryByteToo) {
  std::set<Outcome> outcomes;
  EXPECT_PROPERTY("counters", [&](uint64_t seed) {
    Case run(seed, two_party_config(0).rx_timeout - 1);
    run.weather.scheme = Scheme::receiver_counter;
    for (double* rate : {&run.weather.loss, &run.weather.duplication, &run.weather.corruption}) *rate /= 10;
    outcomes.merge(delivers_all(run));
  });
  for (const auto outcome :
       {Outcome::ask_from, Outcome::drop_duplicate, Outcome::resend_from, Outcome::drop_not_yet}) {
    EXPECT_TRUE(outcomes.contains(outcome)) << formats::name(outcome);
  }
}

TEST(TwoParties, SendersThatKeepAWindowBringEveryByteToo) {
  std::set<Outcome> outcomes;
  EXPECT_PROPERTY("windows of senders", [&](uint64_t seed) {
    Case run(seed, two_party_config(0).rx_timeout - 1);
    run.weather.scheme = Scheme::sender_window;
    outcomes.merge(delivers_all(run));
  });
  for (const auto outcome :
       {Outcome::accept, Outcome::acked, Outcome::resend_from, Outcome::resend_one, Outcome::drop_old_ack,
        Outcome::ask_one, Outcome::lapse, Outcome::drop_not_yet, Outcome::kept}) {
    EXPECT_TRUE(outcomes.contains(outcome)) << formats::name(outcome);
  }
}

TEST(TwoParties, WindowThatIsLostComesAgainAtTheSecondTimeout) {
  for (const uint8_t ahead : {0, 1}) {
    for (const uint64_t clocks : {45, 70, 150}) {  // the timer ends after 60, then after 120
      SCOPED_TRACE("RX_AHEAD " + std::to_string(ahead) + ", cut for " + std::to_string(clocks));
      TwoParties parties({.seed = 1, .weft_mode = true, .rx_ahead = ahead}, 32);
      parties.cuts = {50, 50 + clocks};
      const std::vector<Post> posts = {{0, 0x1000, 200 * 32, receiver_node, 7}};
      parties.run(posts, 2000);
      EXPECT_TRUE(parties.idle());
      EXPECT_LE(parties.maps_asked, 2u);
      EXPECT_EQ(parties.completions, (std::multimap<uint16_t, Status>{{7, Status::ok}}));
      EXPECT_EQ(parties.destination, expected_destination(posts, parties.source));
    }
  }
}

TEST(TwoParties, DeadNetworkGivesUpOnceAPost) {
  Dice dice(3);
  const auto posts = random_posts(dice, 6);
  Weather weather{3};
  weather.loss = 1;
  TwoParties parties(weather);
  parties.run(posts, 20000);
  EXPECT_TRUE(parties.idle());
  EXPECT_EQ(parties.completions.size(), 6u);
  for (const auto& [tag, status] : parties.completions) EXPECT_EQ(status, Status::no_answer) << tag;
}

// Delays put packets in any order. A packet leaves in each tick, so none gets further ahead of another than
// delays differ; RSP, turns of all contexts and the first DATA take less than the timeout.
TEST(TwoParties, ReorderingAloneSendsNothingTwiceInWeftMode) {
  EXPECT_PROPERTY("reordering", [](uint64_t seed) {
    Case run(seed, two_party_config(0).rx_timeout / 2 - 6);
    run.weather.loss = run.weather.duplication = run.weather.corruption = run.weather.no_room = 0;
    run.weather.weft_mode = true;
    run.weather.rx_ahead = run.dice.hit(0.5) ? static_cast<uint8_t>(run.weather.max_delay) : uint8_t{0};
    TwoParties parties(run.weather);
    parties.run(run.posts, 300000);
    RC_ASSERT(parties.idle());
    RC_ASSERT(parties.destination == expected_destination(run.posts, parties.source));
    for (const auto outcome : {Outcome::drop_window, Outcome::drop_duplicate, Outcome::send_again,
                               Outcome::resend_one, Outcome::resend_from}) {
      RC_ASSERT(!parties.outcomes.contains(outcome));
    }
  });
}

TEST(TwoParties, StormsReachTheRareOutcomes) {
  std::set<Outcome> outcomes;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Dice dice(seed);
    TwoParties parties({seed, 0.2, 0.3, 0.05, 0.1, 120, seed > 30});
    parties.run(random_posts(dice, 16), 300000);
    EXPECT_TRUE(parties.idle()) << "seed " << seed;
    outcomes.merge(parties.outcomes);
  }
  for (const auto outcome : {Outcome::accept,
                             Outcome::ask_one,
                             Outcome::ask_from,
                             Outcome::done_again,
                             Outcome::drop_crc,
                             Outcome::drop_unknown_cid,
                             Outcome::drop_msgid,
                             Outcome::drop_duplicate,
                             Outcome::drop_window,
                             Outcome::drop_busy,
                             Outcome::refuse_no_context,
                             Outcome::backoff,
                             Outcome::resend_one,
                             Outcome::resend_from,
                             Outcome::retry_rqt,
                             Outcome::stale,
                             Outcome::drop_repeated_rsp,
                             Outcome::drop_full,
                             Outcome::ask_map,
                             Outcome::acked,
                             Outcome::drop_old_ack,
                             Outcome::send_again}) {
    EXPECT_TRUE(outcomes.contains(outcome)) << formats::name(outcome);
  }
}

}  // namespace
}  // namespace weft::rdma::test
