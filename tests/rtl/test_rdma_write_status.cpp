// SPDX-License-Identifier: Apache-2.0
// rdma_write_status: DONE says FAILED exactly if an error of its context was noted since its last grant left;
// all else passes as it came, in order.
#include <array>
#include <cstring>

#include "Vrdma_write_status.h"
#include "bench.hpp"
#include "rdma/packet.hpp"

namespace weft::rtl_test {
namespace {

using rdma::formats::Header;
using rdma::formats::Ptype;
using rdma::formats::Refusal;

constexpr unsigned contexts = 8;

class RdmaWriteStatus : public testing::Test {
 protected:
  RdmaWriteStatus() {
    rest();
    bench_.reset();
  }

  bool is(Ptype type) const { return offered_.ptype == static_cast<uint8_t>(type); }
  bool is_grant() const { return grants_; }

  /// All fields random but these.
  Header packet(Ptype type, unsigned cid, uint64_t arg) {
    std::array<uint8_t, rdma::flit_bytes> bytes{};
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(bench_.below(256));
    Header header = rdma::formats::unpack(bytes);
    header.ptype = static_cast<uint8_t>(type);
    header.cid = static_cast<uint16_t>(cid);
    header.arg = arg;
    if (type == Ptype::done) header.flags &= static_cast<uint8_t>(~rdma::formats::flag_failed);
    return header;
  }

  Header grant(unsigned cid) { return packet(Ptype::rsp, cid, static_cast<uint64_t>(Refusal::granted)); }
  /// With the key of a buffer.
  Header granting_buffer(unsigned cid) {
    return packet(Ptype::rsp, cid,
                  (1 + bench_.below(0xffffff)) << 32 | static_cast<uint64_t>(Refusal::granted));
  }
  Header done(unsigned cid) { return packet(Ptype::done, cid, 0); }

  /// `first`: a RSP that grants does so for the first time.
  void offer(const Header& header, bool first = true) {
    offered_ = header;
    const bool granting = static_cast<uint32_t>(header.arg) == static_cast<uint32_t>(Refusal::granted);
    grants_ = is(Ptype::rsp) && granting && first;
    bench_->ctl_valid_i = 1;
    bench_->ctl_grant_i = grants_;
    put(header);
  }

  void error(unsigned cid) {
    bench_->error_i = 1;
    bench_->error_cid_i = static_cast<uint16_t>(cid);
  }

  /// One clock, everything checked; whether the packet on offer left. Errors end with it.
  bool cycle(bool ready) {
    bench_->ctl_ready_i = ready;
    bench_.settle();
    const bool valid = bench_->ctl_valid_i;
    const bool passes = valid && (is(Ptype::done) ? looked_ : !(is_grant() && bench_->error_i));
    const bool left = passes && ready;
    EXPECT_EQ(bench_->ctl_valid_o, passes) << "cycle " << bench_.cycle();
    EXPECT_EQ(valid && bench_->ctl_ready_o, left) << "cycle " << bench_.cycle();
    if (passes) check_packet();
    follow(left);
    bench_.step();
    rest(left || !valid);
    return left;
  }

  /// The packet comes out at once, a DONE after a clock.
  void pass(const Header& header, bool first = true) {
    offer(header, first);
    if (is(Ptype::done)) {
      EXPECT_FALSE(cycle(true));
    }
    EXPECT_TRUE(cycle(true));
  }

  void note_error(unsigned cid) {
    error(cid);
    cycle(true);
  }

  /// No DONE may come before the next grant of its context: until then its bit is undefined.
  void reset() {
    bench_.reset();
    rest();
    granted_ = {};
    looked_ = false;
  }

  Bench<Vrdma_write_status> bench_;
  Header offered_;
  bool grants_ = false;  // ... for the first time
  bool looked_ = false;  // a DONE was on offer in the clock before
  std::array<bool, contexts> granted_{};
  std::array<bool, contexts> failed_{};
  unsigned clean_ = 0;  // DONE that left without FAILED
  unsigned failures_ = 0;

 private:
  void put(const Header& header) {
    const auto bytes = rdma::formats::pack(header);
    std::memcpy(&bench_->ctl_i, bytes.data(), bytes.size());
  }

  /// What is not valid looks as harmful as it can: a grant, an error.
  void rest(bool packet_too = true) {
    bench_->error_i = 0;
    bench_->error_cid_i = static_cast<uint16_t>(bench_.below(contexts));
    if (!packet_too) return;
    bench_->ctl_valid_i = 0;
    put(grant(static_cast<unsigned>(bench_.below(contexts))));
    bench_->ctl_grant_i = 1;
  }

  void check_packet() {
    Header expected = offered_;
    if (is(Ptype::done) && failed_[expected.cid]) {
      expected.flags = static_cast<uint8_t>(expected.flags | rdma::formats::flag_failed);
    }
    std::array<uint8_t, rdma::flit_bytes> here{};
    std::memcpy(here.data(), &bench_->ctl_o, here.size());
    EXPECT_EQ(here, rdma::formats::pack(expected)) << "CID " << expected.cid << ", cycle " << bench_.cycle();
  }

  /// The model does what the clock edge is going to do.
  void follow(bool left) {
    if (bench_->error_i) failed_[bench_->error_cid_i] = true;
    looked_ = bench_->ctl_valid_i && is(Ptype::done) && !left;
    if (!left) return;
    if (is(Ptype::done)) ++(failed_[offered_.cid] ? failures_ : clean_);
    if (!is_grant()) return;
    granted_[offered_.cid] = true;
    failed_[offered_.cid] = false;
  }
};

TEST_F(RdmaWriteStatus, EachContextHasItsOwnError) {
  for (unsigned cid = 0; cid < contexts; ++cid) {
    for (unsigned all = 0; all < contexts; ++all) pass(grant(all));
    note_error(cid);
    for (unsigned all = 0; all < contexts; ++all) pass(done(all));
  }
  EXPECT_EQ(failures_, contexts);
  EXPECT_EQ(clean_, contexts * (contexts - 1));
}

TEST_F(RdmaWriteStatus, OnlyAGrantClears) {
  pass(grant(3));
  note_error(3);
  for (const uint64_t code : {1ull, 2ull, 3ull, 4ull, 256ull}) pass(packet(Ptype::rsp, 3, code));
  pass(grant(3), false);  // the same again
  pass(granting_buffer(3), false);
  for (const Ptype type : {Ptype::rqt, Ptype::data, Ptype::resend, Ptype::release}) pass(packet(type, 3, 0));
  pass(done(3));
  pass(done(3));  // repeated until the sender has heard of it
  EXPECT_EQ(failures_, 2u);
  pass(grant(3));
  pass(done(3));
  EXPECT_EQ(clean_, 1u);
  note_error(3);
  pass(granting_buffer(3));
  pass(done(3));
  EXPECT_EQ(clean_, 2u);
}

TEST_F(RdmaWriteStatus, GrantWaitsForAnErrorAndClearsItIfItIsItsOwn) {
  for (const unsigned cid : {2u, 5u}) {
    pass(grant(cid));
    offer(grant(2));
    error(cid);
    EXPECT_FALSE(cycle(true));
    EXPECT_TRUE(cycle(true));
    pass(done(cid));
  }
  EXPECT_EQ(clean_, 1u);
  EXPECT_EQ(failures_, 1u);
}

TEST_F(RdmaWriteStatus, RefusalAndOthersDoNotWaitForAnError) {
  for (const Header& header :
       {packet(Ptype::rsp, 1, 1), grant(1), packet(Ptype::resend, 1, 0), packet(Ptype::data, 1, 0)}) {
    offer(header, false);
    error(1);
    EXPECT_TRUE(cycle(true));
  }
}

TEST_F(RdmaWriteStatus, EqualsModelUnderRandomUse) {
  const std::array types{Ptype::rqt, Ptype::data, Ptype::resend, Ptype::release, static_cast<Ptype>(0xff)};
  const auto random_packet = [&] {
    const auto cid = static_cast<unsigned>(bench_.below(contexts));
    switch (bench_.below(6)) {
      case 0:
        return grant(cid);
      case 1:
        return packet(Ptype::rsp, cid, uint64_t{1} << bench_.below(64));
      case 3:
        return granting_buffer(cid);
      case 2:
        return packet(types[bench_.below(types.size())], cid, 0);
      default:
        return granted_[cid] ? done(cid) : grant(cid);
    }
  };
  std::array<unsigned, 3> pace{};  // offers, departures, errors
  for (unsigned n = 0; n < 200'000 && !HasFailure(); ++n) {
    if (n % 100 == 0) pace = {bench_.pace(), bench_.pace(), bench_.pace()};
    if (bench_.chance(1) && bench_.chance(5)) reset();
    if (!bench_->ctl_valid_i && bench_.chance(pace[0])) offer(random_packet(), bench_.chance(70));
    const auto cid = static_cast<unsigned>(bench_.below(contexts));
    const bool its_done = bench_->ctl_valid_i && is(Ptype::done) && offered_.cid == cid;
    if (bench_.chance(pace[2]) && !its_done) error(cid);
    cycle(bench_.chance(pace[1]));
  }
  EXPECT_GT(clean_, 2000u);
  EXPECT_GT(failures_, 2000u);
}

}  // namespace
}  // namespace weft::rtl_test
