// SPDX-License-Identifier: Apache-2.0
// One mistake in the tables of a fabric.
#include "switch/flaw.hpp"

#include <bit>
#include <utility>
#include <vector>

#include "common/fault.hpp"
#include "switch/lookup.hpp"

namespace weft::tb {

namespace {

using switch_lookup::Image;
using switchtables::Fabric;
using switchtables::Images;

struct Place {
  uint32_t sw = 0;
  std::size_t entry = 0;
};

Place any_multicast_entry(const Images& images, RandomStream& random) {
  std::vector<Place> places;
  for (uint32_t sw = 0; sw < images.size(); ++sw)
    for (std::size_t i = 0; i < images[sw].multicast.size(); ++i) places.push_back({sw, i});
  if (places.empty()) throw Fault("no multicast entry that could be spoilt");
  return places[random.below(places.size())];
}

/// Of a port behind which something is: others are dead, so that nothing would come of it.
void spoil_bit(Images& images, const Fabric& fabric, const switch_lookup::Sizes& sizes,
               RandomStream& random) {
  const Place place = any_multicast_entry(images, random);
  auto& entry = images[place.sw].multicast[place.entry];
  switch_lookup::Ports ports = fabric.alive(place.sw);
  if (sizes.per_port) ports &= ~switch_lookup::port_bit(1 + (entry.index >> 16));  // its own input port
  for (uint64_t skip = random.below(static_cast<uint64_t>(std::popcount(ports))); skip > 0; --skip)
    ports &= ports - 1;
  entry.ports ^= ports & (~ports + 1);
}

void drop_multicast_entry(Images& images, RandomStream& random) {
  const Place place = any_multicast_entry(images, random);
  auto& entries = images[place.sw].multicast;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(place.entry));
}

void drop_unicast_entry(Images& images, const Fabric& fabric, const switch_lookup::Sizes& sizes,
                        RandomStream& random) {
  const uint32_t hosts = fabric.graph().hosts();
  const auto from = static_cast<uint32_t>(random.below(hosts));
  std::vector<uint32_t> others;
  for (uint32_t to = 0; to < hosts; ++to)
    if (fabric.attachment(to).node != fabric.attachment(from).node) others.push_back(to);
  if (others.empty()) throw Fault("no unicast entry that could be spoilt: all hosts are at one switch");
  Image& image = images[fabric.attachment(from).node];
  const auto place = switch_lookup::Tables(sizes, image)
                         .place_of(switchtables::unicast_to(fabric, others[random.below(others.size())]));
  std::erase_if(image.unicast, [&](const auto& entry) { return entry.index == place; });
}

}  // namespace

Flaw flaw_of(const std::string& name) {
  for (const auto& [known, flaw] : {std::pair{"none", Flaw::none},
                                    {"bit", Flaw::bit},
                                    {"entry", Flaw::entry},
                                    {"unicast", Flaw::unicast},
                                    {"promise", Flaw::promise},
                                    {"hasty", Flaw::hasty},
                                    {"model", Flaw::model}})
    if (name == known) return flaw;
  throw Fault("no flaw '" + name + "'");
}

void spoil(Images& images, const Fabric& fabric, const switch_lookup::Sizes& sizes, Flaw flaw,
           RandomStream& random) {
  if (flaw == Flaw::bit) spoil_bit(images, fabric, sizes, random);
  if (flaw == Flaw::entry) drop_multicast_entry(images, random);
  if (flaw == Flaw::unicast) drop_unicast_entry(images, fabric, sizes, random);
}

}  // namespace weft::tb
