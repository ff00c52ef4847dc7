// SPDX-License-Identifier: Apache-2.0
// weft-pingpong: two processes send each other a message back and forth. The one without a peer answers.
#include <algorithm>
#include <optional>

#include "program.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;

enum Tag : uint64_t { received = 1, sent = 2 };

struct Options {
  examples::Place place;
  std::optional<uint32_t> peer;
  uint32_t rounds = 10;
  uint32_t bytes = 1024;
};

struct Pair {
  explicit Pair(const Options& options)
      : options(options),
        context(options.place.attach()),
        domain(context),
        message(domain, options.bytes, access_source),
        buffer(domain, options.bytes, access_buffer),
        queue(domain) {}

  void expect_message() { queue.post_recv(received, buffer.local(0, options.bytes)); }
  void send(const RemoteQueue& to) { queue.post_send(sent, message.local(0, options.bytes), to); }

  const Options& options;
  Context context;
  ProtectionDomain domain;
  MemoryRegion message, buffer;
  Queue queue;
};

void ping(Pair& pair) {
  pair.context.publish("ping", pair.queue.remote());
  const RemoteQueue pong = pair.context.find_queue(*pair.options.peer, "pong");
  for (uint32_t round = 0; round < pair.options.rounds; ++round) {
    std::ranges::fill(pair.message.bytes(), static_cast<uint8_t>(round + 1));
    pair.expect_message();
    pair.send(pong);
    pair.queue.expect();  // sent, and
    pair.queue.expect();  // answered
    if (!std::ranges::equal(pair.message.bytes(), pair.buffer.bytes()))
      throw Fault("the answer is another message");
  }
  fmt::print("{} rounds of {} bytes with node {}\n", pair.options.rounds, pair.options.bytes,
             *pair.options.peer);
}

/// The next message may be here before the last answer is known to be there.
void pong(Pair& pair) {
  pair.expect_message();
  pair.context.publish("pong", pair.queue.remote());
  for (uint32_t answered = 0, known = 0; known < pair.options.rounds;) {
    const Completion got = pair.queue.expect();
    if (got.tag == sent) {
      ++known;
      continue;
    }
    std::ranges::copy(pair.buffer.bytes(), pair.message.bytes().begin());
    if (++answered < pair.options.rounds) pair.expect_message();
    pair.send(pair.context.find_queue(got.node, "ping"));
  }
  fmt::print("{} rounds of {} bytes answered\n", pair.options.rounds, pair.options.bytes);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Sends a message back and forth between two nodes", "weft-pingpong");
  Options options;
  options.place.add_to(app);
  app.add_option("peer", options.peer, "Node to start with; without it this one answers")
      ->check(command_line::whole_number(0, 65535));
  app.add_option("--rounds", options.rounds, "Times back and forth")
      ->check(command_line::whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--bytes", options.bytes, "Of a message")
      ->check(command_line::whole_number(1, 1 << 20))
      ->capture_default_str();
  return examples::run(app, argc, argv, [&] {
    Pair pair(options);
    if (options.peer) return ping(pair);
    pong(pair);
  });
}
