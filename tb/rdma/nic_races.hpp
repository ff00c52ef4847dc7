// SPDX-License-Identifier: Apache-2.0
// What the tests of races share: memory, network or software that is late, packets of nobody.
#pragma once

#include <functional>
#include <optional>

#include "made_packets.hpp"
#include "nic_transfer_test.hpp"

namespace weft::tb {

using rdma::Ticket;
using rdma::formats::Header;
using rdma::formats::Ptype;
using rdma::formats::TransferFlag;
namespace queue_reg = queue_formats::reg;

inline constexpr uint16_t stranger = 7;  // a node that exists only here
inline constexpr uint32_t window = 32, payload = 64;
inline constexpr uint8_t no_status = 0xff;  // of an entry whose completion is never looked at

class NicRaces : public TransferTest {
 protected:
  static SystemConfig config(uint32_t nodes = 2) { return NicBench::usual_config(nodes, "nic_full"); }
  static SystemConfig far_away() {
    SystemConfig far = config();
    far.faults.delay = 300;
    return far;
  }
  /// Gives up soon.
  static driver::RdmaSetup hasty() {
    auto setup = NicBench::usual_setup();
    setup.max_silent = 2;
    setup.tx_dead = 300;
    return setup;
  }
  RdmaNode& node(uint32_t number) { return bench().system.node(number); }
  const rdma::Receiver& receiver(uint32_t number) { return node(number).scoreboard().receiver(); }
  const rdma::Inbox& inbox(uint32_t number) { return node(number).scoreboard().inbox().model(); }
  void wait_until(const std::function<bool()>& done, const char* what, uint64_t most = 100'000) {
    EXPECT_TRUE(bench().system.run_until(done, most)) << what << " does not come\n" << bench().problems();
  }
  void halt(uint32_t number) {
    bench().system.halt_node(number);
    for (auto& ring : bench().hosts[number].rings) ring.enabled = false;
  }
  /// Completions of this queue are of no interest any more.
  void abandon(uint32_t number, uint32_t queue) {
    bench().hosts[number].rings[queue].wanted.clear();
    bench().disable(number, queue);
  }
  void disable_at_once(uint32_t number, uint32_t queue) { write_control(number, queue, 0, nullptr); }
  void write_control(uint32_t number, uint32_t queue, uint32_t value, std::function<void(bool)> done) {
    node(number).registers().write(driver::ring_register(queue_reg::QUEUE), queue, nullptr);
    node(number).registers().write(driver::ring_register(queue_reg::Q_CTL), value, std::move(done));
  }
  bool write(uint32_t number, uint32_t address, uint32_t value) {
    std::optional<bool> answer;
    node(number).registers().write(address, value, [&](bool ok) { answer = ok; });
    wait_until([&] { return answer.has_value(); }, "answer of a register");
    return answer.value_or(false);
  }
  queue_formats::QueueState state(uint32_t number, uint32_t queue) {
    return node(number).queues().model().queue(queue).state;
  }

  static Header header_in(const Bytes& packet) {
    return rdma::formats::unpack(std::span<const uint8_t, rdma::flit_bytes>(packet.data(), rdma::flit_bytes));
  }

  /// A request for the region of this owner on this node.
  static Header request_of(uint16_t src, uint32_t number, uint32_t owner, uint16_t sid, uint32_t bytes) {
    Header header = header_to_zero(Ptype::rqt);
    header.src = src;
    header.dst = static_cast<uint16_t>(number);
    header.sid = sid;
    header.pidx = bytes;
    header.gen = static_cast<uint8_t>(NicBench::remote_key(owner) >> 16);
    header.cid = static_cast<uint16_t>(NicBench::remote_key(owner));
    header.arg = NicBench::target_of(owner);
    return header;
  }
  void receive(uint32_t number, const Header& header) { node(number).receive(flits_of(header)); }

  /// Answers that nothing takes fill the queue of control packets of the receiver of this node.
  void fill_answers(uint32_t number) {
    node(number).stall_output(true);
    Header refused = request_of(stranger, number, 0, 3, 64);
    refused.cid ^= 1;
    for (unsigned n = 0; n < 60; ++n) receive(number, refused);
  }

  /// Every context of the receiver is granted to strangers, of whom nothing more comes.
  void take_all_contexts(uint32_t number) {
    for (unsigned n = 0; n < 100 && receiver(number).free_contexts() > 0; ++n) {
      Header request = request_of(stranger, number, 0, 3, 64);
      request.msgid = ++last_of_stranger_;
      receive(number, request);
      bench().run(20);
    }
    ASSERT_EQ(receiver(number).free_contexts(), 0u);
  }

  /// While memory takes nothing, this context is reclaimed and granted to strangers.
  void grant_again(uint32_t number, uint16_t cid) {
    for (unsigned n = 0; n < 200 && !bench().failed(); ++n) {
      const auto& context = receiver(number).context(cid);
      if (context.state != rdma::RxContext::State::free && context.src == stranger) return;
      Header request = request_of(stranger, number, 0, 3, 64);
      request.msgid = n;
      receive(number, request);
      bench().run(20);  // before their timers ask: answers that wait for memory fill their queue
    }
    ADD_FAILURE() << "context " << cid << " is not granted again\n" << bench().problems();
  }
  /// A ticket in this state.
  std::optional<uint16_t> ticket_in(uint32_t number, Ticket::State wanted) {
    const uint32_t tickets = find_rdma_build("nic_full")->params.n_tickets;
    for (uint16_t index = 0; index < tickets; ++index) {
      if (inbox(number).ticket(index).state == wanted) return index;
    }
    return std::nullopt;
  }
  uint16_t run_until_ticket(uint32_t number, Ticket::State wanted) {
    wait_until([&] { return ticket_in(number, wanted).has_value(); }, "ticket in this state");
    return ticket_in(number, wanted).value_or(0);
  }

 private:
  uint32_t last_of_stranger_ = 0;
};

}  // namespace weft::tb
