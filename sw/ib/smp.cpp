// SPDX-License-Identifier: Apache-2.0
// Subnet management datagrams.
#include "ib/smp.hpp"

#include <fmt/format.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <random>

namespace weft::ib {

namespace {

constexpr uint32_t permissive_lid = 0xffff;

/// Only the lower half of a transaction's number is ours: the kernel writes into the other one.
uint32_t first_transaction() { return std::random_device()(); }

std::string place(const SubnetOptions& options) {
  if (options.device.empty() && options.port == 0) return "this machine";
  return fmt::format("{} port {}", options.device.empty() ? "any device" : options.device,
                     options.port == 0 ? "any" : std::to_string(options.port));
}

}  // namespace

SmpPort::SmpPort(const SubnetOptions& options) : options_(options), transaction_(first_transaction()) {
  // umad_get_port says whether there is one; what umad_open_port complains of, it says on standard error.
  const char* device = options.device.empty() ? nullptr : options.device.c_str();
  umad_port_t port{};
  if (umad_init() < 0 || umad_get_port(device, static_cast<int>(options.port), &port) < 0)
    throw NoSubnet(fmt::format("no subnet: {} has no InfiniBand port that is up", place(options)));
  const std::string name = port.ca_name;
  const int number = port.portnum;
  umad_release_port(&port);
  port_ = umad_open_port(name.c_str(), number);
  if (port_ < 0)
    throw NoSubnet(
        fmt::format("no subnet: {} port {} cannot be opened: {}", name, number, std::strerror(errno)));
  agent_ = umad_register(port_, IB_SMI_DIRECT_CLASS, 1, 0, nullptr);
  if (agent_ < 0) {
    umad_close_port(port_);
    throw NoSubnet(fmt::format("no subnet: {} port {} takes no management datagrams", name, number));
  }
  umad_.resize(umad_size() + IB_MAD_SIZE);
}

SmpPort::~SmpPort() {
  umad_unregister(port_, agent_);
  umad_close_port(port_);
}

/// Many requests, each with the attempts that it is allowed. Every attempt has a number of its own: late
/// answers to earlier ones are dropped.
class SmpPort::Asking {
 public:
  using Clock = std::chrono::steady_clock;
  using Sent = std::function<void(std::size_t)>;
  using Answered = std::function<void(std::size_t, const Attribute&)>;

  Asking(SmpPort& port, std::span<const Request> requests, const Sent& sent, const Answered& answered)
      : port_(port), requests_(requests), sent_(sent), answered_(answered) {}

  std::optional<std::size_t> run() {
    while (begin() || !under_way_.empty()) {
      receive();
      send_late_ones_again();
    }
    return failed_;
  }

 private:
  struct Attempt {
    std::size_t request = 0;
    uint32_t number = 0;
    Clock::time_point until;
  };

  /// As many as may be under way. @return whether there are more to come
  bool begin() {
    while (!failed_ && next_ < requests_.size() && under_way_.size() < port_.options_.in_flight) {
      sent_(next_);
      send(next_++, 0);
    }
    return !failed_ && next_ < requests_.size();
  }

  void send(std::size_t request, uint32_t number) {
    const uint32_t transaction = ++port_.transaction_;
    if (!port_.send(requests_[request], transaction))
      return fail(request, fmt::format("cannot send: {}", std::strerror(errno)));
    under_way_[transaction] = {request, number, Clock::now() + port_.options_.timeout};
  }

  void fail(std::size_t request, const std::string& why) {
    if (failed_) return;
    failed_ = request;
    port_.failure_ = why;
  }

  /// One datagram, or nothing until the first attempt is late.
  void receive() {
    if (under_way_.empty()) return;
    Clock::time_point until = under_way_.begin()->second.until;
    for (const auto& [transaction, attempt] : under_way_) until = std::min(until, attempt.until);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    int length = IB_MAD_SIZE;
    uint8_t* const umad = port_.umad_.data();
    if (umad_recv(port_.port_, umad, &length,
                  static_cast<int>(std::max(left.count(), decltype(left.count()){0}))) < 0)
      return;
    auto* mad = static_cast<uint8_t*>(umad_get_mad(umad));
    const auto found = under_way_.find(static_cast<uint32_t>(mad_get_field64(mad, 0, IB_MAD_TRID_F)));
    if (found == under_way_.end()) return;
    const Attempt attempt = found->second;
    under_way_.erase(found);
    if (umad_status(umad) != 0) return try_again(attempt);
    if (const uint32_t status = mad_get_field(mad, 0, IB_DRSMP_STATUS_F); status != 0)
      return fail(attempt.request, fmt::format("refused, status {:#06x}", status));
    Attribute answer{};
    std::copy_n(mad + IB_SMP_DATA_OFFS, answer.size(), answer.begin());
    answered_(attempt.request, answer);
  }

  void send_late_ones_again() {
    const auto now = Clock::now();
    std::vector<Attempt> late;
    std::erase_if(under_way_, [&](const auto& entry) {
      if (entry.second.until > now) return false;
      late.push_back(entry.second);
      return true;
    });
    for (const Attempt& attempt : late) try_again(attempt);
  }

  void try_again(const Attempt& attempt) {
    if (attempt.number < port_.options_.retries) return send(attempt.request, attempt.number + 1);
    fail(attempt.request, fmt::format("no answer within {} attempts of {} ms", port_.options_.retries + 1,
                                      port_.options_.timeout.count()));
  }

  SmpPort& port_;
  std::span<const Request> requests_;
  const Sent& sent_;
  const Answered& answered_;
  std::size_t next_ = 0;
  std::map<uint32_t, Attempt> under_way_;  // by transaction
  std::optional<std::size_t> failed_;
};

std::optional<Attribute> SmpPort::get(const Path& path, uint16_t attribute, uint32_t modifier) {
  return ask({&path, attribute, modifier, std::nullopt});
}

std::optional<Attribute> SmpPort::set(const Path& path, uint16_t attribute, uint32_t modifier,
                                      const Attribute& data) {
  return ask({&path, attribute, modifier, data});
}

std::optional<Attribute> SmpPort::ask(const Request& request) {
  std::optional<Attribute> answer;
  ask_all(
      {&request, 1}, [](std::size_t) {}, [&](std::size_t, const Attribute& data) { answer = data; });
  return answer;
}

std::optional<std::size_t> SmpPort::ask_all(
    std::span<const Request> requests, const std::function<void(std::size_t)>& sent,
    const std::function<void(std::size_t, const Attribute&)>& answered) {
  return Asking(*this, requests, sent, answered).run();
}

bool SmpPort::send(const Request& request, uint32_t transaction) {
  ib_rpc_t rpc{};
  rpc.mgtclass = IB_SMI_DIRECT_CLASS;
  rpc.method = request.data ? IB_MAD_METHOD_SET : IB_MAD_METHOD_GET;
  rpc.attr.id = request.attribute;
  rpc.attr.mod = request.modifier;
  rpc.datasz = IB_SMP_DATA_SIZE;
  rpc.dataoffs = IB_SMP_DATA_OFFS;
  rpc.mkey = options_.m_key;
  rpc.trid = transaction;
  ib_portid_t to{};
  to.drpath.cnt = static_cast<int>(request.path->size());
  std::copy(request.path->begin(), request.path->end(), to.drpath.p + 1);
  to.drpath.drslid = to.drpath.drdlid = permissive_lid;
  Attribute data = request.data.value_or(Attribute{});
  std::fill(umad_.begin(), umad_.end(), 0);
  mad_build_pkt(umad_.data(), &rpc, &to, nullptr, data.data());
  return umad_send(port_, agent_, umad_.data(), IB_MAD_SIZE, static_cast<int>(options_.timeout.count()), 0) >=
         0;
}

}  // namespace weft::ib
