// SPDX-License-Identifier: Apache-2.0
// Makes management datagrams fail, loaded before libibumad (LD_PRELOAD): from the write of a multicast table
// number WEFT_FAULT_AT (from 0) on, what WEFT_FAULT says happens.
//   silent  the switch that it is for does not answer any more, to anything
//   die     the program that sends it is killed
//   stop    the process WEFT_FAULT_PROCESS is killed
#include <dlfcn.h>
#include <infiniband/mad.h>
#include <infiniband/umad.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "directed_route.hpp"

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// True: the datagram vanishes.
bool fails(uint8_t* mad) {
  static int tables_written = 0;
  static std::optional<weft::test::DirectedRoute> silent;
  const bool writes_table = mad_get_field(mad, 0, IB_MAD_METHOD_F) == IB_MAD_METHOD_SET &&
                            mad_get_field(mad, 0, IB_MAD_ATTRID_F) == IB_ATTR_MULTICASTFORWTBL;
  if (writes_table && std::to_string(tables_written++) == setting("WEFT_FAULT_AT")) {
    const std::string fault = setting("WEFT_FAULT");
    if (fault == "silent") silent = weft::test::route_of(mad);
    if (fault == "die") kill(getpid(), SIGKILL);
    if (fault == "stop") kill(std::stoi(setting("WEFT_FAULT_PROCESS")), SIGKILL);
  }
  return silent == weft::test::route_of(mad);
}

}  // namespace

extern "C" int umad_send(int port, int agent, void* umad, int length, int timeout_ms, int retries) {
  using Send = int (*)(int, int, void*, int, int, int);
  static const auto send = reinterpret_cast<Send>(dlsym(RTLD_NEXT, "umad_send"));
  if (fails(static_cast<uint8_t*>(umad_get_mad(umad)))) return 0;
  return send(port, agent, umad, length, timeout_ms, retries);
}
