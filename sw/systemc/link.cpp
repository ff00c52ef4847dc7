// SPDX-License-Identifier: Apache-2.0
#include "systemc/link.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace weft::systemc {

Link::Link(const sc_core::sc_module_name& name, const fabric::Faults& faults, uint64_t seed)
    : sc_module(name), network_(2, faults, seed) {
  SC_HAS_PROCESS(Link);
  SC_METHOD(move);
  sensitive << clk.pos();
  dont_initialize();
}

void Link::move() {
  for (const uint32_t end : {0, 1}) take(end);
  network_.tick();
  for (const uint32_t end : {0, 1}) give(end);
}

void Link::take(uint32_t end) {
  Flit flit;
  if (!from[end]->nb_read(flit)) return;
  fabric::Bytes& packet = gathered_[end];
  packet.insert(packet.end(), flit.data.begin(), flit.data.begin() + std::popcount(flit.keep));
  if (flit.last) network_.send(end, 1 - end, 0, std::exchange(packet, {}));
}

void Link::give(uint32_t end) {
  std::deque<Flit>& leaving = leaving_[end];
  if (leaving.empty()) {
    const auto packet = network_.receive(end);
    for (size_t at = 0; packet && at < packet->size(); at += flit_bytes) {
      const size_t bytes = std::min<size_t>(flit_bytes, packet->size() - at);
      Flit& flit = leaving.emplace_back();
      std::copy_n(packet->begin() + static_cast<std::ptrdiff_t>(at), bytes, flit.data.begin());
      flit.keep = ~uint32_t{0} >> (flit_bytes - bytes);
      flit.last = at + bytes == packet->size();
    }
  }
  if (!leaving.empty() && to[end]->nb_write(leaving.front())) leaving.pop_front();
}

}  // namespace weft::systemc
