// SPDX-License-Identifier: Apache-2.0
// Chains as text.
#include "boot/chain_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "boot/addresses.hpp"
#include "boot/words.hpp"
#include "common/fault.hpp"
#include "common/input_file.hpp"

namespace weft::boot {

namespace {

void take(ChainFile& chain, std::string_view key, std::string_view value) {
  if (key == "image") {
    chain.image = value;
  } else if (key == "port") {
    const auto port = number(value);
    if (!port || *port == 0 || *port > 65535) throw Fault(in_quotes(value) + " is no port");
    chain.port = static_cast<uint16_t>(*port);
  } else if (key == "server") {
    chain.servers.push_back(address_of(value));
  } else if (key == "node") {
    chain.nodes.push_back(address_of(value));
  } else {
    throw Fault(in_quotes(key) + " is nothing of a chain");
  }
}

}  // namespace

std::string chain_text(const ChainFile& chain) {
  std::string text = fmt::format(
      "# written by weft boot, for weft-relay: each node fetches from the one before it, else from the one "
      "before\n"
      "# that, else from the servers\nimage {}\nport {}\n",
      chain.image, chain.port);
  for (const uint32_t server : chain.servers) text += fmt::format("server {}\n", address_text(server));
  for (const uint32_t node : chain.nodes) text += fmt::format("node {}\n", address_text(node));
  return text;
}

ChainFile chain_from(std::string_view text, const std::string& name) {
  ChainFile chain;
  uint32_t line = 0;
  try {
    for (const std::string_view each : split(text, '\n')) {
      ++line;
      const auto found = words(each.substr(0, each.find('#')));
      if (found.empty()) continue;
      if (found.size() != 2) throw Fault("must be a word and a value");
      take(chain, found[0], found[1]);
    }
    if (chain.image.empty()) throw Fault("a chain without an image");
    if (chain.servers.empty()) throw Fault("a chain without a server");
  } catch (const Fault& fault) {
    throw Fault(fmt::format("{}:{}: {}", name, line, fault.what()));
  }
  return chain;
}

ChainFile read_chain(const std::filesystem::path& file) {
  return chain_from(read_whole<Fault>(file), file.string());
}

std::vector<uint32_t> parents_in(const ChainFile& chain, uint32_t node) {
  const auto at = std::find(chain.nodes.begin(), chain.nodes.end(), node);
  if (at == chain.nodes.end()) throw Fault(address_text(node) + " is none of the chain");
  std::vector<uint32_t> parents;
  for (auto before = at; before != chain.nodes.begin() && parents.size() < 2;) parents.push_back(*--before);
  return parents;
}

}  // namespace weft::boot
