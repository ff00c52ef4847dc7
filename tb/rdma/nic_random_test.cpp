// SPDX-License-Identifier: Apache-2.0
// Random traffic through the queues of several NICs, over a bad network, with pauses on every stream: every
// entry ends in exactly one completion with the right status, memory is what it should be and nothing else is
// touched; both golden models agree at every event.
#include <algorithm>
#include <set>

#include "nic_bench.hpp"
#include "random_nics.hpp"

namespace weft::tb {
namespace {

constexpr uint8_t status_of(QueueStatus status) { return static_cast<uint8_t>(status); }
constexpr uint8_t status_of(EngineStatus status) { return static_cast<uint8_t>(status); }

/// Entries of every queue of every node, good and bad, and what they make of the memories.
class QueueTraffic {
 public:
  static constexpr uint32_t slot = 512,
                            slots = 8;  // places in an owner's region that are one queue's of one node

  QueueTraffic(NicBench& bench, Draw& draw, uint32_t payload, uint32_t entries_per_queue)
      : bench_(bench), draw_(draw), per_queue_(entries_per_queue), payload_(payload) {
    for (uint32_t node = 0; node < bench_.hosts.size(); ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        sources_.push_back(bench_.fill(node, NicBench::source_of(owner), NicBench::region_bytes));
        images_.push_back(bench_.fill(node, NicBench::target_of(owner), NicBench::region_bytes));
        known_.emplace_back(NicBench::region_bytes, true);
      }
    }
    users_.resize(bench_.hosts.size());
    registers_.resize(bench_.hosts.size());
    for (uint32_t node = 0; node < users_.size(); ++node) {
      for (uint32_t queue = 0; queue < bench_.hosts[node].rings.size(); ++queue) {
        users_[node].emplace_back();
        enable(node, queue);
      }
    }
  }

  /// Called in every cycle: software does a little, now and then.
  void step() {
    for (uint32_t node = 0; node < users_.size(); ++node) {
      for (uint32_t queue = 0; queue < users_[node].size(); ++queue) {
        if (draw_.below(16) == 0) collect(node, queue);
        if (draw_.below(64) == 0) post(node, queue);
      }
      if (draw_.below(500) == 0) post_by_registers(node);
    }
    if (draw_.below(30'000) == 0) {
      const uint32_t node = peer();
      start_anew(node, static_cast<uint32_t>(draw_.below(users_[node].size())));
    }
  }

  bool finished() const {
    for (uint32_t node = 0; node < users_.size(); ++node) {
      for (uint32_t queue = 0; queue < users_[node].size(); ++queue) {
        if (users_[node][queue].posted < per_queue_ || !bench_.hosts[node].rings[queue].wanted.empty())
          return false;
      }
    }
    return true;
  }

  void expect_memories() {
    for (uint32_t node = 0; node < users_.size(); ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        const size_t at = node * NicBench::owners + owner;
        EXPECT_TRUE(bench_.memory(node).equals(NicBench::source_of(owner), sources_[at]))
            << "sources changed";
        const auto there = bench_.memory(node).read(NicBench::target_of(owner), NicBench::region_bytes);
        uint64_t wrong = 0;
        for (uint64_t i = 0; i < NicBench::region_bytes; ++i)
          wrong += known_[at][i] && there[i] != images_[at][i];
        EXPECT_EQ(wrong, 0u) << "bytes of owner " << owner << " on node " << node;
      }
      for (const uint64_t page : bench_.memory(node).pages()) {
        EXPECT_TRUE(belongs(node, page)) << "page " << page << " of node " << node << " was written";
      }
    }
  }

  uint64_t good() const { return good_; }
  uint64_t bad() const { return bad_; }
  uint64_t sleeps() const { return sleeps_; }
  uint64_t restarts() const { return restarts_; }
  uint64_t register_posts() const {
    uint64_t all = 0;
    for (const Register& each : registers_) all += each.posted;
    return all;
  }

 private:
  struct Place {
    size_t image;
    uint64_t to, from;
    uint32_t first, count;  // slots
    size_t source;
  };
  struct User {
    uint8_t owner = 0;
    bool sleeps = false;  // between completions, until its message comes
    bool asleep = false;
    bool next_is_bad = false;
    uint32_t posted = 0;
    std::set<uint32_t> busy;           // slots that are being written
    std::map<uint64_t, Place> writes;  // by tag, until they complete
  };

  struct Register {
    size_t posted = 0;  // also the tag of the last one
    uint32_t peer = 0;
    uint64_t to = 0, from = 0;
  };

  void enable(uint32_t node, uint32_t queue) {
    User& user = users_[node][queue];
    user.owner = static_cast<uint8_t>(draw_.below(NicBench::owners));
    user.sleeps = draw_.below(2) == 0;
    auto setup = bench_.ring_setup(queue, user.owner);
    setup.sq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.cq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.quota = static_cast<uint16_t>(draw_.below(2) * draw_.below(6));
    bench_.memory(node).write(setup.msi_addr, std::vector<uint8_t>(4));
    bench_.enable(node, queue, setup);
    if (draw_.below(2) == 0) {
      bench_.hosts[node].rings[queue].queue->moderate(static_cast<uint16_t>(draw_.below(8)),
                                                      static_cast<uint16_t>(1 + draw_.below(20)));
    }
  }

  /// Disables a queue, with whatever it has under way, and gives it to another owner, or the same.
  void start_anew(uint32_t node, uint32_t queue) {
    User& user = users_[node][queue];
    bench_.disable(node, queue);
    for (const auto& [tag, place] : user.writes) forget(place);
    const uint32_t posted = user.posted;
    user = {};
    user.posted = posted;
    enable(node, queue);
    ++restarts_;
  }

  /// Nobody knows what of it was written.
  void forget(const Place& place) {
    std::fill_n(known_[place.image].begin() + static_cast<ptrdiff_t>(place.to), place.count * slot, false);
  }

  /// The administrator's own transfers, one at a time from each node, to a place behind those of the queues.
  void post_by_registers(uint32_t node) {
    auto& host = bench_.hosts[node];
    Register& own = registers_[node];
    if (own.posted != host.register_completions.size()) return;
    if (own.posted != 0) {
      const bool ok = host.register_completions.at(static_cast<uint16_t>(own.posted)) == EngineStatus::ok;
      const size_t image = own.peer * NicBench::owners;
      for (uint32_t i = 0; i < slot; ++i) {
        known_[image][own.to + i] = ok;
        images_[image][own.to + i] = sources_[node * NicBench::owners + 1][own.from + i];
      }
    }
    own.peer = peer();
    own.to = NicBench::region_bytes - (node + 1) * slots * slot + draw_.below(slots) * slot;
    own.from = draw_.below(16) * slot;
    ++own.posted;
    const size_t image = own.peer * NicBench::owners;
    std::fill_n(known_[image].begin() + static_cast<ptrdiff_t>(own.to), slot, false);
    bench_.system.node(node).driver().post({NicBench::source_of(1) + own.from,
                                            NicBench::target_of(0) + own.to, slot, own.peer,
                                            static_cast<uint16_t>(own.posted), NicBench::remote_key(0)});
  }

  void collect(uint32_t node, uint32_t queue) {
    User& user = users_[node][queue];
    const auto& setup = bench_.hosts[node].rings[queue].queue->setup();
    if (user.asleep) {
      const auto message = bench_.memory(node).read(setup.msi_addr, 4);
      if (message == std::vector<uint8_t>(4)) return;
      bench_.memory(node).write(setup.msi_addr, std::vector<uint8_t>(4));
      user.asleep = false;
    }
    auto& completions = bench_.hosts[node].rings[queue].completions;
    bench_.collect(node, queue, user.sleeps);
    for (const auto& completion : completions) note(user, completion);
    completions.clear();
    user.asleep = user.sleeps;
    sleeps_ += user.sleeps;
  }

  void note(User& user, const queue_formats::Completion& completion) {
    const auto found = user.writes.find(completion.tag);
    if (found == user.writes.end()) return;
    const Place& place = found->second;
    for (uint32_t i = 0; i < place.count; ++i) user.busy.erase(place.first + i);
    const uint32_t bytes = completion.status == 0 ? completion.bytes : place.count * slot;
    for (uint32_t i = 0; i < bytes; ++i) {
      known_[place.image][place.to + i] = completion.status == 0;
      images_[place.image][place.to + i] = sources_[place.source][place.from + i];
    }
    user.writes.erase(found);
  }

  void post(uint32_t node, uint32_t queue) {
    User& user = users_[node][queue];
    const uint64_t most = 1 + draw_.below(6);
    bool any = false;
    for (uint64_t i = 0; i < most && user.posted < per_queue_; ++i) {
      if (!(user.next_is_bad ? post_bad(node, queue, user) : post_good(node, queue, user))) break;
      ++user.posted;
      ++(user.next_is_bad ? bad_ : good_);
      user.next_is_bad = draw_.below(5) == 0;
      any = true;
    }
    if (any) bench_.hosts[node].rings[queue].queue->ring();
  }

  uint32_t peer() { return static_cast<uint32_t>(draw_.below(users_.size())); }

  bool post_good(uint32_t node, uint32_t queue, User& user) {
    const auto count = static_cast<uint32_t>(1 + (draw_.below(8) == 0 ? draw_.below(slots) : 0));
    const auto first = static_cast<uint32_t>(draw_.below(slots - count + 1));
    for (uint32_t i = 0; i < count; ++i) {
      if (user.busy.contains(first + i)) return false;
    }
    const uint32_t to_node = peer();
    const uint64_t rings = users_[node].size();
    const uint64_t to = ((node * rings + queue) * slots + first) * slot;
    const uint64_t from =
        draw_.below((NicBench::region_bytes - count * slot) / alignment() + 1) * alignment();
    const auto bytes = static_cast<uint32_t>((count - 1) * slot + 1 + draw_.below(slot));
    auto entry = bench_.write_entry(user.owner, to_node, from, to, bytes);
    if (draw_.below(4) == 0) entry.flags = queue_formats::flag_signal;
    if (!bench_.put(node, queue, entry, 0, true)) return false;
    for (uint32_t i = 0; i < count; ++i) user.busy.insert(first + i);
    user.writes[entry.tag] = {to_node * NicBench::owners + user.owner, to, from, first, count,
                              node * NicBench::owners + user.owner};
    return true;
  }

  uint64_t alignment() const { return payload_; }

  bool post_bad(uint32_t node, uint32_t queue, User& user) {
    auto entry = bench_.write_entry(user.owner, peer(), 0, 0, 64);
    const uint32_t other = 1 - user.owner;
    uint8_t status = 0;
    bool at_the_peer = false;
    switch (draw_.below(9)) {
      case 0:
        entry.local_key ^= 1u << draw_.below(16);
        status = status_of(QueueStatus::local_key);
        break;
      case 1:
        entry.local_key = NicBench::local_key(other);
        entry.local_addr = NicBench::source_of(other);
        status = status_of(QueueStatus::local_key);
        break;
      case 2:
        entry.local_addr = NicBench::source_of(other);
        status = status_of(QueueStatus::local_region);
        break;
      case 3:
        entry.bytes = static_cast<uint32_t>(NicBench::region_bytes + 1 + draw_.below(1u << 31));
        status = status_of(QueueStatus::local_region);
        break;
      case 4:
        entry.opcode = static_cast<uint8_t>(draw_.below(2) == 0 ? 0 : 6 + draw_.below(246));
        status = status_of(QueueStatus::bad_opcode);
        break;
      case 5:
        entry.reserved2 = 1ull << draw_.below(64);
        status = status_of(QueueStatus::bad_entry);
        break;
      case 6:
        entry.bytes = 0;
        status = status_of(EngineStatus::bad_length);
        break;
      case 7:
        entry.remote_key ^= 1u << draw_.below(16);
        status = status_of(EngineStatus::bad_key);
        at_the_peer = true;
        break;
      default:
        entry.remote_addr += NicBench::region_bytes;
        status = status_of(EngineStatus::bad_region);
        at_the_peer = true;
        break;
    }
    return bench_.put(node, queue, entry, status, at_the_peer);
  }

  bool belongs(uint32_t node, uint64_t page) const {
    const auto within = [page](uint64_t base, uint64_t bytes) { return page >= base && page < base + bytes; };
    if (within(NicBench::message_base, HostMemory::page_bytes)) return true;
    for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
      if (within(NicBench::source_of(owner), NicBench::region_bytes)) return true;
      if (within(NicBench::target_of(owner), NicBench::region_bytes)) return true;
    }
    return std::ranges::any_of(bench_.hosts[node].rings, [&](const NicBench::Ring& ring) {
      const auto& setup = ring.queue->setup();
      return within(setup.sq_base, setup.sq_size() * 64) || within(setup.cq_base, setup.cq_size() * 32);
    });
  }

  NicBench& bench_;
  Draw& draw_;
  uint32_t per_queue_;
  uint32_t payload_;
  std::vector<std::vector<User>> users_;
  std::vector<std::vector<uint8_t>> sources_, images_;  // by node and owner
  std::vector<std::vector<bool>> known_;  // bytes of the images that no failed transfer may have touched
  std::vector<Register> registers_;
  uint64_t good_ = 0, bad_ = 0, sleeps_ = 0, restarts_ = 0;
};

struct Case {
  const char* build;
  uint64_t seed;
};

class NicRandom : public testing::TestWithParam<Case> {};

TEST_P(NicRandom, EveryEntryEndsOnceAndRight) {
  const auto& [build, seed] = GetParam();
  Draw draw(seed);
  const SystemConfig config = bad_network(draw, build, seed);
  NicBench bench(config, patient_setup(draw));
  QueueTraffic traffic(bench, draw, config.node.build.params.payload, 120);
  const bool finished = bench.system.run_until(
      [&] {
        traffic.step();
        return traffic.finished();
      },
      10'000'000);
  EXPECT_TRUE(finished) << "entries without completion\n" << bench.problems();
  bench.expect_settled();
  traffic.expect_memories();
  EXPECT_GT(traffic.good(), traffic.bad());
  EXPECT_GT(traffic.bad(), 50u);
  EXPECT_GT(traffic.register_posts(), 5u);
  RecordProperty("sleeps", std::to_string(traffic.sleeps()));
  RecordProperty("restarts", std::to_string(traffic.restarts()));
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (uint64_t seed = 1; seed <= 12; ++seed) all.push_back({"nic", seed});
  for (uint64_t seed = 1; seed <= 4; ++seed) all.push_back({"nic_wide", seed});
  for (uint64_t seed = 1; seed <= 4; ++seed) all.push_back({"nic_full", seed});
  if (find_rdma_build("nic_default")) all.push_back({"nic_default", 1});  // not where coverage is measured
  return all;
}

INSTANTIATE_TEST_SUITE_P(Seeds, NicRandom, testing::ValuesIn(cases()), [](const auto& info) {
  return std::string(info.param.build) + "_" + std::to_string(info.param.seed);
});

}  // namespace
}  // namespace weft::tb
