// SPDX-License-Identifier: Apache-2.0
// NICs to which anything happens: entries good and bad of every opcode, forged packets, regions that close
// and change, errors of memory, stalls, quotas and limits that come and go, queues disabled in the middle,
// wrong doorbells. The golden models agree at every event, and in the end nothing is left of anything.
#include <algorithm>
#include <array>

#include "made_packets.hpp"
#include "nic_bench.hpp"
#include "random_nics.hpp"

namespace weft::tb {
namespace {

namespace engine_reg = rdma::formats::reg;
namespace queue_reg = queue_formats::reg;
using queue_formats::IrqKind;
using queue_formats::Opcode;
using queue_formats::Submission;
using rdma::formats::Header;
using rdma::formats::Ptype;
using rdma::formats::TransferFlag;

constexpr uint64_t phase_cycles = 4'000;
constexpr uint32_t queues = 4;
constexpr uint32_t payload = 64;
// Of a target: below it is read, from there on written, as packets are compared with memory as it is.
constexpr uint64_t half = NicBench::region_bytes / 2;
constexpr uint64_t plain_base = 0x0d'5000'0000;  // of a region that tells no queue of anything
constexpr uint8_t plain_region = 6, closed_queue_region = 7;

driver::RdmaSetup setup_of(Draw& draw) {
  auto setup = NicBench::usual_setup();
  for (const uint8_t number : {plain_region, closed_queue_region}) {
    const uint64_t base = plain_base + number * 2 * NicBench::region_bytes;
    driver::RdmaRegion region{base, base + NicBench::region_bytes, NicBench::key(0)};
    if (number == closed_queue_region) region.queue = queues - 1;
    setup.regions.push_back(region);
  }
  setup.weft_mode = draw.below(2) != 0;
  setup.max_silent = static_cast<uint8_t>(1 + draw.below(8));
  setup.max_busy = static_cast<uint8_t>(1 + draw.below(5));
  setup.max_retry = static_cast<uint8_t>(draw.below(6));
  setup.tx_dead = static_cast<uint16_t>(300 + draw.below(700));
  return setup;
}

class Anything {
 public:
  Anything(NicBench& bench, Draw& draw, driver::RdmaSetup setup)
      : bench_(bench), draw_(draw), setup_(std::move(setup)) {
    for (uint32_t node = 0; node < nodes(); ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_.fill(node, NicBench::source_of(owner), NicBench::region_bytes);
        bench_.fill(node, NicBench::target_of(owner), NicBench::region_bytes);
      }
      enabled_.emplace_back();
      for (uint32_t queue = 0; queue < queues; ++queue) enable(node, queue);
    }
  }

  void phase() {
    const auto node = any_node();
    disturb(node);
    bench_.system.run_until(
        [this] {
          step();
          return bench_.failed();
        },
        phase_cycles);
    calm(node);
    if (one_in(2)) start_anew(any_node(), any_queue());
    if (one_in(2)) start_anew(node, any_queue());
  }

  /// Whatever keeps something waiting is over; then all queues are disabled.
  void end() {
    for (uint32_t node = 0; node < nodes() && !bench_.failed(); ++node) {
      for (uint32_t queue = 0; queue < queues; ++queue) disable(node, queue);
    }
  }

 private:
  uint32_t nodes() const { return bench_.system.size(); }
  bool one_in(uint64_t times) { return draw_.below(times) == 0; }
  uint32_t any_node() { return static_cast<uint32_t>(draw_.below(nodes())); }
  uint32_t any_queue() { return static_cast<uint32_t>(draw_.below(queues)); }
  uint32_t any_owner() { return static_cast<uint32_t>(draw_.below(NicBench::owners)); }
  AxiLiteMaster& registers(uint32_t node) { return bench_.system.node(node).registers(); }
  const rdma::Inbox& inbox(uint32_t node) { return bench_.system.node(node).scoreboard().inbox().model(); }

  // --- queues

  void enable(uint32_t node, uint32_t queue) {
    if (bench_.failed() || enabled_[node].at(queue) || (queue == queues - 1 && one_in(2))) return;
    auto setup = bench_.ring_setup(queue, static_cast<uint8_t>(queue % NicBench::owners));
    setup.sq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.cq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.quota = static_cast<uint16_t>(draw_.below(2) * draw_.below(6));
    setup.irq = static_cast<IrqKind>(draw_.below(3));
    bench_.enable(node, queue, setup);
    enabled_[node].at(queue) = true;
    if (one_in(2)) moderate(node, queue);
  }

  void moderate(uint32_t node, uint32_t queue) {
    bench_.hosts[node].rings[queue].queue->moderate(static_cast<uint16_t>(draw_.below(8)),
                                                    static_cast<uint16_t>(1 + draw_.below(20)));
  }

  void disable(uint32_t node, uint32_t queue) {
    if (bench_.failed() || !enabled_[node].at(queue)) return;
    enabled_[node].at(queue) = false;
    bench_.disable(node, queue);
  }

  void start_anew(uint32_t node, uint32_t queue) {
    if (enabled_[node].at(queue) && one_in(2)) {
      for (uint64_t n = draw_.below(12); n > 0; --n) put(node, queue);
      bench_.hosts[node].rings[queue].queue->ring();
      bench_.run(draw_.below(120));
    }
    disable(node, queue);
    enable(node, queue);
  }

  // --- software, a little in every cycle

  void step() {
    for (uint32_t node = 0; node < nodes(); ++node) {
      for (uint32_t queue = 0; queue < queues; ++queue) {
        if (!enabled_[node].at(queue)) continue;
        if (one_in(40)) take(node, queue);
        if (one_in(120)) post(node, queue);
      }
      if (one_in(300)) forge(node);
      if (one_in(1500)) knock(node);
      if (one_in(1500)) set_limit(node);
      if (one_in(600)) post_by_registers(node);
    }
  }

  void take(uint32_t node, uint32_t queue) {
    auto& ring = *bench_.hosts[node].rings[queue].queue;
    while (ring.take()) {
    }
    ring.acknowledge(one_in(2));
  }

  void post(uint32_t node, uint32_t queue) {
    for (uint64_t n = 1 + draw_.below(6); n > 0; --n) put(node, queue);
    bench_.hosts[node].rings[queue].queue->ring();
  }

  void put(uint32_t node, uint32_t queue) {
    auto entry = good_entry(queue % NicBench::owners);
    if (one_in(4)) spoil(entry, queue % NicBench::owners);
    bench_.hosts[node].rings[queue].queue->put(entry);
  }

  uint32_t some_bytes() { return static_cast<uint32_t>(1 + draw_.below(one_in(4) ? 4096 : 300)); }
  uint64_t place(uint64_t from, uint64_t to) { return from + draw_.below((to - from) / 4096) * 4096; }

  Submission good_entry(uint32_t owner) {
    const uint32_t peer = any_node();
    const uint32_t bytes = some_bytes();
    Submission entry;
    switch (draw_.below(6)) {
      case 0:
        entry = bench_.read_entry(owner, peer, place(0, half - 4096), place(0, half), bytes);
        break;
      case 1:
        entry = bench_.send_entry(owner, peer, any_queue(), place(0, half), bytes);
        if (one_in(2)) entry.flags |= queue_formats::flag_imm;
        break;
      case 2:
      case 3:
        entry = bench_.write_entry(owner, peer, place(0, half), place(half, 2 * half - 4096), bytes);
        if (one_in(2)) entry.opcode = static_cast<uint8_t>(Opcode::write_imm);
        break;
      default:
        entry = bench_.recv_entry(owner, place(0, half), one_in(8) ? 0 : some_bytes());
    }
    entry.immediate = static_cast<uint32_t>(draw_.below(1 << 20));
    if (one_in(4)) entry.flags |= queue_formats::flag_signal;
    return entry;
  }

  void spoil(Submission& entry, uint32_t owner) {
    switch (draw_.below(20)) {
      case 0:
        entry.opcode = static_cast<uint8_t>(draw_.below(20));
        break;
      case 1:
        entry.flags ^= 1u << draw_.below(8);
        break;
      case 2:
        entry.reserved1 = 1;
        break;
      case 3:
        entry.remote_addr ^= uint64_t{1} << draw_.below(48);
        entry.remote_addr = is_read(entry) ? entry.remote_addr & ~half : entry.remote_addr | half;
        break;
      case 4:
        entry.node = one_in(2) ? nodes() : 0x10000;  // nobody answers; there can be no such node
        break;
      case 5:
        entry.remote_key ^= 1u << draw_.below(26);
        break;
      case 6:
        entry.local_key ^= 1u << draw_.below(26);
        break;
      case 7:
        entry.local_addr += 1 + draw_.below(payload - 1);
        break;
      case 8:
        entry.local_addr += NicBench::region_bytes;
        break;
      case 9:
        entry.bytes = 0;
        break;
      case 10:  // more packets than there are numbers for, in a place that is large enough: of a peer's
        entry.bytes = 0xffff'ff00;
        break;
      case 11:
        entry.remote_addr = (uint64_t{1} << 48) - payload;
        entry.bytes = 4 * payload;
        break;
      case 12:
        entry.remote_addr += payload / 2;
        break;
      case 13:
        entry.remote_addr = NicBench::target_of(owner) + NicBench::region_bytes - payload;
        entry.bytes = 2 * payload;
        break;
      case 14:
        entry.local_key = NicBench::local_key(owner);
        entry.local_addr = NicBench::source_of(owner);
        break;
      case 15:
        entry.remote_key = driver::rdma_rkey(plain_region, NicBench::key(0));
        entry.remote_addr = plain_base + plain_region * 2 * NicBench::region_bytes;
        break;
      case 16:
        entry.remote_key = driver::rdma_rkey(closed_queue_region, NicBench::key(0));
        entry.remote_addr = plain_base + closed_queue_region * 2 * NicBench::region_bytes;
        break;
      case 17:
        entry.node = nodes();
        break;
      default:
        entry.bytes = static_cast<uint32_t>(draw_.below(8192));
    }
  }

  static bool is_read(const Submission& entry) { return entry.opcode == static_cast<uint8_t>(Opcode::read); }

  void post_by_registers(uint32_t node) {
    if (bench_.system.node(node).driver().unposted() > 2) return;
    const uint32_t owner = any_owner();
    driver::RdmaRequest request{
        NicBench::source_of(owner),         NicBench::target_of(owner) + half, some_bytes(), any_node(),
        static_cast<uint16_t>(++last_tag_), NicBench::remote_key(owner)};
    switch (draw_.below(8)) {
      case 0:
        request.bytes = 0;
        break;
      case 1:
        request.src_addr += 4;
        break;
      case 2:
        request.node = 0x10000;
        break;
      case 3:
        request.dst_addr = (uint64_t{1} << 48) - 64;
        request.bytes = 4096;
        break;
      default:
        break;
    }
    bench_.system.node(node).driver().post(request);
  }

  /// Doorbells and other accesses that are none of software's, of any page.
  void knock(uint32_t node) {
    static constexpr std::array pages{queue_reg::SQ_TAIL, queue_reg::CQ_HEAD, queue_reg::MODERATION,
                                      queue_reg::STATE,   queue_reg::CAPS,    uint32_t{0x7fc}};
    const uint32_t at = pages.at(draw_.below(pages.size()));
    // 2^15 entries beyond what is there is beyond any ring
    const uint32_t queue = at >= queue_reg::SQ_TAIL ? any_queue() : 0;
    const bool of_open_queue = at == queue_reg::MODERATION && enabled_[node].at(queue);
    const uint32_t value = of_open_queue ? 3 : 0x10000 | static_cast<uint32_t>(draw_.below(0x8000));
    registers(node).write(driver::ring_register(at, queue), value, nullptr);
    if (one_in(2)) {
      const uint32_t named = any_queue();
      const uint32_t refused = (enabled_[node].at(named) ? 1 : 0) + 2 * static_cast<uint32_t>(draw_.below(2));
      registers(node).write(driver::ring_register(queue_reg::QUEUE), named, nullptr);
      registers(node).write(driver::ring_register(queue_reg::Q_CTL), refused, nullptr);
    }
    registers(node).write(driver::ring_register(queue_reg::TICK_CYCLES),
                          1 + static_cast<uint32_t>(draw_.below(100)), nullptr);
  }

  void set_limit(uint32_t node) {
    const auto write = [&](uint32_t address, uint64_t value) {
      registers(node).write(address, static_cast<uint32_t>(value), nullptr);
    };
    switch (draw_.below(5)) {
      case 0:
        return write(engine_reg::TICKET_QUOTA, draw_.below(4));
      case 1:
        return write(engine_reg::RX_QUOTA, draw_.below(4));
      case 2:
        return write(engine_reg::ANSWERS, draw_.below(4));
      case 3:
        return write(engine_reg::MAX_BUSY, 1 + draw_.below(5));
      default:
        return write(engine_reg::MAX_RETRY, draw_.below(6));
    }
  }

  // --- packets that nobody has sent

  void forge(uint32_t node) {
    const uint64_t copies = one_in(4) ? 2 + draw_.below(40) : 1 + draw_.below(2);
    const Header header = forged(node);
    for (uint64_t n = 0; n < copies; ++n) bench_.system.node(node).receive(flits_of(header));
  }

  Header forged(uint32_t node) {
    const auto number = static_cast<uint16_t>(draw_.below(inbox_tickets(node)));
    const rdma::Ticket& ticket = inbox(node).ticket(number);
    Header header = header_to_zero(one_in(3) ? Ptype::read : Ptype::rqt);
    header.dst = static_cast<uint16_t>(node);
    header.src = static_cast<uint16_t>(any_node());
    header.sid = static_cast<uint16_t>(draw_.below(8));
    header.msgid = static_cast<uint32_t>(draw_.below(64));
    header.pidx = some_bytes();
    const uint32_t owner = any_owner();
    if (header.ptype == static_cast<uint8_t>(Ptype::read)) {
      if (one_in(2)) return refusal_of(header, ticket, number);
      name(header, NicBench::remote_key(owner));
      header.arg = NicBench::target_of(owner) + place(0, half - 4096) + (one_in(6) ? 8 : 0);
      if (one_in(6)) header.gen ^= 1;
      if (one_in(6)) header.arg += NicBench::region_bytes;
      return header;
    }
    if (ticket.post.kind == rdma::TicketKind::read && one_in(2)) return answer_to(header, ticket, number);
    const bool in_use =
        ticket.state != rdma::Ticket::State::free && ticket.state != rdma::Ticket::State::waiting;
    if (in_use) {
      header.src = ticket.message.src;
      header.sid = ticket.message.sid;
      header.msgid = ticket.message.msgid;
    }
    const bool send = in_use ? ticket.message.form == rdma::Form::buffer : one_in(2);
    if (send) {
      const uint32_t queue = any_queue();
      rdma::set_flag(header, TransferFlag::send);
      name(header, queue << 16 | NicBench::queue_key(queue));
    } else {
      if (!one_in(4)) rdma::set_flag(header, TransferFlag::imm);
      name(header, NicBench::remote_key(owner));
      header.arg = NicBench::target_of(owner) + place(half, 2 * half - 4096);
    }
    return header;
  }

  Header answer_to(Header header, const rdma::Ticket& ticket, uint16_t number) {
    rdma::set_flag(header, TransferFlag::read);
    header.gen = 0;
    header.cid = number;
    header.arg = ticket.number;
    header.src = static_cast<uint16_t>(ticket.post.node);
    header.pidx = ticket.post.bytes;
    if (one_in(4)) header.arg ^= 1;
    return header;
  }

  Header refusal_of(Header header, const rdma::Ticket& ticket, uint16_t number) {
    header.ptype = static_cast<uint8_t>(Ptype::rsp);
    rdma::set_flag(header, TransferFlag::read);
    header.sid = number;
    header.msgid = one_in(4) ? ticket.number ^ 1 : ticket.number;
    header.src = static_cast<uint16_t>(ticket.post.node);
    header.pidx = 0;
    header.arg = draw_.below(8);
    return header;
  }

  static void name(Header& header, uint32_t rkey) {
    header.gen = static_cast<uint8_t>(rkey >> 16);
    header.cid = static_cast<uint16_t>(rkey);
  }
  uint64_t inbox_tickets(uint32_t node) { return inbox(node).free_tickets() + held(node); }
  uint32_t held(uint32_t node) {
    uint32_t all = 0;
    for (uint8_t queue = 0; queue < queues; ++queue) all += inbox(node).held_by(queue);
    return all;
  }

  // --- what lasts for a phase

  void disturb(uint32_t node) {
    RdmaNode& it = bench_.system.node(node);
    const uint32_t queue = any_queue();
    const uint64_t rings = NicBench::rings_of(queue);
    const uint32_t owner = any_owner();
    switch (draw_.below(10)) {
      case 0:
        it.memory().inject_errors(NicBench::buffers_of(owner), NicBench::buffers_of(owner) + half);
        break;
      case 1:
        it.memory().inject_errors(rings + 4 * 64, rings + 5 * 64);
        break;
      case 2:
        it.memory().inject_errors(rings + (1 << 21) + 4 * 32, rings + (1 << 21) + 5 * 32);
        break;
      case 3:
        it.memory().inject_errors(NicBench::message_base, NicBench::message_base + 64);
        break;
      case 4:
        it.memory().inject_errors(NicBench::target_of(owner) + half, NicBench::target_of(owner) + 2 * half);
        break;
      case 5:
        it.stall_output(true);
        break;
      case 6:
        it.memory().stall(true);
        break;
      default:
        change_region(node);
    }
  }

  void change_region(uint32_t node) {
    const auto number = static_cast<uint8_t>(draw_.below(setup_.regions.size()));
    driver::RdmaRegion region = setup_.regions[number];
    switch (draw_.below(3)) {
      case 0:
        region.remote_write = region.remote_read = region.receive = region.local_use = false;
        break;
      case 1:
        region.key ^= 1;
        break;
      default:
        region.limit = region.base + half + half / 2;
    }
    bench_.system.node(node).driver().set_region(number, region);
    changed_ = number;
  }

  void calm(uint32_t node) {
    RdmaNode& it = bench_.system.node(node);
    it.memory().inject_errors(0, 0);
    it.memory().stall(false);
    it.stall_output(false);
    if (changed_) it.driver().set_region(*changed_, setup_.regions[*changed_]);
    changed_.reset();
  }

  NicBench& bench_;
  Draw& draw_;
  driver::RdmaSetup setup_;
  std::vector<std::array<bool, queues>> enabled_;  // by node
  std::optional<uint8_t> changed_;                 // region, in this phase
  uint32_t last_tag_ = 0;
};

class NicAnything : public testing::TestWithParam<uint64_t> {};

TEST_P(NicAnything, AgreesWithTheGoldenModelsAndLeavesNothing) {
  Draw draw(GetParam());
  SystemConfig config = bad_network(draw, "nic_full", GetParam());
  config.faults.duplicate = draw.sometimes(0.3);
  config.faults.duplicate_lag = static_cast<uint32_t>(1 + draw.below(4000));
  const auto setup = setup_of(draw);
  NicBench bench(config, setup);
  Anything anything(bench, draw, setup);
  constexpr unsigned phases = 8;
  for (unsigned n = 0; n < phases && !bench.failed(); ++n) anything.phase();
  anything.end();
  EXPECT_TRUE(bench.system.run_until([&] { return bench.system.settled() || bench.failed(); }, 5'000'000))
      << "still busy\n"
      << bench.problems();
  if (!bench.failed()) bench.system.check_at_end();
  EXPECT_FALSE(bench.system.findings().any()) << bench.problems();
}

INSTANTIATE_TEST_SUITE_P(Seeds, NicAnything, testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace weft::tb
