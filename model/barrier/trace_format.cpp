// SPDX-License-Identifier: Apache-2.0
// Events of a barrier engine as trace records.
#include "barrier/trace_format.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace weft::barrier {
namespace {

using formats::name;
using trace::Fields;

constexpr std::array<std::string_view, 5> phase_names{"closed", "idle", "gathering", "waiting", "failed"};

std::string name_of(Phase phase) { return std::string(phase_names.at(static_cast<size_t>(phase))); }

template <typename Value>
void add(Fields& fields, std::string key, const Value& value) {
  fields.emplace_back(std::move(key), fmt::format("{}", value));
}

/// The kinds of what is sent, in order; '!' tells of a failure, '*' goes to all members at once.
std::string kinds_of(const std::vector<Packet>& packets) {
  std::string kinds;
  for (const Packet& packet : packets)
    fmt::format_to(std::back_inserter(kinds), "{}{}{}", kinds.empty() ? "" : ",", name(packet.type),
                   packet.failed      ? "!"
                   : packet.multicast ? "*"
                                      : "");
  return kinds.empty() ? "-" : kinds;
}

void add_packet(Fields& fields, const Packet& packet, const std::optional<Drop>& drop) {
  add(fields, "packet", name(packet.type));
  add(fields, "failure", packet.failed ? 1 : 0);
  add(fields, "multicast", packet.multicast ? 1 : 0);
  add(fields, "from", packet.from);
  add(fields, "of_epoch", packet.epoch);
  add(fields, "length", packet.length);
  add(fields, "drop", drop ? name(*drop) : "-");
}

void add_group(Fields& fields, const GroupView& before, const GroupView& after) {
  add(fields, "phase", name_of(before.phase));
  add(fields, "next", name_of(after.phase));
  const GroupView& open = before.phase != Phase::closed ? before : after;
  add(fields, "shape", name(static_cast<formats::Shape>(open.shape)));
  add(fields, "members", open.members);
  add(fields, "block_log2", open.block_log2);
  add(fields, "multicast_address", open.multicast);
  add(fields, "epoch", open.epoch);
  add(fields, "id", open.id);
  add(fields, "children", open.children);
  add(fields, "missing", open.missing);
  add(fields, "pending", before.pending ? 1 : 0);
  add(fields, "interval", after.interval);
  add(fields, "interval_before", before.interval);
  add(fields, "holding_before", before.memory.holding ? 1 : 0);
  add(fields, "offset", after.memory.offset);
  add(fields, "holding", after.memory.holding ? 1 : 0);
}

void add_outputs(Fields& fields, const Outputs& out) {
  add(fields, "sent", kinds_of(out.packets));
  if (out.completions.empty()) {
    add(fields, "ending", "-");
    return;
  }
  const Completion& completion = out.completions.front();  // one event ends one barrier at most
  add(fields, "ending", name(completion.ending));
  add(fields, "dead", completion.dead);
  add(fields, "late", completion.late ? std::to_string(*completion.late) : "-");
}

}  // namespace

trace::Record event_record(uint64_t cycle, const Event& event, const GroupView& before,
                           const GroupView& after, const Outputs& out) {
  Fields fields;
  add(fields, "event", event.name);
  add(fields, "group", event.group);
  if (event.refusal) add(fields, "refusal", name(*event.refusal));
  if (event.packet) add_packet(fields, *event.packet, event.drop);
  if (before.phase != Phase::closed || after.phase != Phase::closed) add_group(fields, before, after);
  add_outputs(fields, out);
  return {cycle, "barrier", std::move(fields)};
}

trace::Record dropped_record(uint64_t cycle, Drop reason) {
  return {cycle, "barrier", {{"event", "dropped"}, {"drop", std::string(name(reason))}}};
}

trace::Record reset_record(uint64_t cycle) { return {cycle, "barrier", {{"event", "reset"}}}; }

}  // namespace weft::barrier
