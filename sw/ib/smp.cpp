// SPDX-License-Identifier: Apache-2.0
// Subnet management datagrams.
#include "ib/smp.hpp"

#include <fmt/format.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
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

std::optional<Attribute> SmpPort::get(const Path& path, uint16_t attribute, uint32_t modifier) {
  return ask(IB_MAD_METHOD_GET, path, attribute, modifier, {});
}

std::optional<Attribute> SmpPort::set(const Path& path, uint16_t attribute, uint32_t modifier,
                                      const Attribute& data) {
  return ask(IB_MAD_METHOD_SET, path, attribute, modifier, data);
}

std::optional<Attribute> SmpPort::ask(uint8_t method, const Path& path, uint16_t attribute, uint32_t modifier,
                                      const Attribute& data) {
  ++transaction_;
  failure_ =
      fmt::format("no answer within {} attempts of {} ms", options_.retries + 1, options_.timeout.count());
  for (uint32_t attempt = 0; attempt <= options_.retries; ++attempt) {
    if (!send(method, path, attribute, modifier, data)) {
      failure_ = fmt::format("cannot send: {}", std::strerror(errno));
      return std::nullopt;
    }
    if (!receive()) continue;
    auto* mad = static_cast<uint8_t*>(umad_get_mad(umad_.data()));
    if (const uint32_t status = mad_get_field(mad, 0, IB_DRSMP_STATUS_F); status != 0) {
      failure_ = fmt::format("refused, status {:#06x}", status);
      return std::nullopt;
    }
    Attribute answer{};
    std::copy_n(mad + IB_SMP_DATA_OFFS, answer.size(), answer.begin());
    return answer;
  }
  return std::nullopt;
}

bool SmpPort::send(uint8_t method, const Path& path, uint16_t attribute, uint32_t modifier,
                   const Attribute& data) {
  ib_rpc_t rpc{};
  rpc.mgtclass = IB_SMI_DIRECT_CLASS;
  rpc.method = method;
  rpc.attr.id = attribute;
  rpc.attr.mod = modifier;
  rpc.datasz = IB_SMP_DATA_SIZE;
  rpc.dataoffs = IB_SMP_DATA_OFFS;
  rpc.mkey = options_.m_key;
  rpc.trid = transaction_;
  ib_portid_t to{};
  to.drpath.cnt = static_cast<int>(path.size());
  std::copy(path.begin(), path.end(), to.drpath.p + 1);
  to.drpath.drslid = to.drpath.drdlid = permissive_lid;
  Attribute copy = data;
  std::fill(umad_.begin(), umad_.end(), 0);
  mad_build_pkt(umad_.data(), &rpc, &to, nullptr, copy.data());
  return umad_send(port_, agent_, umad_.data(), IB_MAD_SIZE, static_cast<int>(options_.timeout.count()), 0) >=
         0;
}

/// The answer to the last request; late ones to earlier requests are dropped, a bounded number of them.
bool SmpPort::receive() {
  for (uint32_t late = 0; late < 100; ++late) {
    int length = IB_MAD_SIZE;
    if (umad_recv(port_, umad_.data(), &length, static_cast<int>(options_.timeout.count())) < 0) return false;
    const auto transaction =
        static_cast<uint32_t>(mad_get_field64(umad_get_mad(umad_.data()), 0, IB_MAD_TRID_F));
    if (transaction == transaction_) return umad_status(umad_.data()) == 0;
  }
  return false;
}

}  // namespace weft::ib
