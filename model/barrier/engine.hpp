// SPDX-License-Identifier: Apache-2.0
// Golden model of a node's barrier engine: the protocol of one member of each of its groups, event by event.
//
// Source: DLCT paper, algorithm 2, with what a network needs that loses, repeats, reorders and delays
// packets. States, rules and why they are right: docs/barrier.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrier/judge.hpp"
#include "barrier/mesh.hpp"
#include "barrier/tree.hpp"
#include "weft/barrier/formats.hpp"

namespace weft::barrier {

using Type = formats::PacketKind;
using formats::Drop;
using formats::Ending;
using formats::Refusal;

struct Packet {
  Type type = Type::gather;
  Node from = 0, to = 0;
  uint32_t group = 0;
  uint32_t number = 0;     ///< the sender's in the group, without offset
  uint16_t instance = 0;   ///< tells two uses of a group's number apart
  uint16_t epoch = 0;      ///< barriers of this instance so far
  uint16_t length = 0;     ///< gather: longest way so far in hops, saturating; every router adds one
  bool failed = false;     ///< gather, release: `named` is dead
  bool has_named = false;  ///< wait: `named` is who is waited for
  bool multicast = false;  ///< release: to all members; `to` is the group's multicast address
  Node named = 0;
  uint8_t digest = 0;  ///< digest_of() the sender's group
  JudgeMemory memory;  ///< of the packet's epoch; of a release that has not failed: of the next epoch
};

struct Waiting {
  uint32_t first = 64;      ///< ticks until a packet is repeated, doubled each time
  uint32_t largest = 1024;  ///< ... up to this many
  uint32_t tries = 8;       ///< repetitions without any answer until a member counts as dead
  uint32_t late = 4096;     ///< ticks after which whoever is waited for is late
};

inline constexpr uint32_t largest_block_log2 = 10;

struct GroupSettings {
  uint16_t instance = 0;
  Shape shape = Shape::lct;
  std::vector<Node> members;  ///< by number
  uint32_t block_log2 = 0;  ///< two levels: blocks of 2^block_log2 members, within which offsets move; 0: one
  Node multicast = 0;       ///< address at which the root's Release reaches all members; 0: none
  JudgeSettings judge;      ///< its offsets is set from members and blocks
  Waiting waiting;
};

/// Two levels need a tree of which each block is a part (LCT; LCT4 with digits of one level each), and whole
/// blocks.
bool has_whole_blocks(const GroupSettings& settings);

/// Two levels if the members are whole blocks of 2^block_log2, else one; with judge's default stride.
void move_in_blocks(GroupSettings& settings, uint32_t block_log2);

/// How many members move on together: those of a block, or all.
uint32_t offsets_of(const GroupSettings& settings);

/// CRC-8 of shape, blocks and members: who was told others is found out, but one of 256.
uint8_t digest_of(const GroupSettings& settings);

struct Completion {
  uint32_t group = 0;
  uint16_t epoch = 0;
  Ending ending = Ending::ok;
  Node dead = 0;             ///< with dead_member
  std::optional<Node> late;  ///< last member that had not arrived when the limit was over
};

struct Outputs {
  std::vector<Packet> packets;
  std::vector<Completion> completions;
};

enum class Phase : uint8_t { closed, idle, gathering, waiting, failed };

/// What there is to see of a group in one moment.
struct GroupView {
  Phase phase = Phase::closed;  // then all else means nothing
  Shape shape = Shape::lct;
  uint32_t members = 0, block_log2 = 0;
  uint16_t epoch = 0;
  uint32_t id = 0;                     ///< this node's, in this epoch
  uint32_t children = 0, missing = 0;  ///< how many
  uint32_t interval = 0;               ///< ticks from one repetition to the next
  bool pending = false;                ///< software has not taken the last completion
  Node multicast = 0;
  JudgeMemory memory;
};

class Engine {
 public:
  /// @param nodes in the fabric: nodes from this on are unknown
  Engine(Node self, uint32_t groups, uint32_t nodes);

  Refusal open(uint32_t group, GroupSettings settings);
  Refusal close(uint32_t group);
  /// The local software has arrived. It must have taken the completion of the barrier before.
  Refusal arrive(uint32_t group);
  void receive(const Packet& packet);
  /// A packet as it came from the network.
  void receive(std::span<const uint8_t, formats::packet_bytes> bytes);
  /// A tick has passed, for all groups or for one.
  void tick();
  void tick(uint32_t group);

  /// What happened since the last call, in order.
  Outputs take();
  /// The local software has taken the group's completion.
  void completion_taken(uint32_t group) { pending_.at(group) = false; }
  uint64_t dropped(Drop reason) const { return dropped_[static_cast<size_t>(reason)]; }
  GroupView view(uint32_t group) const;
  uint64_t repeated() const { return repeated_; }
  uint64_t late() const { return late_; }
  /// The last member found late in the group's barrier under way.
  std::optional<Node> late_now(uint32_t group) const { return groups_.at(group).late; }
  /// Commands that were refused.
  uint64_t refused() const { return refused_; }

 private:
  struct Group {
    Phase phase = Phase::closed;
    GroupSettings settings;
    uint32_t number = 0;
    uint8_t digest = 0;
    uint16_t epoch = 0;
    JudgeMemory memory;
    std::vector<uint32_t> children, missing;  ///< numbers with offset, of the current epoch
    uint32_t length = 0;
    uint32_t timer = 0, interval = 0, misses = 0, age = 0;
    std::optional<Node> blamed, late;
    uint32_t blame_age = 0;  ///< ticks since whom it blames said that it had not arrived
    Node dead = 0;
    bool told = false;  ///< software knows of the failure
  };

  Refusal counted(Refusal refusal);
  Refusal opened(uint32_t group, GroupSettings settings);
  Refusal closed(uint32_t group);
  Refusal arrived(uint32_t group);
  bool accepts(const Packet& packet);
  void gathered(Group& group, const Packet& packet);
  void released(Group& group, const Packet& packet);
  void asked(Group& group, const Packet& packet);
  void waits(Group& group, const Packet& packet);
  bool catch_up(Group& group, const Packet& packet);
  void begin_epoch(Group& group);
  void settle(Group& group);
  void release(Group& group, const JudgeMemory& next, bool children_know = false);
  static std::vector<uint32_t> largest_first(const Group& group);
  void fail(Group& group, Node dead);
  void tick(Group& group);
  void restart_timer(Group& group);
  static void note_age(Group& group);
  void complete(const Group& group, Ending ending);
  void drop(Drop reason) { dropped_[static_cast<size_t>(reason)]++; }
  void send(Group& group, Packet packet, Node to);
  void answer_released(Group& group, Node to);
  void answer_failed(Group& group, Type type, Node to);
  void answer_wait(Group& group, Node to);
  uint32_t id_of(const Group& group, uint32_t number) const;
  Node node_of(const Group& group, uint32_t id) const;
  Node parent_node(const Group& group) const;

  Node self_;
  uint32_t nodes_;
  std::vector<Group> groups_;
  std::vector<bool> pending_;  ///< by group: software has not taken its completion
  std::vector<std::optional<uint16_t>> last_instance_;
  Outputs out_;
  std::vector<uint64_t> dropped_ = std::vector<uint64_t>(formats::count::DROP);
  uint64_t repeated_ = 0, late_ = 0, refused_ = 0;
};

}  // namespace weft::barrier
