// SPDX-License-Identifier: Apache-2.0
// What applications use of a NIC, in the words of verbs: context, protection domain, memory region, queue
// (docs/driver.md). Whatever cannot be done throws Fault with one line; how a transfer ended is in its
// completion.
//
// Threads: a context and what was made from it are for one thread at a time; unlike contexts have nothing in
// common. All calls but posts, poll() and those that say so sleep until the node has answered.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "driver/port.hpp"
#include "driver/ring_driver.hpp"

namespace weft::verbs {

using Completion = rdma_queues::formats::Completion;
using driver::LocalBytes;
using driver::RemoteBytes;
using driver::RemoteQueue;

/// What a memory region is for; add up what is wanted.
enum Access : uint32_t {
  access_source = 1,        ///< WRITEs and SENDs from here
  access_remote_write = 2,  ///< WRITEs of others to here
  access_remote_read = 4,   ///< READs of others from here
  access_buffer = 8,        ///< RECVs and READs into here
};

/// Upper-case name of a completion's status, as docs/nic_guide.md explains it.
std::string_view status_name(uint8_t status);

/// What a NIC and its node have, for all applications together.
struct Attributes {
  uint32_t queues = 0, regions = 0;
  uint32_t payload = 0;  ///< bytes, to multiples of which addresses are
  uint64_t memory_bytes = 0;
};

/// An application's part of a node. Outlives what is made from it. Who knows it is told that it has died if
/// it goes while an exception is under way, or without its destructor.
class Context {
 public:
  explicit Context(std::unique_ptr<driver::Port> port);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  uint32_t node() const { return node_; }
  Attributes attributes();
  /// Of its own memory, all regions together.
  uint64_t memory_bytes() const { return bytes_; }
  /// Of the NIC, now. None pass for asking.
  uint64_t clock() { return ask({.ask = driver::Ask::clock})[0]; }

  /// How often the node's clock went on without an application that computed longer than `weft-node
  /// --patience`: what is measured while this grows takes too many clocks.
  uint64_t not_waited() { return ask({.ask = driver::Ask::not_waited})[0]; }

  /// What the network is not needed for, as in other libraries is done over TCP: peers find each other's
  /// keys under a name.
  void publish(std::string_view name, const RemoteBytes& memory);
  void publish(std::string_view name, const RemoteQueue& queue);
  /// Wait for so many clocks, then throw; at once if there is no such node.
  RemoteBytes find_memory(uint32_t node, std::string_view name, uint64_t clocks = patience);
  RemoteQueue find_queue(uint32_t node, std::string_view name, uint64_t clocks = patience);
  static constexpr uint64_t patience = 20'000'000;

  /// Until a byte of the node's memory is another than `value`, or so many clocks have passed; false: it is
  /// not. Throws, once for each, if a peer has died (docs/driver.md, Peers that die).
  bool wait_for_byte(uint64_t address, uint8_t value, uint64_t clocks = patience);

 private:
  friend class ProtectionDomain;
  friend class MemoryRegion;
  friend class Queue;
  friend class Barrier;
  class Bus;
  class Memory;

  /// Throws what was refused.
  std::array<uint64_t, 4> ask(const driver::Request& request);
  void publish_values(std::string_view name, std::array<uint64_t, 4> values);
  std::array<uint64_t, 4> find(uint32_t node, std::string_view name, uint64_t clocks);
  uint64_t allocate(uint64_t bytes);
  void free(uint64_t address) { used_.erase(address); }
  /// The lowest number that none of its domains has.
  uint64_t new_domain();

  std::unique_ptr<driver::Port> port_;
  std::unique_ptr<Bus> bus_;
  std::unique_ptr<Memory> memory_;
  uint32_t node_ = 0;
  uint64_t base_ = 0, bytes_ = 0;
  int exceptions_;                     // under way when this was made
  std::map<uint64_t, uint64_t> used_;  // memory by address: bytes
  std::set<uint64_t> domains_;         // numbers
};

/// What belongs together: queues use only memory regions of their own domain, whoever knows another one's key
/// (the NIC knows each as an owner; completion LOCAL_KEY). Outlives what is made in it.
class ProtectionDomain {
 public:
  explicit ProtectionDomain(Context& context) : context_(context), number_(context.new_domain()) {}
  ProtectionDomain(const ProtectionDomain&) = delete;
  ProtectionDomain& operator=(const ProtectionDomain&) = delete;
  ~ProtectionDomain() { context_.domains_.erase(number_); }
  Context& context() const { return context_; }
  uint64_t number() const { return number_; }

 private:
  Context& context_;
  uint64_t number_;
};

class Queue;

/// Memory that the NIC may use, taken from the node's.
class MemoryRegion {
 public:
  /// @param told of WRITEs with immediate that come here, by a RECV of it; nobody: these are refused
  MemoryRegion(const ProtectionDomain& domain, uint64_t bytes, uint32_t access, const Queue* told = nullptr);
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;
  ~MemoryRegion();

  std::span<uint8_t> bytes();
  uint32_t key() const { return key_; }
  uint64_t address() const { return address_; }
  /// For requests of this application; offsets are multiples of the payload (docs/nic_guide.md, WRITE).
  LocalBytes local(uint64_t offset, uint32_t bytes) const { return {address_ + offset, bytes, key_}; }
  /// For requests of others.
  RemoteBytes remote(uint64_t offset = 0) const { return {context_.node(), address_ + offset, key_}; }

 private:
  Context& context_;
  uint64_t bytes_;
  uint64_t address_;
  uint32_t key_ = 0;
};

/// A queue of requests, and of their completions. Each post puts an entry and announces it; false: the queue
/// is full, take completions first.
class Queue {
 public:
  explicit Queue(const ProtectionDomain& domain, uint32_t number = driver::any_queue);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  bool post_write(uint64_t tag, const LocalBytes& local, const RemoteBytes& remote) {
    return announce(ring_->post_write(tag, local, remote));
  }
  /// The peer's queue is told of it, if the region has one.
  bool post_write_imm(uint64_t tag, const LocalBytes& local, const RemoteBytes& remote, uint32_t immediate) {
    return announce(ring_->post_write_imm(tag, local, remote, immediate));
  }
  bool post_read(uint64_t tag, const LocalBytes& buffer, const RemoteBytes& remote) {
    return announce(ring_->post_read(tag, buffer, remote));
  }
  bool post_send(uint64_t tag, const LocalBytes& local, const RemoteQueue& remote) {
    return announce(ring_->post_send(tag, local, remote));
  }
  /// For a SEND; or, of no bytes, for being told of a WRITE with immediate only.
  bool post_recv(uint64_t tag, const LocalBytes& buffer) { return announce(ring_->post_recv(tag, buffer)); }

  /// A completion that is there. Only looks: who looks in a loop should wait instead (docs/driver.md,
  /// Waiting).
  std::optional<Completion> poll();
  /// The next completion; nothing after so many clocks without one.
  std::optional<Completion> wait(uint64_t clocks);
  /// The next completion, which is of success; throws if it is not, or does not come.
  Completion expect(uint64_t clocks = Context::patience);

  uint32_t number() const { return ring_->number(); }
  /// For SENDs of others.
  RemoteQueue remote() const;

 private:
  bool announce(bool put);
  uint64_t next_completion() const;

  Context& context_;
  std::optional<driver::RingQueue> ring_;
  uint16_t acknowledged_ = 0;
};

/// A barrier of some nodes, by the engines of their NICs: nobody leaves before all have arrived. One
/// application of each node opens it, all with the same number, nodes and instance.
class Barrier {
 public:
  /// Waits, for 33,000 clocks at the most, if this number was closed on this node a short time ago
  /// (docs/driver.md, States).
  /// @param number 0 to 15
  /// @param nodes below 64, in any order
  /// @param instance another one each time that the nodes open the same number again
  Barrier(const ProtectionDomain& domain, uint32_t number, std::span<const uint32_t> nodes,
          uint16_t instance = 0);
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;
  ~Barrier();

  void arrive();
  /// All have arrived; false: not within so many clocks. Throws if a member is dead, with its node.
  bool wait(uint64_t clocks);
  /// Arrives and waits; throws if not all come.
  void enter(uint64_t clocks = Context::patience);
  /// The last member found not to have arrived 262,144 clocks after this one, as of the last wait: of the
  /// barrier that ended then, or of the one that had not.
  std::optional<uint32_t> late() const { return late_; }

 private:
  Context& context_;
  uint32_t number_;
  std::optional<uint32_t> late_;
};

}  // namespace weft::verbs
