// SPDX-License-Identifier: Apache-2.0
// The host library on simulated NICs, in one process, whatever simulates them (two_nodes.hpp). The first test
// is code of docs/driver.md (tests/flow/test_guide.py).
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "verbs_fixture.hpp"

namespace weft::tb {
namespace {

using namespace verbs;

TEST_F(Verbs, FirstTransfer) {
  Context there(attach(1));
  const ProtectionDomain domain_there(there);
  MemoryRegion target(domain_there, 4096, access_remote_write);
  there.publish("target", target.remote());
  {
    Context context(attach(0));
    ProtectionDomain domain(context);
    MemoryRegion source(domain, 4096, access_source);
    Queue queue(domain);
    std::ranges::fill(source.bytes(), 'w');
    RemoteBytes remote = context.find_memory(/*node=*/1, "target");
    queue.post_write(/*tag=*/1, source.local(0, 4096), remote);
    queue.expect();
  }
  EXPECT_TRUE(std::ranges::all_of(target.bytes(), [](uint8_t byte) { return byte == 'w'; }));
}

/// Two applications, a queue and a region for everything each.
class VerbsPair : public Verbs {
 protected:
  struct Side {
    explicit Side(std::unique_ptr<driver::Port> port)
        : context(std::move(port)),
          domain(context),
          memory(domain, 16384, access_source | access_remote_write | access_remote_read),
          buffer(domain, 16384, access_buffer),
          queue(domain) {}
    Context context;
    ProtectionDomain domain;
    MemoryRegion memory, buffer;
    Queue queue;
  };
  VerbsPair() : here(attach(0)), there(attach(1)) {
    for (size_t i = 0; i < here.memory.bytes().size(); ++i)
      here.memory.bytes()[i] = static_cast<uint8_t>(i * 7 + i / 256);
  }
  static bool same(std::span<const uint8_t> a, std::span<const uint8_t> b, size_t bytes) {
    return std::ranges::equal(a.first(bytes), b.first(bytes));
  }
  Side here, there;
};

TEST_F(VerbsPair, SendAndReceive) {
  ASSERT_TRUE(there.queue.post_recv(5, there.buffer.local(0, 16384)));
  ASSERT_TRUE(here.queue.post_send(6, here.memory.local(0, 10'000), there.queue.remote()));
  const Completion got = there.queue.expect();
  EXPECT_EQ(got.tag, 5u);
  EXPECT_EQ(got.bytes, 10'000u);
  EXPECT_EQ(got.node, 0u);
  EXPECT_EQ(here.queue.expect().tag, 6u);
  EXPECT_TRUE(same(there.buffer.bytes(), here.memory.bytes(), 10'000));
}

TEST_F(VerbsPair, Read) {
  ASSERT_TRUE(there.queue.post_read(7, there.buffer.local(0, 9'999), here.memory.remote()));
  EXPECT_EQ(there.queue.expect().bytes, 9'999u);
  EXPECT_TRUE(same(there.buffer.bytes(), here.memory.bytes(), 9'999));
}

TEST_F(VerbsPair, WriteWithImmediateTellsTheQueueOfTheRegion) {
  const MemoryRegion told(there.domain, 4096, access_remote_write, &there.queue);
  ASSERT_TRUE(there.queue.post_recv(8, {}));
  ASSERT_TRUE(here.queue.post_write_imm(9, here.memory.local(0, 4096), told.remote(), 0xcafe));
  const Completion got = there.queue.expect(200'000);
  EXPECT_EQ(got.tag, 8u);
  EXPECT_EQ(got.immediate, 0xcafeu);
  EXPECT_EQ(got.bytes, 4096u);
  EXPECT_EQ(here.queue.expect().tag, 9u);
}

TEST_F(VerbsPair, NobodyIsToldOfWritesToRegionsOfALastOwner) {
  auto told_queue = std::make_unique<Queue>(there.domain);
  const uint32_t number = told_queue->number();
  const MemoryRegion region(there.domain, 4096, access_remote_write, told_queue.get());
  told_queue.reset();
  Context other(attach(1));
  const ProtectionDomain domain(other);
  Queue next(domain, number);
  ASSERT_TRUE(next.post_recv(1, {}));
  here.queue.post_write_imm(2, here.memory.local(0, 256), region.remote(), 5);
  const auto ended = here.queue.wait(1'000'000);
  ASSERT_TRUE(ended);
  EXPECT_EQ(status_name(ended->status), "BAD_KEY");
  EXPECT_FALSE(next.poll());
  EXPECT_EQ(fault_of([&] { MemoryRegion(domain, 4096, access_remote_write, &there.queue); }),
            "node 1: queue " + std::to_string(there.queue.number()) + " is not this application's");
}

TEST_F(VerbsPair, MoreRequestsThanARingHas) {
  uint64_t posted = 0, taken = 0;
  for (; taken < 1000; ++taken) {
    while (posted < 1000 && here.queue.post_write(posted, here.memory.local(0, 256), there.memory.remote()))
      ++posted;
    ASSERT_EQ(here.queue.expect().tag, taken);
  }
  EXPECT_EQ(posted, 1000u);
}

/// Not of the last wait: a completion that is found without waiting has come after its request was posted.
TEST_F(VerbsPair, ClockIsOfNow) {
  const uint64_t before = here.context.clock();
  EXPECT_EQ(before, nodes->cycle());
  EXPECT_EQ(here.context.clock(), before) << "asking costs nothing";
  here.queue.post_write(1, here.memory.local(0, 4096), there.memory.remote());
  const uint64_t posted = here.context.clock();
  EXPECT_GT(posted, before) << "the register was written";
  there.context.wait_for_byte(there.memory.address() + 4095, 0, 10'000);
  for (int clock = 0; clock < 1000; ++clock) nodes->step();
  ASSERT_TRUE(here.queue.poll());
  EXPECT_GE(here.context.clock(), posted + 1000 + 4096 / 32);
}

TEST_F(VerbsPair, WaitsForEver) {
  for (int clock = 0; clock < 100; ++clock) nodes->step();
  here.queue.post_write(1, here.memory.local(0, 4096), there.memory.remote());
  EXPECT_EQ(here.queue.wait(std::numeric_limits<uint64_t>::max()).value_or(Completion{}).tag, 1u);
}

TEST_F(VerbsPair, WrongKeysAndRegionsEndWithTheirStatus) {
  const auto status_of = [&](const LocalBytes& local, const RemoteBytes& remote) {
    here.queue.post_write(1, local, remote);
    return std::string(status_name(here.queue.wait(1'000'000).value_or(Completion{}).status));
  };
  RemoteBytes other_key = there.memory.remote();
  ++other_key.key;
  EXPECT_EQ(status_of(here.memory.local(0, 256), other_key), "BAD_KEY");
  EXPECT_EQ(status_of(here.memory.local(0, 256), there.memory.remote(16384)), "BAD_REGION");
  EXPECT_EQ(status_of(there.memory.local(0, 256), there.memory.remote()), "LOCAL_KEY");
  EXPECT_EQ(status_of(here.memory.local(16384, 256), there.memory.remote()), "LOCAL_REGION");
  EXPECT_EQ(status_of(here.memory.local(0, 256), there.memory.remote()), "OK");
}

/// With its true key, on the same node.
TEST_F(VerbsPair, RegionsOfAnotherApplicationOrDomainAreRefused) {
  Side other(attach(0));
  const ProtectionDomain second(here.context);
  const MemoryRegion source(second, 4096, access_source), buffer(second, 4096, access_buffer);
  Queue queue(second);
  const auto status_of = [](Queue& asked) {
    return std::string(status_name(asked.wait(1'000'000).value_or(Completion{}).status));
  };
  const auto write = [&](Queue& by, const MemoryRegion& from) {
    by.post_write(1, from.local(0, 256), there.memory.remote());
    return status_of(by);
  };
  const auto read = [&](Queue& by, const MemoryRegion& into) {
    by.post_read(2, into.local(0, 256), there.memory.remote());
    return status_of(by);
  };
  EXPECT_EQ(write(here.queue, other.memory), "LOCAL_KEY");
  EXPECT_EQ(read(here.queue, other.buffer), "LOCAL_KEY");
  EXPECT_EQ(write(here.queue, source), "LOCAL_KEY");
  EXPECT_EQ(read(here.queue, buffer), "LOCAL_KEY");
  EXPECT_EQ(write(queue, here.memory), "LOCAL_KEY");
  EXPECT_EQ(write(queue, source), "OK");
  EXPECT_EQ(read(queue, buffer), "OK");
  EXPECT_EQ(write(here.queue, here.memory), "OK");
}

TEST_F(Verbs, ProtectionDomainsEnd) {
  Context context(attach(0));
  std::vector<std::unique_ptr<ProtectionDomain>> domains;
  while (domains.size() <= 255 / queues()) domains.push_back(std::make_unique<ProtectionDomain>(context));
  EXPECT_EQ(fault_of([&] { MemoryRegion(*domains.back(), 256, access_source); }),
            "node 0: no more protection domains for this application");
  EXPECT_EQ(fault_of([&] { Queue(*domains.back()); }),
            "node 0: no more protection domains for this application");
  domains.front().reset();
  const ProtectionDomain again(context);
  EXPECT_NO_THROW(MemoryRegion(again, 256, access_source));
}

TEST_F(VerbsPair, ClosedRegionIsNotWrittenAnyMore) {
  RemoteBytes gone;
  {
    const MemoryRegion brief(there.domain, 4096, access_remote_write);
    gone = brief.remote();
  }
  const MemoryRegion next(there.domain, 4096, access_remote_write);
  EXPECT_EQ(next.address(), gone.address);
  here.queue.post_write(1, here.memory.local(0, 256), gone);
  EXPECT_EQ(fault_of([&] { here.queue.expect(); }), "request 1 to node 1 ended with BAD_KEY");
}

TEST_F(VerbsPair, QueueOfAnotherIsRefused) {
  EXPECT_EQ(fault_of([&] { Queue(here.domain, here.queue.number()); }), "node 0: queue 0 is in use");
  const std::string count = std::to_string(queues());
  EXPECT_EQ(fault_of([&] { Queue(here.domain, queues()); }),
            "node 0: no queue " + count + ": the node has " + count);
}

TEST_F(VerbsPair, OfTwoThatClaimAQueueTheFirstGoesOn) {
  Context other(attach(0));
  const ProtectionDomain domain(other);
  const uint32_t number = here.queue.number();
  EXPECT_EQ(fault_of([&] { Queue(domain, number); }),
            "node 0: queue " + std::to_string(number) + " is in use");
  here.queue.post_write(1, here.memory.local(0, 256), there.memory.remote());
  EXPECT_EQ(here.queue.expect().tag, 1u);
  const Queue another(domain);
  EXPECT_NE(another.number(), number);
}

TEST_F(Verbs, RegistersOfOthersAreRefused) {
  const auto port = attach(0), other = attach(0);
  const driver::Reply queue = port->ask({.ask = driver::Ask::claim_queue, .a = 3});
  ASSERT_TRUE(queue.ok);
  const driver::Request tail{.ask = driver::Ask::read_register,
                             .a = driver::ring_register(rdma_queues::formats::reg::SQ_HEAD, 3)};
  EXPECT_TRUE(port->ask(tail).ok);
  EXPECT_FALSE(other->ask(tail).ok);
  EXPECT_FALSE(port->ask({.ask = driver::Ask::write_register, .a = 0, .b = 1}).ok);
  EXPECT_FALSE(other->ask({.ask = driver::Ask::release_queue, .a = 3}).ok);
  EXPECT_FALSE(port->ask({.ask = driver::Ask::open_region, .a = 2, .x = 0, .y = 4096}).ok)
      << "memory of the rings";
}

TEST_F(Verbs, WhoGoesLeavesNothing) {
  {
    Context context(attach(0));
    const ProtectionDomain domain(context);
    const auto port = attach(0);  // goes without a word
    ASSERT_TRUE(port->ask({.ask = driver::Ask::claim_queue, .a = driver::any_queue}).ok);
    const auto memory = port->ask({.ask = driver::Ask::attach}).values;
    ASSERT_TRUE(port->ask({.ask = driver::Ask::open_region, .a = 2, .x = memory[1], .y = 4096}).ok);
  }
  run_until_clear();
  expect_nothing_in_use(0);
}

/// Two applications that know each other, by what `there` has published.
class VerbsPeers : public VerbsPair {
 protected:
  VerbsPeers() : other(std::in_place, attach(1)) {
    other->context.publish("other", other->queue.remote());
    to = here.context.find_queue(1, "other");
    here.queue.post_recv(1, here.buffer.local(0, 256));
  }
  /// Without its destructor, as the kernel does it: the node sees its end only.
  std::unique_ptr<driver::Port> stranger() {
    auto port = attach(1);
    driver::Request publish{.ask = driver::Ask::publish};
    publish.name[0] = 's';
    EXPECT_TRUE(port->ask(publish).ok);
    return port;
  }
  static constexpr uint64_t long_enough = 400'000;
  std::optional<Side> other;
  RemoteQueue to;
};

TEST_F(VerbsPeers, WhoWaitsForOneThatDiesIsToldOnce) {
  auto port = stranger();
  here.context.find_memory(1, "s");
  port.reset();
  const uint64_t before = here.context.clock();
  EXPECT_EQ(fault_of([&] { here.queue.wait(long_enough); }), "node 0: peer on node 1 has died");
  EXPECT_LT(here.context.clock(), before + 200'000);
  here.queue.post_write(2, here.memory.local(0, 256), there.memory.remote());
  EXPECT_EQ(here.queue.expect().tag, 2u);
  EXPECT_FALSE(here.queue.wait(1'000));
}

TEST_F(VerbsPeers, WhoLeavesInPeaceHasNotDied) {
  other.reset();
  EXPECT_FALSE(here.queue.wait(200'000));
}

TEST_F(VerbsPeers, WhoGoesByAnExceptionHasDied) {
  const auto fall = [&] {
    Context falling(attach(1));
    here.context.publish("here", here.queue.remote());
    falling.find_queue(0, "here");
    throw Fault("falls");
  };
  EXPECT_EQ(fault_of(fall), "falls");
  EXPECT_EQ(fault_of([&] { here.queue.wait(long_enough); }), "node 0: peer on node 1 has died");
}

/// Before the end of the time that its peers wait anyway.
TEST_F(VerbsPeers, WhatWasUnderWayEndsByItself) {
  auto port = stranger();
  here.context.find_memory(1, "s");
  const driver::Reply queue = port->ask({.ask = driver::Ask::claim_queue, .a = driver::any_queue});
  ASSERT_TRUE(queue.ok);
  const RemoteQueue gone{1, static_cast<uint8_t>(queue.values[0]), static_cast<uint16_t>(queue.values[3])};
  here.queue.post_send(9, here.memory.local(0, 16'384), gone);
  port.reset();
  EXPECT_EQ(fault_of([&] { here.queue.expect(long_enough); }), "request 9 to node 1 ended with BAD_KEY");
  EXPECT_EQ(fault_of([&] { here.queue.wait(long_enough); }), "node 0: peer on node 1 has died");
}

TEST_F(Verbs, NoNodeAndNoPlace) {
  EXPECT_EQ(fault_of([&] { attach(2); }), "has no node 2: 0 to 1");
  std::vector<std::unique_ptr<driver::Port>> all;
  for (uint32_t i = 0; i < queues(); ++i) all.push_back(attach(0));
  EXPECT_EQ(fault_of([&] { attach(0); }), "node 0 has no place for another application");
  all.pop_back();
  run_until_clear();
  EXPECT_NO_THROW(attach(0));
}

TEST_F(Verbs, MemoryEnds) {
  Context context(attach(0));
  const ProtectionDomain domain(context);
  EXPECT_EQ(fault_of([&] { MemoryRegion(domain, memory_bytes, access_source); }),
            "node 0: no memory left for 8388608 bytes");
  EXPECT_EQ(fault_of([&] { MemoryRegion(domain, 0, access_source); }), "memory region of no bytes");
}

TEST_F(Verbs, RegionsForNothingOrForWhatIsUnknownAreRefused) {
  Context context(attach(0));
  const ProtectionDomain domain(context);
  EXPECT_EQ(fault_of([&] { MemoryRegion(domain, 4096, 0); }),
            "node 0: memory region of access 0, which is no sum of 1, 2, 4 and 8");
  EXPECT_EQ(fault_of([&] { MemoryRegion(domain, 4096, access_source | 16); }),
            "node 0: memory region of access 17, which is no sum of 1, 2, 4 and 8");
  EXPECT_EQ(nodes->server(0).regions_in_use(), 0u);
}

TEST_F(Verbs, NodesThatDoNotExistAreNotWaitedFor) {
  Context context(attach(0));
  const uint64_t before = nodes->cycle();
  EXPECT_EQ(fault_of([&] { context.find_memory(2, "target"); }), "the fabric has no node 2: 0 to 1");
  EXPECT_LT(nodes->cycle(), before + 1000);
  EXPECT_EQ(fault_of([&] { context.find_memory(1, "target", 1000); }),
            "node 1: nothing published under 'target'");
}

}  // namespace
}  // namespace weft::tb
