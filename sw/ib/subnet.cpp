// SPDX-License-Identifier: Apache-2.0
// A real InfiniBand subnet.
#include "ib/subnet.hpp"

#include <endian.h>
#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

#include "ib/smp.hpp"

namespace weft::ib {

namespace {

constexpr uint32_t node_is_switch = 2;
constexpr uint32_t state_init = 2;  // of a port: the least with a neighbour
constexpr uint32_t has_mcast_top = 1u << 30;

struct Found {
  Switch info;
  Path path;
};

uint32_t field(Attribute& attribute, MAD_FIELDS name) { return mad_get_field(attribute.data(), 0, name); }

/// Goes from port to port.
class Discovery {
 public:
  explicit Discovery(SmpPort& port) : port_(port) {}

  std::vector<Found> run() {
    visit({});
    while (!waiting_.empty()) {
      const Path path = std::move(waiting_.front());
      waiting_.pop_front();
      visit(path);
    }
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.info.guid < b.info.guid; });
    return std::move(found_);
  }

 private:
  void visit(const Path& path) {
    auto node = port_.get(path, IB_ATTR_NODE_INFO, 0);
    if (!node && path.empty()) throw NoSubnet("no subnet: this machine's port does not answer");
    if (!node) return;
    const uint32_t type = field(*node, IB_NODE_TYPE_F), entered = field(*node, IB_NODE_LOCAL_PORT_F);
    if (type == node_is_switch) {
      visit_switch(path, *node, entered);
    } else if (path.empty()) {
      waiting_.push_back({static_cast<uint8_t>(entered)});
    }
  }

  void visit_switch(const Path& path, Attribute& node, uint32_t entered) {
    Switch sw;
    sw.guid = mad_get_field64(node.data(), 0, IB_NODE_GUID_F);
    sw.ports = std::min(field(node, IB_NODE_NPORTS_F), 254u);
    if (!seen_.insert(sw.guid).second || !describe(path, sw)) return;
    found_.push_back({sw, path});
    if (path.size() == most_hops) return;
    for (uint32_t port = 1; port <= sw.ports; ++port) {
      if (port == entered && !path.empty()) continue;
      auto info = port_.get(path, IB_ATTR_PORT_INFO, port);
      if (!info || field(*info, IB_PORT_STATE_F) < state_init) continue;
      waiting_.push_back(path);
      waiting_.back().push_back(static_cast<uint8_t>(port));
    }
  }

  bool describe(const Path& path, Switch& sw) {
    auto info = port_.get(path, IB_ATTR_SWITCH_INFO, 0), port = port_.get(path, IB_ATTR_PORT_INFO, 0),
         name = port_.get(path, IB_ATTR_NODE_DESC, 0);
    if (!info || !port || !name) return false;
    sw.capacity = field(*info, IB_SW_MCAST_FDB_CAP_F);
    sw.top = static_cast<uint16_t>(field(*info, IB_SW_MCAST_FDB_TOP_F));
    sw.has_top = (field(*port, IB_PORT_CAPMASK_F) & has_mcast_top) != 0;
    for (const uint8_t byte : *name) {
      if (byte == 0) break;
      sw.name += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '?';
    }
    return true;
  }

  SmpPort& port_;
  std::deque<Path> waiting_;
  std::set<uint64_t> seen_;
  std::vector<Found> found_;
};

uint32_t modifier(BlockPlace place) { return place.position << 28 | place.number; }

constexpr const char* table = "multicast table";

Attribute packed(const Block& block) {
  Block wire = block;
  for (uint16_t& mask : wire) mask = htobe16(mask);
  Attribute data{};
  std::memcpy(data.data(), wire.data(), data.size());
  return data;
}

Block unpacked(const Attribute& data) {
  Block block{};
  std::memcpy(block.data(), data.data(), data.size());
  for (uint16_t& mask : block) mask = be16toh(mask);
  return block;
}

}  // namespace

class Subnet::Wire {
 public:
  explicit Wire(const SubnetOptions& options) : port_(options) {
    for (Found& found : Discovery(port_).run()) {
      switches_.push_back(std::move(found.info));
      paths_.push_back(std::move(found.path));
    }
    if (switches_.empty()) throw NoSubnet("no subnet: no switch answers");
  }

  const std::vector<Switch>& switches() const { return switches_; }

  Attribute get(std::size_t sw, uint16_t attribute, uint32_t modifier, const char* what) {
    const auto answer = port_.get(paths_[sw], attribute, modifier);
    if (!answer) fail(sw, "read", what);
    return *answer;
  }
  void set(std::size_t sw, uint16_t attribute, uint32_t modifier, const Attribute& data, const char* what) {
    if (!port_.set(paths_[sw], attribute, modifier, data)) fail(sw, "write", what);
  }
  std::optional<std::size_t> ask_all(std::span<const Request> requests,
                                     const std::function<void(std::size_t)>& sent,
                                     const std::function<void(std::size_t, const Attribute&)>& answered) {
    return port_.ask_all(requests, sent, answered);
  }
  const Path& path(std::size_t sw) const { return paths_[sw]; }
  [[noreturn]] void fail(std::size_t sw, const char* verb, const char* what) const {
    throw Unanswered(fmt::format("switch {:#018x} ({}): cannot {} its {}: {}", switches_[sw].guid,
                                 switches_[sw].name, verb, what, port_.failure()));
  }

 private:
  SmpPort port_;
  std::vector<Switch> switches_;
  std::vector<Path> paths_;
};

Subnet::Subnet(const SubnetOptions& options) : wire_(std::make_unique<Wire>(options)) {}
Subnet::~Subnet() = default;

const std::vector<Switch>& Subnet::all() const { return wire_->switches(); }

Block Subnet::read(std::size_t sw, BlockPlace place) {
  return unpacked(wire_->get(sw, IB_ATTR_MULTICASTFORWTBL, modifier(place), table));
}

void Subnet::write(std::size_t sw, BlockPlace place, const Block& block) {
  wire_->set(sw, IB_ATTR_MULTICASTFORWTBL, modifier(place), packed(block), table);
}

void Subnet::write_all(std::span<const BlockWrite> writes, const WriteEvents& events) {
  std::vector<Request> requests;
  requests.reserve(writes.size());
  for (const BlockWrite& write : writes)
    requests.push_back(
        {&wire_->path(write.sw), IB_ATTR_MULTICASTFORWTBL, modifier(write.place), packed(*write.block)});
  const auto failed =
      wire_->ask_all(requests, events.sent, [&](std::size_t i, const Attribute&) { events.written(i); });
  if (failed) wire_->fail(writes[*failed].sw, "write", table);
}

void Subnet::read_all(std::span<const BlockRead> reads, const HasRead& has_read) {
  std::vector<Request> requests;
  requests.reserve(reads.size());
  for (const BlockRead& read : reads)
    requests.push_back({&wire_->path(read.sw), IB_ATTR_MULTICASTFORWTBL, modifier(read.place), std::nullopt});
  const auto failed = wire_->ask_all(
      requests, [](std::size_t) {},
      [&](std::size_t i, const Attribute& data) { has_read(i, unpacked(data)); });
  if (failed) wire_->fail(reads[*failed].sw, "read", table);
}

uint16_t Subnet::read_top(std::size_t sw) {
  Attribute info = wire_->get(sw, IB_ATTR_SWITCH_INFO, 0, "last MLID");
  return static_cast<uint16_t>(field(info, IB_SW_MCAST_FDB_TOP_F));
}

void Subnet::write_top(std::size_t sw, uint16_t top) {
  Attribute info = wire_->get(sw, IB_ATTR_SWITCH_INFO, 0, "last MLID");
  mad_set_field(info.data(), 0, IB_SW_MCAST_FDB_TOP_F, top);
  mad_set_field(info.data(), 0, IB_SW_STATE_CHANGE_F,
                0);  // writing 1 would clear it under the subnet manager
  wire_->set(sw, IB_ATTR_SWITCH_INFO, 0, info, "last MLID");
}

}  // namespace weft::ib
