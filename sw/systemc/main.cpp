// SPDX-License-Identifier: Apache-2.0
// weft-systemc: two NICs on a SystemC platform move memory, whose bytes are compared, and go through a
// barrier (docs/systemc.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "driver/barrier_driver.hpp"
#include "driver/rdma_driver.hpp"
#include "systemc/platform.hpp"

namespace {

using namespace weft;
using driver::rdma_rkey;
using systemc::Platform;
using systemc::Processor;

// Memory of each node, and its keys.
constexpr uint64_t sources = 0, shared = 0x10'0000, buffers = 0x20'0000, rings = 0x30'0000,
                   memory_bytes = 0x40'0000;
constexpr uint64_t region_bytes = 0x10'0000;
constexpr uint16_t source_key = 0x1111, shared_key = 0x2222, buffer_key = 0x3333, queue_key = 0x4444;
constexpr uint8_t owner = 5;
constexpr uint32_t queues = 4;  // of sw/systemc/weft_nic_pins.sv
constexpr uint8_t group = 0;    // of the barrier

driver::RdmaSetup engine_setup(uint16_t node) {
  driver::RdmaSetup setup;
  setup.node_id = node;
  setup.regions.resize(3);
  const auto region = [&](int number, uint64_t base, uint16_t key) -> driver::RdmaRegion& {
    driver::RdmaRegion& region = setup.regions[static_cast<size_t>(number)];
    region.base = base;
    region.limit = base + region_bytes;
    region.key = key;
    region.owner = owner;
    region.remote_write = false;
    return region;
  };
  region(0, sources, source_key).local_use = true;
  region(1, shared, shared_key).remote_write = true;
  setup.regions[1].remote_read = true;
  region(2, buffers, buffer_key).receive = true;
  return setup;
}

driver::RingSetup ring_setup() {
  driver::RingSetup setup;
  setup.sq_base = rings;
  setup.cq_base = rings + 0x1'0000;
  setup.sq_log2 = setup.cq_log2 = 6;
  setup.owner = owner;
  setup.key = queue_key;
  return setup;
}

driver::BarrierSetup barrier_setup(uint16_t node) {
  driver::BarrierSetup setup;
  setup.node = node;
  setup.ring_base = rings + 0x2'0000;
  return setup;
}

driver::BarrierGroup both_nodes() {
  driver::BarrierGroup settings;
  settings.members = {0, 1};
  settings.good = 0xffff;  // a network without ways to choose from
  return settings;
}

struct Row {
  std::string what;
  uint64_t bytes, clocks;
  bool right;
};

struct Options {
  uint32_t bytes = 65536;
  uint32_t repeat = 1;
};

/// What both programs know of each other.
struct Meeting {
  Options options;
  bool second_ready = false, second_left = false;
  int arrived = 0;  ///< at the barrier
  std::vector<uint8_t> bytes;
  std::vector<Row> rows;
  std::string fault;
};

class Software {
 public:
  Software(Processor& processor, uint16_t node)
      : processor_(processor),
        engine_(processor, [](driver::RdmaCompletion) {}),
        administrator_(processor, processor),
        queue_(processor, processor, 0, ring_setup()),
        barriers_(processor, processor, driver::barrier_window(queues)) {
    engine_.start(engine_setup(node));
    bool enabled = false, open = false;
    administrator_.enable(0, ring_setup(), [&](bool ok) { enabled = ok; });
    barriers_.start(barrier_setup(node), [](bool) {});
    barriers_.open(group, both_nodes(),
                   [&](std::optional<Refusal> refusal) { open = refusal == Refusal::none; });
    if (!engine_.ready() || !enabled || !open)
      throw std::runtime_error(
          "node " + std::to_string(node) + ": " +
          (engine_.fault().empty() ? "its queue or barrier is refused" : engine_.fault()));
  }

  driver::RingQueue& queue() { return queue_; }
  /// The next completion; whether it came, and well.
  bool completes() {
    std::optional<driver::RingQueue::Completion> completion;
    const bool came = processor_.wait_until([&] { return (completion = queue_.take()).has_value(); });
    if (came) queue_.acknowledge();
    return came && completion->status == static_cast<uint8_t>(rdma::formats::Status::ok);
  }
  /// Through the barrier of both; false: not all came.
  bool meets() {
    barriers_.arrive(group, [](std::optional<Refusal>) {});
    std::optional<driver::BarrierDriver::Completion> completion;
    const bool came = processor_.wait_until([&] { return (completion = barriers_.take()).has_value(); });
    return came && completion->ending == 0;
  }

 private:
  using Refusal = driver::BarrierDriver::Refusal;

  Processor& processor_;
  driver::RdmaDriver engine_;
  driver::RingAdministrator administrator_;
  driver::RingQueue queue_;
  driver::BarrierDriver barriers_;
};

template <typename Action>
void guarded(Meeting& meeting, Action action) {
  try {
    action();
  } catch (const std::exception& error) {
    meeting.fault = error.what();
    sc_core::sc_stop();
  }
}

/// Both have arrived when one leaves.
bool meets(Meeting& meeting, Software& software) {
  ++meeting.arrived;
  return software.meets() && meeting.arrived == 2;
}

/// Posts a WRITE, a SEND and a READ of as many bytes as wanted, one after the other; then comes to the
/// barrier.
void first_program(Meeting& meeting, Processor& processor) {
  guarded(meeting, [&] {
    Software software(processor, 0);
    processor.write(sources, meeting.bytes);
    if (!processor.wait_until([&] { return meeting.second_ready; }))
      throw std::runtime_error("the other node does not come up");
    const auto bytes = static_cast<uint32_t>(meeting.bytes.size());
    const driver::LocalBytes source{sources, bytes, rdma_rkey(0, source_key)};
    const driver::LocalBytes buffer{buffers, bytes, rdma_rkey(2, buffer_key)};
    const driver::RemoteBytes target{1, shared, rdma_rkey(1, shared_key)};
    const auto timed = [&](const std::string& what, bool posted) {
      const uint64_t start = Platform::clock();
      software.queue().ring();
      const bool right = posted && software.completes();
      meeting.rows.push_back({what, bytes, Platform::clock() - start, right});
    };
    for (uint32_t n = 0; n < meeting.options.repeat; ++n) {
      timed("WRITE", software.queue().post_write(n, source, target));
      timed("SEND", software.queue().post_send(n, source, {1, 0, queue_key}));
      timed("READ", software.queue().post_read(n, buffer, target));
      std::vector<uint8_t> read(bytes);
      processor.read(buffers, read);
      meeting.rows.back().right = meeting.rows.back().right && read == meeting.bytes;
    }
    const uint64_t start = Platform::clock();
    const bool met = meets(meeting, software);
    meeting.rows.push_back({"barrier", 0, Platform::clock() - start, met});
    if (!processor.wait_until([&] { return meeting.second_left; }))
      throw std::runtime_error("the other node does not leave the barrier");
    sc_core::sc_stop();
  });
}

/// Posts RECVs and looks at what came; then comes to the barrier.
void second_program(Meeting& meeting, Processor& processor) {
  guarded(meeting, [&] {
    Software software(processor, 1);
    const auto bytes = static_cast<uint32_t>(meeting.bytes.size());
    const auto post = [&] {
      if (!software.queue().post_recv(0, {buffers, bytes, rdma_rkey(2, buffer_key)}))
        throw std::runtime_error("no room for a RECV");
      software.queue().ring();
    };
    post();
    meeting.second_ready = true;
    std::vector<uint8_t> came(bytes);
    for (uint32_t n = 0; n < meeting.options.repeat; ++n) {
      if (!software.completes()) throw std::runtime_error("the message does not come");
      processor.read(buffers, came);
      if (came != meeting.bytes) throw std::runtime_error("the message is not what was sent");
      processor.read(shared, came);
      if (came != meeting.bytes) throw std::runtime_error("what was written is not what was sent");
      if (n + 1 < meeting.options.repeat) post();
    }
    if (!meets(meeting, software)) throw std::runtime_error("it leaves the barrier alone");
    meeting.second_left = true;
    processor.wait_until([] { return false; });  // the driver outlives what it drives
  });
}

int run(const Options& options) {
  Meeting meeting;
  meeting.options = options;
  meeting.bytes.resize(options.bytes);
  std::mt19937 random(1);
  for (uint8_t& byte : meeting.bytes) byte = static_cast<uint8_t>(random());
  Platform platform(
      memory_bytes, [&](Processor& processor) { first_program(meeting, processor); },
      [&](Processor& processor) { second_program(meeting, processor); });
  const auto start = std::chrono::steady_clock::now();
  sc_core::sc_start();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (!meeting.fault.empty()) {
    fmt::print(stderr, "weft-systemc: {}\n", meeting.fault);
    return 1;
  }
  fmt::print("request    bytes    clocks  bytes a clock  right\n");
  bool right = true;
  for (const Row& row : meeting.rows) {
    fmt::print("{:7}  {:7}  {:8}  {:13.2f}  {}\n", row.what, row.bytes, row.clocks,
               static_cast<double>(row.bytes) / static_cast<double>(row.clocks), row.right ? "yes" : "NO");
    right = right && row.right;
  }
  fmt::print("{} clocks of two NICs in {:.2f} s: {:.0f} clocks a second\n", Platform::clock(),
             seconds.count(), static_cast<double>(Platform::clock()) / seconds.count());
  return right ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
  CLI::App app(
      "Two NICs on a SystemC platform move memory, whose bytes are compared, and go through a barrier",
      "weft-systemc");
  Options options;
  command_line::add_version(app);
  app.add_option("--bytes", options.bytes, "Bytes of each request")
      ->check(command_line::whole_number(1, region_bytes))
      ->capture_default_str();
  app.add_option("--repeat", options.repeat, "Rounds of a WRITE, a SEND and a READ")
      ->check(command_line::whole_number(1, 10000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
    return run(options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "weft-systemc: {}\n", command_line::complaint(app, error));
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-systemc: {}\n", error.what());
  }
  return 2;
}
