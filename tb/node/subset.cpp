// SPDX-License-Identifier: Apache-2.0
#include "subset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "common/fault.hpp"
#include "driver/verbs.hpp"

namespace weft::tb {
namespace {

using namespace verbs;

constexpr uint64_t memory_bytes = 8 << 20;
constexpr uint32_t area = 1 << 17;  // of a region
constexpr std::array<uint32_t, 5> sizes{1, 256, 257, 10'000, 65'536};
constexpr uint8_t untouched = 0xa5;       // memory to which nothing was written
constexpr uint64_t patience = 5'000'000;  // clocks

fabric::Faults faults_of(std::string_view link) {
  fabric::Faults faults;
  const bool all = link == "all";
  if (!all && link != "clean" && link != "lost" && link != "duplicated" && link != "reordered" &&
      link != "corrupted")
    throw Fault(fmt::format("no link '{}': clean, lost, duplicated, reordered, corrupted or all", link));
  if (all || link == "lost") faults.loss = 0.02;
  if (all || link == "duplicated") faults.duplicate = 0.05;
  if (all || link == "reordered") faults.reorder_degree = 8;
  if (all || link == "corrupted") faults.corrupt = 0.02;
  return faults;
}

/// Each kind that was wanted has struck, and no other.
bool struck(const fabric::Faults& faults, const fabric::NetworkCounters& counters) {
  return (faults.loss > 0) == (counters.lost > 0) && (faults.duplicate > 0) == (counters.duplicated > 0) &&
         (faults.reorder_degree > 0) == (counters.reordered > 0) &&
         (faults.corrupt > 0) == (counters.corrupted > 0);
}

/// FNV-1a.
uint32_t digest(std::span<const uint8_t> bytes) {
  uint32_t hash = 2166136261;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 16777619;
  return hash;
}

/// An application on one node.
struct Side {
  Side(Nodes& nodes, uint32_t node)
      : context(std::make_unique<InProcessPort>(nodes, node)),
        domain(context),
        queue(domain),
        source(domain, area, access_source | access_remote_read),
        target(domain, area, access_remote_write, &queue),
        buffer(domain, area, access_buffer) {
    std::mt19937 random(node + 1);
    std::ranges::generate(source.bytes(), [&random] { return static_cast<uint8_t>(random()); });
    std::ranges::fill(target.bytes(), untouched);
    std::ranges::fill(buffer.bytes(), untouched);
  }

  Context context;
  ProtectionDomain domain;
  Queue queue;
  MemoryRegion source, target, buffer;
};

class Subset {
 public:
  explicit Subset(Nodes& nodes) : here_(nodes, 0), there_(nodes, 1) {}

  void run() {
    for (const uint32_t bytes : sizes) {
      write(bytes);
      write_imm(bytes);
      send(bytes);
      read(bytes);
    }
    many_writes();
    many_reads();
    wrong_key();
    barriers();
  }
  bool right() const { return right_; }

 private:
  void tell(const char* who, const std::optional<Completion>& completion) {
    if (!completion) {
      fmt::print("  {} nothing\n", who);
      right_ = false;
      return;
    }
    fmt::print("  {} tag {} {} {} bytes, immediate {:x}\n", who, completion->tag,
               status_name(completion->status), completion->bytes, completion->immediate);
  }
  void end_here() { tell("here", here_.queue.wait(patience)); }
  void end_there() { tell("there", there_.queue.wait(patience)); }
  void compare(const char* what, uint32_t bytes, std::span<const uint8_t> sent, std::span<uint8_t> came) {
    const bool same = std::ranges::equal(sent.first(bytes), came.first(bytes));
    const bool rest =
        std::ranges::all_of(came.subspan(bytes), [](uint8_t byte) { return byte == untouched; });
    fmt::print("{} {} {:08x}{}\n", what, bytes, digest(came), same && rest ? "" : " WRONG");
    right_ = right_ && same && rest;
    std::ranges::fill(came, untouched);
  }

  void write(uint32_t bytes) {
    here_.queue.post_write(1, here_.source.local(0, bytes), there_.target.remote());
    end_here();
    compare("WRITE", bytes, here_.source.bytes(), there_.target.bytes());
  }
  void write_imm(uint32_t bytes) {
    there_.queue.post_recv(2, {});
    here_.queue.post_write_imm(3, here_.source.local(0, bytes), there_.target.remote(), 0xbeef);
    end_here();
    end_there();
    compare("WRITE with immediate", bytes, here_.source.bytes(), there_.target.bytes());
  }
  void send(uint32_t bytes) {
    there_.queue.post_recv(4, there_.buffer.local(0, area));
    here_.queue.post_send(5, here_.source.local(0, bytes), there_.queue.remote());
    end_here();
    end_there();
    compare("SEND", bytes, here_.source.bytes(), there_.buffer.bytes());
  }
  void read(uint32_t bytes) {
    here_.queue.post_read(6, here_.buffer.local(0, bytes), there_.source.remote());
    end_here();
    compare("READ", bytes, there_.source.bytes(), here_.buffer.bytes());
  }
  /// At once; as they end in any order, each place of memory has a WRITE of its own.
  void many_writes() {
    constexpr uint32_t count = 32, bytes = 4096;
    for (uint32_t n = 0; n < count; ++n)
      here_.queue.post_write(n, here_.source.local(n * bytes, bytes), there_.target.remote(n * bytes));
    expect_all(count);
    compare("WRITEs", count * bytes, here_.source.bytes(), there_.target.bytes());
  }
  /// In both directions.
  void many_reads() {
    constexpr uint32_t count = 4, bytes = 10'000, stride = 10'240;
    for (uint32_t n = 0; n < count; ++n) {
      here_.queue.post_read(n, here_.buffer.local(n * stride, bytes), there_.source.remote(n * stride));
      here_.queue.post_write(count + n, here_.source.local(n * stride, stride),
                             there_.target.remote(n * stride));
    }
    expect_all(2 * count);
    compare("WRITEs", count * stride, here_.source.bytes(), there_.target.bytes());
    for (uint32_t n = 0; n < count; ++n) {
      const auto came = here_.buffer.bytes().subspan(n * stride, stride);
      compare("READs", bytes, there_.source.bytes().subspan(n * stride), came);
    }
  }
  void expect_all(uint32_t count) {
    std::map<uint64_t, std::string_view> ends;
    for (uint32_t n = 0; n < count; ++n) {
      const auto completion = here_.queue.wait(patience);
      if (completion) ends[completion->tag] = status_name(completion->status);
    }
    for (const auto& [tag, status] : ends) fmt::print("  here tag {} {}\n", tag, status);
    right_ = right_ && ends.size() == count;
  }
  void wrong_key() {
    RemoteBytes wrong = there_.target.remote();
    ++wrong.key;
    here_.queue.post_write(7, here_.source.local(0, 4096), wrong);
    end_here();
    here_.queue.post_write(8, here_.source.local(0, 4096), there_.target.remote(area));
    end_here();
    compare("nothing", 0, {}, there_.target.bytes());
  }
  void barriers() {
    const std::array<uint32_t, 2> both{0, 1};
    Barrier mine(here_.domain, 2, both), other(there_.domain, 2, both);
    for (int round = 0; round < 3; ++round) {
      mine.arrive();
      const bool alone = mine.wait(3000);
      other.arrive();
      const bool all = mine.wait(patience) && other.wait(patience);
      fmt::print("barrier {}: {}, {}\n", round, alone ? "left ALONE" : "waits",
                 all ? "both left" : "NOT left");
      right_ = right_ && !alone && all;
    }
  }

  Side here_, there_;
  bool right_ = true;
};

int run(std::string_view link) {
  const fabric::Faults faults = faults_of(link);
  const FaultyNodes system = make_faulty_nodes(memory_bytes, faults, 7);
  bool right = false;
  {
    Subset subset(*system.nodes);
    subset.run();
    right = subset.right();
  }
  const fabric::NetworkCounters counters = system.counters();
  fmt::print(stderr, "{} clocks; {} packets sent, {} lost, {} duplicated, {} reordered, {} corrupted\n",
             system.nodes->cycle(), counters.sent, counters.lost, counters.duplicated, counters.reordered,
             counters.corrupted);
  return right && struck(faults, counters) ? 0 : 1;
}

}  // namespace

int run_subset(int argc, char** argv) {
  try {
    if (argc != 2) throw Fault("one argument is wanted, a link");
    return run(argv[1]);
  } catch (const Fault& fault) {
    fmt::print(stderr, "{}: {}\n", argc > 0 ? argv[0] : "subset", fault.what());
  }
  return 2;
}

}  // namespace weft::tb
