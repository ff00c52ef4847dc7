// SPDX-License-Identifier: Apache-2.0
// Judging packets of a fabric.
#include "switch/fabric_judge.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace weft::tb {

namespace {

using switch_lookup::formats::Outcome;

constexpr std::size_t most_findings = 10;

std::string reason(const Loss& loss) {
  return loss.why == Outcome::forward ? "nothing is behind the port, or it went on for too long"
                                      : std::string(switch_lookup::formats::name(loss.why));
}

bool hear_each_other(const Wanted& wanted, const Sent& sent, std::size_t one, std::size_t other) {
  if (!sent.by_old_tree || wanted.parts.empty()) return true;
  return wanted.parts[sent.to][one] == wanted.parts[sent.to][other];
}

uint32_t promised_hops(const Wanted& wanted, const Sent& sent) {
  return wanted.promise.hops(wanted.fabric.attachment(sent.from).node, sent.to);
}

}  // namespace

void Judge::say(const std::string& finding) {
  if (findings_.size() < most_findings) findings_.push_back(finding);
}

void Judge::judge(const Wanted& wanted, const std::vector<Sent>& sent, const Packets& packets,
                  FabricPass& pass) {
  excused_.assign(sent.size(), 0);
  failed_.assign(sent.size(), 0);
  for (const Loss& loss : packets.losses()) judge_loss(wanted, sent[loss.tag], loss, pass);
  auto arrivals = packets.arrivals();
  std::sort(arrivals.begin(), arrivals.end());
  auto at = arrivals.begin();
  for (uint32_t tag = 0; tag < sent.size(); ++tag) {
    const auto end =
        std::find_if(at, arrivals.end(), [&](const Arrival& arrival) { return arrival.tag != tag; });
    const std::span<const Arrival> of_this(at, end);
    const bool right = sent[tag].multicast
                           ? copies_are_right(wanted, sent[tag], of_this, pass)
                           : packet_is_right(wanted, sent[tag], excused_[tag] != 0, of_this, pass);
    pass.wrong += !right || failed_[tag] != 0;
    at = end;
  }
}

/// A tree leads to members only, so none of its copies is ever dropped, unless it was cut; a unicast packet
/// only where nothing is promised.
void Judge::judge_loss(const Wanted& wanted, const Sent& sent, const Loss& loss, FabricPass& pass) {
  if (sent.multicast) {
    if (sent.by_old_tree && !wanted.parts.empty() && loss.why == Outcome::no_member) return;
    failed_[loss.tag] = 1;
    return say(fmt::format("group {}: a copy of a packet from host {} is dropped by switch {}: {}", sent.to,
                           sent.from, loss.sw, reason(loss)));
  }
  ++pass.lost;
  if (promised_hops(wanted, sent) == switchtables::no_promise) {
    excused_[loss.tag] = 1;
    return;
  }
  say(fmt::format("a packet from host {} to {} is dropped by switch {}: {}", sent.from, sent.to, loss.sw,
                  reason(loss)));
}

/// Each other member of the group that is still to be reached exactly once; nobody else, but that hosts of
/// groups with the same tree may be allowed to.
bool Judge::copies_are_right(const Wanted& wanted, const Sent& sent, std::span<const Arrival> arrivals,
                             FabricPass& pass) {
  ++pass.multicast_packets;
  pass.by_new_trees += wanted.old != nullptr && !sent.by_old_tree;
  const auto members = wanted.groups.members(sent.to);
  const auto place_of = [&](uint32_t host) {
    return static_cast<std::size_t>(std::lower_bound(members.begin(), members.end(), host) - members.begin());
  };
  const std::size_t from = place_of(sent.from);
  copies_.assign(members.size(), 0);
  bool right = true;
  for (const Arrival& arrival : arrivals) {
    const std::size_t place = place_of(arrival.host);
    if (place < members.size() && members[place] == arrival.host)
      ++copies_[place];
    else
      right = foreign_is_right(wanted, sent, arrival.host, pass) && right;
  }
  for (std::size_t place = 0; place < members.size(); ++place) {
    const bool reached = place != from && hear_each_other(wanted, sent, from, place);
    right = right && copies_[place] == (reached ? 1u : 0u);
    pass.copies += place != from && copies_[place] > 0;
    pass.cut_off += place != from && !reached;
  }
  if (!right)
    say(
        fmt::format("group {}: a packet from host {} does not come to each other member exactly once, and "
                    "to nobody else",
                    sent.to, sent.from));
  return right;
}

bool Judge::foreign_is_right(const Wanted& wanted, const Sent& sent, uint32_t host, FabricPass& pass) {
  const Generation& trees = sent.by_old_tree ? *wanted.old : wanted.fresh;
  const auto& sharing = trees.plan.groups_on[trees.use(sent.to).tree];
  const bool shared = std::ranges::any_of(sharing, [&](uint32_t group) {
    const auto members = wanted.groups.members(group);
    return std::binary_search(members.begin(), members.end(), host);
  });
  pass.foreign += shared;
  if (shared && !wanted.merged)
    say(fmt::format("group {}: a packet from host {} comes to host {} of a group that shares the tree",
                    sent.to, sent.from, host));
  return shared && wanted.merged;
}

bool Judge::packet_is_right(const Wanted& wanted, const Sent& sent, bool excused,
                            std::span<const Arrival> arrivals, FabricPass& pass) {
  ++pass.unicast_packets;
  pass.arrived += arrivals.size();
  bool right = arrivals.size() + (excused ? 1u : 0u) == 1;
  if (!right)
    say(fmt::format("a packet from host {} to {} arrives {} times", sent.from, sent.to, arrivals.size()));
  const uint32_t promised = promised_hops(wanted, sent);
  if (promised != switchtables::no_promise) pass.promised_hops = std::max(pass.promised_hops, promised);
  for (const Arrival& arrival : arrivals) {
    if (promised != switchtables::no_promise) pass.max_hops = std::max(pass.max_hops, arrival.hops);
    if (arrival.host == sent.to && arrival.hops <= promised) continue;
    right = false;
    say(fmt::format("a packet from host {} to {} comes to {} after {} hops, promised: {}", sent.from, sent.to,
                    arrival.host, arrival.hops, promised));
  }
  return right;
}

}  // namespace weft::tb
