// SPDX-License-Identifier: Apache-2.0
// The administrator of one NIC: gives memory, regions and queues to the applications that attach, and takes
// them back when an application goes (docs/driver.md, The node).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/barrier_driver.hpp"
#include "driver/peers.hpp"
#include "driver/port.hpp"
#include "driver/rdma_driver.hpp"
#include "driver/ring_driver.hpp"

namespace weft::driver {

/// What a NIC has, and how much memory its node.
struct NodeSize {
  uint32_t queues = 8;  ///< and so many applications
  uint32_t regions = 64;
  uint32_t payload = 256;  ///< bytes, to multiples of which addresses are
  uint64_t memory_bytes = 64 << 20;

  uint64_t rings_bytes() const { return queues * ring_slot + barrier_slot; }
  /// Where completions of barriers go, behind the rings of the queues.
  uint64_t barrier_ring() const { return queues * ring_slot; }

  static constexpr uint64_t ring_slot = 1 << 16;  ///< both rings of a queue
  static constexpr uint64_t barrier_slot = 4096;
  static constexpr uint8_t barrier_ring_log2 = 4;
  static constexpr uint32_t barrier_groups = 16;
};

/// Of an application.
struct Notice {
  uint32_t place;
  std::array<uint64_t, 4> values;
};
/// What applications of all nodes tell each other outside of the network, by node and name; and who knows
/// whom.
struct Directory {
  uint32_t nodes = 0;
  std::map<std::pair<uint32_t, std::string>, Notice> notices;
  Peers peers;
};

/// Of a fabric that has so many nodes, none of which is `node`.
std::string has_no_node(uint32_t node, uint32_t nodes);

/// Rings lie at the front of the memory, the rest is shared out in equal parts. Needs no thread: replies come
/// by callback, at once or while the NIC is clocked.
class NodeServer {
 public:
  using OnReply = std::function<void(const Reply&)>;

  /// Of a NIC whose driver is ready and whose queues are OFF.
  /// @param barriers of a NIC with a barrier engine, started; else nullptr
  NodeServer(uint32_t node, RegisterBus& bus, RingMemory& memory, RdmaDriver& engine, const NodeSize& size,
             Directory& directory, BarrierDriver* barriers = nullptr);

  /// A place for one more application, if there is any.
  std::optional<uint32_t> attach();
  Reply attached(uint32_t place) const;
  /// The application is gone, without a `leave` it has died: its queues are disabled, then its regions
  /// closed, then the place is free.
  void detach(uint32_t place);

  void handle(uint32_t place, const Request& request, OnReply reply);

  /// Once a clock.
  void tick(uint64_t cycle);

  /// A place is being cleared.
  bool clearing() const;
  const NodeSize& size() const { return size_; }
  uint32_t queues_in_use() const;
  uint32_t regions_in_use() const;
  uint32_t barriers_in_use() const;

 private:
  enum class Place { free, taken, clearing };
  struct Queue {
    std::optional<uint32_t> place;
    RingSetup setup;
  };
  struct Region {
    std::optional<uint32_t> place;
    RdmaRegion settings;
  };
  struct Barrier {
    std::optional<uint32_t> place;
    std::optional<BarrierDriver::Completion> ended;  ///< that the application has not been told
    std::optional<uint64_t> closes;                  ///< cycle; nobody's any more then
    bool failed = false;  ///< a member is dead: not closed until it is wanted again
  };
  struct Waiting {
    uint32_t place;
    Request request;
    uint64_t until;
    OnReply reply;
  };

  uint64_t base_of(uint32_t place) const { return size_.rings_bytes() + place * share(); }
  uint64_t share() const;
  /// As the NIC knows a protection domain of an application; nothing: it may not have so many.
  std::optional<uint8_t> owner_of(uint32_t place, uint64_t domain) const;
  uint16_t new_key() { return ++last_key_ == 0 ? ++last_key_ : last_key_; }

  void open_region(uint32_t place, const Request& request, const OnReply& reply);
  void close_region(uint32_t place, const Request& request, const OnReply& reply);
  void claim_queue(uint32_t place, const Request& request, const OnReply& reply);
  void release_queue(uint32_t place, const Request& request, const OnReply& reply);
  void access_register(uint32_t place, const Request& request, const OnReply& reply);
  void wait(uint32_t place, const Request& request, OnReply reply);
  void look_up(uint32_t place, const Request& request, const OnReply& reply);
  void handle_barrier(uint32_t place, const Request& request, OnReply reply);
  void open_barrier(uint32_t place, const Request& request, OnReply reply);
  /// Somebody waits to open it.
  bool wanted(uint32_t group) const;
  void closed(uint32_t group);
  void tick_barriers();
  static Reply barrier_reply(Barrier& barrier);

  /// Of an application itself.
  bool owns_queue(uint32_t place, uint32_t number) const {
    return number < queues_.size() && queues_[number].place == place;
  }
  void give_back(uint32_t queue);
  void close(uint32_t region);
  /// Whoever waits: its byte has changed, its time is over, or a peer has died.
  std::optional<Reply> end_of(const Waiting& each);
  void clear(uint32_t place);
  void clear_when_quiet(uint32_t place, uint32_t looks);
  /// The cycle after so many; the last one there is for more than that.
  uint64_t after(uint64_t cycles) const {
    return cycles > ~uint64_t{0} - cycle_ ? ~uint64_t{0} : cycle_ + cycles;
  }

  uint32_t node_;
  RegisterBus& bus_;
  RingMemory& memory_;
  RdmaDriver& engine_;
  NodeSize size_;
  Directory& directory_;
  RingAdministrator administrator_;
  BarrierDriver* barriers_;
  std::vector<Place> places_;
  std::vector<bool> left_;  // by place: all is well
  std::vector<Queue> queues_;
  std::vector<Region> regions_;
  std::array<Barrier, NodeSize::barrier_groups> groups_;
  std::vector<Waiting> waiting_, at_barriers_, at_closed_;
  uint16_t last_key_;
  uint64_t cycle_ = 0;
};

}  // namespace weft::driver
