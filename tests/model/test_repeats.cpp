// SPDX-License-Identifier: Apache-2.0
// What a receiver remembers of the requests that it has granted (docs/rdma.md, Repeated requests).
#include "rdma/repeats.hpp"

#include <gtest/gtest.h>

#include <set>

#include "rdma/packet.hpp"

namespace weft::rdma::test {
namespace {

using formats::Header;
using formats::Outcome;
using formats::Ptype;
using formats::TransferFlag;

Params params_of(uint32_t contexts) {
  Params params;
  params.n_rx_ctx = contexts;
  return params;
}

Header request(uint16_t src, uint16_t sid, uint32_t msgid = 1) {
  Header header;
  header.ptype = static_cast<uint8_t>(Ptype::rqt);
  header.src = src;
  header.sid = sid;
  header.msgid = msgid;
  return header;
}

RxResult result(Outcome outcome, uint16_t cid) {
  RxResult result;
  result.outcome = outcome;
  result.cid = cid;
  return result;
}

// 2^k sources with 1024 / 2^k transfers each, all numbered from 0.
TEST(GrantedRequests, SourcesAndTransfersOfLowNumbersShareNoPlace) {
  const GrantedRequests granted(params_of(1024));
  for (unsigned k = 0; k <= 10; ++k) {
    std::set<uint32_t> places;
    for (unsigned n = 0; n < 1024; ++n) {
      const auto src = static_cast<uint16_t>(n % (1u << k)), sid = static_cast<uint16_t>(n >> k);
      places.insert(granted.place_of(request(src, sid)));
    }
    EXPECT_EQ(places.size(), 1024u) << k;
    EXPECT_LT(*places.rbegin(), 1024u);
  }
}

TEST(GrantedRequests, ByHandAsTheTextSays) {
  const GrantedRequests granted(params_of(8));
  EXPECT_EQ(granted.place_of(request(0, 5)), 5u);
  EXPECT_EQ(granted.place_of(request(0, 13)), 5u) << "only the lowest bits of the SID";
  EXPECT_EQ(granted.place_of(request(1, 0)), 4u);
  EXPECT_EQ(granted.place_of(request(2, 0)), 2u);
  EXPECT_EQ(granted.place_of(request(4, 0)), 1u);
  EXPECT_EQ(granted.place_of(request(8, 0)), 0u) << "and of the source";
  EXPECT_EQ(granted.place_of(request(6, 7)), 4u);
}

TEST(GrantedRequests, TheSameRequestIsKnownUntilAnotherTakesItsPlaceOrItsContextIsOver) {
  GrantedRequests granted(params_of(8));
  const Header first = request(3, 2, 1), second = request(3, 2, 2);
  EXPECT_FALSE(granted.context_of(first));
  granted.decided(first, result(Outcome::refuse_key, 0));
  EXPECT_FALSE(granted.context_of(first));
  granted.decided(first, result(Outcome::grant, 5));
  EXPECT_EQ(granted.context_of(first), 5);
  EXPECT_EQ(granted.admit(first).kind, Admission::Kind::again);
  EXPECT_EQ(granted.admit(first).cid, 5);
  EXPECT_FALSE(granted.context_of(second));
  granted.decided(first, result(Outcome::grant_again, 5));
  EXPECT_EQ(granted.context_of(first), 5);
  granted.decided(second, result(Outcome::grant, 6));
  EXPECT_FALSE(granted.context_of(first));
  EXPECT_EQ(granted.context_of(second), 6);
  granted.decided(second, result(Outcome::drop_asked, 6));
  EXPECT_FALSE(granted.context_of(second));
  granted.decided(second, result(Outcome::grant, 1));
  granted.reset();
  EXPECT_FALSE(granted.context_of(second));
}

TEST(GrantedRequests, WhatHasATicketIsTheInboxsBusiness) {
  GrantedRequests granted(params_of(8));
  for (const auto flag : {TransferFlag::imm, TransferFlag::send, TransferFlag::read}) {
    Header with_ticket = request(3, 2);
    set_flag(with_ticket, flag);
    EXPECT_FALSE(is_remembered(with_ticket));
    granted.decided(with_ticket, result(Outcome::grant, 5));
    EXPECT_FALSE(granted.context_of(with_ticket));
    EXPECT_EQ(granted.admit(with_ticket).kind, Admission::Kind::none);
  }
  Header read = request(3, 2);
  read.ptype = static_cast<uint8_t>(Ptype::read);
  EXPECT_FALSE(is_remembered(read));
  EXPECT_TRUE(is_remembered(request(3, 2)));
}

}  // namespace
}  // namespace weft::rdma::test
