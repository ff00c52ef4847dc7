// SPDX-License-Identifier: Apache-2.0
// weft-allgather: one process per node 0 to N - 1; each writes its block into the memory of all others and is
// told of theirs.
#include <algorithm>

#include "program.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;

struct Options {
  examples::Place place;
  uint32_t nodes = 2;
  uint32_t bytes = 4096;
};

uint8_t mark(uint32_t node) { return static_cast<uint8_t>(node + 1); }

/// A block is followed by a SEND of nothing but news: it is posted when the block is known to be there.
void gather(const Options& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const uint32_t me = context.node();
  if (me >= options.nodes)
    throw Fault("node " + std::to_string(me) + ": not one of " + std::to_string(options.nodes));
  const uint64_t stride = (options.bytes + 4095) / 4096 * 4096;
  MemoryRegion block(domain, options.bytes, access_source);
  MemoryRegion all(domain, stride * options.nodes, access_remote_write);
  MemoryRegion news(domain, 256, access_buffer);
  Queue queue(domain);
  std::ranges::fill(block.bytes(), mark(me));
  std::ranges::fill(all.bytes().subspan(me * stride, options.bytes), mark(me));
  for (uint32_t peer = 1; peer < options.nodes; ++peer) queue.post_recv(options.nodes, news.local(0, 1));
  context.publish("all", all.remote());
  context.publish("news", queue.remote());
  const auto told = [&](uint32_t peer) { return context.find_queue(peer, "news"); };
  for (uint32_t step = 1; step < options.nodes; ++step) {
    const uint32_t peer = (me + step) % options.nodes;
    RemoteBytes there = context.find_memory(peer, "all");
    there.address += me * stride;
    queue.post_write(peer, block.local(0, options.bytes), there);
  }
  for (uint32_t blocks = 0, sent = 0; blocks + 1 < options.nodes || sent + 1 < options.nodes;) {
    const Completion done = queue.expect();
    using rdma_queues::formats::Opcode;
    const auto opcode = static_cast<Opcode>(done.opcode);
    if (opcode == Opcode::receive) ++blocks;
    if (opcode == Opcode::send) ++sent;
    if (opcode == Opcode::write) queue.post_send(done.tag, block.local(0, 1), told(done.node));
  }
  for (uint32_t node = 0; node < options.nodes; ++node) {
    const auto got = all.bytes().subspan(node * stride, options.bytes);
    if (std::ranges::any_of(got, [&](uint8_t byte) { return byte != mark(node); }))
      throw Fault("block of node " + std::to_string(node) + " is not what it sent");
  }
  fmt::print("node {}: {} blocks of {} bytes\n", me, options.nodes, options.bytes);
}

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
  return examples::run(app, argc, argv, [&] { gather(options); });
}
