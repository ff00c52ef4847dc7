// SPDX-License-Identifier: Apache-2.0
#include "selftest/receiver_test.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <random>
#include <span>

#include "common/record_words.hpp"
#include "rdma/receiver.hpp"
#include "selftest/signature.hpp"

namespace weft::selftest {
namespace {

using rdma::formats::Header;
using rdma::formats::Ptype;

// As in rtl/selftest/selftest_receiver.sv.
constexpr uint16_t node = 1;
constexpr uint16_t key = 5;

constexpr uint64_t most_payloads = uint64_t{1} << 32;  // of a region

constexpr uint32_t longest_transfer = 24;  // packets

void check(const rdma::Params& params) {
  rdma::validate(params);
  const auto fits = [](const char* what, uint64_t value, uint64_t most) {
    if (value > most)
      throw rdma::Violation(std::string(what) + " is " + std::to_string(value) +
                            ", but a vector has room for " + std::to_string(most));
  };
  fits("N_RX_CTX", params.n_rx_ctx, 256);
  fits("PAYLOAD", params.payload, 4095);
  if (params.n_rx_ctx < 4)
    throw rdma::Violation("N_RX_CTX is " + std::to_string(params.n_rx_ctx) + ", but must be at least 4");
}

rdma::Config config(const rdma::Params& params) {
  rdma::Config config;
  config.node_id = node;
  config.regions = {
      {0, std::min(uint64_t{1} << params.addr_bits, most_payloads * params.payload), key, true}};
  config.rx_timeout = 8191;
  return config;
}

class Maker {
 public:
  Maker(const rdma::Params& params, uint32_t seed)
      : params_(params), golden_(params, config(params)), random_(seed) {
    for (uint32_t cid = 0; cid < params.n_rx_ctx; ++cid) free_.push_back({static_cast<uint16_t>(cid), 0});
  }

  ReceiverTest make(uint32_t count) {
    for (uint32_t n = 0; n < count; ++n) put(any_header());
    test_.vectors.back().ends = 1;
    test_.expected.push_back(events_.value() ^ std::rotl(writes_.value(), 8) ^
                             std::rotl(controls_.value(), 16));
    return std::move(test_);
  }

 private:
  struct Free {
    uint16_t cid;
    size_t since;  // vectors sent before
  };
  static constexpr size_t spare = 2;       // contexts never granted
  static constexpr size_t under_way = 64;  // vectors at most between the release of a context and its offer

  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  static uint32_t most(int bits, uint32_t limit) { return bits >= 31 ? limit : std::min(limit, 1u << bits); }

  Header any_header() {
    if (may_request() && (used_.empty() || one_in(6))) return request();
    if (used_.empty()) return data(free_.front().cid);
    if (one_in(8)) return one_thing_wrong(data(any_used()));
    if (one_in(12)) return release(any_used());
    if (one_in(24)) return data(free_.front().cid);
    const uint16_t cid = any_used();
    return golden_.context(cid).state == rdma::RxContext::State::done && !one_in(4) ? release(cid)
                                                                                    : data(cid);
  }

  /// There is a context on offer, however long events are under way.
  bool may_request() const {
    return free_.size() > spare && free_[spare].since + under_way <= test_.vectors.size();
  }

  uint16_t any_used() { return used_[below(static_cast<uint32_t>(used_.size()))]; }

  Header request() {
    Header header;
    header.ptype = static_cast<uint8_t>(Ptype::rqt);
    header.dst = node;
    header.src = static_cast<uint16_t>(below(most(static_cast<int>(params_.node_bits), 256)));
    header.sid = static_cast<uint16_t>(below(most(static_cast<int>(params_.sid_bits), 256)));
    header.msgid = below(most(static_cast<int>(params_.msgid_bits), 4096));
    header.pidx = 1 + below(longest_transfer * params_.payload);
    header.cid = key;
    const uint32_t places = most(static_cast<int>(params_.addr_bits) - 1, 1u << 31) / params_.payload;
    header.arg = uint64_t{below(places)} * params_.payload;
    switch (below(24)) {
      case 0:
        header.pidx = 0;
        break;
      case 1:
        header.arg += 1 + below(params_.payload - 1);
        break;
      case 2:
        header.cid = key ^ 1;
        break;
      case 3:
        header.gen = 1;
        break;  // a region that is not open
      case 4:
        header.arg = (uint64_t{1} << std::min(params_.addr_bits, 32u)) - params_.payload;
        break;
      default:
        break;
    }
    return header;
  }

  Header of_context(Ptype type, uint16_t cid) const {
    const rdma::RxContext& context = golden_.context(cid);
    Header header;
    header.ptype = static_cast<uint8_t>(type);
    header.dst = node;
    header.src = context.src;
    header.sid = context.sid;
    header.cid = cid;
    header.gen = context.gen;
    header.msgid = context.msgid;
    return header;
  }

  Header release(uint16_t cid) const { return of_context(Ptype::release, cid); }

  Header data(uint16_t cid) {
    const rdma::RxContext& context = golden_.context(cid);
    Header header = of_context(Ptype::data, cid);
    header.arg = uint64_t{context.region} << 16 | key;
    const uint32_t ahead = one_in(2) ? 0 : below(params_.window + 3);
    header.pidx =
        one_in(10) ? below(longest_transfer) : std::min(context.window.base + ahead, context.cut.last);
    header.len = static_cast<uint16_t>(params_.payload);
    if (header.pidx == context.cut.last) {
      header.flags = rdma::formats::flag_last;
      header.len = static_cast<uint16_t>(context.cut.last_len);
    }
    return header;
  }

  Header one_thing_wrong(Header header) {
    switch (below(8)) {
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
        header.gen = static_cast<uint8_t>(header.gen + 1);
        break;
      case 4:
        header.arg ^= 1;
        break;
      case 5:
        header.pidx = longest_transfer;
        break;
      case 6:
        header.flags ^= rdma::formats::flag_last;
        break;
      default:
        header.len ^= 1;
        break;
    }
    return header;
  }

  void put(const Header& header) {
    const auto field8 = [](uint64_t value) { return static_cast<uint8_t>(value); };
    formats::ReceiverVector vector;
    vector.ptype = header.ptype;
    vector.flags = header.flags;
    vector.src = field8(header.src);
    vector.sid = field8(header.sid);
    vector.cid = field8(header.cid);
    vector.gen = header.gen;
    vector.msgid = static_cast<uint16_t>(header.msgid);
    vector.len = header.len;
    vector.pidx = header.pidx;
    vector.arg = static_cast<uint32_t>(header.arg);
    test_.vectors.push_back(vector);

    rdma::RxInputs inputs;
    inputs.offer = free_.front().cid;
    follow(golden_.packet({header, std::vector<uint8_t>(header.len)}, inputs));
  }

  void follow(const rdma::RxResult& result) {
    test_.expected.push_back(static_cast<uint32_t>(result.outcome));
    std::vector<uint32_t> record{static_cast<uint32_t>(result.outcome) << 16 | result.cid, result.wbase};
    for (uint32_t word = 0; word < (params_.window + 31) / 32; ++word)
      record.push_back(static_cast<uint32_t>(result.wvec[word / 2] >> (word % 2 * 32)));
    events_.add(record);
    if (result.write) sign_write(result);
    if (result.emitted) sign_control(result.emitted->header);
    if (result.outcome == rdma::formats::Outcome::grant) {
      used_.push_back(free_.front().cid);
      free_.pop_front();
    }
    for (size_t i = 0; i < used_.size(); ++i) {
      if (golden_.context(used_[i]).state != rdma::RxContext::State::free) continue;
      free_.push_back({used_[i], test_.vectors.size()});
      used_.erase(used_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }

  void sign_write(const rdma::RxResult& result) {
    const uint64_t address = result.write->addr;
    writes_.add(std::array{static_cast<uint32_t>(result.write->bytes.size()), static_cast<uint32_t>(address),
                           static_cast<uint32_t>(result.cid) << 16 | static_cast<uint32_t>(address >> 32)});
  }

  void sign_control(Header header) {
    header.crc = 0;
    controls_.add(record_words(rdma::formats::pack(header)));
  }

  rdma::Params params_;
  rdma::Receiver golden_;
  std::mt19937 random_;
  std::deque<Free> free_;  // contexts, in the order in which they are offered
  std::vector<uint16_t> used_;
  Signature events_, writes_, controls_;
  ReceiverTest test_;
};

}  // namespace

ReceiverTest make_receiver_test(const rdma::Params& params, uint32_t count, uint32_t seed) {
  check(params);
  return Maker(params, seed).make(count);
}

}  // namespace weft::selftest
