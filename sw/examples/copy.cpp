// SPDX-License-Identifier: Apache-2.0
// weft-copy: one process offers a file, another one on another node reads it.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "program.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;

constexpr uint32_t piece = 64 << 10;
constexpr uint32_t at_once = 4;  // READs; a node's quota is eight

struct Options {
  examples::Place place;
  std::string file;
  std::optional<uint32_t> from;
};

std::vector<uint8_t> contents_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw Fault(name + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Of a file that may be empty.
uint64_t region_bytes(uint64_t bytes) { return std::max<uint64_t>(bytes, 1); }

/// Until somebody has read it all.
void offer(const Options& options) {
  const std::vector<uint8_t> contents = contents_of(options.file);
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  MemoryRegion memory(domain, region_bytes(contents.size()), access_remote_read);
  std::ranges::copy(contents, memory.bytes().begin());
  Queue queue(domain);
  MemoryRegion buffer(domain, 1, access_buffer);
  queue.post_recv(0, buffer.local(0, 1));
  context.publish("file", memory.remote());
  context.publish("bytes", RemoteBytes{.node = 0, .address = contents.size(), .key = 0});
  context.publish("done", queue.remote());
  queue.expect(1'000'000'000);
  fmt::print("{} bytes offered and read\n", contents.size());
}

void read(const Options& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const RemoteQueue done = context.find_queue(*options.from, "done");
  const RemoteBytes file = context.find_memory(*options.from, "file");
  const uint64_t bytes = context.find_memory(*options.from, "bytes").address;
  MemoryRegion memory(domain, region_bytes(bytes), access_buffer);
  MemoryRegion word(domain, 1, access_source);
  Queue queue(domain);
  uint64_t posted = 0;
  for (uint64_t under_way = 0; posted < bytes || under_way > 0; --under_way) {
    for (; posted < bytes && under_way < at_once; ++under_way) {
      const auto next = static_cast<uint32_t>(std::min<uint64_t>(piece, bytes - posted));
      queue.post_read(posted, memory.local(posted, next), {file.node, file.address + posted, file.key});
      posted += next;
    }
    queue.expect();
  }
  queue.post_send(0, word.local(0, 1), done);
  queue.expect();
  std::ofstream out(options.file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(memory.bytes().data()), static_cast<std::streamsize>(bytes));
  if (!out.flush()) throw Fault(options.file + ": cannot be written");
  fmt::print("{} bytes read from node {}\n", bytes, *options.from);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Copies a file from one node to another", "weft-copy");
  Options options;
  options.place.add_to(app);
  app.add_option("file", options.file, "File to offer, or to write")->required();
  app.add_option("--from", options.from, "Node that offers the file; without it this one does")
      ->check(command_line::whole_number(0, 65535));
  return examples::run(app, argc, argv, [&] { options.from ? read(options) : offer(options); });
}
