// SPDX-License-Identifier: Apache-2.0
// One Verilated RDMA engine behind an interface that does not depend on its parameters, and the list of those
// built.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/steps.hpp"
#include "rdma/params.hpp"
#include "rdma_pins.hpp"

namespace weft::tb {

class SimulationContext;
class WaveFile;

/// A parameterisation of `rdma_top`, or of `rdma_nic`; see docs/rdma.md and docs/rdma_queues.md for the
/// meaning of each.
struct RdmaBuild {
  std::string name;
  rdma::Params params;
  uint32_t data_bytes = 32;  ///< DATA_W / 8
  uint32_t resend_depth = 64;
  uint32_t post_depth = 16;
  uint32_t bursts = 64;  ///< that memory may owe an answer for
  uint32_t queues = 0;   ///< pairs of rings; 0: the engine alone
  uint32_t fetch = 4;
  uint32_t max_answers = 16;
  bool asserted = true;  ///< its assertions are compiled in
};

/// Bits of an address of its registers: a page for the engine, with queues one for the administrator and one
/// each.
constexpr uint32_t register_bits(const RdmaBuild& build) {
  return 12 + (build.queues ? static_cast<uint32_t>(std::bit_width(build.queues)) : 0);
}

class RdmaModel {
 public:
  virtual ~RdmaModel() = default;
  /// Applies the inputs in `pins` and lets the logic settle; fills in the outputs.
  virtual void settle(RdmaPins& pins) = 0;
  /// Rising clock edge.
  virtual void edge() = 0;
  /// The same step by step, if this model can: apply(), steps().settle, fetch(), steps().edge. Never both
  /// ways in one simulation.
  virtual Steps steps() { return {}; }
  virtual void apply(const RdmaPins& pins) = 0;
  virtual void fetch(RdmaPins& pins) = 0;
  virtual void attach(WaveFile& waves) = 0;
  /// No packet is under way inside, of a model that knows; of others a scoreboard does.
  virtual bool quiet() const { return true; }
};

/// The builds that this program has compiled in.
const std::vector<RdmaBuild>& rdma_builds();

/// The build of that name, or nullptr.
const RdmaBuild* find_rdma_build(const std::string& name);

/// `name` names the instance in wave files and messages.
std::unique_ptr<RdmaModel> make_rdma_model(const RdmaBuild& build, SimulationContext& context,
                                           const std::string& name);

}  // namespace weft::tb
