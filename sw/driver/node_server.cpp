// SPDX-License-Identifier: Apache-2.0
// The administrator of one NIC.
#include "driver/node_server.hpp"

#include <algorithm>

namespace weft::driver {

namespace {

constexpr uint64_t cq_offset = 1 << 15;
constexpr uint8_t ring_log2 = 8;
constexpr uint32_t status_idle = 3u << 3;  // sender and receiver
constexpr uint32_t longest_quiet = 1000;   // looks at STATUS, if others keep the engine busy
constexpr uint32_t first_queue_page = 2;
constexpr uint32_t every_access = 15;
constexpr uint32_t most_owners = 255;  // 8 bits, and 0 is nobody
constexpr auto too_many_domains = "no more protection domains for this application";
// Ticks: a member that is silent so long is dead; so much longer a group that is closed answers who has
// missed its last Release.
constexpr uint16_t barrier_first = 16, barrier_largest = 64, barrier_tries = 8, barrier_tick = 64;
constexpr uint64_t barrier_lingers = uint64_t{barrier_tries} * barrier_largest * barrier_tick;  // clocks
constexpr uint32_t key_step = 4099;  // between first keys of nodes, so that one's is none of another's

/// Members by number: nodes of the bits that are set.
std::vector<uint16_t> nodes_of(uint64_t bits) {
  std::vector<uint16_t> nodes;
  for (uint16_t node = 0; node < 64; ++node) {
    if (bits >> node & 1) nodes.push_back(node);
  }
  return nodes;
}

std::string text_of(const std::array<char, name_bytes>& name) {
  return {name.begin(), std::find(name.begin(), name.end(), '\0')};
}

}  // namespace

std::string has_no_node(uint32_t node, uint32_t nodes) {
  return "has no node " + std::to_string(node) + ": 0 to " + std::to_string(nodes - 1);
}

NodeServer::NodeServer(uint32_t node, RegisterBus& bus, RingMemory& memory, RdmaDriver& engine,
                       const NodeSize& size, Directory& directory, BarrierDriver* barriers)
    : node_(node),
      bus_(bus),
      memory_(memory),
      engine_(engine),
      size_(size),
      directory_(directory),
      administrator_(bus, memory),
      barriers_(barriers),
      places_(size.queues, Place::free),
      left_(size.queues),
      queues_(size.queues),
      regions_(size.regions),
      last_key_(static_cast<uint16_t>(node * key_step)) {}

std::optional<uint8_t> NodeServer::owner_of(uint32_t place, uint64_t domain) const {
  if (domain >= most_owners / size_.queues) return std::nullopt;
  return static_cast<uint8_t>(1 + place + domain * size_.queues);
}

uint64_t NodeServer::share() const {
  return (size_.memory_bytes - size_.rings_bytes()) / size_.queues / size_.payload * size_.payload;
}

std::optional<uint32_t> NodeServer::attach() {
  const auto found = std::ranges::find(places_, Place::free);
  if (found == places_.end()) return std::nullopt;
  *found = Place::taken;
  const auto place = static_cast<uint32_t>(found - places_.begin());
  left_[place] = false;
  return place;
}

Reply NodeServer::attached(uint32_t place) const {
  return Reply::of({node_, base_of(place), share(), size_.memory_bytes});
}

bool NodeServer::clearing() const {
  return std::ranges::count(places_, Place::clearing) != 0 ||
         std::ranges::any_of(groups_, [](const Barrier& barrier) { return barrier.closes.has_value(); });
}

uint32_t NodeServer::barriers_in_use() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(groups_, [](const Barrier& barrier) { return barrier.place.has_value(); }));
}

uint32_t NodeServer::queues_in_use() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(queues_, [](const Queue& queue) { return queue.place.has_value(); }));
}

uint32_t NodeServer::regions_in_use() const {
  return static_cast<uint32_t>(
      std::ranges::count_if(regions_, [](const Region& region) { return region.place.has_value(); }));
}

void NodeServer::handle(uint32_t place, const Request& request, OnReply reply) {
  switch (request.ask) {
    case Ask::attach:
      return reply(Reply::refused("attached already"));
    case Ask::open_region:
      return open_region(place, request, reply);
    case Ask::close_region:
      return close_region(place, request, reply);
    case Ask::claim_queue:
      return claim_queue(place, request, reply);
    case Ask::release_queue:
      return release_queue(place, request, reply);
    case Ask::write_register:
    case Ask::read_register:
      return access_register(place, request, reply);
    case Ask::wait:
      return wait(place, request, std::move(reply));
    case Ask::publish:
      directory_.notices[{node_, text_of(request.name)}] = {place, request.values};
      return reply(Reply::of());
    case Ask::look_up:
      return look_up(place, request, reply);
    case Ask::clock:
      return reply(Reply::of({cycle_}));
    case Ask::attributes:
      return reply(Reply::of({size_.queues, size_.regions, size_.payload, size_.memory_bytes}));
    case Ask::leave:
      left_[place] = true;
      return reply(Reply::of());
    case Ask::not_waited:
      return reply(Reply::of({0}));  // who clocks this waits, or counts
    case Ask::open_barrier:
    case Ask::close_barrier:
    case Ask::arrive:
    case Ask::await_barrier:
      return handle_barrier(place, request, std::move(reply));
  }
  reply(Reply::refused("no such request"));
}

void NodeServer::open_region(uint32_t place, const Request& request, const OnReply& reply) {
  if (request.a == 0 || (request.a & ~every_access) != 0)
    return reply(Reply::refused("memory region of access " + std::to_string(request.a) +
                                ", which is no sum of 1, 2, 4 and 8"));
  const uint64_t base = request.x, bytes = request.y;
  const bool inside = base >= base_of(place) && bytes <= share() && base - base_of(place) <= share() - bytes;
  if (!inside) return reply(Reply::refused("memory region is not inside this application's memory"));
  if (bytes == 0 || base % size_.payload != 0 || bytes % size_.payload != 0)
    return reply(Reply::refused("memory region is not of whole payloads of " + std::to_string(size_.payload) +
                                " bytes"));
  const auto found = std::ranges::find_if(regions_, [](const Region& region) { return !region.place; });
  if (found == regions_.end()) return reply(Reply::refused("all memory regions of the node are in use"));
  if (request.b != 0 && !owns_queue(place, request.b - 1))
    return reply(Reply::refused("queue " + std::to_string(request.b - 1) + " is not this application's"));
  const auto owner = owner_of(place, request.domain());
  if (!owner) return reply(Reply::refused(too_many_domains));
  const auto number = static_cast<uint8_t>(found - regions_.begin());
  RdmaRegion region;
  region.base = base;
  region.limit = base + bytes;
  region.key = new_key();
  region.owner = *owner;
  region.local_use = (request.a & 1) != 0;
  region.remote_write = (request.a & 2) != 0;
  region.remote_read = (request.a & 4) != 0;
  region.receive = (request.a & 8) != 0;
  if (request.b != 0) region.queue = static_cast<uint8_t>(request.b - 1);
  *found = {place, region};
  engine_.set_region(number, region);
  bus_.read(rdma::formats::reg::STATUS, [reply, key = rdma_rkey(number, region.key)](bool ok, uint32_t) {
    reply(ok ? Reply::of({key}) : Reply::refused("NIC does not answer"));
  });
}

void NodeServer::close_region(uint32_t place, const Request& request, const OnReply& reply) {
  const uint32_t number = request.a >> 16;
  if (number >= regions_.size() || regions_[number].place != place ||
      rdma_rkey(static_cast<uint8_t>(number), regions_[number].settings.key) != request.a)
    return reply(Reply::refused("no memory region of this application has that key"));
  close(number);
  bus_.read(rdma::formats::reg::STATUS, [reply](bool, uint32_t) { reply(Reply::of()); });
}

void NodeServer::close(uint32_t region) {
  regions_[region].place.reset();
  RdmaRegion closed;
  closed.remote_write = false;
  engine_.set_region(static_cast<uint8_t>(region), closed);
}

void NodeServer::claim_queue(uint32_t place, const Request& request, const OnReply& reply) {
  uint32_t number = request.a;
  if (number == any_queue) {
    const auto found = std::ranges::find_if(queues_, [](const Queue& queue) { return !queue.place; });
    if (found == queues_.end()) return reply(Reply::refused("all queues of the node are in use"));
    number = static_cast<uint32_t>(found - queues_.begin());
  }
  if (number >= queues_.size())
    return reply(Reply::refused("no queue " + std::to_string(number) + ": the node has " +
                                std::to_string(queues_.size())));
  Queue& queue = queues_[number];
  if (queue.place) return reply(Reply::refused("queue " + std::to_string(number) + " is in use"));
  const auto owner = owner_of(place, request.domain());
  if (!owner) return reply(Reply::refused(too_many_domains));
  queue.place = place;
  queue.setup.sq_base = number * NodeSize::ring_slot;
  queue.setup.cq_base = number * NodeSize::ring_slot + cq_offset;
  queue.setup.sq_log2 = queue.setup.cq_log2 = ring_log2;
  queue.setup.owner = *owner;
  queue.setup.key = new_key();
  administrator_.enable(number, queue.setup, [this, number, reply](bool ok) {
    Queue& claimed = queues_[number];
    if (ok)
      return reply(Reply::of({number, claimed.setup.sq_base, claimed.setup.cq_base, claimed.setup.key}));
    claimed.place.reset();
    reply(Reply::refused("queue " + std::to_string(number) + " cannot be enabled"));
  });
}

void NodeServer::release_queue(uint32_t place, const Request& request, const OnReply& reply) {
  if (!owns_queue(place, request.a))
    return reply(Reply::refused("queue " + std::to_string(request.a) + " is not this application's"));
  administrator_.disable(request.a, [this, place, number = request.a, reply](bool) {
    if (queues_[number].place == place) give_back(number);
    reply(Reply::of());
  });
}

/// Its next owner is not told of what is written to regions of the last one.
void NodeServer::give_back(uint32_t queue) {
  queues_[queue].place.reset();
  for (uint32_t number = 0; number < regions_.size(); ++number) {
    Region& region = regions_[number];
    if (!region.place || region.settings.queue != queue) continue;
    region.settings.queue.reset();
    engine_.set_region(static_cast<uint8_t>(number), region.settings);
  }
}

/// Those of the pages of its own queues, as the mapping of pages would have it.
void NodeServer::access_register(uint32_t place, const Request& request, const OnReply& reply) {
  const uint32_t page = request.a / 0x1000;
  if (page < first_queue_page || !owns_queue(place, page - first_queue_page))
    return reply(Reply::refused("register is not of a queue of this application"));
  if (request.ask == Ask::read_register)
    return bus_.read(request.a, [reply](bool ok, uint32_t data) {
      reply(ok ? Reply::of({data}) : Reply::refused("register cannot be read"));
    });
  bus_.write(request.a, request.b,
             [reply](bool ok) { reply(ok ? Reply::of() : Reply::refused("register refuses the write")); });
}

void NodeServer::wait(uint32_t place, const Request& request, OnReply reply) {
  if (request.x >= size_.memory_bytes)
    return reply(Reply::refused("byte to wait for is not in the node's memory"));
  waiting_.push_back({place, request, after(request.y), std::move(reply)});
}

void NodeServer::look_up(uint32_t place, const Request& request, const OnReply& reply) {
  if (request.a >= directory_.nodes)
    return reply(Reply::refused("the fabric " + has_no_node(request.a, directory_.nodes)));
  const auto found = directory_.notices.find({request.a, text_of(request.name)});
  if (found == directory_.notices.end()) {
    Reply not_yet = Reply::refused("nothing published under '" + text_of(request.name) + "'");
    not_yet.values[0] = 1;
    return reply(not_yet);
  }
  directory_.peers.meet({node_, place}, {request.a, found->second.place});
  reply(Reply::of(found->second.values));
}

void NodeServer::handle_barrier(uint32_t place, const Request& request, OnReply reply) {
  if (!barriers_) return reply(Reply::refused("the NIC has no barrier engine"));
  if (request.a >= groups_.size())
    return reply(Reply::refused("no barrier " + std::to_string(request.a) + ": the node has " +
                                std::to_string(groups_.size())));
  if (request.ask == Ask::open_barrier) return open_barrier(place, request, std::move(reply));
  Barrier& barrier = groups_[request.a];
  if (barrier.place != place || barrier.closes)
    return reply(Reply::refused("barrier " + std::to_string(request.a) + " is not this application's"));
  if (request.ask == Ask::close_barrier) {
    barrier.closes = cycle_ + barrier_lingers;
    return reply(Reply::of());
  }
  if (request.ask == Ask::await_barrier) {
    at_barriers_.push_back({place, request, after(request.y), std::move(reply)});
    return;
  }
  barriers_->arrive(static_cast<uint8_t>(request.a), [reply](std::optional<BarrierDriver::Refusal> refusal) {
    if (refusal == BarrierDriver::Refusal::none) return reply(Reply::of());
    reply(
        Reply::refused("barrier: " + std::string(refusal ? barrier::formats::name(*refusal) : "no answer")));
  });
}

/// One that is closed first answers those who have missed its last Release: opened again it would not know
/// them, and they would take this node for dead. One that failed answers until it is wanted again: a member
/// that arrives later has to be told who is dead.
void NodeServer::open_barrier(uint32_t place, const Request& request, OnReply reply) {
  Barrier& barrier = groups_[request.a];
  if (barrier.closes) {
    at_closed_.push_back({place, request, *barrier.closes, std::move(reply)});
    return;
  }
  if (barrier.place) return reply(Reply::refused("barrier " + std::to_string(request.a) + " is in use"));
  barrier = {};
  barrier.place = place;
  BarrierGroup group;
  group.instance = static_cast<uint16_t>(request.b);
  group.members = nodes_of(request.x);
  group.shape = barrier::formats::Shape::lct8;
  group.good = 0xffff;  // the network has no ways to choose from
  group.first = barrier_first;
  group.largest = barrier_largest;
  group.tries = barrier_tries;
  barriers_->open(static_cast<uint8_t>(request.a), group,
                  [this, number = request.a, reply](std::optional<BarrierDriver::Refusal> refusal) {
                    if (refusal == BarrierDriver::Refusal::none) return reply(Reply::of());
                    groups_[number].place.reset();
                    reply(Reply::refused("barrier: " + std::string(refusal ? barrier::formats::name(*refusal)
                                                                           : "too many members")));
                  });
}

Reply NodeServer::barrier_reply(Barrier& barrier) {
  const BarrierDriver::Completion ended = *barrier.ended;
  barrier.ended.reset();
  return Reply::of({1, ended.ending, ended.dead, ended.has_late != 0 ? 1u + ended.late : 0u});
}

bool NodeServer::wanted(uint32_t number) const {
  return std::ranges::any_of(at_closed_, [&](const Waiting& each) { return each.request.a == number; });
}

/// Of those who wait to open it the first one does, the others are told that it is in use.
void NodeServer::closed(uint32_t number) {
  groups_[number] = {};
  std::vector<Waiting> next;
  std::erase_if(at_closed_, [&](Waiting& each) {
    const bool is = each.request.a == number;
    if (is) next.push_back(std::move(each));
    return is;
  });
  for (Waiting& each : next) open_barrier(each.place, each.request, std::move(each.reply));
}

void NodeServer::tick_barriers() {
  while (const auto completion = barriers_->take()) {
    Barrier& barrier = groups_.at(completion->group);
    barrier.ended = *completion;
    barrier.failed = completion->ending != 0;
  }
  for (uint32_t number = 0; number < groups_.size(); ++number) {
    Barrier& barrier = groups_[number];
    if (!barrier.closes || cycle_ < *barrier.closes || (barrier.failed && !wanted(number))) continue;
    barrier.closes = ~uint64_t{0};  // on its way
    barriers_->close(static_cast<uint8_t>(number),
                     [this, number](std::optional<BarrierDriver::Refusal>) { closed(number); });
  }
  std::vector<Waiting> met;
  std::erase_if(at_barriers_, [&](Waiting& each) {
    if (!groups_[each.request.a].ended && cycle_ < each.until) return false;
    met.push_back(std::move(each));
    return true;
  });
  for (const Waiting& each : met) {
    if (Barrier& barrier = groups_[each.request.a]; barrier.ended)
      each.reply(barrier_reply(barrier));
    else
      barriers_->late(static_cast<uint8_t>(each.request.a),
                      [reply = each.reply](std::optional<uint16_t> node) {
                        reply(Reply::of({0, 0, 0, node ? 1u + *node : 0u}));
                      });
  }
}

void NodeServer::tick(uint64_t cycle) {
  cycle_ = cycle;
  if (barriers_) tick_barriers();
  std::vector<std::pair<OnReply, Reply>> replies;
  std::erase_if(waiting_, [&](Waiting& each) {
    const auto end = end_of(each);
    if (end) replies.emplace_back(std::move(each.reply), *end);
    return end.has_value();
  });
  for (const auto& [to, reply] : replies) to(reply);
}

std::optional<Reply> NodeServer::end_of(const Waiting& each) {
  uint8_t now = 0;
  memory_.read(each.request.x, {&now, 1});
  if (now != each.request.a) return Reply::of({1});
  if (const auto node = directory_.peers.take_death({node_, each.place}, cycle_))
    return Reply::refused("peer on node " + std::to_string(*node) + " has died");
  if (cycle_ >= each.until) return Reply::of({0});
  return std::nullopt;
}

void NodeServer::detach(uint32_t place) {
  places_[place] = Place::clearing;
  directory_.peers.go({node_, place}, !left_[place], cycle_);
  std::erase_if(waiting_, [&](const Waiting& each) { return each.place == place; });
  std::erase_if(at_barriers_, [&](const Waiting& each) { return each.place == place; });
  std::erase_if(at_closed_, [&](const Waiting& each) { return each.place == place; });
  for (Barrier& barrier : groups_) {
    if (barrier.place == place && !barrier.closes) barrier.closes = cycle_ + barrier_lingers;
  }
  std::erase_if(directory_.notices,
                [&](const auto& entry) { return entry.first.first == node_ && entry.second.place == place; });
  clear(place);
}

/// One queue after the other, then the regions.
void NodeServer::clear(uint32_t place) {
  const auto queue = std::ranges::find_if(queues_, [&](const Queue& each) { return each.place == place; });
  if (queue != queues_.end()) {
    const auto number = static_cast<uint32_t>(queue - queues_.begin());
    return administrator_.disable(number, [this, place, number](bool) {
      if (queues_[number].place == place) give_back(number);
      clear(place);
    });
  }
  for (uint32_t number = 0; number < regions_.size(); ++number) {
    if (regions_[number].place == place) close(number);
  }
  clear_when_quiet(place, longest_quiet);
}

/// What late packets still write is in nobody's memory.
void NodeServer::clear_when_quiet(uint32_t place, uint32_t looks) {
  bus_.read(rdma::formats::reg::STATUS, [this, place, looks](bool, uint32_t status) {
    if ((status & status_idle) == status_idle || looks == 0) {
      places_[place] = Place::free;
    } else {
      clear_when_quiet(place, looks - 1);
    }
  });
}

}  // namespace weft::driver
