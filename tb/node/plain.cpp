// SPDX-License-Identifier: Apache-2.0
// weft-nic-plain: what weft-systemc does, on the same NIC in the plain C++ harness, to compare their speed
// (docs/systemc.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <random>
#include <vector>

#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "driver/verbs.hpp"
#include "node_system.hpp"

namespace weft::tb {
namespace {

struct Options {
  uint32_t bytes = 65536;
  uint32_t repeat = 1;
};

/// An application on one node: memory to send from, to be written to, and for what comes.
struct Side {
  Side(NodeSystem& nodes, uint32_t node, uint32_t bytes)
      : context(std::make_unique<InProcessPort>(nodes, node)),
        domain(context),
        source(domain, bytes, verbs::access_source),
        shared(domain, bytes, verbs::access_remote_write | verbs::access_remote_read),
        buffer(domain, bytes, verbs::access_buffer),
        queue(domain) {}

  verbs::Context context;
  verbs::ProtectionDomain domain;
  verbs::MemoryRegion source, shared, buffer;
  verbs::Queue queue;
};

/// A WRITE, a SEND and a READ, one after the other; throws Fault if a byte is wrong.
void transfer(Side& here, Side& there, uint32_t bytes) {
  const auto sent = here.source.bytes();
  const auto expect = [&](std::span<uint8_t> came, const char* what) {
    if (!std::ranges::equal(sent, came)) throw Fault(fmt::format("{}: not what was sent", what));
    std::ranges::fill(came, uint8_t{0});
  };
  there.queue.post_recv(0, there.buffer.local(0, bytes));
  here.queue.post_write(1, here.source.local(0, bytes), there.shared.remote());
  here.queue.expect();
  here.queue.post_send(2, here.source.local(0, bytes), there.queue.remote());
  here.queue.expect();
  there.queue.expect();
  expect(there.buffer.bytes(), "SEND");
  here.queue.post_read(3, here.buffer.local(0, bytes), there.shared.remote());
  here.queue.expect();
  expect(there.shared.bytes(), "WRITE");
  expect(here.buffer.bytes(), "READ");
}

/// Through a barrier, both clocked by this thread.
void meet(Side& here, Side& there) {
  const std::array<uint32_t, 2> both{0, 1};
  verbs::Barrier mine(here.domain, 0, both), other(there.domain, 0, both);
  mine.arrive();
  other.arrive();
  if (!mine.wait(verbs::Context::patience) || !other.wait(verbs::Context::patience))
    throw Fault("a barrier does not end");
}

void run(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::vector<uint8_t>> memories(2, std::vector<uint8_t>(16 << 20));
  NodeSystem nodes({memories.begin(), memories.end()}, fabric::Faults{}, 1, "nic_systemc");
  {
    Side here(nodes, 0, options.bytes), there(nodes, 1, options.bytes);
    std::mt19937 random(1);
    std::ranges::generate(here.source.bytes(), [&random] { return static_cast<uint8_t>(random()); });
    for (uint32_t n = 0; n < options.repeat; ++n) transfer(here, there, options.bytes);
    meet(here, there);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{} clocks of two NICs in {:.2f} s: {:.0f} clocks a second\n", nodes.cycle(), seconds.count(),
             static_cast<double>(nodes.cycle()) / seconds.count());
}

}  // namespace
}  // namespace weft::tb

int main(int argc, char** argv) {
  using namespace weft;
  CLI::App app("Two NICs in the plain C++ harness do what weft-systemc does; the bytes are compared",
               "weft-nic-plain");
  tb::Options options;
  command_line::add_version(app);
  app.add_option("--bytes", options.bytes, "Bytes of each request")
      ->check(command_line::whole_number(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--repeat", options.repeat, "Rounds of a WRITE, a SEND and a READ")
      ->check(command_line::whole_number(1, 10'000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    tb::run(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "weft-nic-plain: {}\n", command_line::complaint(app, error));
    return 2;
  } catch (const Fault& fault) {
    fmt::print(stderr, "weft-nic-plain: {}\n", fault.what());
    return 1;
  }
}
