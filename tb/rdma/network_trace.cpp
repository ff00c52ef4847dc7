// SPDX-License-Identifier: Apache-2.0
// What one node hands to the network.
#include "network_trace.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace weft::tb {

namespace formats = rdma::formats;

NetworkTrace::NetworkTrace(const std::string& directory, uint32_t node)
    : writer_(std::filesystem::path(directory) / fmt::format("network.node{}.trace", node),
              {{"unit", "network"}, {"node", std::to_string(node)}}) {}

void NetworkTrace::write(uint64_t cycle, const formats::Header& header, const fabric::Fate& fate) {
  const auto bit = [](bool value) { return std::string(value ? "1" : "0"); };
  const auto number = [](uint64_t value) { return std::to_string(value); };
  writer_.write({cycle,
                 "network",
                 {{"event", "sent"},
                  {"type", std::string(formats::name(static_cast<formats::Ptype>(header.ptype)))},
                  {"dst", number(header.dst)},
                  {"src", number(header.src)},
                  {"sid", number(header.sid)},
                  {"msgid", number(header.msgid)},
                  {"cid", number(header.cid)},
                  {"gen", number(header.gen)},
                  {"pidx", number(header.pidx)},
                  {"len", number(header.len)},
                  {"flags", fmt::format("{:#x}", header.flags)},
                  {"arg", fmt::format("{:#x}", header.arg)},
                  {"lost", bit(fate.lost)},
                  {"duplicated", bit(fate.duplicated)},
                  {"corrupted", bit(fate.corrupted)},
                  {"held_back", bit(fate.held_back)}}});
}

}  // namespace weft::tb
