// SPDX-License-Identifier: Apache-2.0
// SENDs, READs, writes with immediate and RECVs of several NICs, drawn from a seed, over a bad network with
// pauses on every stream: every request ends in exactly one completion, every message is delivered once and
// whole, what was read is what was there; the golden models agree at every event.
#include <algorithm>
#include <map>
#include <set>

#include "nic_bench.hpp"
#include "random_nics.hpp"

namespace weft::tb {
namespace {

using queue_formats::Completion;
using queue_formats::Opcode;
using queue_formats::Submission;

/// All queues of a node send to, read from and receive from all others.
class Messages {
 public:
  static constexpr uint32_t slot = 1024;  // of a buffer, and the longest message
  static constexpr uint32_t recvs = 2;    // buffers that a queue keeps posted
  static constexpr uint32_t queues = NicBench::owners;
  /// Of a region that others may read; above it each write with immediate has a place of its own, as long as
  /// there is one.
  static constexpr uint64_t region_bytes_read = NicBench::region_bytes / 4;

  Messages(NicBench& bench, Draw& draw, uint32_t per_queue)
      : bench_(bench), draw_(draw), per_queue_(per_queue) {
    for (uint32_t node = 0; node < nodes(); ++node) {
      users_.emplace_back(queues);
      for (uint8_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_.fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_.fill(node, NicBench::target_of(owner), NicBench::region_bytes);
        bench_.enable(node, owner, owner);
      }
    }
  }

  /// Called in every cycle: software does a little, now and then.
  void step() {
    for (uint32_t node = 0; node < nodes(); ++node) {
      for (uint8_t queue = 0; queue < queues; ++queue) {
        if (draw_.below(16) == 0) collect(node, queue);
        if (draw_.below(32) == 0) keep_buffers(node, queue);
        if (draw_.below(64) == 0) ask(node, queue);
      }
    }
  }

  bool finished() const {
    return std::ranges::all_of(users_, [&](const auto& node) {
      return std::ranges::all_of(
          node, [&](const User& user) { return user.asked == per_queue_ && user.open.empty(); });
    });
  }

  /// All that ended well was delivered; the RECV of the last one may complete a little later.
  bool delivered() const {
    return std::ranges::all_of(
        sent_, [&](const auto& message) { return !message.second || delivered_.contains(message.first); });
  }

  /// Every SEND and write with immediate that ended well was delivered; nothing was that nobody sent.
  void expect_delivered() const {
    for (const auto& [id, ok] : sent_) {
      EXPECT_TRUE(!ok || delivered_.contains(id)) << "message " << id << " ended well and was not delivered";
    }
    EXPECT_GT(delivered_.size(), sent_.size() / 2);
    EXPECT_GT(reads_, 0u);
  }

 private:
  struct User {
    uint32_t asked = 0, waiting = 0;      // requests made; buffers posted
    std::set<uint64_t> free_slots;        // of the owner's buffers
    std::map<uint64_t, Submission> open;  // by tag
    uint64_t slots_given = 0;
  };

  uint32_t nodes() const { return bench_.system.size(); }
  uint32_t other_node() { return static_cast<uint32_t>(draw_.below(nodes())); }
  std::vector<Completion>& completions(uint32_t node, uint32_t queue) {
    return bench_.hosts[node].rings[queue].completions;
  }

  void collect(uint32_t node, uint8_t queue) {
    bench_.collect(node, queue);
    auto& got = completions(node, queue);
    for (const Completion& completion : got) note(node, queue, completion);
    got.clear();
  }

  void note(uint32_t node, uint8_t queue, const Completion& completion) {
    User& user = users_[node][queue];
    const auto found = user.open.find(completion.tag);
    if (found == user.open.end()) {  // a RECV, or one that collect() has complained about
      --user.waiting;
      received(node, queue, completion);
      return;
    }
    const Submission entry = found->second;
    user.open.erase(found);
    const bool ok = completion.status == 0;
    if (entry.opcode == static_cast<uint8_t>(Opcode::read)) {
      if (ok) compare(node, entry.local_addr, entry.node, entry.remote_addr, entry.bytes);
      reads_ += ok;
    } else {
      sent_[entry.immediate] = ok;
    }
    user.free_slots.insert(entry.local_addr);
  }

  void compare(uint32_t node, uint64_t address, uint32_t from_node, uint64_t from, uint32_t bytes) {
    EXPECT_TRUE(bench_.memory(node).equals(address, bench_.memory(from_node).read(from, bytes)))
        << "bytes at " << address << " of node " << node;
  }

  /// The immediate says which message it is.
  void received(uint32_t node, uint8_t queue, const Completion& completion) {
    const Submission buffer = buffers_.at({node, completion.tag});
    users_[node][queue].free_slots.insert(buffer.local_addr);
    if (completion.status != 0) return;
    ASSERT_EQ(completion.has_immediate, 1u);
    ASSERT_TRUE(messages_.contains(completion.immediate)) << "a message that nobody has sent";
    const auto& [from_node, entry] = messages_.at(completion.immediate);
    EXPECT_TRUE(delivered_.insert(completion.immediate).second)
        << "message " << completion.immediate << " comes twice";
    EXPECT_EQ(completion.node, from_node);
    EXPECT_EQ(completion.bytes, entry.bytes);
    const bool in_buffer = completion.opcode == static_cast<uint8_t>(Opcode::receive);
    EXPECT_EQ(in_buffer, entry.opcode == static_cast<uint8_t>(Opcode::send));
    compare(node, in_buffer ? buffer.local_addr : entry.remote_addr, from_node, entry.local_addr,
            entry.bytes);
  }

  uint64_t take_slot(User& user, uint64_t base) {
    if (!user.free_slots.empty()) {
      const uint64_t address = *user.free_slots.begin();
      user.free_slots.erase(user.free_slots.begin());
      return address;
    }
    return base + slot * user.slots_given++;
  }

  void keep_buffers(uint32_t node, uint8_t queue) {
    User& user = users_[node][queue];
    if (user.waiting >= recvs) return;
    auto entry = bench_.recv_entry(queue, 0, slot);
    entry.local_addr = take_slot(user, NicBench::buffers_of(queue));
    // It waits until a message comes, so the account is not closed for want of it.
    if (!bench_.hosts[node].rings[queue].queue->put(entry)) return;
    bench_.hosts[node].rings[queue].wanted[entry.tag] = {entry, 0, true};
    bench_.hosts[node].rings[queue].queue->ring();
    buffers_[{node, entry.tag}] = entry;
    ++user.waiting;
  }

  void ask(uint32_t node, uint8_t queue) {
    User& user = users_[node][queue];
    if (user.asked == per_queue_ || user.open.size() >= 2) return;
    const uint32_t peer = other_node();
    const auto bytes = static_cast<uint32_t>(1 + draw_.below(slot));
    const uint64_t local = take_slot(user, NicBench::buffers_of(queue));
    Submission entry;
    const uint64_t place = region_bytes_read + slot * places_[{peer, queue}];
    const uint64_t kind = draw_.below(3);
    if (kind == 0) {
      entry = bench_.read_entry(queue, peer, draw_.below(region_bytes_read / slot) * slot, 0, bytes);
      entry.local_addr = local;
    } else if (kind == 1 || place == NicBench::region_bytes) {
      entry = bench_.send_entry(queue, peer, static_cast<uint32_t>(draw_.below(queues)), 0, bytes);
      entry.flags = queue_formats::flag_imm;
    } else {
      entry = bench_.write_entry(queue, peer, 0, place, bytes);
      entry.opcode = static_cast<uint8_t>(Opcode::write_imm);
      ++places_[{peer, queue}];
    }
    const bool is_read = entry.opcode == static_cast<uint8_t>(Opcode::read);
    if (!is_read) {
      entry.immediate = ++last_id_;
      entry.local_addr = NicBench::source_of(queue) + (local - NicBench::buffers_of(queue));
      messages_[entry.immediate] = {node, entry};
    }
    if (!bench_.put(node, queue, entry, 0, true)) {
      user.free_slots.insert(local);
      return;
    }
    bench_.hosts[node].rings[queue].queue->ring();
    entry.local_addr = is_read ? entry.local_addr : local;
    user.open[entry.tag] = entry;
    ++user.asked;
  }

  NicBench& bench_;
  Draw& draw_;
  uint32_t per_queue_;
  std::vector<std::vector<User>> users_;
  std::map<std::pair<uint32_t, uint64_t>, Submission> buffers_;   // by node and tag
  std::map<uint32_t, std::pair<uint32_t, Submission>> messages_;  // by immediate: from which node
  std::map<uint32_t, bool> sent_;                                 // ended, and well
  std::set<uint32_t> delivered_;
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> places_;  // used of a region, by node and owner
  uint32_t last_id_ = 0;
  uint64_t reads_ = 0;
};

struct Case {
  const char* build;
  uint64_t seed;
};

class NicMessages : public testing::TestWithParam<Case> {};

TEST_P(NicMessages, EveryMessageOnceAndWhole) {
  const auto& [build, seed] = GetParam();
  Draw draw(seed);
  const SystemConfig config = bad_network(draw, build, seed);
  auto setup = patient_setup(draw);
  setup.answer_quota = static_cast<uint16_t>(seed % 3);
  NicBench bench(config, setup);
  Messages messages(bench, draw, 60);
  EXPECT_TRUE(bench.system.run_until(
      [&] {
        messages.step();
        return messages.finished() || bench.failed();
      },
      10'000'000))
      << "requests without completion\n"
      << bench.problems();
  bench.system.run_until(
      [&] {
        messages.step();
        return messages.delivered() || bench.failed();
      },
      20'000);
  // RECVs that still wait are cancelled; nothing may be left of anything.
  for (uint32_t node = 0; node < bench.system.size() && !bench.failed(); ++node) {
    for (uint32_t queue = 0; queue < Messages::queues; ++queue) bench.disable(node, queue);
  }
  bench.expect_settled();
  messages.expect_delivered();
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (uint64_t seed = 1; seed <= 12; ++seed) all.push_back({"nic_full", seed});
  for (uint64_t seed = 1; seed <= 6; ++seed) all.push_back({"nic_wide", seed});
  if (find_rdma_build("nic_default")) all.push_back({"nic_default", 1});  // not where coverage is measured
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seeds, NicMessages, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.build) + "_" + std::to_string(info.param.seed);
});

}  // namespace
}  // namespace weft::tb
