// SPDX-License-Identifier: Apache-2.0
// What a seed of the fault campaign means: engines, network, faults, the incident in the middle, and all
// posts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/rdma_driver.hpp"
#include "driver/ring_driver.hpp"
#include "header_errors.hpp"
#include "rdma_system.hpp"

namespace weft::sim {

/// What happens once, in the middle of the first round.
enum class IncidentKind : uint8_t { none, stall, reset, death, short_cut, long_cut };
inline constexpr std::array<std::string_view, 6> incident_names{"none",  "stall",     "reset",
                                                                "death", "short cut", "long cut"};
constexpr std::string_view name(IncidentKind kind) { return incident_names[static_cast<size_t>(kind)]; }

struct Incident {
  IncidentKind kind = IncidentKind::none;
  uint32_t node = 0;                                 ///< that is stalled, reset, or dies
  std::vector<std::pair<uint32_t, uint32_t>> links;  ///< that are cut: from, to
  uint64_t after_completions = 0;                    ///< it begins when so many transfers have ended,
  uint64_t after_cycles = 0;                         ///< and so many cycles later
  uint64_t cycles = 0;      ///< from its beginning to its end; of a reset: until the driver starts again
  uint32_t msgid_step = 0;  ///< reset: the new life numbers from the old first MSGID + this
};

/// A request for one of a NIC's queues.
struct RingPost {
  uint32_t queue = 0;
  rdma_queues::formats::Submission entry;

  rdma_queues::formats::Opcode opcode() const {
    return static_cast<rdma_queues::formats::Opcode>(entry.opcode);
  }
};

/// A post as the driver gets it, and the status that it deserves where nothing keeps it from getting it.
struct PlannedPost {
  uint64_t after_cycles = 0;  ///< from the beginning of its round
  uint32_t node = 0;          ///< that posts
  driver::RdmaRequest request;
  rdma::formats::Status deserved = rdma::formats::Status::ok;  ///< or one of QueueStatus, as this type
  std::optional<RingPost> ring;  ///< goes through a queue; `request` then says the same for those who ask

  /// A good RECV: waits until something comes for it.
  bool is_buffer() const {
    return ring && deserved == rdma::formats::Status::ok &&
           ring->opcode() == rdma_queues::formats::Opcode::recv;
  }
  /// Something that its receiver is told of, or would be if it were not too long.
  bool is_message() const {
    using rdma_queues::formats::Opcode;
    const bool kind = ring && (ring->opcode() == Opcode::send || ring->opcode() == Opcode::write_imm);
    return kind && (deserved == rdma::formats::Status::ok || deserved == rdma::formats::Status::too_long);
  }
  /// To which queue of its receiver.
  uint32_t message_queue() const;
};

/// Of the engine or of the queues.
std::string status_name(rdma::formats::Status status);

/// What software of NICs does.
struct NicPlan {
  struct Queue {
    driver::RingSetup setup;
    bool sleeps = false;  ///< looks for completions only when it is told
  };
  std::vector<std::vector<Queue>> queues;                        ///< by node
  uint32_t buffers = 1;                                          ///< RECVs kept posted in each queue
  uint32_t slot = 64;                                            ///< bytes of the buffer of each
  std::vector<std::vector<uint64_t>> first_buffer, buffers_end;  ///< places of these, by node and queue
};

/// Whether a post that deserves this status asks the receiver for a context.
bool is_sent(rdma::formats::Status deserved);

/// Longest times of a run, in cycles, by its timers and its network.
struct Bounds {
  uint64_t give_up = 0;    ///< until a sender that hears nothing has given up
  uint64_t reclaim = 0;    ///< until a receiver to which nothing new comes has freed its context
  uint64_t network = 0;    ///< that a packet is under way
  uint64_t chain() const;  ///< no longer than this nothing new happens, or there is nothing left to happen
};

struct Plan {
  uint64_t seed = 0;
  tb::SystemConfig system;
  std::vector<driver::RdmaSetup> setups;  ///< by node
  tb::HeaderErrorConfig header_errors;    ///< rate 0: none
  Incident incident;
  std::optional<NicPlan> nic;          ///< the nodes are NICs
  std::vector<PlannedPost> rounds[2];  ///< with the incident; after everything has settled
  Bounds bounds;

  uint32_t nodes() const { return system.nodes; }
};

inline constexpr uint64_t most_posts[2] = {16, 6};  // of a node, by round
inline constexpr uint64_t soak_source_base = 0x1000'0000;
inline constexpr uint64_t soak_destination_base = 0x10'0000'0000;  // beyond 32 bits

/// Whether this program has all engines that a seed can draw.
bool has_soak_engines();

/// In the place of an engine's name: the seed draws one of an older scheme (docs/rdma_baseline.md).
inline constexpr std::string_view older_engines = "older";

/// @param build name of the engine to take instead of the one that the seed draws, or `older_engines`; empty:
/// that one. Throws BadInput if it is not compiled in.
Plan make_plan(uint64_t seed, const std::string& build = {});

}  // namespace weft::sim
