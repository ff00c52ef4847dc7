// SPDX-License-Identifier: Apache-2.0
// rdma_queues with a host memory, an engine and register accesses around it, in lockstep with the golden
// model: every trace record, every register access, every address and byte on the memory port, the request
// stream and the level line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "bench.hpp"
#include "common/axi_memory.hpp"
#include "common/signals.hpp"
#include "common/stable.hpp"
#include "rdma/queue_requests.hpp"
#include "rdma/queues.hpp"

namespace weft::rtl_test {

namespace queue_formats = rdma_queues::formats;
namespace queue_reg = rdma_queues::formats::reg;

/// Probabilities in percent.
struct QueuePaces {
  unsigned request = 100;   ///< the engine takes a request
  unsigned complete = 100;  ///< the engine completes one of those that it has
  unsigned access = 100;    ///< each channel of a register access goes on
};

/// Config: Top, and the sizes it was built with.
template <typename Config>
class QueuesTest : public testing::Test {
 protected:
  static constexpr uint32_t queues = Config::queues;
  /// As in the bench.
  static constexpr uint16_t opcodes = Config::transfers ? 0b111110 : 0b10;

  /// After reset, with a new memory of this kind.
  void start(tb::AxiMemoryConfig config) {
    config.data_bytes = Config::data_bytes;
    config.max_burst_bytes = Config::fetch * 64;
    config.seed = bench_.below(uint64_t{1} << 32);
    memory_.emplace(
        config, [this](const tb::WrittenBurst& burst) { check_written(burst); },
        [this](uint64_t bytes, bool ok) { answered(bytes, ok); });
    forget();
    bench_.reset();
  }

  /// Reset in the middle: engine, queues and memory port forget what was under way.
  void reset() {
    memory_->reset();
    forget();
    bench_.reset();
  }

  // --- register accesses, one at a time
  using Done = std::function<void(bool ok, uint32_t data)>;
  void write(uint32_t address, uint32_t data, uint8_t strobes = 0xf, Done done = {}) {
    accesses_.push_back({true, address, data, strobes, std::move(done)});
  }
  void read(uint32_t address, Done done = {}) {
    accesses_.push_back({false, address, 0, 0, std::move(done)});
  }
  bool registers_idle() const { return accesses_.empty(); }

  /// Page address of a queue's register.
  static uint32_t of(uint32_t queue, uint32_t reg) { return reg + queue * 4096; }

  bool write_now(uint32_t address, uint32_t data, uint8_t strobes = 0xf) {
    std::optional<bool> answer;
    write(address, data, strobes, [&](bool ok, uint32_t) { answer = ok; });
    for (unsigned n = 0; n < 1000 && !answer; ++n) cycle(paces_);
    if (!answer) ADD_FAILURE() << "a register write is not answered";
    return answer.value_or(false);
  }
  std::optional<uint32_t> read_now(uint32_t address) {
    std::optional<uint32_t> value;
    bool answered = false;
    read(address, [&](bool ok, uint32_t data) {
      answered = true;
      if (ok) value = data;
    });
    for (unsigned n = 0; n < 1000 && !answered; ++n) cycle(paces_);
    if (!answered) ADD_FAILURE() << "a register read is not answered";
    return value;
  }

  /// Below 2^20, a multiple of the ring and of 4 KiB; larger ones begin at 0.
  uint64_t ring_offset(uint64_t entry_bytes, uint8_t log2) {
    const uint64_t bytes = std::max<uint64_t>(entry_bytes << log2, 4096);
    return bytes < 1 << 20 ? bench_.below((1 << 20) / bytes) * bytes : 0;
  }

  rdma_queues::QueueConfig make_config(uint32_t queue, uint8_t sq_log2, uint8_t cq_log2,
                                       queue_formats::IrqKind irq) {
    rdma_queues::QueueConfig config;
    // Anywhere on the bus, but no two queues in one place, and none where messages go.
    const uint64_t place = bench_.any(Config::addr_bits - 29) << 29 | uint64_t{queue} << 22;
    config.sq_base = place | ring_offset(64, sq_log2);
    config.cq_base = place | uint64_t{1} << 21 | ring_offset(32, cq_log2);
    config.sq_log2 = sq_log2;
    config.cq_log2 = cq_log2;
    config.owner = static_cast<uint8_t>(bench_.below(256));
    config.irq = irq;
    config.msi_addr = msi_base + uint64_t{queue} * 4;
    config.msi_data = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    config.key = static_cast<uint16_t>(bench_.below(1u << 16));
    return config;
  }

  /// Zeroes the rings and enables the queue, when the accesses have been made.
  void enable(uint32_t queue, const rdma_queues::QueueConfig& config) {
    memory_->memory().write(config.sq_base, std::vector<uint8_t>(size_t{64} << config.sq_log2));
    memory_->memory().write(config.cq_base, std::vector<uint8_t>(size_t{32} << config.cq_log2));
    stage(queue, config);
    write(queue_reg::Q_CTL, 1);
    owners_[queue] = {};
  }

  void stage(uint32_t queue, const rdma_queues::QueueConfig& config) {
    write(queue_reg::QUEUE, queue);
    write_both(queue_reg::Q_SQ_BASE_LO, config.sq_base);
    write_both(queue_reg::Q_CQ_BASE_LO, config.cq_base);
    write(queue_reg::Q_SIZE, config.sq_log2 | uint32_t{config.cq_log2} << 4);
    write(queue_reg::Q_OWNER, config.owner);
    write(queue_reg::Q_IRQ, static_cast<uint32_t>(config.irq));
    write_both(queue_reg::Q_MSI_ADDR_LO, config.msi_addr);
    write(queue_reg::Q_MSI_DATA, config.msi_data);
    write(queue_reg::Q_KEY, config.key);
    write(queue_reg::Q_QUOTA, config.quota);
  }

  void disable(uint32_t queue) {
    write(queue_reg::QUEUE, queue);
    write(queue_reg::Q_CTL, 0);
  }

  // --- an owner
  queue_formats::Submission good_entry() {
    queue_formats::Submission entry;
    entry.opcode = Config::transfers ? static_cast<uint8_t>(1 + bench_.below(5)) : uint8_t{1};
    entry.flags = bench_.chance(30) ? queue_formats::flag_signal : uint8_t{0};
    entry.node = static_cast<uint32_t>(bench_.any(32));
    entry.tag = last_tag_ += 0x9e37'79b9'7f4a'7c15;  // odd: each its own, and all bits change
    entry.local_addr = bench_.any(63) << 1 | bench_.any(1);
    entry.remote_addr = bench_.any(63);
    entry.bytes = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    entry.local_key = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    entry.remote_key = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    entry.immediate = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    const auto opcode = queue_formats::Opcode{entry.opcode};
    if (opcode == queue_formats::Opcode::send) {
      entry.remote_addr = 0;
      if (bench_.chance(50)) entry.flags |= queue_formats::flag_imm;
    } else if (opcode == queue_formats::Opcode::recv) {
      entry.remote_addr = entry.node = entry.remote_key = 0;
    }
    return entry;
  }

  /// Space in the submission ring.
  uint32_t free_entries(uint32_t queue) const {
    const auto& q = model_.queue(queue);
    return q.sq_size() - static_cast<uint16_t>(q.tail - q.head);
  }

  void put_entry(uint32_t queue, uint16_t index, const queue_formats::Submission& entry) {
    memory_->memory().write(model_.entry_address(queue, index), queue_formats::pack(entry));
  }

  /// Writes entries behind the tail and rings the doorbell.
  void post(uint32_t queue, const std::vector<queue_formats::Submission>& entries) {
    uint16_t index = model_.queue(queue).tail;
    for (const auto& entry : entries) put_entry(queue, index++, entry);
    write(of(queue, queue_reg::SQ_TAIL), index);
  }
  void post(uint32_t queue, uint32_t count) {
    std::vector<queue_formats::Submission> entries;
    for (uint32_t i = 0; i < count; ++i) entries.push_back(good_entry());
    post(queue, entries);
  }

  /// Takes the completions that the phase bit shows, at most so many, checks each, and returns how far
  /// software has come.
  uint16_t take(uint32_t queue, uint32_t most) {
    const auto& q = model_.queue(queue);
    Owner& owner = owners_[queue];
    for (uint32_t i = 0; i < most; ++i) {
      std::array<uint8_t, 32> bytes{};
      memory_->memory().read(q.config.cq_base + uint64_t{owner.head % q.cq_size()} * 32, bytes);
      const auto entry = queue_formats::unpack_completion(bytes);
      const bool is_new = entry.phase == (owner.head / q.cq_size() + 1) % 2;
      // Memory performs a write when it offers the answer, so a completion may be seen a little before it is
      // retired.
      if (!is_new || owner.head == q.retired) {
        EXPECT_TRUE(is_new || owner.head == q.retired || q.write_failed)
            << "queue " << queue << ": entry " << owner.head << " is not in memory";
        break;
      }
      EXPECT_TRUE(!owner.ring.empty() && owner.ring.front() == entry)
          << "queue " << queue << ": entry " << owner.head;
      if (!owner.ring.empty()) owner.ring.pop_front();
      EXPECT_EQ(owner.awaited.erase(entry.tag), 1u)
          << "queue " << queue << ": tag " << entry.tag
          << " completes, but not for the first time or never asked for";
      ++owner.head;
      ++completions_taken_;
    }
    return owner.head;
  }

  void ring_head(uint32_t queue, uint16_t head, bool arm) {
    write(of(queue, queue_reg::CQ_HEAD), head | uint32_t{arm} << 31);
  }

  /// An arrival of the engine wants a slot.
  void want_claim(uint32_t queue) { claims_.push_back(static_cast<uint8_t>(queue)); }

  // --- a clock
  void cycle(const QueuePaces& paces) {
    if (testing::Test::HasFatalFailure()) return;
    drive(paces);
    bench_.settle();
    fetch_axi();
    reporter_.set_cycle(bench_.cycle());
    check();
    follow_streams();
    ASSERT_FALSE(findings_.any()) << findings_.summary();
    bench_.step();
  }

  void cycles(unsigned count) {
    for (unsigned n = 0; n < count && !testing::Test::HasFatalFailure(); ++n) cycle(paces_);
  }
  template <typename Condition>
  void until(Condition condition, unsigned limit = 20'000) {
    for (unsigned n = 0; n < limit && !condition() && !testing::Test::HasFatalFailure(); ++n) cycle(paces_);
    EXPECT_TRUE(condition());
  }

  bool quiet() const {
    if (!accesses_.empty() || !engine_.empty() || !tickets_.empty() || !claims_.empty() ||
        !requests_.empty() || !rejections_.empty() || !outcomes_.empty() || !written_.empty() ||
        !memory_->idle() || offered_)
      return false;
    for (uint32_t q = 0; q < queues; ++q) {
      const auto& queue = model_.queue(q);
      if (queue.state == queue_formats::QueueState::drain || queue.message_under_way) return false;
      if (queue.live() && queue.promised != static_cast<uint16_t>(queue.dropped + queue.retired))
        return false;
      if (queue.must_fetch()) return false;
    }
    return true;
  }

  struct Owner {
    uint16_t head = 0;                           // completions taken
    std::deque<queue_formats::Completion> ring;  // what must lie in the ring from there on
    std::unordered_set<uint64_t> awaited;        // tags whose completion is to come
  };

  Bench<typename Config::Top> bench_;
  // Where messages go; bit 28 is 0 in all addresses of rings.
  const uint64_t msi_base =
      bench_.any(Config::addr_bits - 29) << 29 | uint64_t{1} << 28 | bench_.any(16) << 12;
  std::optional<tb::AxiMemory> memory_;
  rdma_queues::Queues model_{{queues, Config::fetch, Config::addr_bits, opcodes}};
  std::array<Owner, queues> owners_{};
  QueuePaces paces_;
  std::deque<rdma_queues::Outcome> engine_;   // requests and arrivals that the engine has to complete
  std::deque<rdma_queues::Request> tickets_;  // READs and RECVs that the inbox has to complete
  uint64_t cancelled_ = 0, told_ = 0;
  uint64_t held_back_ = 0;  // clocks in which only its quota kept a queue from being fetched
  uint64_t requests_taken_ = 0, completions_taken_ = 0, discards_ = 0, fires_ = 0, messages_ = 0, errors_ = 0,
           claims_granted_ = 0, claims_refused_ = 0;
  std::vector<uint32_t> request_order_;  // queues of the requests taken
  std::vector<queue_formats::Submission> requests_seen_;
  std::vector<uint64_t> fire_cycles_;

 private:
  struct Access {
    bool is_write;
    uint32_t address, data;
    uint8_t strobes;
    Done done;
  };
  struct Write {
    uint64_t address;
    std::vector<uint8_t> bytes;
    uint8_t queue;
  };
  struct Burst {
    uint64_t address;
    uint8_t len;
  };

  void write_both(uint32_t low_register, uint64_t value) {
    write(low_register, static_cast<uint32_t>(value));
    write(low_register + 4, static_cast<uint32_t>(value >> 32));
  }

  void fail(const std::string& text) {
    if (!text.empty()) reporter_.add(text);
  }
  void expect(bool ok, const char* text) {
    if (!ok) reporter_.add(text);
  }

  void forget() {
    model_.reset();
    accesses_.clear();
    claims_.clear();
    engine_.clear();
    tickets_.clear();
    held_ = 0;
    untold_cycles_ = {};
    requests_.clear();
    rejections_.clear();
    outcomes_.clear();
    written_.clear();
    messages_due_.clear();
    messages_sent_.clear();
    bursts_.clear();
    beats_ = 0;
    beat_bad_ = false;
    owners_ = {};
    due_cycles_ = {};
    aged_from_ = {};
    offered_.reset();
    aw_sent_ = w_sent_ = ar_sent_ = false;
    read_step_ = 0;
    level_before_ = false;
    stable_req_.reset();
    axi_ = {};
    axi_.ar.burst = axi_.aw.burst = 1;
    axi_.ar.size = axi_.aw.size = Config::data_bytes == 64 ? 6 : 5;
    bench_->axil_awvalid_i = bench_->axil_wvalid_i = bench_->axil_bready_i = bench_->axil_arvalid_i =
        bench_->axil_rready_i = 0;
    bench_->req_ready_i = bench_->claim_valid_i = bench_->cpl_valid_i = 0;
    bench_->arready_i = bench_->rvalid_i = bench_->awready_i = bench_->wready_i = bench_->bvalid_i = 0;
  }

  // --- driving
  void drive(const QueuePaces& paces) {
    drive_registers(paces.access);
    bench_->req_ready_i = bench_.chance(paces.request);
    bench_->claim_valid_i = !claims_.empty();
    bench_->claim_queue_i = claims_.empty() ? static_cast<uint8_t>(bench_.below(queues)) : claims_.front();
    if (!offered_ && !engine_.empty() && bench_.chance(paces.complete)) {
      offered_ = take_any(engine_);
    } else if (!offered_ && !tickets_.empty() && bench_.chance(paces.complete)) {
      offered_ = end_ticket(take_any(tickets_));
    }
    drive_held();
    bench_->cpl_valid_i = offered_.has_value();
    const rdma_queues::Outcome outcome = offered_.value_or(rdma_queues::Outcome{});
    bench_->cpl_queue_i = outcome.queue;
    bench_->cpl_signal_i = outcome.signal;
    tb::put_bytes(bench_->cpl_fields_i, queue_formats::pack(outcome.fields).data(), 32);
    memory_->drive(axi_);
    bench_->arready_i = axi_.arready;
    bench_->rvalid_i = axi_.rvalid;
    bench_->rlast_i = axi_.rlast;
    bench_->rresp_i = axi_.rvalid ? axi_.rresp : tb::resp_slverr;
    tb::put_bytes(bench_->rdata_i, axi_.rdata.data(), Config::data_bytes);
    bench_->awready_i = axi_.awready;
    bench_->wready_i = axi_.wready;
    bench_->bvalid_i = axi_.bvalid;
    bench_->bresp_i = axi_.bvalid ? axi_.bresp : tb::resp_slverr;
  }

  template <typename T>
  T take_any(std::deque<T>& from) {
    const size_t index = bench_.below(from.size());
    const T taken = from[index];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(index));
    return taken;
  }

  /// What has come for a READ or RECV; that of a closed queue may only be cancelled.
  rdma_queues::Outcome end_ticket(const rdma_queues::Request& request) {
    rdma::TicketCompletion completion;
    if (!model_.queue(request.queue).known_open) {
      completion.status = rdma::formats::Status::cancelled;
      ++cancelled_;
    } else if (bench_.chance(90)) {
      completion.node = static_cast<uint16_t>(bench_.below(1000));
      completion.form = bench_.chance(50) ? rdma::Form::buffer : rdma::Form::immediate;
      completion.bytes = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
      if (bench_.chance(50)) completion.imm = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    } else {
      completion.status = rdma::formats::Status::no_ticket;
    }
    return rdma_queues::outcome_of(request, completion);
  }

  /// The inbox holds tickets of a queue, and may seem to a while longer.
  void drive_held() {
    for (uint32_t q = 0; q < queues; ++q) {
      const uint64_t bit = uint64_t{1} << q;
      const bool holds =
          std::any_of(tickets_.begin(), tickets_.end(), [&](const auto& t) { return t.queue == q; });
      if (holds) {
        held_ |= bit;
      } else if (bench_.chance(5)) {
        held_ &= ~bit;
      }
    }
    bench_->queue_held_i = held_;
  }

  void drive_registers(unsigned pace) {
    const bool any = !accesses_.empty();
    const Access access = any ? accesses_.front() : Access{};
    const bool is_write = any && access.is_write, is_read = any && !access.is_write;
    const auto keep = [&](auto& valid, bool wanted) { valid = wanted && (valid || bench_.chance(pace)); };
    keep(bench_->axil_awvalid_i, is_write && !aw_sent_);
    keep(bench_->axil_wvalid_i, is_write && !w_sent_);
    keep(bench_->axil_arvalid_i, is_read && !ar_sent_);
    bench_->axil_awaddr_i = bench_->axil_araddr_i = access.address;
    bench_->axil_wdata_i = access.data;
    bench_->axil_wstrb_i = access.strobes;
    bench_->axil_bready_i = bench_.chance(pace);
    bench_->axil_rready_i = bench_.chance(pace);
  }

  void fetch_axi() {
    axi_.arvalid = bench_->arvalid_o;
    axi_.ar.addr = bench_->araddr_o;
    axi_.ar.len = bench_->arlen_o;
    axi_.rready = bench_->rready_o;
    axi_.awvalid = bench_->awvalid_o;
    axi_.aw.addr = bench_->awaddr_o;
    axi_.aw.len = bench_->awlen_o;
    axi_.wvalid = bench_->wvalid_o;
    tb::get_bytes(bench_->wdata_o, axi_.w.data.data(), Config::data_bytes);
    axi_.w.strb = bench_->wstrb_o;
    axi_.w.last = bench_->wlast_o;
    axi_.bready = bench_->bready_o;
  }

  // --- checking: first all that depends on the state before this clock, then what changes it
  void check() {
    sample_read_of_indices();
    check_told();
    check_off();
    check_level();
    if (bench_->look_o)
      write_expected_ =
          model_.judge_write(accesses_.front().address, accesses_.front().data, accesses_.front().strobes);
    sample_read();
    check_order();
    const auto judged = check_entry();
    check_slot();
    check_fire();
    if (judged) {
      model_.judged(*judged);
    }
    check_claim();
    check_read_beat();
    answered_ok_.reset();
    memory_->sample(axi_, reporter_);
    check_retired();
    if (bench_->apply_o) apply_write();
    check_untold();
    count_held_back();
    count_bad_read();
    check_must_fire();
  }

  void check_told() {
    if (!bench_->queue_set_o) return;
    fail(model_.tell(bench_->queue_idx_o, bench_->queue_open_o, bench_->queue_key_o));
    ++told_;
  }

  /// The inbox is told at once that a queue is open, and within a round that it is closed.
  void check_untold() {
    for (uint32_t q = 0; q < queues; ++q) {
      const bool opens = model_.queue(q).state == queue_formats::QueueState::run;
      untold_cycles_[q] = model_.untold(q) ? untold_cycles_[q] + 1 : 0;
      if (untold_cycles_[q] > (opens ? 1u : queues + 4u))
        reporter_.add("queue " + std::to_string(q) + ": the inbox is not told that it is " +
                      (opens ? "open" : "closed"));
    }
  }

  void count_held_back() {
    for (uint32_t q = 0; q < queues; ++q) {
      const auto& queue = model_.queue(q);
      held_back_ += queue.state == queue_formats::QueueState::run && queue.asked != queue.tail &&
                    queue.room() != 0 && queue.share() == 0;
    }
  }

  void check_off() {
    for (uint32_t q = 0; q < queues; ++q) {
      const bool off = bench_->off_o >> q & 1;
      const bool model_off = model_.queue(q).state == queue_formats::QueueState::off;
      if (off && !model_off) {
        fail(model_.off(q));
        owners_[q] = {};
      } else if (!off && model_off) {
        reporter_.add("queue " + std::to_string(q) + " is not OFF");
      }
    }
  }

  void check_level() {
    expect(bench_->irq_o == level_before_, "irq_o is wrong");
    level_before_ = model_.level();
  }

  void check_order() {
    if (bench_->order_o) {
      const uint32_t q = bench_->order_queue_o;
      bursts_.push_back({model_.entry_address(q, bench_->order_index_o),
                         static_cast<uint8_t>(bench_->order_count_o * (64 / Config::data_bytes) - 1)});
      fail(model_.order(q, bench_->order_index_o, bench_->order_count_o));
    }
    if (axi_.arvalid && axi_.arready) {
      expect(
          !bursts_.empty() && bursts_.front().address == axi_.ar.addr && bursts_.front().len == axi_.ar.len,
          "araddr or arlen is wrong");
      if (!bursts_.empty()) bursts_.pop_front();
    }
  }

  std::optional<rdma_queues::Queues::Judged> check_entry() {
    if (!bench_->entry_o) return std::nullopt;
    const auto judged = model_.next_verdict([&](uint64_t address) {
      std::array<uint8_t, 64> bytes{};
      memory_->memory().read(address, bytes);
      return bytes;
    });
    if (!judged || judged->queue != bench_->entry_queue_o ||
        static_cast<uint8_t>(judged->verdict) != bench_->entry_verdict_o) {
      reporter_.add("entry of queue " + std::to_string(bench_->entry_queue_o) + " judged " +
                    std::to_string(bench_->entry_verdict_o) + ", not " +
                    (judged
                         ? std::string(name(judged->verdict)) + " for queue " + std::to_string(judged->queue)
                         : "there is none"));
      return std::nullopt;
    }
    if (judged->verdict == queue_formats::Verdict::accepted) requests_.push_back(model_.request(*judged));
    if (judged->verdict == queue_formats::Verdict::rejected) rejections_.push_back(model_.rejection(*judged));
    if (judged->verdict != queue_formats::Verdict::dropped)
      owners_[judged->queue].awaited.insert(judged->entry.tag);
    return judged;
  }

  void check_slot() {
    if (!bench_->slot_o) return;
    rdma_queues::Outcome outcome;
    std::array<uint8_t, 32> bytes{};
    tb::get_bytes(bench_->slot_fields_o, bytes.data(), 32);
    outcome.queue = bench_->slot_queue_o;
    outcome.signal = bench_->slot_signal_o;
    outcome.fields = queue_formats::unpack_completion(bytes);
    if (!outcomes_.empty() && outcomes_.front() == outcome) {
      outcomes_.pop_front();
    } else if (!rejections_.empty() && rejections_.front() == outcome) {
      rejections_.pop_front();
    } else {
      reporter_.add("a completion that nobody has made, tag " + std::to_string(outcome.fields.tag));
      return;
    }
    rdma_queues::Queues::Placed placed;
    fail(model_.place(outcome, placed));
    expect(placed.discard == bench_->slot_discard_o,
           "completion discarded that is wanted, or the other way round");
    model_.placed(outcome, placed);
    if (placed.discard) {
      ++discards_;
      return;
    }
    const auto entry = queue_formats::pack(placed.entry);
    written_.push_back({placed.address, {entry.begin(), entry.end()}, outcome.queue});
    owners_[outcome.queue].ring.push_back(placed.entry);
  }

  void check_fire() {
    if (!bench_->fire_o) return;
    const uint32_t q = bench_->fire_queue_o;
    const auto& queue = model_.queue(q);
    const uint64_t ticks = queue.time == 0 ? 0 : queue.time - 1u;
    fail(model_.fire(q, bench_.cycle() - aged_from_[q] >= ticks * tick_cycles()));
    if (queue.config.irq == queue_formats::IrqKind::message) messages_due_.push_back(static_cast<uint8_t>(q));
    ++fires_;
    fire_cycles_.push_back(bench_.cycle());
  }

  void check_claim() {
    if (!bench_->claim_valid_i || !bench_->claim_ready_o) return;
    const uint8_t q = claims_.front();
    claims_.pop_front();
    fail(model_.claim(q, bench_->claim_ok_o));
    ++(bench_->claim_ok_o ? claims_granted_ : claims_refused_);
    if (!bench_->claim_ok_o) return;
    rdma_queues::Outcome arrival;
    arrival.queue = q;
    arrival.fields.tag = ++last_tag_;
    arrival.fields.opcode = static_cast<uint8_t>(queue_formats::Opcode::receive_imm);
    arrival.fields.immediate = static_cast<uint32_t>(bench_.below(uint64_t{1} << 32));
    arrival.fields.node = static_cast<uint32_t>(bench_.below(1000));
    owners_[q].awaited.insert(arrival.fields.tag);
    engine_.push_back(arrival);
  }

  void check_read_beat() {
    bool becomes_error = false;
    uint32_t q = 0;
    if (axi_.rvalid && axi_.rready) {
      beat_bad_ = beat_bad_ || axi_.rresp != tb::resp_okay;
      if (++beats_ == 64 / Config::data_bytes) {
        q = model_.next_read_queue();
        if (!model_.entry_read(beat_bad_, becomes_error)) reporter_.add("data that were not asked for");
        beats_ = 0;
        beat_bad_ = false;
      }
    }
    expect(bench_->error_o == becomes_error && (!becomes_error || bench_->error_queue_o == q),
           "error of a fetch told wrongly");
    errors_ += becomes_error;
  }

  /// A write burst has come to memory: completions in their order, messages in theirs.
  void check_written(const tb::WrittenBurst& burst) {
    const auto& awaited_message =
        messages_due_.empty() ? rdma_queues::QueueConfig{} : model_.queue(messages_due_.front()).config;
    if (burst.bytes.size() == 4) {
      const uint32_t data = burst.bytes[0] | uint32_t{burst.bytes[1]} << 8 | uint32_t{burst.bytes[2]} << 16 |
                            uint32_t{burst.bytes[3]} << 24;
      expect(!messages_due_.empty() && burst.address == awaited_message.msi_addr &&
                 data == awaited_message.msi_data,
             "a wrong message");
      if (messages_due_.empty()) return;
      messages_sent_.push_back(messages_due_.front());
      messages_due_.pop_front();
      ++messages_;
      return;
    }
    expect(!written_.empty() && burst.address == written_.front().address &&
               burst.bytes == written_.front().bytes,
           "a wrong completion is written");
    if (!written_.empty()) written_.pop_front();
  }

  void answered(uint64_t bytes, bool ok) {
    if (bytes != 4) {
      answered_ok_ = ok;
      return;
    }
    expect(!messages_sent_.empty(), "a message is answered that was not sent");
    if (messages_sent_.empty()) return;
    model_.message_answered(messages_sent_.front(), ok);
    messages_sent_.pop_front();
  }

  void check_retired() {
    if (answered_ok_)
      expect(bench_->retired_o && !bench_->retired_discarded_o && bench_->retired_failed_o == !*answered_ok_,
             "answer of memory taken wrongly");
    if (!bench_->retired_o) return;
    expect(bench_->retired_discarded_o || answered_ok_, "a completion is retired before memory has answered");
    const uint32_t q = bench_->retired_queue_o;
    if (model_.queue(q).unseen() == 0) aged_from_[q] = bench_.cycle();
    fail(model_.retire(q, bench_->retired_discarded_o, bench_->retired_urgent_o, bench_->retired_failed_o));
  }

  void apply_write() {
    const Access& access = accesses_.front();
    expect(bench_->write_ok_o == write_expected_, "register write judged wrongly");
    if (access.address >= 4096 && access.address % 4096 == queue_reg::CQ_HEAD % 4096 && write_expected_) {
      aged_from_[access.address / 4096 - 1] = bench_.cycle();
    }
    model_.apply_write(access.address, access.data, write_expected_);
  }

  uint64_t tick_cycles() const {
    return std::max<uint64_t>(1, model_.read(queue_reg::TICK_CYCLES).value_or(1));
  }

  /// What is due is sent within a bounded number of clocks, in which no message is under way.
  void check_must_fire() {
    constexpr uint64_t bound = 8 * queues + 60;
    bool sending = false;
    for (uint32_t q = 0; q < queues; ++q) sending = sending || model_.queue(q).message_under_way;
    for (uint32_t q = 0; q < queues; ++q) {
      const auto& queue = model_.queue(q);
      const bool armed = queue.live() && queue.armed && queue.config.irq != queue_formats::IrqKind::none;
      const bool late =
          armed && queue.unseen() != 0 && bench_.cycle() > aged_from_[q] + (queue.time + 2u) * tick_cycles();
      if (!model_.must_fire(q) && !late) {
        due_cycles_[q] = 0;
      } else if (!sending) {
        ++due_cycles_[q];
      }
      if (due_cycles_[q] > bound)
        reporter_.add("queue " + std::to_string(q) + ": an interrupt is due and not sent");
    }
  }

  // --- streams and register answers
  static uint32_t register_of(uint32_t address) { return address % 4096 + (address >= 4096 ? 4096 : 0); }
  static bool reads_indices(uint32_t reg) { return reg == queue_reg::SQ_HEAD || reg == queue_reg::CQ_TAIL; }

  /// Indices are cleared in the first clock of OFF, not before it.
  void sample_read_of_indices() {
    if (read_step_ == 1 && reads_indices(register_of(accesses_.front().address))) {
      read_expected_ = model_.read(accesses_.front().address);
    }
  }

  /// The state of a queue is looked up a clock before all else is read.
  void sample_read() {
    if (read_step_ == 0) return;
    const uint32_t where = accesses_.front().address;
    const uint32_t reg = register_of(where);
    if (reads_indices(reg)) return;
    const bool state = reg == queue_reg::Q_STATE || reg == queue_reg::STATE;
    if (read_step_ == (state ? 1 : 2)) read_expected_ = model_.read(where);
  }

  void count_bad_read() {
    if (read_step_ == 2 && !read_expected_) model_.count_bad_read();
    if (read_step_ > 0) ++read_step_;
    if (bench_->axil_arvalid_i && bench_->axil_arready_o) read_step_ = 1;
  }

  void follow_streams() {
    follow_registers();
    std::array<uint8_t, 66> now{bench_->req_queue_o, bench_->req_owner_o};
    tb::get_bytes(bench_->req_entry_o, now.data() + 2, 64);
    stable_req_.sample(bench_->req_valid_o, bench_->req_ready_i, now, reporter_);
    if (bench_->req_valid_o && bench_->req_ready_i) take_request(now);
    if (bench_->cpl_valid_i && bench_->cpl_ready_o) {
      outcomes_.push_back(*offered_);
      offered_.reset();
    }
  }

  void take_request(const std::array<uint8_t, 66>& bytes) {
    const rdma_queues::Request request{
        bytes[0], bytes[1],
        queue_formats::unpack_submission(std::span<const uint8_t, 64>(bytes.data() + 2, 64))};
    expect(!requests_.empty() && requests_.front() == request, "a wrong request");
    if (requests_.empty()) return;
    requests_.pop_front();
    ++requests_taken_;
    request_order_.push_back(request.queue);
    requests_seen_.push_back(request.entry);
    if (rdma_queues::is_ticket(request)) return tickets_.push_back(request);
    const auto status = bench_.chance(10) ? rdma::formats::Status::dead_peer : rdma::formats::Status::ok;
    engine_.push_back(rdma_queues::outcome_of(request, static_cast<uint8_t>(status)));
  }

  void follow_registers() {
    aw_sent_ = aw_sent_ || (bench_->axil_awvalid_i && bench_->axil_awready_o);
    w_sent_ = w_sent_ || (bench_->axil_wvalid_i && bench_->axil_wready_o);
    ar_sent_ = ar_sent_ || (bench_->axil_arvalid_i && bench_->axil_arready_o);
    if (bench_->axil_bvalid_o && bench_->axil_bready_i) {
      expect(aw_sent_ && w_sent_ && (bench_->axil_bresp_o == tb::resp_okay) == write_expected_,
             "a register write is answered wrongly");
      finish_access(write_expected_, 0);
    } else if (bench_->axil_rvalid_o && bench_->axil_rready_i) {
      const bool right = ar_sent_ && (bench_->axil_rresp_o == tb::resp_okay) == read_expected_.has_value() &&
                         (!read_expected_ || *read_expected_ == bench_->axil_rdata_o);
      if (!right) {
        reporter_.add("register " + std::to_string(accesses_.front().address) + " reads " +
                      std::to_string(bench_->axil_rdata_o) + ", expected " +
                      (read_expected_ ? std::to_string(*read_expected_) : "SLVERR"));
      }
      finish_access(read_expected_.has_value(), bench_->axil_rdata_o);
    }
  }

  void finish_access(bool ok, uint32_t data) {
    const Done done = accesses_.front().done;
    accesses_.pop_front();
    aw_sent_ = w_sent_ = ar_sent_ = false;
    read_step_ = 0;
    if (done) done(ok, data);
  }

  std::deque<Access> accesses_;
  std::deque<uint8_t> claims_;
  std::deque<rdma_queues::Request> requests_;    // accepted, not yet taken by the engine
  std::deque<rdma_queues::Outcome> rejections_;  // to be given a slot
  std::deque<rdma_queues::Outcome> outcomes_;    // of the engine, taken from it, to be given a slot
  std::optional<rdma_queues::Outcome> offered_;
  std::deque<Write> written_;  // completions to come on the memory port
  std::deque<uint8_t> messages_due_, messages_sent_;
  std::deque<Burst> bursts_;
  std::array<uint64_t, queues> due_cycles_{}, aged_from_{}, untold_cycles_{};
  uint64_t held_ = 0;  // queues that the inbox says it holds tickets of
  uint32_t beats_ = 0;
  bool beat_bad_ = false;
  bool aw_sent_ = false, w_sent_ = false, ar_sent_ = false;
  bool write_expected_ = false, level_before_ = false;
  int read_step_ = 0;
  std::optional<uint32_t> read_expected_;
  std::optional<bool> answered_ok_;
  uint64_t last_tag_ = 0;
  tb::AxiPins axi_;
  tb::StableCheck<std::array<uint8_t, 66>> stable_req_{"req"};
  tb::Findings findings_;
  tb::Reporter reporter_{findings_, 0};
};

}  // namespace weft::rtl_test
