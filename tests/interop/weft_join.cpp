// SPDX-License-Identifier: Apache-2.0
// Joins hosts to multicast groups, by proxy: SubnAdmSet(MCMemberRecord) for each line of standard input, from
// one host of the subnet. Prints the MLID that the subnet administrator gave each group.
//
// A line is "join GROUP PORT_GUID" or "leave GROUP PORT_GUID"; GROUP is a number of ours, 0 to 2^32 - 1, that
// stands at the end of the MGID. Printed is "GROUP MLID" for each join. Exit code 1: something was refused.
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

namespace {

constexpr int timeout_ms = 1000;
constexpr int attempts = 5;

// Components of a MCMemberRecord (IBA 15.2.5.17), as bits of the mask that says which are meant.
constexpr uint64_t mgid_bit = 1u << 0, port_gid_bit = 1u << 1, qkey_bit = 1u << 2, tclass_bit = 1u << 6,
                   pkey_bit = 1u << 7, sl_bit = 1u << 12, flow_bit = 1u << 13, join_state_bit = 1u << 16;
constexpr uint64_t to_create = qkey_bit | tclass_bit | pkey_bit | sl_bit | flow_bit;

struct Request {
  bool join = true;
  uint32_t group = 0;
  uint64_t port_guid = 0;
};

class Administrator {
 public:
  /// False: there is none.
  bool open() {
    umad_port_t port{};
    if (umad_init() < 0 || umad_get_port(nullptr, 0, &port) < 0) return false;
    address_.lid = static_cast<int>(port.sm_lid);
    umad_release_port(&port);
    address_.qp = 1;
    address_.qkey = IB_DEFAULT_QP1_QKEY;
    port_ = umad_open_port(nullptr, 0);
    if (port_ < 0) return false;
    agent_ = umad_register(port_, IB_SA_CLASS, 2, 0, nullptr);
    return agent_ >= 0 && address_.lid != 0;
  }

  /// The status of the answer, 0 for yes; -1 if there is no answer.
  int ask(const Request& request, uint16_t& mlid) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      send(request);
      int length = IB_MAD_SIZE;
      while (umad_recv(port_, umad_.data(), &length, timeout_ms) >= 0) {
        auto* mad = static_cast<uint8_t*>(umad_get_mad(umad_.data()));
        if (mad_get_field64(mad, 0, IB_MAD_TRID_F) << 32 != transaction_ << 32) continue;
        if (umad_status(umad_.data()) != 0) break;
        mlid = static_cast<uint16_t>(mad_get_field(mad + IB_SA_DATA_OFFS, 0, IB_SA_MCM_MLID_F));
        return static_cast<int>(mad_get_field(mad, 0, IB_MAD_STATUS_F));
      }
    }
    return -1;
  }

 private:
  void send(const Request& request) {
    std::array<uint8_t, IB_SA_DATA_SIZE> record{};
    ib_rpc_t rpc{};
    rpc.mgtclass = IB_SA_CLASS;
    rpc.method = request.join ? IB_MAD_METHOD_SET : IB_MAD_METHOD_DELETE;
    rpc.attr.id = IB_SA_ATTR_MCRECORD;
    rpc.mask = mgid_bit | port_gid_bit | join_state_bit | (request.join ? to_create : 0);
    rpc.datasz = IB_SA_DATA_SIZE;
    rpc.dataoffs = IB_SA_DATA_OFFS;
    rpc.trid = ++transaction_;
    fill(record.data(), request);
    umad_.fill(0);
    mad_build_pkt(umad_.data(), &rpc, &address_, nullptr, record.data());
    umad_send(port_, agent_, umad_.data(), IB_MAD_SIZE, timeout_ms, 0);
  }

  static void fill(uint8_t* record, const Request& request) {
    std::array<uint8_t, 16> mgid{0xff, 0x12, 'w', 'e', 'f', 't'}, port_gid{0xfe, 0x80};
    const uint32_t group = htobe32(request.group);
    const uint64_t guid = htobe64(request.port_guid);
    std::memcpy(mgid.data() + 12, &group, sizeof group);
    std::memcpy(port_gid.data() + 8, &guid, sizeof guid);
    mad_set_array(record, 0, IB_SA_MCM_MGID_F, mgid.data());
    mad_set_array(record, 0, IB_SA_MCM_PORTGID_F, port_gid.data());
    mad_set_field(record, 0, IB_SA_MCM_QKEY_F, IB_DEFAULT_QP1_QKEY);
    mad_set_field(record, 0, IB_SA_MCM_PKEY_F, 0xffff);
    mad_set_field(record, 0, IB_SA_MCM_JOIN_STATE_F, 1);
  }

  ib_portid_t address_{};
  int port_ = -1, agent_ = -1;
  uint64_t transaction_ = 0;
  alignas(8) std::array<uint8_t, 512> umad_{};  // header and datagram
};

bool parse(const std::string& line, Request& request) {
  std::istringstream words(line);
  std::string verb, rest;
  words >> verb >> request.group >> std::hex >> request.port_guid;
  request.join = verb == "join";
  return words && !(words >> rest) && (request.join || verb == "leave");
}

}  // namespace

int main() {
  Administrator administrator;
  if (!administrator.open()) {
    fmt::print(stderr, "weft_join: there is no subnet administrator\n");
    return 2;
  }
  int exit_code = 0;
  for (std::string line; std::getline(std::cin, line);) {
    Request request;
    if (!parse(line, request)) {
      fmt::print(stderr, "weft_join: '{}' is not understood\n", line);
      return 2;
    }
    uint16_t mlid = 0;
    const int status = administrator.ask(request, mlid);
    if (status != 0) {
      fmt::print(stderr, "weft_join: '{}': status {:#06x}\n", line, status);
      exit_code = 1;
    } else if (request.join) {
      fmt::print("{} {:#06x}\n", request.group, mlid);
    }
  }
  return exit_code;
}
