// SPDX-License-Identifier: Apache-2.0
// weft-allgather: one process per node 0 to N - 1; the block of each gets into the memory of all others. Each
// writes its own to all, or blocks are multicast by the nodes: along a tree, in which who gets one writes it
// to the next.
#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "program.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;
using rdma_queues::formats::Opcode;

struct Options {
  examples::Place place;
  uint32_t nodes = 2;
  uint32_t bytes = 4096;
  bool tree = false;
};

uint8_t mark(uint32_t node) { return static_cast<uint8_t>(node + 1); }

/// To whom a node passes the block of `root` on, those first who pass it on most: a binomial tree. A node's
/// place in it is its distance from the root, and the next ones are those of 2^k more, with 2^k above the own
/// place.
std::vector<uint32_t> next_in_tree(uint32_t node, uint32_t root, uint32_t nodes) {
  const uint32_t place = (node + nodes - root) % nodes;
  std::vector<uint32_t> next;
  for (uint32_t step = std::bit_ceil(place + 1); place + step < nodes; step *= 2)
    next.push_back((node + step) % nodes);
  std::ranges::reverse(next);
  return next;
}

std::vector<uint32_t> all_others(uint32_t node, uint32_t nodes) {
  std::vector<uint32_t> others;
  for (uint32_t step = 1; step < nodes; ++step) others.push_back((node + step) % nodes);
  return others;
}

class Gathering {
 public:
  explicit Gathering(const Options& options)
      : options_(options),
        context_(options.place.attach()),
        domain_(context_),
        me_(context_.node()),
        stride_((options.bytes + 4095) / 4096 * 4096),
        queue_(domain_),
        all_(domain_, stride_ * options.nodes, access_source | access_remote_write, &queue_) {
    if (me_ >= options.nodes)
      throw Fault("node " + std::to_string(me_) + ": not one of " + std::to_string(options.nodes));
    std::ranges::fill(block(me_), mark(me_));
  }

  /// A block comes by a WRITE whose immediate says whose it is.
  void run() {
    for (uint32_t peer = 1; peer < options_.nodes; ++peer) queue_.post_recv(0, {});
    context_.publish("all", all_.remote());
    const std::vector<uint32_t> first =
        options_.tree ? next_in_tree(me_, me_, options_.nodes) : all_others(me_, options_.nodes);
    write_to(first, me_);
    for (uint32_t come = 0; come + 1 < options_.nodes || under_way_ > 0;) {
      const Completion done = queue_.expect();
      if (static_cast<Opcode>(done.opcode) == Opcode::write_imm) {
        --under_way_;
        continue;
      }
      ++come;
      if (options_.tree) write_to(next_in_tree(me_, done.immediate, options_.nodes), done.immediate);
    }
    check();
    fmt::print("node {}: {} blocks of {} bytes, the own one written to {}\n", me_, options_.nodes,
               options_.bytes, first.size());
  }

 private:
  std::span<uint8_t> block(uint32_t node) { return all_.bytes().subspan(node * stride_, options_.bytes); }

  void write_to(const std::vector<uint32_t>& peers, uint32_t root) {
    for (const uint32_t peer : peers) {
      if (!there_.contains(peer)) there_[peer] = context_.find_memory(peer, "all");
      RemoteBytes there = there_[peer];
      there.address += root * stride_;
      queue_.post_write_imm(root, all_.local(root * stride_, options_.bytes), there, root);
      ++under_way_;
    }
  }

  void check() {
    for (uint32_t node = 0; node < options_.nodes; ++node) {
      if (std::ranges::any_of(block(node), [&](uint8_t byte) { return byte != mark(node); }))
        throw Fault("block of node " + std::to_string(node) + " is not what it sent");
    }
  }

  const Options& options_;
  Context context_;
  ProtectionDomain domain_;
  uint32_t me_;
  uint64_t stride_;
  Queue queue_;
  MemoryRegion all_;
  std::map<uint32_t, RemoteBytes> there_;
  uint32_t under_way_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Gathers a block of each node on all nodes", "weft-allgather");
  Options options;
  options.place.add_to(app);
  app.add_option("--nodes", options.nodes, "Nodes 0 to N - 1 take part; RECVs of a queue bound it")
      ->check(command_line::whole_number(2, 9))
      ->capture_default_str();
  app.add_option("--bytes", options.bytes, "Of a block")
      ->check(command_line::whole_number(1, 1 << 20))
      ->capture_default_str();
  app.add_flag("--tree", options.tree,
               "Blocks are multicast by the nodes, along a tree; else each writes to all");
  return examples::run(app, argc, argv, [&] { Gathering(options).run(); });
}
