// SPDX-License-Identifier: Apache-2.0
// One RDMA engine with everything around it: host memory, driver, packet streams, scoreboard (if it is to be
// checked).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/axi_memory.hpp"
#include "common/axil_master.hpp"
#include "common/axis.hpp"
#include "common/findings.hpp"
#include "driver/rdma_driver.hpp"
#include "node_counts.hpp"
#include "queue_scoreboard.hpp"
#include "rdma_model.hpp"
#include "scoreboard.hpp"

namespace weft::tb {

struct NodeConfig {
  RdmaBuild build;
  double pause = 0;              ///< probability of a pause, per stream and cycle
  uint32_t memory_latency = 10;  ///< cycles
  uint32_t memory_jitter = 0;    ///< cycles
  uint64_t seed = 1;
  bool golden = false;  ///< the golden model in the engine's place (golden_engine.hpp); never checked
  bool checked =
      true;  ///< beside the golden model; otherwise nothing is compared, and all is as fast as it can be
};

/// Another engine behind the same packet and memory ports: what is its own, no scoreboard of RDMA sees.
class PortSharer {
 public:
  virtual ~PortSharer() = default;
  virtual bool owns_packet(std::span<const uint8_t> packet) const = 0;
  virtual void left(std::span<const uint8_t> packet) = 0;
  virtual bool owns(uint64_t address) const = 0;  ///< of memory that is written
  virtual void wrote(const WrittenBurst& burst) = 0;
  virtual void answered(bool ok) = 0;
};

class RdmaNode {
 public:
  using OnCompletion = driver::RdmaDriver::OnCompletion;
  using OnPosted = driver::RdmaDriver::OnPosted;
  using OnPacket = std::function<void(Bytes)>;

  /// @param on_packet a packet left towards the network
  RdmaNode(uint32_t index, const NodeConfig& config, SimulationContext& context, Findings& findings,
           OnPacket on_packet);

  /// Clock cycle number `cycle`, first half: inputs are driven, the engine settles, its outputs are looked
  /// at.
  void drive(uint64_t cycle);
  void settle() { model_->settle(pins_); }
  void look();

  /// Second half: the rising clock edge.
  void edge() { model_->edge(); }

  /// In place of settle() and edge(), if the engine has any: apply(), the steps of settling, fetch(), later
  /// those of the edge.
  Steps steps() { return model_->steps(); }
  void apply() { model_->apply(pins_); }
  void fetch() { model_->fetch(pins_); }

  /// From the next cycle on the engine is in reset; everything around it forgets what was under way.
  void hold_reset();
  void release_reset() { pins_.rst_n = true; }
  bool in_reset() const { return !pins_.rst_n; }

  void on_completion(OnCompletion callback) { on_completion_ = std::move(callback); }
  void on_posted(OnPosted callback) { on_posted_ = std::move(callback); }
  /// In each clock that is no reset, with all signals settled.
  using OnClock = std::function<void(const RdmaPins&)>;
  void on_clock(OnClock callback) { on_clock_ = std::move(callback); }

  /// A packet comes from the network; it is lost on a node in reset.
  void receive(const Bytes& packet) {
    if (in_reset()) return;
    counts_.came(packet);
    input_.push(packet);
  }
  /// The same beat by beat, whatever rule of the packet port they break.
  void receive_beats(std::span<const AxisBeat> beats) { input_.push_beats(beats); }
  size_t beats_waiting() const { return input_.pending(); }

  /// It outlives this, or takes itself away with nullptr.
  void share_ports(PortSharer* sharer) { sharer_ = sharer; }

  uint32_t index() const { return reporter_.node(); }
  driver::RdmaDriver& driver() { return driver_; }
  AxiLiteMaster& registers() { return registers_; }
  AxiMemory& memory() { return memory_; }
  bool checked() const { return scoreboard_.has_value(); }
  /// Of a node that is checked.
  Scoreboard& scoreboard() { return *scoreboard_; }
  const Scoreboard& scoreboard() const { return *scoreboard_; }
  const NodeCounts& counts() const { return counts_; }
  /// Of a build with queues.
  QueueScoreboard& queues() { return *queues_; }
  Reporter& reporter() { return reporter_; }
  RdmaModel& model() { return *model_; }
  /// The network takes nothing from this node, or goes on.
  void stall_output(bool on) { output_.stall(on); }
  /// Beats that left towards the network.
  uint64_t beats_out() const { return out_monitor_.beats(); }
  /// Whether the driver serves the interrupt (tests may want to see the line stay high).
  void serve_interrupts(bool on) { serve_interrupts_ = on; }
  bool irq() const { return pins_.irq; }
  bool queue_irq() const { return pins_.queue_irq; }
  bool settled() const;

 private:
  enum class Writer : uint8_t { engine, queues, sharer };

  void arrived(std::optional<Bytes> packet);
  void left(const Bytes& packet);
  void wrote(WrittenBurst burst);
  void answered(uint64_t bytes, bool ok);

  Reporter reporter_;
  std::unique_ptr<RdmaModel> model_;
  RdmaPins pins_;
  AxiMemory memory_;
  std::optional<Scoreboard> scoreboard_;
  NodeCounts counts_;
  std::optional<QueueScoreboard> queues_;
  std::deque<Writer> writers_;  // of bursts that memory has not answered
  PortSharer* sharer_ = nullptr;
  AxiLiteMaster registers_;
  OnCompletion on_completion_;
  OnPosted on_posted_;
  OnClock on_clock_;
  driver::RdmaDriver driver_;
  AxisDriver input_;
  AxisSink output_;
  AxisArrivals in_monitor_;
  AxisMonitor out_monitor_;
  bool serve_interrupts_ = true;
};

}  // namespace weft::tb
