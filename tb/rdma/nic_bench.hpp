// SPDX-License-Identifier: Apache-2.0
// What the tests of the NIC share: several NICs over a network, their queues, and an account of every entry
// posted.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "driver/ring_driver.hpp"
#include "fabric/random.hpp"
#include "node_ring_memory.hpp"
#include "rdma/region.hpp"
#include "rdma_system.hpp"
#include "weft/rdma/formats.hpp"
#include "weft/rdma_queues/formats.hpp"

namespace weft::tb {

namespace queue_formats = rdma_queues::formats;
using EngineStatus = rdma::formats::Status;
using queue_formats::QueueStatus;

/// NICs of which each owner has, on every node, a region to send from, one that others may write and read,
/// and one for buffers. Owner o's regions are numbers 2 o (local use), 2 o + 1 (remote), of whose writes with
/// immediate queue o is told, and 2 owners + o (buffers), for owners 0 to owners - 1. What goes with
/// transfers has no effect in a NIC without them.
class NicBench {
 public:
  static constexpr uint64_t region_bytes = 1 << 16;
  static constexpr uint32_t owners = 2;

  // All over the narrowest bus, 40 bits.
  static uint64_t source_of(uint32_t owner) { return 0x2a'1000'0000 + 2 * owner * region_bytes; }
  static uint64_t target_of(uint32_t owner) { return 0x5c'2000'0000 + 2 * owner * region_bytes; }
  static uint64_t buffers_of(uint32_t owner) { return 0x93'3000'0000 + 2 * owner * region_bytes; }
  static uint64_t rings_of(uint32_t queue) { return 0xe6'4000'0000 + (uint64_t{queue} << 22); }
  static constexpr uint64_t message_base = 0x71'7000'0000;
  static uint32_t local_key(uint32_t owner) {
    return driver::rdma_rkey(static_cast<uint8_t>(2 * owner), key(owner));
  }
  static uint32_t remote_key(uint32_t owner) {
    return driver::rdma_rkey(static_cast<uint8_t>(2 * owner + 1), key(owner));
  }
  static uint32_t buffer_key(uint32_t owner) {
    return driver::rdma_rkey(static_cast<uint8_t>(2 * owners + owner), key(owner));
  }
  /// That SENDs to this queue must name.
  static uint16_t queue_key(uint32_t queue) { return odd_differs(0x5a00 + queue, queue); }
  static uint16_t key(uint32_t owner) { return odd_differs(0x1234 + owner, owner); }

  /// An entry posted, until its completion comes.
  struct Wanted {
    queue_formats::Submission entry;
    uint8_t status;       ///< with which it has to end
    bool may_be_unheard;  ///< or with that of a peer that does not answer
  };

  struct Ring {
    std::unique_ptr<driver::RingQueue> queue;
    std::map<uint64_t, Wanted> wanted;  ///< by tag
    std::vector<queue_formats::Completion> completions;
    bool enabled = false;
  };

  struct Host {
    std::unique_ptr<NodeRingMemory> memory;
    std::unique_ptr<driver::RingAdministrator> administrator;
    std::vector<Ring> rings;
    std::map<uint16_t, EngineStatus> register_completions;
  };

  static driver::RdmaSetup usual_setup() {
    driver::RdmaSetup setup;
    for (uint8_t owner = 0; owner < owners; ++owner) {
      setup.regions.push_back(
          {source_of(owner), source_of(owner) + region_bytes, key(owner), false, true, owner});
      setup.regions.push_back({target_of(owner), target_of(owner) + region_bytes, key(owner), true, false,
                               owner, true, false, owner});
    }
    for (uint8_t owner = 0; owner < owners; ++owner) {
      setup.regions.push_back({buffers_of(owner), buffers_of(owner) + region_bytes, key(owner), false, false,
                               owner, false, true});
    }
    setup.rx_timeout = 16;
    setup.tx_retry = 16;
    setup.tx_dead = 2000;
    setup.max_retry = 4;
    return setup;
  }

  static SystemConfig usual_config(uint32_t nodes = 2, const std::string& build = "nic") {
    SystemConfig config;
    config.nodes = nodes;
    config.node.build = *find_rdma_build(build);
    return config;
  }

  explicit NicBench(const SystemConfig& config, const driver::RdmaSetup& setup = usual_setup())
      : setup_(setup), system(config), random_(config.seed, uint64_t{1} << 40) {
    for (uint32_t index = 0; index < system.size(); ++index) {
      Host& host = hosts.emplace_back();
      host.memory = std::make_unique<NodeRingMemory>(system.node(index).memory().memory());
      host.administrator =
          std::make_unique<driver::RingAdministrator>(system.node(index).registers(), *host.memory);
      host.rings.resize(config.node.build.queues);
      system.node(index).on_completion([&host = hosts, index](const driver::RdmaCompletion& got) {
        host[index].register_completions[got.tag] = got.status;
      });
    }
    start();
  }

  void start() {
    system.start(setup_);
    ASSERT_TRUE(system.run_until([this] { return system.all_ready(); }, 200'000)) << problems();
  }

  /// As usual_ring, with what the test changes.
  driver::RingSetup ring_setup(uint32_t queue, uint8_t owner) {
    driver::RingSetup setup;
    setup.sq_base = rings_of(queue);
    setup.cq_base = rings_of(queue) + (1 << 21);
    setup.owner = owner;
    setup.irq = queue_formats::IrqKind::message;
    setup.msi_addr = message_base + 4 * queue;
    setup.msi_data = 0xabcd0000 | queue;
    setup.key = queue_key(queue);
    return setup;
  }

  void enable(uint32_t node, uint32_t queue, const driver::RingSetup& setup) {
    Host& host = hosts[node];
    Ring& ring = host.rings[queue];
    ring.queue =
        std::make_unique<driver::RingQueue>(system.node(node).registers(), *host.memory, queue, setup);
    ring.wanted.clear();
    ring.completions.clear();
    std::optional<bool> answer;
    host.administrator->enable(queue, setup, [&](bool ok) { answer = ok; });
    system.run_until([&] { return answer.has_value(); }, 100'000);
    ASSERT_TRUE(answer.value_or(false)) << "queue " << queue << " of node " << node << " cannot be enabled\n"
                                        << problems();
    ring.enabled = true;
  }
  void enable(uint32_t node, uint32_t queue, uint8_t owner) { enable(node, queue, ring_setup(queue, owner)); }

  /// A good WRITE of owner `owner` to the same owner's region at the peer, from and to these offsets.
  queue_formats::Submission write_entry(uint32_t owner, uint32_t peer, uint64_t from, uint64_t to,
                                        uint32_t bytes) {
    queue_formats::Submission entry;
    entry.opcode = static_cast<uint8_t>(queue_formats::Opcode::write);
    entry.node = peer;
    entry.tag = last_tag_ += 0x9e37'79b9'7f4a'7c15;  // odd: each its own, and all bits change
    entry.local_addr = source_of(owner) + from;
    entry.remote_addr = target_of(owner) + to;
    entry.bytes = bytes;
    entry.local_key = local_key(owner);
    entry.remote_key = remote_key(owner);
    return entry;
  }

  /// A SEND from this offset of the owner's source to a queue of the peer.
  queue_formats::Submission send_entry(uint32_t owner, uint32_t peer, uint32_t to_queue, uint64_t from,
                                       uint32_t bytes) {
    auto entry = write_entry(owner, peer, from, 0, bytes);
    entry.opcode = static_cast<uint8_t>(queue_formats::Opcode::send);
    entry.remote_addr = 0;
    entry.remote_key = to_queue << 16 | queue_key(to_queue);
    return entry;
  }
  /// A RECV with a buffer at this offset of the owner's.
  queue_formats::Submission recv_entry(uint32_t owner, uint64_t to, uint32_t bytes) {
    auto entry = write_entry(owner, 0, 0, 0, bytes);
    entry.opcode = static_cast<uint8_t>(queue_formats::Opcode::recv);
    entry.remote_addr = entry.remote_key = 0;
    entry.local_addr = buffers_of(owner) + to;
    entry.local_key = buffer_key(owner);
    return entry;
  }
  /// A READ from this offset of the owner's region at the peer into the owner's buffers.
  queue_formats::Submission read_entry(uint32_t owner, uint32_t peer, uint64_t from, uint64_t to,
                                       uint32_t bytes) {
    auto entry = write_entry(owner, peer, 0, from, bytes);
    entry.opcode = static_cast<uint8_t>(queue_formats::Opcode::read);
    entry.local_addr = buffers_of(owner) + to;
    entry.local_key = buffer_key(owner);
    return entry;
  }

  bool put(uint32_t node, uint32_t queue, const queue_formats::Submission& entry, uint8_t status,
           bool may_be_unheard = false) {
    Ring& ring = hosts[node].rings[queue];
    if (!ring.queue->put(entry)) return false;
    ring.wanted[entry.tag] = {entry, status, may_be_unheard};
    return true;
  }
  /// Puts and announces one.
  void post(uint32_t node, uint32_t queue, const queue_formats::Submission& entry, uint8_t status = 0) {
    ASSERT_TRUE(put(node, queue, entry, status));
    hosts[node].rings[queue].queue->ring();
  }

  /// Takes what is in a completion ring and checks each entry against what was wanted.
  /// @return how many
  uint32_t collect(uint32_t node, uint32_t queue, bool arm = false) {
    Ring& ring = hosts[node].rings[queue];
    uint32_t taken = 0;
    while (const auto got = ring.queue->take()) {
      ++taken;
      const auto wanted = ring.wanted.find(got->tag);
      if (wanted == ring.wanted.end()) {
        ADD_FAILURE() << "node " << node << ", queue " << queue << ": tag " << got->tag
                      << " completes twice, or was never posted";
        continue;
      }
      const auto& entry = wanted->second.entry;
      const bool unheard = got->status == static_cast<uint8_t>(EngineStatus::no_answer) ||
                           got->status == static_cast<uint8_t>(EngineStatus::dead_peer);
      EXPECT_TRUE(got->status == wanted->second.status || (unheard && wanted->second.may_be_unheard))
          << "tag " << got->tag << " ends with " << int{got->status} << ", not "
          << int{wanted->second.status};
      if (entry.opcode !=
          static_cast<uint8_t>(queue_formats::Opcode::recv)) {  // that ends as its message was
        const bool came = got->status == 0 || got->status == static_cast<uint8_t>(EngineStatus::local_error);
        EXPECT_EQ(got->bytes, came ? entry.bytes : 0);
        EXPECT_EQ(got->node, entry.node);
        EXPECT_EQ(got->opcode, entry.opcode);
      }
      ring.wanted.erase(wanted);
      ring.completions.push_back(*got);
    }
    if (taken || arm) ring.queue->acknowledge(arm);
    return taken;
  }
  void collect_all() {
    for (uint32_t node = 0; node < hosts.size(); ++node) {
      if (system.node(node).in_reset()) continue;
      for (uint32_t queue = 0; queue < hosts[node].rings.size(); ++queue) {
        if (hosts[node].rings[queue].enabled) collect(node, queue);
      }
    }
  }
  bool all_completed() const {
    for (const Host& host : hosts) {
      for (const Ring& ring : host.rings) {
        if (ring.enabled && !ring.wanted.empty()) return false;
      }
    }
    return true;
  }

  /// Until every entry has completed and nothing is under way any more, or something is wrong; then all is
  /// compared.
  void expect_settled(uint64_t max_cycles = 2'000'000) {
    system.run_until(
        [this] {
          collect_all();
          return all_completed() || failed();
        },
        max_cycles);
    EXPECT_TRUE(all_completed()) << "entries without completion\n" << problems();
    system.run_until([this] { return system.settled() || failed(); }, max_cycles);
    EXPECT_TRUE(system.settled()) << "still busy\n" << problems();
    if (!failed()) system.check_at_end();
    EXPECT_FALSE(system.findings().any()) << problems();
  }
  bool failed() { return system.findings().any() || testing::Test::HasFailure(); }

  void run(uint64_t cycles) {
    system.run_until([] { return false; }, cycles);
  }

  void disable(uint32_t node, uint32_t queue) {
    hosts[node].rings[queue].enabled = false;
    std::optional<bool> answer;
    hosts[node].administrator->disable(queue, [&](bool ok) { answer = ok; });
    system.run_until([&] { return answer.has_value(); }, 2'000'000);
    EXPECT_TRUE(answer.value_or(false)) << "queue " << queue << " of node " << node << " is never OFF\n"
                                        << problems();
  }

  HostMemory& memory(uint32_t node) { return system.node(node).memory().memory(); }

  std::vector<uint8_t> fill(uint32_t node, uint64_t address, uint64_t bytes) {
    std::vector<uint8_t> data(bytes);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random_.next());
    memory(node).write(address, data);
    return data;
  }

  uint64_t below(uint64_t limit) { return random_.below(limit); }
  std::string problems() { return system.findings().summary(); }

 private:
  /// The keys of neighbours differ in each bit.
  static uint16_t odd_differs(uint32_t key, uint32_t number) {
    return static_cast<uint16_t>(number % 2 == 0 ? key : ~(key - 1));
  }

  driver::RdmaSetup setup_;

 public:
  std::deque<Host> hosts;
  RdmaSystem system;

 private:
  RandomStream random_;
  uint64_t last_tag_ = 0;
};

}  // namespace weft::tb
