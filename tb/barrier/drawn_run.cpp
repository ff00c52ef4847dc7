// SPDX-License-Identifier: Apache-2.0
// What the runs of a campaign are drawn from.
#include "barrier/mesh_run.hpp"
#include "fabric/random.hpp"

namespace weft::tb {

using barrier::Numbering;
using barrier::shapes;

BarrierRun drawn_run(uint64_t seed) {
  RandomStream random(seed, 4711);
  const auto up_to = [&](uint64_t most) { return static_cast<uint32_t>(random.below(most + 1)); };
  const auto sometimes = [&](double value) { return random.chance(0.5) ? value : 0.0; };
  BarrierRun run;
  run.seed = seed;
  run.size = {1 + up_to(4), 2 + up_to(3)};
  run.broken = sometimes(0.5);
  run.numbering = static_cast<Numbering>(up_to(2));
  run.shape = shapes[random.below(shapes.size())].shape;
  if (random.chance(0.4)) run.block_log2 = 1 + static_cast<uint32_t>(random.below(4));
  run.engines = random.chance(0.7) ? BarrierRun::Engines::rtl : BarrierRun::Engines::mixed;
  run.faults.loss = sometimes(0.01);
  run.faults.duplicate = sometimes(0.05);
  run.faults.corrupt = sometimes(0.01);
  run.faults.reorder_degree = random.chance(0.5) ? 1 + up_to(3) : 0;
  run.faults.hold_limit = 500;
  run.faults.delay = 1 + up_to(9);
  run.faults.jitter = random.chance(0.5) ? up_to(50) : 0;
  run.groups = 1 + up_to(3);
  run.barriers = 4 + up_to(6);
  run.think = random.chance(0.5) ? up_to(random.chance(0.2) ? 40'000 : 1000) : 0;  // beyond all patience, too
  run.pauses = random.chance(0.5) ? up_to(50) : 0;
  if (random.chance(0.25)) run.dies = up_to(run.size.nodes() - 1);
  run.multicast = random.chance(0.4);
  if (random.chance(0.5)) run.late = 5 + up_to(200);
  if (random.chance(0.3)) run.later = sometimes(0.5);
  if (random.chance(0.2)) run.faults.loss = 0.05;
  const bool patient = random.chance(0.5), whole = random.chance(0.1);
  if (whole) {  // who is late by far has to be named then
    run.faults.loss = run.faults.corrupt = 0;
    run.pauses = 0;
    run.think = 40'000;
    run.late = 5 + up_to(20);
  }
  if (!patient && lost_on_a_link(run) == 0) run.tries = 8;
  return run;
}

}  // namespace weft::tb
