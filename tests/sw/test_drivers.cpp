// SPDX-License-Identifier: Apache-2.0
// Host drivers: buses that answer within the call, registers that refuse, memory that shows an entry in
// parts, queues that there are not.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "driver/barrier_driver.hpp"
#include "driver/rdma_driver.hpp"
#include "driver/ring_driver.hpp"

namespace weft::driver {
namespace {

namespace engine = rdma::formats;
namespace queues = rdma_queues::formats;

constexpr int very_often = 1'000'000;  // calls within calls would need more than any stack

/// Registers that answer at once.
class Registers : public RegisterBus {
 public:
  struct Write {
    uint32_t address, data;
    bool operator==(const Write&) const = default;
  };

  void write(uint32_t address, uint32_t data, OnWritten done) override {
    written.push_back({address, data});
    const auto refusal = refusals.find(address);
    const bool ok = refusal == refusals.end() || refusal->second-- <= 0;
    if (done) done(ok);
  }
  void read(uint32_t address, OnRead done) override { done(true, value(address)); }

  bool has_written(uint32_t address) const {
    return std::ranges::any_of(written, [&](const Write& write) { return write.address == address; });
  }

  std::vector<Write> written;
  std::map<uint32_t, int> refusals;              ///< how many writes are refused
  std::function<uint32_t(uint32_t)> value = {};  ///< of a register
};

// --- the engine

class EngineDriver : public testing::Test {
 protected:
  EngineDriver() {
    registers.value = [this](uint32_t address) -> uint32_t {
      if (address == engine::reg::ID) return engine::reset::ID;
      if (address == engine::reg::VERSION) return engine::reset::VERSION;
      if (address == engine::reg::STATUS) return not_ready-- <= 0 ? 1 : 0;
      if (address == engine::reg::CPL) return waiting-- > 0 ? 1u << 31 | 5 : 0;
      return 0;
    };
  }

  int not_ready = 0;  ///< looks at STATUS
  int waiting = 0;    ///< completions
  int completions = 0;
  Registers registers;
  RdmaDriver driver{registers, [this](const RdmaCompletion&) { ++completions; }};
};

TEST_F(EngineDriver, LooksForEverSoLongWhetherTheEngineIsReady) {
  not_ready = very_often;
  driver.start({});
  EXPECT_TRUE(driver.ready());
}

TEST_F(EngineDriver, RingsUntilThereIsRoom) {
  registers.refusals[engine::reg::POST] = very_often;
  driver.start({});
  driver.post({.tag = 1});
  driver.post({.tag = 2});
  EXPECT_EQ(driver.unposted(), 0u);
  EXPECT_EQ(registers.written.back(), (Registers::Write{engine::reg::POST, 2}));
}

TEST_F(EngineDriver, TakesAllCompletions) {
  driver.start({});
  waiting = very_often;
  driver.interrupt();
  EXPECT_EQ(completions, very_often);
  waiting = 1;
  driver.interrupt();
  EXPECT_EQ(completions, very_often + 1);
}

TEST_F(EngineDriver, OpensTheNodeLast) {
  driver.start({.node_id = 7});
  EXPECT_EQ(registers.written.back(), (Registers::Write{engine::reg::NODE_ID, 7}));
}

TEST_F(EngineDriver, DoesNotOpenANodeThatIsSetUpInPart) {
  registers.refusals[engine::reg::REGION_SET] = 1;
  driver.start({.regions = {{.base = 1, .limit = 2}}});
  EXPECT_FALSE(driver.ready());
  EXPECT_FALSE(driver.fault().empty());
  EXPECT_FALSE(registers.has_written(engine::reg::NODE_ID));
}

TEST_F(EngineDriver, WritesWhatIsAsked) {
  driver.start({.answers = 9, .first_msgid = 0x100, .first_read_number = 0x200});
  for (const Registers::Write& wanted : {Registers::Write{engine::reg::ANSWERS, 9},
                                         {engine::reg::MSGID, 0x100},
                                         {engine::reg::READ_NUMBER, 0x200}}) {
    EXPECT_TRUE(std::ranges::count(registers.written, wanted) == 1) << wanted.address;
  }
}

// --- queues

/// Of which the last byte of what is written appears first or last, and reads are of a moment.
class Memory : public RingMemory {
 public:
  void write(uint64_t address, std::span<const uint8_t> bytes) override {
    std::ranges::copy(bytes, bytes_.begin() + static_cast<std::ptrdiff_t>(address));
  }
  void read(uint64_t address, std::span<uint8_t> bytes) const override {
    const auto at = [&] { return bytes_.begin() + static_cast<std::ptrdiff_t>(address); };
    const auto half = static_cast<std::ptrdiff_t>(bytes.size() / 2);
    std::copy(at(), at() + half, bytes.begin());
    if (during_read) std::exchange(during_read, nullptr)();
    std::copy(at() + half, at() + static_cast<std::ptrdiff_t>(bytes.size()), bytes.begin() + half);
  }

  mutable std::function<void()> during_read;  ///< once, in the middle of the next read

 private:
  std::vector<uint8_t> bytes_ = std::vector<uint8_t>(1 << 16);
};

class QueueDriver : public testing::Test {
 protected:
  QueueDriver() {
    setup.sq_base = 0x1000;
    setup.cq_base = 0x2000;
    registers.value = [this](uint32_t address) -> uint32_t {
      if (address == ring_register(queues::reg::CAPS)) return 8;
      if (address == ring_register(queues::reg::STATE, 3)) return draining-- > 0 ? 3 : state;
      return 0;
    };
  }

  bool enable(uint32_t queue) {
    std::optional<bool> done;
    administrator.enable(queue, setup, [&](bool ok) { done = ok; });
    return done.value();
  }
  bool disable(uint32_t queue) {
    std::optional<bool> done;
    administrator.disable(queue, [&](bool ok) { done = ok; });
    return done.value();
  }

  RingSetup setup;
  uint32_t state = 0;  ///< of queue 3
  int draining = 0;    ///< looks at its state that find it in DRAIN
  Registers registers;
  Memory memory;
  RingAdministrator administrator{registers, memory};
};

TEST_F(QueueDriver, WaitsForEverSoLongUntilAQueueIsOff) {
  draining = very_often;
  EXPECT_TRUE(disable(3));
  EXPECT_EQ(registers.written, (std::vector<Registers::Write>{{ring_register(queues::reg::QUEUE), 3},
                                                              {ring_register(queues::reg::Q_CTL), 0}}));
}

TEST_F(QueueDriver, QueueThatThereIsNotIsNotTakenForAnother) {
  EXPECT_FALSE(enable(11));
  EXPECT_FALSE(disable(11));
  EXPECT_TRUE(registers.written.empty());
}

TEST_F(QueueDriver, RingsOfAQueueAtWorkStayAsTheyAre) {
  state = 1;
  const std::vector<uint8_t> entry(64, 0x55);
  memory.write(setup.sq_base, entry);
  EXPECT_FALSE(enable(3));
  EXPECT_TRUE(registers.written.empty());
  std::vector<uint8_t> there(64);
  memory.read(setup.sq_base, there);
  EXPECT_EQ(there, entry);
  state = 0;
  EXPECT_TRUE(enable(3));
  memory.read(setup.sq_base, there);
  EXPECT_EQ(there, std::vector<uint8_t>(64));
}

TEST_F(QueueDriver, CompletionThatComesWhileItIsLookedForIsWhole) {
  RingQueue queue(registers, memory, 3, setup);
  queues::Completion entry;
  entry.tag = 0x1122'3344'5566'7788;
  entry.bytes = 1000;
  entry.phase = 1;
  memory.during_read = [&] { memory.write(setup.cq_base, queues::pack(entry)); };
  const auto first = queue.take();
  const auto got = first ? first : queue.take();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->tag, entry.tag);
  EXPECT_EQ(got->bytes, 1000u);
  EXPECT_FALSE(queue.take().has_value());
}

TEST_F(QueueDriver, AcknowledgesUntilItIsTaken) {
  state = 1;
  registers.refusals[ring_register(queues::reg::CQ_HEAD, 3)] = very_often;
  RingQueue queue(registers, memory, 3, setup);
  queue.acknowledge(true);
  EXPECT_EQ(registers.written.size(), very_often + 1u);
  EXPECT_EQ(registers.written.back().data, 1u << 31);
}

// --- the barrier engine

class BarrierOfANic : public testing::Test {
 protected:
  static constexpr uint32_t window = barrier_window(8);
  static constexpr uint32_t ring = window + barrier_ring_offset;
  static constexpr uint64_t ring_base = 0x4000;

  BarrierOfANic() {
    registers.value = [this](uint32_t address) -> uint32_t {
      if (address == window + barrier::formats::reg::RESULT) return result;
      if (address == ring + barrier_ring::formats::reg::STATE) return state;
      if (address == ring + barrier_ring::formats::reg::TAIL) return tail;
      return 0;
    };
    start();
    state = 1;
  }
  void start() {
    driver.start({.node = 3, .ring_base = ring_base, .ring_log2 = 1}, [this](bool ok) { started = ok; });
  }
  /// Writes an entry as the NIC would.
  void tell(uint32_t index, uint8_t group) {
    barrier::formats::Completion completion;
    completion.group = group;
    completion.epoch = static_cast<uint16_t>(index);
    barrier_ring::formats::Entry entry;
    const auto record = barrier::formats::pack(completion);
    for (size_t i = 0; i < record.size(); ++i) entry.told |= uint64_t{record[i]} << (8 * i);
    entry.phase = index / 2 % 2 == 0 ? 1 : 0;
    memory.write(ring_base + uint64_t{index % 2} * barrier_ring::formats::entry_bytes,
                 barrier_ring::formats::pack(entry));
  }

  uint32_t result = 0, state = 0, tail = 0;
  std::optional<bool> started;
  Registers registers;
  Memory memory;
  BarrierDriver driver{registers, memory, window};
};

TEST_F(BarrierOfANic, WindowIsBehindTheQueues) {
  EXPECT_EQ(window, 0x10000u);
  EXPECT_EQ(barrier_window(64), 0x80000u);
  EXPECT_EQ(started, true);
  EXPECT_EQ(registers.written.back(), (Registers::Write{ring + barrier_ring::formats::reg::ENABLE, 1}));
}

// What docs/barrier.md says, "Setting up a group".
constexpr const char* sequence_of_the_page = R"(write 0x10010 0x00000003  # SELF: this node
write 0x10014 0x00000040  # TICK_PERIOD: clocks of a tick
write 0x10408 0x50000000  # BASE_LO: of the ring
write 0x1040c 0x00000000  # BASE_HI
write 0x10410 0x00000004  # LOG2: 16 entries
write 0x10418 0x00000000  # IRQ_ENABLE
write 0x10414 0x00000001  # ENABLE
write 0x10018 0x00000000  # TABLE_GROUP: group 0
write 0x1001c 0x00000000  # TABLE_INDEX: from its first member on
write 0x10020 0x00000000  # MEMBER: number 0 is node 0
write 0x10020 0x00000001  # MEMBER: number 1
write 0x10020 0x00000002  # MEMBER: number 2
write 0x10020 0x00000003  # MEMBER: number 3
write 0x10024 0x00000001  # INSTANCE
write 0x10028 0x00000003  # SHAPE: LCT8
write 0x10068 0x00000000  # BLOCK_LOG2: one level
write 0x1006c 0x00000000  # MULTICAST: Release along the tree
write 0x10030 0x00000003  # STRIDE
write 0x10034 0x00000002  # GOOD
write 0x10038 0x00000008  # JUDGE_TRIES
write 0x1003c 0x00000010  # FIRST
write 0x10040 0x00000040  # LARGEST
write 0x10044 0x00000008  # TRIES
write 0x10048 0x00001000  # LATE
write 0x1002c 0x00000004  # MEMBERS
write 0x1004c 0x00000000  # OPEN: group 0; all open it before the first arrives
write 0x10054 0x00000000  # ARRIVE: at its barrier, each time
)";

TEST_F(BarrierOfANic, WritesWhatItsPageSays) {
  BarrierGroup group;
  group.instance = 1;
  group.shape = barrier::formats::Shape::lct8;
  group.members = {0, 1, 2, 3};
  group.stride = 3;
  group.good = 2;
  group.first = 16;
  group.largest = 64;
  Registers bus;
  bus.value = [](uint32_t) { return 0; };
  class : public RingMemory {  // of which nothing is read
    void write(uint64_t /*address*/, std::span<const uint8_t> /*bytes*/) override {}
    void read(uint64_t /*address*/, std::span<uint8_t> /*bytes*/) const override {}
  } far_away;
  BarrierDriver fresh(bus, far_away, window);
  fresh.start({.node = 3, .ring_base = 0x5000'0000}, [](bool) {});
  fresh.open(0, group, [](auto) {});
  fresh.arrive(0, [](auto) {});
  std::istringstream page(sequence_of_the_page);
  std::vector<Registers::Write> expected;
  for (std::string word; page >> word; std::getline(page, word)) {
    Registers::Write write{};
    page >> std::hex >> write.address >> write.data;
    expected.push_back(write);
  }
  EXPECT_EQ(bus.written, expected);
}

TEST_F(BarrierOfANic, StartedTwiceIsRefusedAndLosesNothing) {
  tell(0, 5);
  const size_t writes = registers.written.size();
  start();
  EXPECT_EQ(started, false) << "the ring is enabled";
  EXPECT_EQ(registers.written.size(), writes);
  state = 0;
  registers.refusals[window + barrier::formats::reg::SELF] = 1;
  start();
  EXPECT_EQ(started, false) << "a group is open";
  EXPECT_EQ(driver.take()->group, 5);
}

TEST_F(BarrierOfANic, EnablesAFailedRingAgainOnceAllIsTaken) {
  std::optional<bool> enabled;
  const auto again = [&] { driver.enable_again([&](bool ok) { enabled = ok; }); };
  again();
  EXPECT_EQ(enabled, false) << "it has not failed";
  tell(0, 5);
  tail = 1;
  state = 4;
  again();
  EXPECT_EQ(enabled, false) << "one is to be taken";
  EXPECT_EQ(driver.take()->group, 5);
  state = 6;
  again();
  EXPECT_EQ(enabled, false) << "a write is under way";
  state = 4;
  again();
  EXPECT_EQ(enabled, true);
  EXPECT_EQ(registers.written.back(), (Registers::Write{ring + barrier_ring::formats::reg::ENABLE, 1}));
  EXPECT_FALSE(driver.take().has_value()) << "the ring is zeroed";
  tell(0, 6);
  EXPECT_EQ(driver.take()->group, 6) << "it begins anew";
}

TEST_F(BarrierOfANic, CompletionsOverManyLaps) {
  for (uint32_t index = 0; index < 9; ++index) {
    EXPECT_FALSE(driver.take().has_value()) << index;
    tell(index, static_cast<uint8_t>(index + 5));
    const auto got = driver.take();
    ASSERT_TRUE(got.has_value()) << index;
    EXPECT_EQ(got->group, index + 5);
    EXPECT_EQ(got->epoch, index);
    EXPECT_EQ(registers.written.back(),
              (Registers::Write{ring + barrier_ring::formats::reg::HEAD, index + 1}));
  }
}

TEST_F(BarrierOfANic, TellsHeadAgainAsLongAsTheRingIsEnabled) {
  const uint32_t head = ring + barrier_ring::formats::reg::HEAD;
  const auto told = [&] {
    return std::ranges::count_if(registers.written, [&](const auto& write) { return write.address == head; });
  };
  registers.refusals[head] = very_often;
  tell(0, 1);
  EXPECT_TRUE(driver.take().has_value());
  EXPECT_EQ(told(), very_often + 1);
  state = 4;  // failed
  registers.refusals[head] = very_often;
  tell(1, 1);
  EXPECT_TRUE(driver.take().has_value());
  EXPECT_EQ(told(), very_often + 2);
}

/// Registers that answer when they are asked to.
class LateRegisters : public Registers {
 public:
  void write(uint32_t address, uint32_t data, OnWritten done) override {
    Registers::write(address, data, nullptr);
    if (done) answers_.push_back(std::move(done));
  }
  void answer() {
    while (!answers_.empty()) {
      const OnWritten done = std::move(answers_.front());
      answers_.pop_front();
      done(true);
    }
  }

 private:
  std::deque<OnWritten> answers_;
};

TEST_F(BarrierOfANic, GroupsOpenedAtOnceEachHaveTheirSettings) {
  LateRegisters late;
  BarrierDriver opening(late, memory, window);
  int opened = 0;
  for (uint16_t group = 0; group < 3; ++group)
    opening.open(static_cast<uint8_t>(group),
                 {.instance = static_cast<uint16_t>(100 + group),
                  .members = {0, group},
                  .multicast = static_cast<uint16_t>(0xc000 + group)},
                 [&](std::optional<barrier::formats::Refusal> outcome) {
                   opened += outcome == barrier::formats::Refusal::none;
                 });
  late.answer();
  EXPECT_EQ(opened, 3);
  uint32_t instance = 0, multicast = 0;
  std::vector<std::pair<uint32_t, uint32_t>> with;
  for (const auto& [address, data] : late.written) {
    if (address == window + barrier::formats::reg::INSTANCE) instance = data;
    if (address == window + barrier::formats::reg::MULTICAST) multicast = data;
    if (address == window + barrier::formats::reg::OPEN) with.emplace_back(instance, multicast);
  }
  EXPECT_EQ(with, (std::vector<std::pair<uint32_t, uint32_t>>{{100, 0xc000}, {101, 0xc001}, {102, 0xc002}}));
}

TEST_F(BarrierOfANic, NoCommandIsSentBeforeTheOneBeforeIsAnswered) {
  LateRegisters late;
  BarrierDriver driver_of_both(late, memory, window);
  int answers = 0;
  for (uint8_t group = 0; group < 2; ++group)
    driver_of_both.arrive(group, [&](std::optional<barrier::formats::Refusal>) { ++answers; });
  EXPECT_EQ(late.written.size(), 1u) << "RESULT is of the last one";
  late.answer();
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(late.written.size(), 2u);
}

TEST_F(BarrierOfANic, RefusalIsNamed) {
  using barrier::formats::Refusal;
  std::optional<Refusal> outcome;
  const auto note = [&](std::optional<Refusal> got) { outcome = got; };
  driver.arrive(2, note);
  EXPECT_EQ(outcome, Refusal::none);
  registers.refusals[window + barrier::formats::reg::ARRIVE] = 2;
  result = static_cast<uint32_t>(Refusal::not_open);
  driver.arrive(2, note);
  EXPECT_EQ(outcome, Refusal::not_open);
  result = 0;  // a NIC that refuses without a reason
  driver.arrive(2, note);
  EXPECT_EQ(outcome, std::nullopt);
  registers.refusals[window + barrier::formats::reg::MEMBERS] = 1;
  outcome = Refusal::none;
  driver.open(2, {.members = {0, 1, 2}}, note);
  EXPECT_EQ(outcome, std::nullopt);
  driver.open(2, {.members = {0, 1, 2}, .block_log2 = 11}, note);
  EXPECT_EQ(outcome, Refusal::bad_block);
  driver.open(2, {.members = {0, 1, 2}, .stride = 2048}, note);
  EXPECT_EQ(outcome, Refusal::bad_stride) << "the register has 11 bits, and would keep the last one";
}

}  // namespace
}  // namespace weft::driver
