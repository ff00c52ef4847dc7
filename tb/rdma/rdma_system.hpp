// SPDX-License-Identifier: Apache-2.0
// Several RDMA engines, the network between them, and the clock that drives it all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/findings.hpp"
#include "common/verilated_clock.hpp"
#include "fabric/network.hpp"
#include "fabric/parts.hpp"
#include "network_trace.hpp"
#include "rdma_node.hpp"
#include "wave_file.hpp"

namespace weft::tb {

struct SystemConfig {
  uint32_t nodes = 2;
  std::vector<uint16_t> numbers;  ///< of the nodes, on the network; empty: their indices
  NodeConfig node;
  std::set<uint32_t> golden;                 ///< nodes that are golden engines instead of RTL
  std::optional<fabric::Routers> routers;    ///< as many as nodes; nothing: an ideal network
  std::shared_ptr<fabric::Carrier> carrier;  ///< between as many nodes, instead of routers
  fabric::Faults faults;
  uint64_t seed = 1;
  uint32_t threads = 1;  ///< that step the nodes, in run_until(); same result with any number
  std::string waves;     ///< FST file; empty: none. Needs a build with waves, and one thread.
};

/// Packets of one type that engines sent, and what befell them in the network.
struct FateCounts {
  uint64_t sent = 0, lost = 0, duplicated = 0, corrupted = 0, held_back = 0;

  void add(const fabric::Fate& fate);
  FateCounts& operator+=(const FateCounts& other);
};
using Fates = std::map<rdma::formats::Ptype, FateCounts>;

class RdmaSystem {
 public:
  explicit RdmaSystem(const SystemConfig& config);
  ~RdmaSystem();
  RdmaSystem(const RdmaSystem&) = delete;
  RdmaSystem& operator=(const RdmaSystem&) = delete;

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  RdmaNode& node(uint32_t index) { return *nodes_.at(index); }
  /// By which node `index` goes on the network; beyond the last node: that of none.
  uint16_t number(uint32_t index) const;
  /// From the next start() on, of a system that is settled.
  void renumber(std::vector<uint16_t> numbers) { numbers_ = std::move(numbers); }
  fabric::Network& network() { return network_; }
  Findings& findings();
  uint64_t cycle() const { return cycle_; }

  /// Resets all engines and the network. Memories keep their contents.
  void reset();
  /// Resets one node only; the network keeps what is under way.
  void reset_node(uint32_t index);
  /// The node dies: it stays in reset, and nothing is checked of it any more.
  void halt_node(uint32_t index) { nodes_.at(index)->hold_reset(); }

  /// Changes packets on their way out, before the network looks where they go. With several threads it is
  /// called by each.
  using Tamper = std::function<void(Bytes& packet)>;
  void tamper_with(Tamper tamper) { tamper_ = std::move(tamper); }

  /// Starts every node's driver; each node gets its number.
  void start(const driver::RdmaSetup& setup);

  /// One clock cycle of everything.
  void step();

  /// Steps until `done` says so. False if `max_cycles` passed or too much was found wrong before.
  bool run_until(const std::function<bool()>& done, uint64_t max_cycles);

  /// Too much was found wrong, or an assertion failed: there is no point in going on.
  bool stopped() const { return findings_.too_many() || assertion_told_; }

  bool all_ready() const;
  /// Nothing under way anywhere but in nodes in reset.
  bool settled() const;

  /// Of all nodes.
  Fates fates() const;

  /// DIR/network.nodeN.trace: what each node sends from now on, and what befalls it. Throws trace::Fault.
  void trace_network(const std::string& directory);
  void close_network_traces();

  /// Has the scoreboards compare the counters in the registers of every engine that is not in reset.
  void check_counters();

  /// Once settled: compares counters and reports what is missing.
  void check_at_end();

 private:
  /// What tops report to, one for each node, so that each can be stepped by a thread of its own.
  struct Surroundings {
    Surroundings(uint64_t seed, uint32_t node);
    SimulationContext context;
    Findings findings;
    Fates fates;
    std::optional<NetworkTrace> trace;
  };

  fabric::Part all() const { return {0, 0, size()}; }
  /// What of a clock can be done node by node, and what is left then.
  void step_part(const fabric::Part& part);
  void step_engines(const fabric::Part& part);
  void step_engines_stepwise(uint32_t first, uint32_t behind);
  void end_clock();
  /// Packets that have arrived.
  void deliver(const fabric::Part& part);
  void gather_findings();
  void forward(uint32_t from, Bytes packet);
  uint32_t index_of(uint16_t number) const;
  /// Cycle c settles at time 2c, clock low, and has its edge at 2c + 1.
  void dump_waves(uint64_t time);

  Findings findings_;
  std::vector<uint16_t> numbers_;
  uint32_t threads_;
  std::vector<std::unique_ptr<Surroundings>> surroundings_;  // by node
  fabric::Network network_;
  Tamper tamper_;
  std::vector<std::unique_ptr<RdmaNode>> nodes_;
  std::vector<Steps> steps_;  ///< of the engines, by node, if all have any: all are of one build
  uint64_t cycle_ = 0;
  std::unique_ptr<WaveFile> waves_;  ///< closed before the tops go
  bool assertion_told_ = false;
};

}  // namespace weft::tb
