// SPDX-License-Identifier: Apache-2.0
// Memory regions: what other nodes may write, and the key they must name for it (docs/rdma.md, Regions).
#pragma once

#include <cstdint>

#include "rdma/params.hpp"

namespace weft::rdma {

/// RKEY as requests and DATA carry it: number of the region and its key.
struct RegionKey {
  uint8_t region = 0;
  uint16_t key = 0;

  bool operator==(const RegionKey&) const = default;
};

constexpr uint32_t rkey_bits = 24;

constexpr uint32_t rkey(RegionKey named) { return uint32_t{named.region} << 16 | named.key; }
constexpr RegionKey region_key(uint64_t rkey) {
  return {static_cast<uint8_t>(rkey >> 16), static_cast<uint16_t>(rkey)};
}

/// The region that is named, if there is one and this is its key, whatever it may be used for; otherwise
/// nullptr.
inline const Region* named_region(const Config& config, RegionKey named) {
  if (named.region >= config.regions.size()) return nullptr;
  const Region& region = config.regions[named.region];
  return region.base < region.limit && region.key == named.key ? &region : nullptr;
}

/// What a request wants to do with a region.
enum class Use { remote_write, remote_read, receive };

/// The region that is named, if it is open to this use by who names this key; otherwise nullptr.
inline const Region* region_for(Use use, const Config& config, RegionKey named) {
  const Region* region = named_region(config, named);
  if (!region) return nullptr;
  switch (use) {
    case Use::remote_write:
      return region->remote_write ? region : nullptr;
    case Use::remote_read:
      return region->remote_read ? region : nullptr;
    case Use::receive:
      return region->receive ? region : nullptr;
  }
  return nullptr;
}

/// Whether [address, address + bytes) lies inside.
inline bool holds(const Region& region, uint64_t address, uint64_t bytes) {
  return address >= region.base && address < region.limit && bytes <= region.limit - address;
}

}  // namespace weft::rdma
