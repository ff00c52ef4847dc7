// SPDX-License-Identifier: Apache-2.0
// The barrier protocol of one node.
#include "barrier/engine.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "barrier/packet.hpp"

namespace weft::barrier {
namespace {

Refusal fault_of(const GroupSettings& settings, uint32_t nodes) {
  if (settings.members.empty()) return Refusal::empty;
  std::unordered_set<Node> seen;
  for (const Node node : settings.members) {
    if (node >= nodes) return Refusal::unknown_node;
    if (!seen.insert(node).second) return Refusal::repeated_node;
  }
  return Refusal::none;
}

uint8_t crc8(uint8_t crc, uint32_t word) {
  for (int bit = 15; bit >= 0; bit--) {
    const bool out = (crc >> 7 & 1u) != (word >> bit & 1u);
    crc = static_cast<uint8_t>(crc << 1 ^ (out ? 0x07 : 0));
  }
  return crc;
}

/// How many epochs a packet is ahead; epochs wrap.
int ahead(uint16_t packet, uint16_t here) {
  return static_cast<int16_t>(static_cast<uint16_t>(packet - here));
}

}  // namespace

bool has_whole_blocks(const GroupSettings& settings) {
  if (settings.block_log2 == 0) return true;
  const uint32_t bits = digit_bits(settings.shape);
  const bool fits = bits != 0 && settings.block_log2 % bits == 0;
  return fits && settings.block_log2 <= largest_block_log2 &&
         settings.members.size() % (1u << settings.block_log2) == 0;
}

void move_in_blocks(GroupSettings& settings, uint32_t block_log2) {
  settings.block_log2 = block_log2;
  if (!has_whole_blocks(settings)) settings.block_log2 = 0;
  settings.judge.stride = default_stride(offsets_of(settings));
}

uint32_t offsets_of(const GroupSettings& settings) {
  return settings.block_log2 == 0 ? static_cast<uint32_t>(settings.members.size())
                                  : 1u << settings.block_log2;
}

uint8_t digest_of(const GroupSettings& settings) {
  uint8_t digest = crc8(0xff, settings.block_log2 << 12 | static_cast<uint32_t>(settings.members.size()));
  digest = crc8(digest, static_cast<uint32_t>(settings.shape));
  for (const Node node : settings.members) digest = crc8(digest, node);
  return digest;
}

Engine::Engine(Node self, uint32_t groups, uint32_t nodes)
    : self_(self), nodes_(nodes), groups_(groups), pending_(groups), last_instance_(groups) {}

// ------------------------------------------------------------------------------------------------- software

Refusal Engine::counted(Refusal refusal) {
  if (refusal != Refusal::none) refused_++;
  return refusal;
}

Refusal Engine::open(uint32_t number, GroupSettings settings) {
  return counted(opened(number, std::move(settings)));
}
Refusal Engine::close(uint32_t number) { return counted(closed(number)); }
Refusal Engine::arrive(uint32_t number) { return counted(arrived(number)); }

Refusal Engine::opened(uint32_t number, GroupSettings settings) {
  if (number >= groups_.size()) return Refusal::no_such_group;
  if (groups_[number].phase != Phase::closed) return Refusal::open;
  if (const Refusal fault = fault_of(settings, nodes_); fault != Refusal::none) return fault;
  const auto own = std::find(settings.members.begin(), settings.members.end(), self_);
  if (own == settings.members.end()) return Refusal::not_member;
  if (!has_whole_blocks(settings)) return Refusal::bad_block;
  if (settings.judge.stride > offsets_of(settings)) return Refusal::bad_stride;
  if (settings.multicast != 0 && settings.multicast < nodes_) return Refusal::bad_multicast;
  if (last_instance_[number] == settings.instance) return Refusal::same_instance;
  last_instance_[number] = settings.instance;
  Group group;
  group.number = static_cast<uint32_t>(own - settings.members.begin());
  group.settings = std::move(settings);
  group.settings.judge.offsets = offsets_of(group.settings);
  group.digest = digest_of(group.settings);
  group.memory = judge_start(group.settings.judge);
  begin_epoch(group);
  groups_[number] = std::move(group);
  return Refusal::none;
}

Refusal Engine::closed(uint32_t number) {
  if (number >= groups_.size()) return Refusal::no_such_group;
  if (groups_[number].phase == Phase::closed) return Refusal::not_open;
  groups_[number] = Group{};
  return Refusal::none;
}

Refusal Engine::arrived(uint32_t number) {
  if (number >= groups_.size()) return Refusal::no_such_group;
  Group& group = groups_[number];
  if (group.phase == Phase::closed) return Refusal::not_open;
  if (pending_[number]) return Refusal::arrived;
  if (group.phase == Phase::failed && !group.told) {
    complete(group, Ending::dead_member);
    group.told = true;
    return Refusal::none;
  }
  if (group.phase != Phase::idle) return Refusal::arrived;
  group.phase = Phase::gathering;
  restart_timer(group);
  settle(group);
  return Refusal::none;
}

// ------------------------------------------------------------------------------------------------- packets

bool Engine::accepts(const Packet& packet) {
  if (!packet.multicast && packet.to != self_) return drop(Drop::misrouted), false;
  if (packet.group >= groups_.size() || groups_[packet.group].phase == Phase::closed)
    return drop(Drop::unknown_group), false;
  const GroupSettings& settings = groups_[packet.group].settings;
  if (packet.multicast && (settings.multicast == 0 || packet.to != settings.multicast))
    return drop(Drop::misrouted), false;
  if (packet.instance != settings.instance) return drop(Drop::other_instance), false;
  if (packet.digest != groups_[packet.group].digest) return drop(Drop::other_settings), false;
  const auto& members = settings.members;
  if (packet.number >= members.size() || members[packet.number] != packet.from || packet.from == self_)
    return drop(Drop::not_member), false;
  const uint32_t offsets = settings.judge.offsets;
  if (packet.memory.offset >= offsets || packet.memory.best_offset >= offsets)
    return drop(Drop::bad_offset), false;
  return true;
}

void Engine::receive(std::span<const uint8_t, formats::packet_bytes> bytes) {
  const std::optional<Packet> packet = read_packet(bytes);
  if (!packet) return drop(Drop::malformed);
  receive(*packet);
}

void Engine::receive(const Packet& packet) {
  if (!accepts(packet)) return;
  Group& group = groups_[packet.group];
  if (!catch_up(group, packet)) return;
  switch (packet.type) {
    case Type::gather:
      return gathered(group, packet);
    case Type::release:
      return released(group, packet);
    case Type::ask:
      return asked(group, packet);
    case Type::wait:
      return waits(group, packet);
  }
}

/// Puts packets of other epochs aside; who is one epoch ahead has been released, and so am I. A failure of
/// the epoch before ends this one, too: who failed in that never comes to this one; and who had left that
/// epoch before asks who has failed in it.
/// @return whether the packet is for the current epoch
bool Engine::catch_up(Group& group, const Packet& packet) {
  const int by = ahead(packet.epoch, group.epoch);
  if (by == 0) return true;
  if (by == -1 && packet.failed && (packet.type == Type::gather || packet.type == Type::release)) return true;
  if (by == 1 && group.phase == Phase::failed && (packet.type == Type::gather || packet.type == Type::ask))
    return true;
  if (by < 0) {
    if (by == -1 && packet.type == Type::gather) {
      answer_released(group, packet.from);
    } else {
      drop(Drop::old_epoch);
    }
    return false;
  }
  const bool tells = packet.type == Type::gather || packet.type == Type::ask ||
                     (packet.type == Type::release && packet.failed);
  if (by > 1 || group.phase != Phase::waiting || !tells) return drop(Drop::future_epoch), false;
  release(group, packet.memory);
  return true;
}

void Engine::gathered(Group& group, const Packet& packet) {
  if (packet.failed) return fail(group, packet.named);
  if (group.phase == Phase::failed) return answer_failed(group, Type::release, packet.from);
  const uint32_t child = id_of(group, packet.number);
  if (std::find(group.children.begin(), group.children.end(), child) == group.children.end())
    return drop(Drop::not_child);
  const auto at = std::find(group.missing.begin(), group.missing.end(), child);
  if (at == group.missing.end()) return answer_wait(group, packet.from);
  if (at == group.missing.begin()) group.misses = 0;
  group.missing.erase(at);
  group.blamed.reset();  // it may have been the one
  group.length = std::max<uint32_t>(group.length, packet.length);
  settle(group);
}

void Engine::released(Group& group, const Packet& packet) {
  if (packet.failed) return fail(group, packet.named);
  if (group.phase != Phase::waiting) return drop(Drop::not_waiting);
  release(group, packet.memory, packet.multicast);
}

void Engine::asked(Group& group, const Packet& packet) {
  if (group.phase == Phase::failed) return answer_failed(group, Type::gather, packet.from);
  if (group.phase != Phase::waiting) return answer_wait(group, packet.from);
  repeated_++;
  Packet gather;
  gather.length = static_cast<uint16_t>(group.length);
  send(group, gather, packet.from);
}

void Engine::waits(Group& group, const Packet& packet) {
  const uint32_t id = id_of(group, packet.number);
  const bool child = group.phase == Phase::gathering && !group.missing.empty() && group.missing.front() == id;
  const bool parent = group.phase == Phase::waiting && parent_node(group) == packet.from;
  if (!child && !parent) return drop(Drop::not_waiting);
  group.misses = 0;
  group.blamed = packet.has_named ? std::optional(packet.named) : std::nullopt;
  group.blame_age = packet.length;
  if (packet.has_named && group.age >= uint64_t{group.settings.waiting.late} + packet.length) {
    if (!group.late) late_++;
    group.late = packet.named;
  }
  if (child) std::rotate(group.missing.begin(), group.missing.begin() + 1, group.missing.end());
}

// ------------------------------------------------------------------------------------------------- rules

uint32_t Engine::id_of(const Group& group, uint32_t number) const {
  return shifted(number, group.memory.offset, group.settings.judge.offsets);
}

Node Engine::node_of(const Group& group, uint32_t id) const {
  return group.settings.members[unshifted(id, group.memory.offset, group.settings.judge.offsets)];
}

Node Engine::parent_node(const Group& group) const {
  return node_of(group, parent_of(group.settings.shape, id_of(group, group.number)));
}

void Engine::begin_epoch(Group& group) {
  group.phase = Phase::idle;
  group.children = children_of(group.settings.shape, id_of(group, group.number),
                               static_cast<uint32_t>(group.settings.members.size()));
  group.missing = group.children;
  group.length = 0;
  group.age = 0;
  group.blamed.reset();
  group.blame_age = 0;
  group.late.reset();
}

void Engine::settle(Group& group) {
  if (group.phase != Phase::gathering || !group.missing.empty()) return;
  if (id_of(group, group.number) == 0)
    return release(group, judge(group.settings.judge, group.memory, group.length));
  group.phase = Phase::waiting;
  restart_timer(group);
  Packet gather;
  gather.length = static_cast<uint16_t>(group.length);
  send(group, gather, parent_node(group));
}

/// Children, those with most members below them first: whoever is farthest learns as soon as can be.
std::vector<uint32_t> Engine::largest_first(const Group& group) {
  std::vector<uint32_t> children = group.children;  // ascending
  if (group.settings.shape != Shape::bst) std::ranges::reverse(children);
  return children;
}

/// The root tells all members at once, if there is an address for that; else each member its children.
void Engine::release(Group& group, const JudgeMemory& next, bool children_know) {
  const bool root = id_of(group, group.number) == 0;
  Packet packet;
  packet.type = Type::release;
  packet.multicast = root && group.settings.multicast != 0 && !group.children.empty();
  if (packet.multicast) {
    send(group, packet, group.settings.multicast);
    out_.packets.back().memory = next;
  } else if (!children_know) {
    for (const uint32_t child : largest_first(group)) {
      send(group, packet, node_of(group, child));
      out_.packets.back().memory = next;
    }
  }
  complete(group, Ending::ok);
  group.epoch++;
  group.memory = next;
  begin_epoch(group);
}

void Engine::fail(Group& group, Node dead) {
  if (group.phase == Phase::failed) return;
  const bool arrived = group.phase != Phase::idle;
  group.phase = Phase::failed;
  group.dead = dead;
  for (const uint32_t child : largest_first(group))
    answer_failed(group, Type::release, node_of(group, child));
  if (id_of(group, group.number) != 0) answer_failed(group, Type::gather, parent_node(group));
  group.told = arrived;
  if (arrived) complete(group, Ending::dead_member);
}

void Engine::complete(const Group& group, Ending ending) {
  const auto number = static_cast<uint32_t>(&group - groups_.data());
  pending_[number] = true;
  out_.completions.push_back(
      {number, group.epoch, ending, ending == Ending::ok ? 0 : group.dead, group.late});
}

// ------------------------------------------------------------------------------------------------- time

void Engine::restart_timer(Group& group) {
  group.interval = group.settings.waiting.first;
  group.timer = group.interval;
  group.misses = 0;
}

void Engine::tick() {
  for (uint32_t group = 0; group < groups_.size(); group++) tick(group);
}

void Engine::tick(uint32_t number) {
  Group& group = groups_.at(number);
  if (group.phase == Phase::gathering || group.phase == Phase::waiting) tick(group);
}

void Engine::note_age(Group& group) {
  group.age++;
  if (group.blame_age == length_limit)
    group.blamed.reset();  // too long ago
  else
    group.blame_age++;
}

void Engine::tick(Group& group) {
  note_age(group);
  if (group.timer > 1) {
    group.timer--;
    return;
  }
  const Node other =
      group.phase == Phase::waiting ? parent_node(group) : node_of(group, group.missing.front());
  if (++group.misses > group.settings.waiting.tries) return fail(group, other);
  group.interval = std::min(group.interval * 2, group.settings.waiting.largest);
  group.timer = group.interval;
  repeated_++;
  Packet packet;
  packet.type = group.phase == Phase::waiting ? Type::gather : Type::ask;
  packet.length = static_cast<uint16_t>(group.length);
  send(group, packet, other);
}

// ------------------------------------------------------------------------------------------------- sending

void Engine::send(Group& group, Packet packet, Node to) {
  packet.from = self_;
  packet.to = to;
  packet.group = static_cast<uint32_t>(&group - groups_.data());
  packet.number = group.number;
  packet.instance = group.settings.instance;
  packet.digest = group.digest;
  packet.epoch = group.epoch;
  packet.memory = group.memory;
  out_.packets.push_back(packet);
}

void Engine::answer_released(Group& group, Node to) {
  repeated_++;
  Packet packet;
  packet.type = Type::release;
  send(group, packet, to);  // with the memory of this epoch, which is the next one of the epoch before
  out_.packets.back().epoch--;
}

void Engine::answer_failed(Group& group, Type type, Node to) {
  Packet packet;
  packet.type = type;
  packet.failed = true;
  packet.named = group.dead;
  send(group, packet, to);
}

void Engine::answer_wait(Group& group, Node to) {
  Packet packet;
  packet.type = Type::wait;
  packet.has_named = group.phase == Phase::idle || group.blamed.has_value();
  packet.named = group.phase == Phase::idle ? self_ : group.blamed.value_or(0);
  packet.length = static_cast<uint16_t>(group.phase != Phase::idle && group.blamed ? group.blame_age : 0);
  send(group, packet, to);
}

Outputs Engine::take() { return std::exchange(out_, {}); }

GroupView Engine::view(uint32_t number) const {
  if (number >= groups_.size() || groups_[number].phase == Phase::closed) return {};
  const Group& group = groups_[number];
  return {.phase = group.phase,
          .shape = group.settings.shape,
          .members = static_cast<uint32_t>(group.settings.members.size()),
          .block_log2 = group.settings.block_log2,
          .epoch = group.epoch,
          .id = id_of(group, group.number),
          .children = static_cast<uint32_t>(group.children.size()),
          .missing = static_cast<uint32_t>(group.missing.size()),
          .interval = group.interval,
          .pending = pending_[number],
          .multicast = group.settings.multicast,
          .memory = group.memory};
}

}  // namespace weft::barrier
