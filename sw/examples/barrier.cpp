// SPDX-License-Identifier: Apache-2.0
// weft-node-barrier: one process per node 0 to N - 1; all go through barriers together, by the engines of
// their NICs.
#include <vector>

#include "program.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;

struct Options {
  examples::Place place;
  uint32_t nodes = 2;
  uint32_t rounds = 10;
  uint32_t number = 0;
  uint32_t instance = 0;
};

/// Nobody goes on before all have opened it, so that none is taken for dead.
void go(const Options& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  std::vector<uint32_t> nodes(options.nodes);
  for (uint32_t node = 0; node < options.nodes; ++node) nodes[node] = node;
  Barrier barrier(domain, options.number, nodes, static_cast<uint16_t>(options.instance));
  context.publish("barrier", RemoteBytes{.node = context.node()});
  for (const uint32_t node : nodes) context.find_memory(node, "barrier");
  barrier.enter();
  const uint64_t start = context.clock();
  for (uint32_t round = 0; round < options.rounds; ++round) barrier.enter();
  fmt::print("node {}: {} barriers of {} nodes, {:.0f} clocks each\n", context.node(), options.rounds,
             options.nodes, static_cast<double>(context.clock() - start) / options.rounds);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Goes through barriers with the other nodes", "weft-node-barrier");
  Options options;
  options.place.add_to(app);
  app.add_option("--nodes", options.nodes, "Nodes 0 to N - 1 take part")
      ->check(command_line::whole_number(1, 64))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Barriers")
      ->check(command_line::whole_number(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--number", options.number, "Of the barrier")
      ->check(command_line::whole_number(0, 15))
      ->capture_default_str();
  app.add_option("--instance", options.instance, "Another one each time that the nodes open the number again")
      ->check(command_line::whole_number(0, 65535))
      ->capture_default_str();
  return examples::run(app, argc, argv, [&] { go(options); });
}
