// SPDX-License-Identifier: Apache-2.0
// What each packet does to a barrier engine in each phase, by the rules of docs/barrier.md alone; and the
// engine beside its golden model.
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "small_barrier.hpp"

namespace weft::rtl_test {
namespace {

using namespace barrier;

/// Number 4 of eight in an LCT, with the parent 0 and the children 5 and 6, in one phase.
class BarrierPhase : public testing::Test {
 protected:
  BarrierPhase() {
    settings_.members.resize(8);
    std::iota(settings_.members.begin(), settings_.members.end(), 0);
    settings_.multicast = address;
  }

  void enter(Phase phase) {
    settings_.instance++;
    node_.open(0, settings_);
    if (phase != Phase::idle) node_.arrive(0);
    settle();
    if (phase == Phase::waiting) {
      for (const Node child : {5, 6}) send(Type::gather, child, 0, false);
    }
    if (phase == Phase::failed) send(Type::gather, 5, 0, true);
    endings_.clear();
    told_.clear();
    sent_.clear();
  }
  void leave() {
    node_.close(0);
    settle();
    node_.compare_counters();
  }
  Packet packet_from(Node from, Type type) const {
    Packet packet;
    packet.type = type;
    packet.from = packet.number = from;
    packet.to = self;
    packet.instance = settings_.instance;
    packet.digest = digest_of(settings_);
    packet.named = 7;
    return packet;
  }
  void send(const Packet& packet) {
    node_.receive(write_packet(packet));
    settle();
  }
  /// @param ahead of the node's epoch, which is 0
  void send(Type type, Node from, int ahead, bool failed, std::optional<Node> multicast = {}) {
    Packet packet = packet_from(from, type);
    packet.to = multicast.value_or(self);
    packet.multicast = multicast.has_value();
    packet.epoch = static_cast<uint16_t>(ahead);
    packet.failed = failed;
    send(packet);
  }
  void settle() {
    for (int i = 0; i < 10'000 && node_.busy(); i++) node_.clock(0);
    for (int i = 0; i < 40; i++) node_.clock(0);
    for (const PacketBytes& bytes : node_.take_packets()) sent_.push_back(read_packet(bytes).value());
    for (const Completion& completion : node_.take_completions()) {
      endings_.push_back(completion.ending);
      told_.push_back(completion);
    }
  }

  testing::ScopedTrace reproduce_{__FILE__, __LINE__, reproduce_command()};
  static constexpr Node self = 4, address = 0xc000;
  GroupSettings settings_;
  SmallNode node_{self, seed()};
  std::vector<Ending> endings_;
  std::vector<Completion> told_;
  std::vector<Packet> sent_;
};

TEST_F(BarrierPhase, EachPacketOfEachEpochEndsTheBarrierOrDoesNot) {
  for (const Phase phase : {Phase::idle, Phase::gathering, Phase::waiting, Phase::failed}) {
    for (const Type type : {Type::gather, Type::release, Type::ask, Type::wait}) {
      for (const bool failed : {false, true}) {
        for (const int ahead : {-2, -1, 0, 1, 2}) {
          for (const Node from : {0, 5}) {
            enter(phase);
            send(type, from, ahead, failed);
            leave();
            const bool tells = type == Type::gather || type == Type::release;
            const bool fails = failed && tells && (ahead == 0 || ahead == -1);
            const bool of_the_next = ahead == 1 && (type == Type::gather || type == Type::ask ||
                                                    (type == Type::release && failed));
            const bool released = type == Type::release && ahead == 0 && !failed;
            std::vector<Ending> expected;
            if (phase == Phase::waiting && (of_the_next || released)) expected = {Ending::ok};
            if ((phase == Phase::waiting || phase == Phase::gathering) && fails)
              expected = {Ending::dead_member};
            EXPECT_EQ(endings_, expected)
                << "phase " << static_cast<int>(phase) << ", packet " << static_cast<int>(type)
                << (failed ? " of a failure" : "") << " from " << from << ", " << ahead << " ahead";
          }
        }
      }
    }
  }
}

// Release for all at once: counts for who waits, at the group's address only, from whichever member, and is
// not passed on, as one for this node alone is; in anything else it is malformed.
TEST_F(BarrierPhase, AMulticastReleaseEndsTheBarrierAndIsNotPassedOn) {
  for (const Phase phase : {Phase::idle, Phase::gathering, Phase::waiting, Phase::failed}) {
    for (const Type type : {Type::gather, Type::release, Type::ask, Type::wait}) {
      for (const bool failed : {false, true}) {
        for (const int ahead : {-1, 0, 1}) {
          for (const Node to : {self, address, address + 1}) {
            for (const Node from : {0, 3}) {
              enter(phase);
              const uint64_t malformed = node_.dropped(Drop::malformed),
                             misrouted = node_.dropped(Drop::misrouted);
              send(type, from, ahead, failed, to);
              const bool good = type == Type::release && !failed;
              const bool released = phase == Phase::waiting && good && to == address && ahead == 0;
              EXPECT_EQ(endings_, std::vector<Ending>(released ? 1 : 0, Ending::ok));
              EXPECT_TRUE(sent_.empty());
              EXPECT_EQ(node_.dropped(Drop::malformed) - malformed, good ? 0u : 1u);
              EXPECT_EQ(node_.dropped(Drop::misrouted) - misrouted, good && to != address ? 1u : 0u);
              leave();
            }
          }
        }
      }
    }
  }
  enter(Phase::waiting);
  send(Type::release, 0, 0, false);
  ASSERT_EQ(sent_.size(), 2u) << "the children may have missed it";
  for (const Packet& packet : sent_) EXPECT_FALSE(packet.multicast);
}

// No group has it: nobody is told at address 0, which is a node's.
TEST_F(BarrierPhase, AGroupWithoutAnAddressTakesNoMulticast) {
  settings_.multicast = 0;
  for (const Node to : {0u, self, address}) {
    enter(Phase::waiting);
    send(Type::release, 0, 0, false, to);
    EXPECT_TRUE(endings_.empty());
    leave();
  }
}

TEST_F(BarrierPhase, WhoIsNamedIsToldWithAllBits) {
  settings_.waiting.late = 0;
  for (uint32_t bit = 0; bit < 16; bit++) {
    const auto named = static_cast<Node>(1U << bit);
    enter(Phase::gathering);
    Packet late = packet_from(5, Type::wait);
    late.has_named = true;
    late.named = named;
    send(late);
    for (const Node child : {5, 6}) send(Type::gather, child, 0, false);
    send(Type::release, 0, 0, false);
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_EQ(told_[0].late, named);
    leave();
    enter(Phase::gathering);
    Packet dead = packet_from(5, Type::gather);
    dead.failed = true;
    dead.named = named;
    send(dead);
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_EQ(told_[0].dead, named);
    leave();
  }
}

// It was released, as the others are in the next epoch, and that has failed. When it is looked at again
// depends on when its Releases leave.
TEST_F(BarrierPhase, AFailureOfTheNextEpochIsToldByName) {
  for (const Type type : {Type::gather, Type::release}) {
    for (uint32_t i = 0; i < 40; i++) {
      enter(Phase::waiting);
      Packet failure = packet_from(type == Type::gather ? 5 : 0, type);
      failure.failed = true;
      failure.epoch = 1;
      failure.named = i % 2 == 0 ? 0xa5f0 : 0x5a0f;
      node_.receive(write_packet(failure));
      for (int clocks = 0; clocks < 20; clocks++) node_.clock(i < 2 ? 0 : 50);
      settle();
      EXPECT_EQ(endings_, (std::vector<Ending>{Ending::ok}));
      node_.arrive(0);
      settle();
      ASSERT_EQ(told_.size(), 2u);
      EXPECT_EQ(told_[1].ending, Ending::dead_member);
      EXPECT_EQ(told_[1].dead, failure.named);
      leave();
    }
  }
}

// Whoever names another one later.
TEST_F(BarrierPhase, WhoIsDeadStaysTheSame) {
  enter(Phase::failed);
  for (const Type type : {Type::gather, Type::release, Type::ask, Type::wait}) {
    Packet other = packet_from(6, type);
    other.named = static_cast<Node>(~7U);
    send(other);
    sent_.clear();
    send(Type::ask, 0, 0, false);
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_TRUE(sent_[0].failed);
    EXPECT_EQ(sent_[0].named, 7);
  }
}

// A name is as old as its Wait says, and older with each tick; it is forgotten when that has no more room.
TEST_F(BarrierPhase, ANameAgesWithEachTick) {
  for (uint32_t bit = 0; bit <= 16; bit++) {
    const auto age = static_cast<uint16_t>(0xffff ^ (1U << bit));  // the last one: of no more room
    enter(Phase::gathering);
    send(Type::gather, 6, 0, false);
    Packet wait = packet_from(5, Type::wait);
    wait.has_named = true;
    wait.length = age;
    send(wait);
    for (uint32_t i = 0; i < 2 * SmallNode::tick_period; i++) node_.clock(0);
    settle();
    sent_.clear();
    send(Type::gather, 6, 0, false);
    ASSERT_EQ(sent_.size(), 1u);
    EXPECT_EQ(sent_[0].type, Type::wait);
    EXPECT_EQ(sent_[0].has_named, bit > 2 && bit < 16) << bit;
    if (sent_[0].has_named) {
      EXPECT_NEAR(sent_[0].length, age + 4, 3);
    }
    leave();
  }
}

// The second one of a pair is decided on with what the first has left, a clock after it: what is sent and
// told is the same as with a pause between them.
TEST_F(BarrierPhase, WhatComesRightBehindMeetsWhatWasLeft) {
  struct Done {
    std::vector<PacketBytes> sent;
    std::vector<std::pair<Ending, Node>> told;
    bool operator==(const Done&) const = default;
  };
  const auto done = [&](Phase phase, bool last_child, const std::vector<Packet>& packets, bool pause) {
    enter(phase);
    if (last_child) send(Type::gather, 5, 0, false);
    for (Packet packet : packets) {
      packet.instance = settings_.instance;
      node_.receive(write_packet(packet));
      if (pause) settle();
    }
    settle();
    Done done;
    for (Packet packet : sent_) {
      packet.instance = 0;
      done.sent.push_back(write_packet(packet));
    }
    for (const Completion& completion : told_) done.told.emplace_back(completion.ending, completion.dead);
    leave();
    return done;
  };
  std::vector<Packet> packets;
  for (const Type type : {Type::gather, Type::release, Type::ask, Type::wait}) {
    for (const bool failed : {false, true}) {
      if (failed && type != Type::gather && type != Type::release) continue;
      for (const Node from : {0, 5, 6}) {
        for (const uint16_t epoch : {0, 1}) {
          packets.push_back(packet_from(from, type));
          packets.back().failed = failed;
          packets.back().epoch = epoch;
          packets.back().memory.offset = epoch;
        }
      }
    }
  }
  struct State {
    Phase phase;
    bool last_child;  // is all that is missing
  };
  for (const auto& [phase, last_child] : {State{Phase::idle, false},
                                          {Phase::gathering, false},
                                          {Phase::gathering, true},
                                          {Phase::waiting, false},
                                          {Phase::failed, false}}) {
    for (size_t first = 0; first < packets.size(); first++) {
      for (size_t second = 0; second < packets.size(); second++) {
        const std::vector<Packet> pair{packets[first], packets[second]};
        ASSERT_EQ(done(phase, last_child, pair, false), done(phase, last_child, pair, true))
            << "phase " << static_cast<int>(phase) << ", packets " << first << " and " << second;
      }
    }
  }
}

TEST_F(BarrierPhase, OffsetsAreThoseThatTheGroupHas) {
  struct Group {
    uint16_t members;
    uint8_t block_log2;
    uint32_t offsets;
  };
  for (const auto& [members, block_log2, offsets] : {Group{7, 0, 7}, {8, 0, 8}, {16, 2, 4}, {16, 4, 16}}) {
    SCOPED_TRACE(testing::Message() << members << " members, blocks of 2^" << uint32_t{block_log2});
    settings_.members.resize(members);
    std::iota(settings_.members.begin(), settings_.members.end(), 0);
    settings_.shape = block_log2 == 0 ? Shape::lct : Shape::lct4;
    settings_.block_log2 = block_log2;
    for (uint32_t offset = 0; offset < 2 * members; offset++) {
      for (const bool best : {false, true}) {
        enter(Phase::idle);
        const uint64_t before = node_.dropped(Drop::bad_offset);
        Packet packet = packet_from(5, Type::gather);
        (best ? packet.memory.best_offset : packet.memory.offset) = static_cast<uint16_t>(offset);
        send(packet);
        EXPECT_EQ(node_.dropped(Drop::bad_offset) - before, offset < offsets ? 0u : 1u);
        leave();
      }
    }
  }
}

// A write to it is refused, and changes nothing.
TEST_F(BarrierPhase, ATableStaysWhileItsGroupIsOpen) {
  namespace reg = formats::reg;
  enter(Phase::gathering);
  for (uint32_t number = 0; number < 8; number++) {
    EXPECT_TRUE(node_.write(reg::TABLE_GROUP, 0));
    EXPECT_TRUE(node_.write(reg::TABLE_INDEX, number));
    EXPECT_FALSE(node_.write(reg::MEMBER, 20));
    EXPECT_FALSE(node_.write(reg::MEMBER, 21, 3));
  }
  for (const Node child : {5, 6}) send(Type::gather, child, 0, false);
  send(Type::release, 0, 0, false);
  EXPECT_EQ(endings_, (std::vector<Ending>{Ending::ok}));
  std::vector<Node> to;
  for (const Packet& packet : sent_) to.push_back(packet.to);
  EXPECT_EQ(to, (std::vector<Node>{0, 6, 5})) << "Gather to the parent, Release to the children";
}

}  // namespace
}  // namespace weft::rtl_test
