// SPDX-License-Identifier: Apache-2.0
// One RDMA engine with everything around it.
#include "rdma_node.hpp"

#include <algorithm>
#include <utility>

#include "barrier_tap.hpp"
#include "golden_engine.hpp"

namespace weft::tb {

namespace {

/// Numbers of the random streams of one node; each pause generator has its own.
enum Stream : uint64_t { stream_memory = 1, stream_registers, stream_input, stream_output, streams_per_node };

constexpr uint64_t first_stream = 1ull << 33;  // those of the network are below

uint64_t stream(uint32_t node, Stream which) { return first_stream + node * streams_per_node + which; }

AxiMemoryConfig memory_config(uint32_t node, const NodeConfig& config) {
  AxiMemoryConfig memory;
  memory.data_bytes = config.build.data_bytes;
  memory.latency = config.memory_latency;
  memory.max_reads = memory.max_writes = config.build.bursts;
  memory.jitter = config.memory_jitter;
  constexpr uint32_t entry_bytes = rdma_queues::formats::submission_bytes;
  memory.max_burst_bytes =
      std::max(config.build.params.payload, config.build.queues ? config.build.fetch * entry_bytes : 0);
  memory.pause = config.pause;
  memory.seed = RandomStream(config.seed, stream(node, stream_memory)).next();
  return memory;
}

std::unique_ptr<RdmaModel> make_model(const NodeConfig& config, SimulationContext& context,
                                      const std::string& name) {
  if (config.golden) return std::make_unique<GoldenEngine>(config.build);
  return make_rdma_model(config.build, context, name);
}

/// A barrier engine doubles the register space.
uint32_t register_bits_of(const RdmaBuild& build, const RdmaModel& model) {
  const auto* tap = dynamic_cast<const BarrierTap*>(&model);
  return register_bits(build) + (tap && tap->has_barrier() ? 1 : 0);
}

}  // namespace

RdmaNode::RdmaNode(uint32_t index, const NodeConfig& config, SimulationContext& context, Findings& findings,
                   OnPacket on_packet)
    : reporter_(findings, index),
      model_(make_model(config, context, "node" + std::to_string(index))),
      memory_(
          memory_config(index, config), [this](WrittenBurst burst) { wrote(std::move(burst)); },
          [this](uint64_t bytes, bool ok) { answered(bytes, ok); }),
      registers_(PauseGenerator(config.pause, config.seed, stream(index, stream_registers)),
                 register_bits_of(config.build, *model_)),
      driver_(
          registers_,
          [this](driver::RdmaCompletion completion) {
            if (scoreboard_) scoreboard_->completed(completion);
            if (on_completion_) on_completion_(completion);
          },
          [this](uint16_t tag) {
            if (on_posted_) on_posted_(tag);
          }),
      input_(config.build.data_bytes, PauseGenerator(config.pause, config.seed, stream(index, stream_input))),
      output_(PauseGenerator(config.pause, config.seed, stream(index, stream_output))),
      in_monitor_("s_axis", config.build.data_bytes,
                  [this](std::optional<Bytes> packet) { arrived(std::move(packet)); }),
      out_monitor_("m_axis", config.build.data_bytes, [this, on_packet = std::move(on_packet)](Bytes packet) {
        left(packet);
        on_packet(std::move(packet));
      }) {
  if (!config.checked || config.golden) return;
  scoreboard_.emplace(config.build, reporter_, memory_);
  if (config.build.queues) queues_.emplace(config.build, reporter_, memory_, *scoreboard_);
}

void RdmaNode::arrived(std::optional<Bytes> packet) {
  if (sharer_ && packet && sharer_->owns_packet(*packet)) return;
  scoreboard_->arrived(std::move(packet));
}

void RdmaNode::left(const Bytes& packet) {
  if (sharer_ && sharer_->owns_packet(packet)) return sharer_->left(packet);
  counts_.left(packet);
  if (scoreboard_) scoreboard_->left(packet);
}

/// The memory port is shared: what goes to a ring, or to where messages go, is the queues'.
void RdmaNode::wrote(WrittenBurst burst) {
  if (sharer_ && sharer_->owns(burst.address)) {
    writers_.push_back(Writer::sharer);
    return sharer_->wrote(burst);
  }
  writers_.push_back(queues_ && queues_->owns(burst.address) ? Writer::queues : Writer::engine);
  if (!scoreboard_) return;
  if (writers_.back() == Writer::queues) {
    queues_->wrote(std::move(burst));
  } else {
    scoreboard_->wrote(std::move(burst));
  }
}

/// Memory answers in order.
void RdmaNode::answered(uint64_t bytes, bool ok) {
  const Writer writer = writers_.front();
  writers_.pop_front();
  if (writer == Writer::sharer) return sharer_->answered(ok);
  counts_.written_bytes += bytes;
  if (!scoreboard_) return;
  if (writer == Writer::queues) {
    queues_->answered(bytes, ok);
  } else {
    scoreboard_->answered(bytes, ok);
  }
}

void RdmaNode::hold_reset() {
  pins_ = RdmaPins{};
  memory_.reset();
  counts_ = {};
  if (scoreboard_) scoreboard_->reset();
  if (queues_) queues_->reset();
  writers_.clear();
  registers_.reset();
  input_.reset();
  in_monitor_.reset();
  out_monitor_.reset();
}

void RdmaNode::drive(uint64_t cycle) {
  reporter_.set_cycle(cycle);
  if (!pins_.rst_n) return;
  if (serve_interrupts_ && pins_.irq) driver_.interrupt();
  input_.drive(pins_.in);
  output_.drive(pins_.out);
  registers_.drive(pins_.axil);
  memory_.drive(pins_.axi);
}

void RdmaNode::look() {
  if (!pins_.rst_n) return;
  if (scoreboard_) in_monitor_.sample(pins_.in, reporter_);
  out_monitor_.sample(pins_.out, reporter_);
  memory_.sample(pins_.axi, reporter_);
  if (queues_) queues_->sample(pins_);
  counts_.sample(pins_);
  if (on_clock_) on_clock_(pins_);
  if (scoreboard_) scoreboard_->sample(pins_);
  input_.sample(pins_.in);
  registers_.sample(pins_.axil, reporter_);
}

bool RdmaNode::settled() const {
  return input_.pending() == 0 && registers_.idle() && memory_.idle() && driver_.unposted() == 0 &&
         model_->quiet() && (!scoreboard_ || scoreboard_->quiet()) && (!queues_ || queues_->quiet());
}

}  // namespace weft::tb
