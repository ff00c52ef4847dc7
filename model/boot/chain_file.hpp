// SPDX-License-Identifier: Apache-2.0
// A chain of nodes as each of its nodes reads it: who gives the image to whom (docs/boot.md). Lines of a word
// and a value: image NAME, port N (where nodes pass the image on by HTTP), then each `server` and `node` with
// its address, in their order. '#' starts a comment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weft::boot {

inline constexpr uint16_t relay_port = 4080;

struct ChainFile {
  std::string image;
  uint16_t port = relay_port;
  std::vector<uint32_t> servers;  ///< addresses: the chain's, then its backup
  std::vector<uint32_t> nodes;    ///< addresses; the first one fetches from a server
};

std::string chain_text(const ChainFile& chain);

/// @param name of the file, for faults. Throws Fault, "NAME:LINE: fault".
ChainFile chain_from(std::string_view text, const std::string& name);
ChainFile read_chain(const std::filesystem::path& file);

/// The nodes that a node may fetch from: the one before it, then, if that is dead, the one before that. After
/// them come the servers.
std::vector<uint32_t> parents_in(const ChainFile& chain, uint32_t node);

}  // namespace weft::boot
