// SPDX-License-Identifier: Apache-2.0
// Makes all switches heed MulticastFDBTop, which ibsim's do not know, as seen by one program: loaded before
// libibumad (LD_PRELOAD). It is 0xC01F in the beginning.
#include <dlfcn.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <cstdint>
#include <map>

#include "directed_route.hpp"

namespace {

constexpr uint32_t first_top = 0xc01f, has_mcast_top = 1u << 30;

/// Of switches in which it was set.
std::map<weft::test::DirectedRoute, uint32_t>& tops() {
  static std::map<weft::test::DirectedRoute, uint32_t> tops;
  return tops;
}

void note_request(uint8_t* mad) {
  const bool sets = mad_get_field(mad, 0, IB_MAD_METHOD_F) == IB_MAD_METHOD_SET;
  if (sets && mad_get_field(mad, 0, IB_MAD_ATTRID_F) == IB_ATTR_SWITCH_INFO)
    tops()[weft::test::route_of(mad)] = mad_get_field(mad + IB_SMP_DATA_OFFS, 0, IB_SW_MCAST_FDB_TOP_F);
}

void change_answer(uint8_t* mad) {
  uint8_t* data = mad + IB_SMP_DATA_OFFS;
  const uint32_t attribute = mad_get_field(mad, 0, IB_MAD_ATTRID_F);
  if (attribute == IB_ATTR_SWITCH_INFO) {
    const auto top = tops().find(weft::test::route_of(mad));
    mad_set_field(data, 0, IB_SW_MCAST_FDB_TOP_F, top == tops().end() ? first_top : top->second);
  }
  if (attribute == IB_ATTR_PORT_INFO && mad_get_field(mad, 0, IB_MAD_ATTRMOD_F) == 0)
    mad_set_field(data, 0, IB_PORT_CAPMASK_F, mad_get_field(data, 0, IB_PORT_CAPMASK_F) | has_mcast_top);
}

}  // namespace

extern "C" {

int umad_send(int port, int agent, void* umad, int length, int timeout_ms, int retries) {
  using Send = int (*)(int, int, void*, int, int, int);
  static const auto send = reinterpret_cast<Send>(dlsym(RTLD_NEXT, "umad_send"));
  note_request(static_cast<uint8_t*>(umad_get_mad(umad)));
  return send(port, agent, umad, length, timeout_ms, retries);
}

int umad_recv(int port, void* umad, int* length, int timeout_ms) {
  using Receive = int (*)(int, void*, int*, int);
  static const auto receive = reinterpret_cast<Receive>(dlsym(RTLD_NEXT, "umad_recv"));
  const int agent = receive(port, umad, length, timeout_ms);
  if (agent >= 0) change_answer(static_cast<uint8_t*>(umad_get_mad(umad)));
  return agent;
}
}
