// SPDX-License-Identifier: Apache-2.0
// One simulation: every node sends the same bytes to its neighbour, and everything is checked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "fabric/network.hpp"
#include "rdma/params.hpp"

namespace weft::sim {

/// Who sends to whom.
enum class Pattern : uint8_t {
  neighbour,  ///< node i to node i + 1, the last one to node 0
  incast,     ///< all others to node 0
  uniform,    ///< each transfer to a node that is drawn
};

/// Cycles after the first post from and until which one link is cut: of routers that from node 0 towards
/// higher x, else the way from node 0 to node 1.
struct CutTimes {
  uint64_t from = 0, until = 0;
};

struct RunConfig {
  uint32_t nodes = 2;
  Pattern pattern = Pattern::neighbour;
  std::optional<CutTimes> cut;
  rdma::Scheme scheme = rdma::Scheme::receiver_window;
  uint32_t window = 128;   ///< bits; one of the compiled builds; of receiver_window only
  uint32_t payload = 256;  ///< bytes of a packet; likewise
  bool weft_mode = true;   ///< of the receivers; false: paper mode
  uint32_t transfers = 1;  ///< concurrent ones per node, into which the bytes are cut
  std::optional<fabric::TorusConfig>
      torus;             ///< routers between the nodes, as many; nothing: an ideal network
  uint32_t threads = 1;  ///< that step the nodes; same result
  std::set<uint32_t>
      golden;         ///< nodes that are the golden model instead of RTL; their events are not compared
  bool bare = false;  ///< only the engines: no event is compared, only the bytes at the end
  fabric::Faults faults;
  double pause = 0;  ///< probability per stream and cycle
  uint32_t timeout =
      0;  ///< cycles, RX_TIMEOUT and TX_RETRY; 0: four round trips and the longest that reordering holds back
  std::optional<uint8_t> ahead;  ///< RX_AHEAD; nothing: from the reordering
  uint32_t floor = 0;  ///< cycles that a measured timeout has at the least; 0: enough for the network
  bool adapt = true;   ///< timeouts as measured, `timeout` at the most
  uint64_t seed = 1;
  uint64_t max_cycles = 0;       ///< 0: a limit far above what the bytes should take
  uint32_t memory_latency = 10;  ///< cycles until memory answers
  std::string trace_dir;         ///< empty: no traces
  std::string waves;             ///< empty: no waves
};

struct RunResult {
  uint64_t bytes = 0;                  ///< payload per node
  uint64_t transfers = 0;              ///< of all nodes
  uint32_t senders = 0;                ///< nodes that have any
  uint64_t cycles = 0;                 ///< from the first post to the last completion
  uint64_t total_cycles = 0;           ///< with start-up and checks at the end
  double goodput_bytes_per_cycle = 0;  ///< of the node to which most comes
  double goodput_fraction = 0;         ///< of what a link can carry in full DATA packets
  double latency_median = 0;           ///< cycles from doorbell to completion
  uint64_t latency_max = 0;
  uint64_t packets_sent = 0;
  uint64_t data_packets = 0;
  uint64_t packets_resent = 0;   ///< DATA with RETRY
  uint64_t largest_gap = 0;      ///< of PIDX, between new packets of a transfer that come one after the other
  uint64_t packets_dropped = 0;  ///< by the engines, all reasons
  std::map<std::string, uint64_t> drops;  ///< by reason, those that occurred
  fabric::NetworkCounters network;
  double mean_hops = 0;  ///< links from router to router, of a packet's flits
  uint64_t events = 0;
  uint64_t events_compared = 0;   ///< of these: with the golden model beside
  uint64_t trace_mismatches = 0;  ///< everything that differed
  uint64_t wrong_bytes = 0;       ///< in memory at the end, of transfers that are said to have arrived
  uint64_t failed_transfers = 0;
  std::map<std::string, uint64_t> failures;  ///< by status
  bool hang = false;
  double cycles_per_second = 0;  ///< simulated, wall clock, all nodes together
  std::string finding;           ///< the first mismatch in full, or why the run did not finish

  bool ok() const { return trace_mismatches == 0 && wrong_bytes == 0 && failed_transfers == 0 && !hang; }
};

struct Progress {
  uint64_t cycle;
  uint64_t transfers_done;
  uint64_t transfers;
  double bytes_fraction;  ///< of all payload bytes written at the receivers
};

/// Called about twice a second.
using OnProgress = std::function<void(const Progress&)>;

/// Thrown for what the user asked for and cannot be had; one line.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// As --scheme and JSON have it.
const char* scheme_name(rdma::Scheme scheme);

/// Whether an engine with this window is compiled in.
bool window_available(uint32_t window);

/// @param bytes what each node sends; may be empty: nothing to post
RunResult run_rdma(const RunConfig& config, const std::vector<uint8_t>& bytes,
                   const OnProgress& on_progress = {});

}  // namespace weft::sim
