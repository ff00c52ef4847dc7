// SPDX-License-Identifier: Apache-2.0
// Multicast tables by infiniband-diags.
#include "read_back.hpp"

#include <fmt/format.h>

#include <sstream>
#include <stdexcept>

namespace weft::test {

namespace {

// "     Ports: 0 1 2 ...", and below each port an x in the lines of MLIDs.
constexpr std::size_t first_column = 12, column_width = 2;

mcast::PortMask parse_columns(const std::string& line) {
  mcast::PortMask mask;
  for (std::size_t at = 6; at < line.size(); ++at) {
    if (line[at] == ' ') continue;
    if (line[at] != 'x' || at < first_column || (at - first_column) % column_width != 0)
      throw std::runtime_error("not understood: " + line);
    mask.set(static_cast<uint32_t>((at - first_column) / column_width));
  }
  return mask;
}

Finished run(const Ibsim& ibsim, const std::string& command) {
  Finished done = ibsim.run_inside(command);
  if (done.exit_code != 0) throw std::runtime_error(command + " failed: " + done.output);
  return done;
}

}  // namespace

mcast::ForwardingTables parse_diags(const std::string& text) {
  mcast::ForwardingTables tables;
  uint64_t guid = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find(" guid 0x"); line.starts_with("Multicast mlids") && at != std::string::npos)
      guid = std::stoull(line.substr(at + 6), nullptr, 16);
    if (!line.starts_with("0x")) continue;
    if (guid == 0) throw std::runtime_error("an entry before the first switch: " + line);
    tables[guid][static_cast<uint16_t>(std::stoul(line.substr(0, 6), nullptr, 16))] = parse_columns(line);
  }
  return tables;
}

mcast::ForwardingTables read_back(const Ibsim& ibsim) { return parse_diags(run(ibsim, "dump_mfts").output); }

mcast::ForwardingTables read_back(const Ibsim& ibsim, uint64_t guid) {
  return parse_diags(run(ibsim, fmt::format("ibroute -M -G {:#x}", guid)).output);
}

}  // namespace weft::test
