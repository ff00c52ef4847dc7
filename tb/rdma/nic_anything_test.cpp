// SPDX-License-Identifier: Apache-2.0
// NICs to which anything happens: entries good and bad of every opcode, forged packets, regions that close
// and change, errors of memory, stalls, quotas and limits that come and go, queues disabled in the middle,
// wrong doorbells. The golden models agree at every event, and in the end nothing is left of anything.
#include <algorithm>
#include <array>
#include <set>

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
constexpr uint32_t queues = 4;  // that are used
constexpr uint32_t payload = 64;
// Of a target: below it is read, from there on written, as packets are compared with memory as it is.
constexpr uint64_t half = NicBench::region_bytes / 2;
constexpr uint64_t plain_base = 0x0d'5000'0000;  // of a region that tells no queue of anything
constexpr uint8_t plain_region = 6, closed_queue_region = 7;

/// What goes by which number, and where it lies.
struct Ground {
  const char* build;
  std::array<uint32_t, queues> queue_numbers;  // of owners 0, 1, 0, 1
  std::array<uint8_t, NicBench::owners> owner_numbers;
  std::array<uint16_t, 3> node_numbers;
  std::array<uint64_t, NicBench::owners> offset;  // of an owner's memory from where the bench has it
  uint32_t sids, msgids;                          // that forged packets have
  uint32_t address_bits;

  uint64_t place(uint32_t owner, uint64_t address) const { return address + offset[owner]; }
  uint64_t source_of(uint32_t owner) const { return place(owner, NicBench::source_of(owner)); }
  uint64_t target_of(uint32_t owner) const { return place(owner, NicBench::target_of(owner)); }
  uint64_t buffers_of(uint32_t owner) const { return place(owner, NicBench::buffers_of(owner)); }
  uint64_t plain(uint8_t region) const {
    return place(region % NicBench::owners, plain_base + region * 2 * NicBench::region_bytes);
  }
};

constexpr Ground near_ground{"nic_full", {0, 1, 2, 3}, {0, 1}, {0, 1, 2}, {0, 0}, 8, 64, 48};
// numbers that differ in each bit
constexpr Ground far_ground{"nic_far",
                            {0, 21, 42, 63},
                            {0x5a, 0xa5},
                            {0xa5c3, 0x5a3c, 0x3663},
                            {0x6a5a'3c69'a5c0'0000, 0x15a5'c396'5a3c'0000},
                            1 << 16,
                            1 << 24,
                            63};

driver::RdmaSetup setup_of(Draw& draw, const Ground& ground) {
  auto setup = NicBench::usual_setup();
  for (size_t number = 0; number < setup.regions.size(); ++number) {
    driver::RdmaRegion& region = setup.regions[number];
    const uint8_t owner = region.owner;
    region.base = ground.place(owner, region.base);
    region.limit = ground.place(owner, region.limit);
    region.owner = ground.owner_numbers.at(owner);
    if (region.queue) region.queue = static_cast<uint8_t>(ground.queue_numbers.at(owner));
  }
  for (const uint8_t number : {plain_region, closed_queue_region}) {
    const uint64_t base = ground.plain(number);
    driver::RdmaRegion region{base, base + NicBench::region_bytes, NicBench::key(0)};
    if (number == closed_queue_region) region.queue = static_cast<uint8_t>(ground.queue_numbers.back());
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
  Anything(NicBench& bench, Draw& draw, const Ground& ground, driver::RdmaSetup setup)
      : bench_(bench), draw_(draw), ground_(ground), setup_(std::move(setup)) {
    for (uint32_t node = 0; node < nodes(); ++node) {
      for (uint32_t owner = 0; owner < NicBench::owners; ++owner) {
        bench_.fill(node, ground_.source_of(owner), NicBench::region_bytes);
        bench_.fill(node, ground_.target_of(owner), NicBench::region_bytes);
      }
      enabled_.emplace_back();
      for (const uint32_t queue : ground_.queue_numbers) enable(node, queue);
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
      for (const uint32_t queue : ground_.queue_numbers) disable(node, queue);
    }
  }

 private:
  uint32_t nodes() const { return bench_.system.size(); }
  uint16_t number(uint32_t node) const { return bench_.system.number(node); }
  uint16_t number_of_none() const { return number(nodes()); }
  /// There can be no such node.
  uint32_t wide_number() { return static_cast<uint32_t>(0x10000 + draw_.below(0xffff'0000)); }
  bool one_in(uint64_t times) { return draw_.below(times) == 0; }
  uint32_t any_node() { return static_cast<uint32_t>(draw_.below(nodes())); }
  uint32_t any_queue() { return ground_.queue_numbers.at(draw_.below(queues)); }
  uint32_t any_owner() { return static_cast<uint32_t>(draw_.below(NicBench::owners)); }
  AxiLiteMaster& registers(uint32_t node) { return bench_.system.node(node).registers(); }
  const rdma::Inbox& inbox(uint32_t node) { return bench_.system.node(node).scoreboard().inbox().model(); }

  // --- queues

  static uint32_t owner_of(uint32_t queue) { return queue % NicBench::owners; }
  bool enabled(uint32_t node, uint32_t queue) const { return enabled_[node].contains(queue); }

  void enable(uint32_t node, uint32_t queue) {
    if (bench_.failed() || enabled(node, queue) || (queue == ground_.queue_numbers.back() && one_in(2)))
      return;
    auto setup = bench_.ring_setup(queue, ground_.owner_numbers.at(owner_of(queue)));
    for (uint64_t* address : {&setup.sq_base, &setup.cq_base, &setup.msi_addr})
      *address = ground_.place(owner_of(queue), *address);
    setup.sq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.cq_log2 = static_cast<uint8_t>(4 + draw_.below(2));
    setup.quota = static_cast<uint16_t>(draw_.below(2) * draw_.below(6));
    setup.irq = static_cast<IrqKind>(draw_.below(3));
    bench_.enable(node, queue, setup);
    enabled_[node].insert(queue);
    if (one_in(2)) moderate(node, queue);
  }

  void moderate(uint32_t node, uint32_t queue) {
    bench_.hosts[node].rings[queue].queue->moderate(static_cast<uint16_t>(draw_.below(8)),
                                                    static_cast<uint16_t>(1 + draw_.below(20)));
  }

  void disable(uint32_t node, uint32_t queue) {
    if (bench_.failed() || !enabled(node, queue)) return;
    enabled_[node].erase(queue);
    bench_.disable(node, queue);
  }

  void start_anew(uint32_t node, uint32_t queue) {
    if (enabled(node, queue) && one_in(2)) {
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
      for (const uint32_t queue : ground_.queue_numbers) {
        if (!enabled(node, queue)) continue;
        if (one_in(40)) take(node, queue);
        if (one_in(120)) post(node, queue);
      }
      if (one_in(300)) forge(node);
      if (one_in(150)) send_strays(node);
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
    auto entry = good_entry(owner_of(queue));
    if (one_in(4)) spoil(entry, owner_of(queue));
    bench_.hosts[node].rings[queue].queue->put(entry);
  }

  uint32_t some_bytes() { return static_cast<uint32_t>(1 + draw_.below(one_in(4) ? 4096 : 300)); }
  uint64_t any_page() { return draw_.below(uint64_t{1} << (ground_.address_bits - 12)) << 12; }
  uint64_t place(uint64_t from, uint64_t to) { return from + draw_.below((to - from) / 4096) * 4096; }

  Submission good_entry(uint32_t owner) {
    const uint32_t peer = number(any_node());
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
    entry.immediate = static_cast<uint32_t>(draw_.below(uint64_t{1} << 32));
    entry.local_addr = ground_.place(owner, entry.local_addr);
    if (entry.remote_addr != 0) entry.remote_addr = ground_.place(owner, entry.remote_addr);
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
        entry.remote_addr ^= uint64_t{1} << draw_.below(ground_.address_bits);
        entry.remote_addr = is_read(entry) ? entry.remote_addr & ~half : entry.remote_addr | half;
        break;
      case 4:
        entry.node =
            one_in(2) ? number_of_none() : wide_number();  // nobody answers; there can be no such node
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
        entry.remote_addr = (uint64_t{1} << ground_.address_bits) - payload;
        entry.bytes = 4 * payload;
        break;
      case 12:
        entry.remote_addr += payload / 2;
        break;
      case 13:
        entry.remote_addr = ground_.target_of(owner) + NicBench::region_bytes - payload;
        entry.bytes = 2 * payload;
        break;
      case 14:
        entry.local_key = NicBench::local_key(owner);
        entry.local_addr = ground_.source_of(owner);
        break;
      case 15:
        entry.remote_key = driver::rdma_rkey(plain_region, NicBench::key(0));
        entry.remote_addr = ground_.plain(plain_region);
        break;
      case 16:
        entry.remote_key = driver::rdma_rkey(closed_queue_region, NicBench::key(0));
        entry.remote_addr = ground_.plain(closed_queue_region);
        break;
      case 17:
        entry.node = number_of_none();
        break;
      default:
        entry.bytes = static_cast<uint32_t>(draw_.below(8192));
    }
  }

  static bool is_read(const Submission& entry) { return entry.opcode == static_cast<uint8_t>(Opcode::read); }

  void post_by_registers(uint32_t node) {
    if (bench_.system.node(node).driver().unposted() > 2) return;
    const uint32_t owner = any_owner();
    driver::RdmaRequest request{ground_.source_of(owner),
                                ground_.target_of(owner) + half,
                                some_bytes(),
                                number(any_node()),
                                next_tag(),
                                NicBench::remote_key(owner)};
    switch (draw_.below(11)) {
      case 0:
        request.bytes = 0;
        break;
      case 1:
        request.src_addr += 4;
        break;
      case 2:
        request.node = wide_number();
        break;
      case 3:
        request.dst_addr = (uint64_t{1} << ground_.address_bits) - 64;
        request.bytes = 4096;
        break;
      case 4:  // more packets than there are numbers for
        request.bytes = static_cast<uint32_t>(0x4000'0000 + draw_.below(0xc000'0000));
        break;
      case 5:  // what the registers send from is not checked
        request.src_addr = any_page();
        break;
      case 6:
        request.dst_addr = any_page();
        request.rkey = static_cast<uint32_t>(draw_.below(1 << 24));
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
    const bool of_open_queue = at == queue_reg::MODERATION && enabled(node, queue);
    const uint32_t value = of_open_queue ? 3 : 0x10000 | static_cast<uint32_t>(draw_.below(0x8000));
    registers(node).write(driver::ring_register(at, queue), value, nullptr);
    if (one_in(2)) {
      const uint32_t named = any_queue();
      const uint32_t refused = (enabled(node, named) ? 1 : 0) + 2 * static_cast<uint32_t>(draw_.below(2));
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

  uint16_t next_tag() {
    last_tag_ = static_cast<uint16_t>(last_tag_ + 0x3d2b);  // odd: each its own, and all bits change
    return last_tag_;
  }

  // --- packets that nobody has sent

  void forge(uint32_t node) {
    const uint64_t copies = one_in(4) ? 2 + draw_.below(40) : 1 + draw_.below(2);
    const bool is_wild = &ground_ == &far_ground && one_in(2);
    const Header header = is_wild ? wild(node) : forged(node);
    for (uint64_t n = 0; n < copies; ++n) bench_.system.node(node).receive(flits_of(header));
  }

  /// Packets of one transfer under way, each right but for one thing. They change nothing.
  void send_strays(uint32_t node) {
    const rdma::Receiver& receiver = bench_.system.node(node).scoreboard().receiver();
    const auto cid = static_cast<uint16_t>(draw_.below(params_.n_rx_ctx));
    const rdma::RxContext& context = receiver.context(cid);
    if (context.state == rdma::RxContext::State::free) return;
    for (uint64_t n = 1 + draw_.below(6); n > 0; --n) {
      Header header = one_in(2) ? data_of(context, receiver.config()) : header_to_zero(Ptype::release);
      header.dst = number(node);
      header.src = context.src;
      header.cid = cid;
      header.sid = context.sid;
      header.msgid = context.msgid;
      header.gen = context.gen;
      spoil(header);
      bench_.system.node(node).receive(flits_of(header));
    }
  }

  Header data_of(const rdma::RxContext& context, const rdma::Config& config) {
    Header header = header_to_zero(Ptype::data);
    header.pidx = one_in(2) ? context.cut.last : static_cast<uint32_t>(draw_.below(context.cut.last + 1));
    header.len = static_cast<uint16_t>(rdma::packet_length(header.pidx, context.cut, params_));
    header.flags = header.pidx == context.cut.last ? rdma::formats::flag_last : uint8_t{0};
    const uint16_t key = context.region < config.regions.size() ? config.regions[context.region].key : 0;
    header.arg = driver::rdma_rkey(context.region, key);
    return header;
  }

  void spoil(Header& header) {
    switch (draw_.below(header.ptype == static_cast<uint8_t>(Ptype::data) ? 5 : 4)) {
      case 0:
        header.src ^= 1;
        break;
      case 1:
        header.sid ^= 1;
        break;
      case 2:
        header.msgid ^= 1;
        break;
      case 3:
        header.gen ^= 0x80;  // of no grant soon
        break;
      default:
        header.flags ^= rdma::formats::flag_last;
    }
  }

  /// Of any type, with any numbers that its fields can hold.
  Header wild(uint32_t node) {
    static constexpr std::array types{Ptype::rqt,  Ptype::rsp,     Ptype::data, Ptype::resend,
                                      Ptype::done, Ptype::release, Ptype::ack,  Ptype::read};
    const auto any = [this](uint32_t bits) { return draw_.below(uint64_t{1} << bits); };
    Header header = header_to_zero(types.at(draw_.below(types.size())));
    header.flags = one_in(3) ? static_cast<uint8_t>(1u << any(3)) : uint8_t{0};
    header.dst = number(node);
    header.src = static_cast<uint16_t>(any(16));
    header.sid = static_cast<uint16_t>(one_in(2) ? any(4) : any(16));
    header.cid = static_cast<uint16_t>(one_in(2) ? any(4) : any(16));
    header.gen = static_cast<uint8_t>(any(8));
    header.msgid = static_cast<uint32_t>(any(24));
    header.pidx = static_cast<uint32_t>(one_in(2) ? any(6) : any(32));
    header.arg = any(63);
    if (header.ptype == static_cast<uint8_t>(Ptype::data)) {
      header.len = static_cast<uint16_t>(1 + draw_.below(payload));
      header.pidx &= 0xff'ffff;
    }
    return header;
  }

  Header forged(uint32_t node) {
    const auto ticket_number = static_cast<uint16_t>(draw_.below(inbox_tickets(node)));
    const rdma::Ticket& ticket = inbox(node).ticket(ticket_number);
    Header header = header_to_zero(one_in(3) ? Ptype::read : Ptype::rqt);
    header.dst = number(node);
    header.src = number(any_node());
    header.sid = static_cast<uint16_t>(draw_.below(ground_.sids));
    header.msgid = static_cast<uint32_t>(draw_.below(ground_.msgids));
    header.pidx = some_bytes();
    const uint32_t owner = any_owner();
    if (header.ptype == static_cast<uint8_t>(Ptype::read)) {
      if (one_in(2)) return refusal_of(header, ticket, ticket_number);
      name(header, NicBench::remote_key(owner));
      header.arg = ground_.target_of(owner) + place(0, half - 4096) + (one_in(6) ? 8 : 0);
      if (one_in(6)) header.gen ^= 1;
      if (one_in(6)) header.arg += NicBench::region_bytes;
      return header;
    }
    if (ticket.post.kind == rdma::TicketKind::read && one_in(2))
      return answer_to(header, ticket, ticket_number);
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
      header.arg = ground_.target_of(owner) + place(half, 2 * half - 4096);
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
    for (const uint32_t queue : ground_.queue_numbers)
      all += inbox(node).held_by(static_cast<uint8_t>(queue));
    return all;
  }

  // --- what lasts for a phase

  void disturb(uint32_t node) {
    RdmaNode& it = bench_.system.node(node);
    const uint32_t queue = any_queue();
    const uint64_t rings = ground_.place(owner_of(queue), NicBench::rings_of(queue));
    const uint32_t owner = any_owner();
    const uint64_t messages = ground_.place(owner, NicBench::message_base);
    switch (draw_.below(12)) {
      case 0:
        it.memory().inject_errors(ground_.buffers_of(owner), ground_.buffers_of(owner) + half);
        break;
      case 1:
        it.memory().inject_errors(rings + 4 * 64, rings + 5 * 64);
        break;
      case 2:
        it.memory().inject_errors(rings + (1 << 21) + 4 * 32, rings + (1 << 21) + 5 * 32);
        break;
      case 3:
        it.memory().inject_errors(messages, messages + 4 * 64);
        break;
      case 4:
        it.memory().inject_errors(ground_.target_of(owner) + half, ground_.target_of(owner) + 2 * half);
        break;
      case 5:
        it.stall_output(true);
        break;
      case 6:
        it.memory().stall(true);
        break;
      case 7:
        it.memory().inject_errors(ground_.source_of(owner), ground_.source_of(owner) + half);
        break;
      case 8:
        it.memory().inject_errors(ground_.target_of(owner), ground_.target_of(owner) + half);
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
  const Ground& ground_;
  const rdma::Params params_ = find_rdma_build(ground_.build)->params;
  driver::RdmaSetup setup_;
  std::vector<std::set<uint32_t>> enabled_;  // queues, by node
  std::optional<uint8_t> changed_;           // region, in this phase
  uint16_t last_tag_ = 0;
};

SystemConfig config_of(Draw& draw, const Ground& ground, uint64_t seed) {
  SystemConfig config = bad_network(draw, ground.build, seed);
  config.faults.duplicate = draw.sometimes(0.3);
  config.faults.duplicate_lag = static_cast<uint32_t>(1 + draw.below(4000));
  config.numbers.assign(ground.node_numbers.begin(), ground.node_numbers.begin() + config.nodes);
  return config;
}

void expect_nothing_left(NicBench& bench) {
  EXPECT_TRUE(bench.system.run_until([&] { return bench.system.settled() || bench.failed(); }, 5'000'000))
      << "still busy\n"
      << bench.problems();
  if (!bench.failed()) bench.system.check_at_end();
  EXPECT_FALSE(bench.system.findings().any()) << bench.problems();
}

void anything_happens(NicBench& bench, Draw& draw, const Ground& ground, const driver::RdmaSetup& setup) {
  Anything anything(bench, draw, ground, setup);
  constexpr unsigned phases = 8;
  for (unsigned n = 0; n < phases && !bench.failed(); ++n) anything.phase();
  anything.end();
  expect_nothing_left(bench);
}

class NicAnything : public testing::TestWithParam<uint64_t> {};

TEST_P(NicAnything, AgreesWithTheGoldenModelsAndLeavesNothing) {
  Draw draw(GetParam());
  const SystemConfig config = config_of(draw, near_ground, GetParam());
  const auto setup = setup_of(draw, near_ground);
  NicBench bench(config, setup);
  anything_happens(bench, draw, near_ground, setup);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NicAnything, testing::Range<uint64_t>(1, 13));

// --- numbers as wide as they may be

/// Settings of any value, but for those that make the whole thing last.
driver::RdmaSetup any_settings(Draw& draw, driver::RdmaSetup setup) {
  const auto any = [&](uint32_t bits) { return static_cast<uint16_t>(draw.below(uint64_t{1} << bits)); };
  setup.node_id = any(16);
  setup.tick_cycles = any(16);
  setup.rx_timeout = any(13);
  setup.tx_retry = any(13);
  setup.tx_dead = any(13);
  setup.timeout_floor = any(13);
  setup.ask_from_after = static_cast<uint8_t>(any(2));
  setup.max_silent = static_cast<uint8_t>(any(4));
  setup.max_retry = static_cast<uint8_t>(any(4));
  setup.max_busy = static_cast<uint8_t>(any(8));
  setup.backoff = static_cast<uint8_t>(any(2));
  setup.rx_quota = any(16);
  setup.ticket_quota = any(16);
  setup.answer_quota = any(16);
  setup.rx_ahead = static_cast<uint8_t>(any(8));
  setup.adapt = any(1) != 0;
  setup.weft_mode = any(1) != 0;
  setup.first_msgid = static_cast<uint32_t>(draw.below(1 << 24));
  for (driver::RdmaRegion& region : setup.regions) {
    region.base = draw.below((uint64_t{1} << 63) - (uint64_t{1} << 38)) & ~uint64_t{payload - 1};
    region.limit = region.base + (draw.below(uint64_t{1} << 38) & ~uint64_t{payload - 1});
    region.key = any(16);
    region.owner = static_cast<uint8_t>(any(8));
    region.queue = static_cast<uint8_t>(any(8));
  }
  return setup;
}

class NicFar : public testing::TestWithParam<uint64_t> {
 protected:
  void start(const driver::RdmaSetup& setup) {
    for (uint32_t node = 0; node < bench_->system.size(); ++node) {
      const auto write = [&](uint32_t address, uint64_t bits) {
        bench_->system.node(node).registers().write(
            address, static_cast<uint32_t>(draw_.below(uint64_t{1} << bits)), nullptr);
      };
      write(engine_reg::READ_NUMBER, 24);
      write(engine_reg::ANSWERS, 16);
      bench_->system.node(node).registers().write(engine_reg::ANSWERS, 4, nullptr);
      bench_->system.node(node).driver().start(setup);
    }
    expect_ready();
  }

  /// Different in each bit.
  static std::vector<uint16_t> others(std::vector<uint16_t> numbers) {
    for (uint16_t& number : numbers) number = static_cast<uint16_t>(~number);
    return numbers;
  }

  void expect_ready() {
    EXPECT_TRUE(bench_->system.run_until([this] { return bench_->system.all_ready(); }, 200'000))
        << bench_->problems();
  }

  /// Ticks short and timeouts long, in ticks.
  driver::RdmaSetup far_setup() {
    auto setup = setup_of(draw_, far_ground);
    setup.tick_cycles = static_cast<uint16_t>(1 + draw_.below(2));
    setup.rx_timeout = static_cast<uint16_t>(300 + draw_.below(700));
    setup.tx_retry = static_cast<uint16_t>(300 + draw_.below(700));
    setup.tx_dead = static_cast<uint16_t>(6000 + draw_.below(2192));
    setup.max_silent = static_cast<uint8_t>(1 + draw_.below(3));
    setup.first_msgid = 0xff'fff8;
    return setup;
  }

  Draw draw_{GetParam()};
  std::optional<NicBench> bench_;
};

TEST_P(NicFar, AgreesWithTheGoldenModelsAndLeavesNothing) {
  const SystemConfig config = config_of(draw_, far_ground, GetParam());
  auto setup = far_setup();
  bench_.emplace(config, setup);
  for (int round = 0; round < 2 && !bench_->failed(); ++round) {
    for (int n = 0; n < 5; ++n) start(any_settings(draw_, setup));  // what was written last is what counts
    bench_->system.start(setup);
    expect_ready();
    anything_happens(*bench_, draw_, far_ground, setup);
    setup = far_setup();
    bench_->system.renumber(others(config.numbers));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, NicFar, testing::Range<uint64_t>(1, 3));

}  // namespace
}  // namespace weft::tb
