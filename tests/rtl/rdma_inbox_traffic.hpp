// SPDX-License-Identifier: Apache-2.0
// Random posts, requests and refusals for rdma_inbox: mostly what fits its tickets, otherwise wrong in one
// field; changes of queues and regions.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "rdma_inbox_lockstep.hpp"

namespace weft::rtl_test {

template <typename Top>
class InboxTraffic {
 public:
  using Header = rdma::formats::Header;
  using Flag = rdma::formats::TransferFlag;
  using State = rdma::Ticket::State;

  static constexpr uint16_t node = 3;
  static constexpr uint32_t payload = 64;

  explicit InboxTraffic(InboxLockstep<Top>& inbox) : inbox_(inbox), bench_(inbox.bench()) {}

  rdma::Config config() {
    rdma::Config config;
    config.node_id = node;
    config.tx_retry = static_cast<uint16_t>(bench_.below(bench_.chance(50) ? 5 : 30));
    config.max_retry = static_cast<uint8_t>(bench_.chance(20) ? 15 : bench_.below(4));
    config.max_busy = static_cast<uint8_t>(bench_.chance(20) ? 255 : bench_.below(4));
    config.backoff = static_cast<uint8_t>(bench_.below(4));
    config.ticket_quota = bench_.chance(50) ? 0 : static_cast<uint16_t>(1 + bench_.below(5));
    config.regions.resize(params_.n_regions);
    const auto regions = static_cast<uint8_t>(params_.n_regions);
    for (uint8_t number = 0; number < regions; ++number) config.regions[number] = region(number);
    return config;
  }

  /// Mostly open: the first to writes that its queue is told of, the next to buffers, the third to both.
  rdma::Region region(uint8_t number) {
    rdma::Region region;
    region.base = (number + 1) * uint64_t{0x10000};
    const bool anywhere = params_.addr_bits > 24 && bench_.chance(70);
    if (anywhere) region.base = (bench_.below(bus() / payload) >> 20 << 20) * payload;
    const uint64_t packets = 1 + bench_.any(anywhere && bench_.chance(50) ? 20 : 6);
    region.limit = bench_.chance(95) ? region.base + packets * payload : region.base;
    region.key = static_cast<uint16_t>(0x100 * number + bench_.below(2));
    region.remote_write = number != 1 || bench_.chance(10);
    region.receive = number == 1 || number == 2 || bench_.chance(10);
    if (number == 0 || bench_.chance(50))
      region.queue = static_cast<uint8_t>(bench_.below(inbox_queues + (bench_.chance(10) ? 3 : 0)));
    return region;
  }

  rdma::TicketPost post() {
    rdma::TicketPost post;
    post.kind = bench_.chance(60) ? rdma::TicketKind::read : rdma::TicketKind::recv;
    post.queue = any_queue(95);
    post.tag = static_cast<uint16_t>(bench_.below(1 << 16));
    const auto number = static_cast<uint8_t>(bench_.chance(90) ? 1 + bench_.below(2) : bench_.below(6));
    place(post, number);
    if (post.kind == rdma::TicketKind::recv && bench_.chance(20)) post.bytes = 0;
    post.node = static_cast<uint32_t>(bench_.any(params_.node_bits));
    post.remote_addr = bench_.below(bus() / payload) * payload;
    post.remote_rkey = rdma::region_key(bench_.any(24));
    if (bench_.chance(15)) spoil(post);
    return post;
  }

  Header rqt() {
    Header header = message();
    if (!asked_.empty() && bench_.chance(40)) {  // a duplicate, or nearly one
      header = asked_[bench_.below(asked_.size())];
      if (bench_.chance(90)) return header;
      header.flags = 0;
    }
    const uint64_t kind = bench_.below(3);
    if (kind == 0) send(header);
    if (kind == 1) write(header);
    if (kind == 2) answer(header);
    if (bench_.chance(10)) spoil_rqt(header);
    asked_.push_back(header);
    if (asked_.size() > 4) asked_.pop_front();
    return header;
  }

  Header rsp() {
    Header header;
    header.ptype = static_cast<uint8_t>(rdma::formats::Ptype::rsp);
    rdma::set_flag(header, Flag::read);
    const rdma::Ticket& ticket = some_ticket(
        [](const rdma::Ticket& t) {
          return t.post.kind == rdma::TicketKind::read && t.state == State::waiting;
        },
        header.sid);
    header.msgid = ticket.number;
    header.src = static_cast<uint16_t>(ticket.post.node);
    header.arg = bench_.chance(60)
                     ? 1
                     : std::array<uint64_t, 8>{0, 2, 3, 4, 10, 34, 0x101, uint64_t{1} << 40}[bench_.below(8)];
    if (bench_.chance(20)) spoil_rsp(header);
    return header;
  }

  static QueueSet opened(uint8_t queue) { return {queue, true, key(queue)}; }

  /// Opens a queue that has no tickets, or closes one.
  std::optional<QueueSet> queue_set(unsigned percent_open) {
    const auto queue = static_cast<uint8_t>(bench_.below(inbox_queues));
    if (!bench_.chance(percent_open)) return QueueSet{queue, false, 0};
    if (inbox_.told_open(queue) || inbox_.held(queue)) return std::nullopt;
    return opened(queue);
  }

 private:
  uint64_t bus() const { return uint64_t{1} << params_.addr_bits; }
  uint32_t most_bytes() const { return ((1u << params_.pidx_bits) - 1) * payload; }

  static uint16_t key(uint8_t queue) { return static_cast<uint16_t>(0x5a00 + queue); }

  uint8_t any_queue(unsigned percent_open) {
    const auto queue = static_cast<uint8_t>(bench_.below(inbox_queues));
    if (!bench_.chance(percent_open)) return queue;
    for (unsigned n = 0; n < inbox_queues; ++n) {
      const auto next = static_cast<uint8_t>((queue + n) % inbox_queues);
      if (inbox_.golden().is_open(next)) return next;
    }
    return queue;
  }

  uint32_t length(uint64_t most) {
    const uint64_t bytes = 1 + bench_.below(most);
    return static_cast<uint32_t>(bench_.chance(30) ? most : bytes);
  }

  void place(rdma::TicketPost& post, uint8_t number) {
    const auto& regions = inbox_.config.regions;
    const rdma::Region region = number < regions.size() ? regions[number] : rdma::Region{};
    post.rkey = {number, region.key};
    const uint64_t packets = std::max<uint64_t>(1, (region.limit - region.base) / payload);
    const uint64_t first = bench_.below(packets);
    post.address = region.base + first * payload;
    post.bytes = length((packets - first) * payload);
  }

  void spoil(rdma::TicketPost& post) {
    switch (bench_.below(9)) {
      case 0:
        post.node = 1u << (params_.node_bits + bench_.below(32 - params_.node_bits));
        break;
      case 1:
        post.bytes = 0;
        break;
      case 2:
        post.bytes = static_cast<uint32_t>(most_bytes() + bench_.below(2));
        break;
      case 3:
        post.address += 1 << bench_.below(8);
        break;
      case 4:
        post.remote_addr += 1 << bench_.below(6);
        break;
      case 5:
        post.remote_addr = bus() - payload * bench_.below(3);
        break;
      case 6:
        post.rkey.key ^= static_cast<uint16_t>(1 << bench_.below(16));
        break;
      case 7:  // before its region
        post.address -= payload * (1 + bench_.below(64));
        break;
      default:
        post.bytes = static_cast<uint32_t>(post.bytes + payload * bench_.below(64));
        break;
    }
  }

  Header message() {
    Header header;
    header.ptype = static_cast<uint8_t>(rdma::formats::Ptype::rqt);
    header.dst = node;
    header.src = static_cast<uint16_t>(bench_.any(params_.node_bits));
    header.sid = static_cast<uint16_t>(bench_.any(params_.sid_bits));
    header.msgid = static_cast<uint32_t>(bench_.any(params_.msgid_bits));
    return header;
  }

  void send(Header& header) {
    rdma::set_flag(header, Flag::send);
    if (bench_.chance(30)) rdma::set_flag(header, Flag::imm);
    header.gen = any_queue(95);
    for (unsigned n = 0; n < 4 && inbox_.golden().list(header.gen).empty(); ++n) header.gen = any_queue(95);
    header.cid = key(header.gen);
    const auto& list = inbox_.golden().list(header.gen);
    const uint32_t buffer = list.empty() ? 64 : inbox_.golden().ticket(list.front()).post.bytes;
    header.pidx = bench_.chance(30) ? buffer : length(buffer + 1 + (bench_.chance(20) ? 200 : 0));
    header.arg = bench_.below(1 << 24);
  }

  void write(Header& header) {
    rdma::set_flag(header, Flag::imm);
    rdma::TicketPost to;
    place(to, static_cast<uint8_t>(bench_.chance(80) ? 0 : bench_.below(5)));
    header.arg = to.address;
    header.pidx = to.bytes;
    header.gen = to.rkey.region;
    header.cid = to.rkey.key;
  }

  void answer(Header& header) {
    rdma::set_flag(header, Flag::read);
    if (bench_.chance(20)) rdma::set_flag(header, bench_.chance(50) ? Flag::send : Flag::imm);
    uint16_t number = 0;
    const bool waits = bench_.chance(70);
    const rdma::Ticket& ticket = some_ticket(
        [&](const rdma::Ticket& t) {
          return t.post.kind == rdma::TicketKind::read &&
                 (t.state == State::waiting ? waits : t.state != State::free && !waits);
        },
        number);
    header.cid = number;
    header.arg = ticket.number;
    header.src = static_cast<uint16_t>(ticket.post.node % (1u << params_.node_bits));
    header.pidx = ticket.post.bytes;
  }

  /// One that fits, if there is one.
  template <typename Fits>
  const rdma::Ticket& some_ticket(Fits fits, uint16_t& number) {
    const auto first = static_cast<uint16_t>(bench_.below(inbox_tickets));
    for (uint16_t n = 0; n < inbox_tickets; ++n) {
      number = static_cast<uint16_t>((first + n) % inbox_tickets);
      const rdma::Ticket& ticket = inbox_.golden().ticket(number);
      if (fits(ticket)) return ticket;
    }
    number = first;
    return inbox_.golden().ticket(first);
  }

  void spoil_rqt(Header& header) {
    switch (bench_.below(7)) {
      case 0:
        header.cid ^= static_cast<uint16_t>(1 << bench_.below(16));
        break;
      case 1:
        header.gen ^= static_cast<uint8_t>(1 << bench_.below(8));
        break;
      case 2:
        header.pidx = static_cast<uint32_t>(bench_.below(2) * (most_bytes() + bench_.below(2)));
        break;
      case 3:
        header.pidx += 1;
        break;
      case 4:
        header.arg ^= uint64_t{1} << bench_.below(64);
        break;
      case 5:
        header.src ^= static_cast<uint16_t>(1 << bench_.below(params_.node_bits));
        break;
      default:
        header.flags = 0;
        break;
    }
  }

  void spoil_rsp(Header& header) {
    switch (bench_.below(3)) {
      case 0:
        header.sid ^= static_cast<uint16_t>(1 << bench_.below(16));
        break;
      case 1:
        header.msgid ^= 1u << bench_.below(24);
        break;
      default:
        header.src ^= static_cast<uint16_t>(1 << bench_.below(16));
        break;
    }
  }

  InboxLockstep<Top>& inbox_;
  Bench<Top>& bench_;
  const rdma::Params& params_ = inbox_.params();
  std::deque<Header> asked_;
};

}  // namespace weft::rtl_test
