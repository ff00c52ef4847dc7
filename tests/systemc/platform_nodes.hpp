// SPDX-License-Identifier: Apache-2.0
// Two nodes on the SystemC platform, each with its administrator. One platform a process: each test runs in
// its own.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/fault.hpp"
#include "nodes.hpp"
#include "systemc/platform.hpp"

namespace weft::systemc {

/// Accesses wait here for the processor, whose thread makes them; they are answered there.
class Bus : public driver::RegisterBus {
 public:
  void write(uint32_t address, uint32_t data, driver::OnWritten done) override {
    asked_.emplace_back([=](Processor& processor) { processor.write(address, data, done); });
  }
  void read(uint32_t address, driver::OnRead done) override {
    asked_.emplace_back([=](Processor& processor) { processor.read(address, done); });
  }
  /// The processor's program.
  void serve(Processor& processor) {
    while (true) {
      while (asked_.empty()) sc_core::wait(processor.clk.posedge_event());
      const auto access = std::move(asked_.front());
      asked_.pop_front();
      access(processor);
    }
  }

 private:
  std::deque<std::function<void(Processor&)>> asked_;
};

class TwoNodes : public tb::Nodes {
 public:
  explicit TwoNodes(uint64_t memory_bytes, const Latency& latency = Platform::ten_clocks,
                    const std::optional<Platform::LinkFaults>& faults = {})
      : platform_(
            memory_bytes, [this](Processor& processor) { hosts_[0].bus.serve(processor); },
            [this](Processor& processor) { hosts_[1].bus.serve(processor); }, latency, faults) {
    for (uint32_t node = 0; node < 2; ++node) start(node, memory_bytes);
    run_until([this] { return hosts_[0].engine->ready() && hosts_[1].engine->ready(); }, "NICs");
    for (uint32_t node = 0; node < 2; ++node) start_barriers(node);
    run_until([this] { return hosts_[0].barriers_started && hosts_[1].barriers_started; }, "barrier engines");
  }

  Platform& platform() { return platform_; }
  uint32_t size() const override { return 2; }
  driver::NodeServer& server(uint32_t node) override { return *hosts_.at(node).server; }
  std::span<uint8_t> memory(uint32_t node) override { return platform_.node(node).memory.bytes(); }
  uint64_t cycle() const override { return Platform::clock(); }
  void step() override {
    run_one_clock();
    for (Host& host : hosts_) host.server->tick(cycle());
  }

 private:
  struct Host {
    Bus bus;
    std::optional<driver::RdmaDriver> engine;
    std::optional<driver::BarrierDriver> barriers;
    bool barriers_started = false;
    std::optional<driver::NodeServer> server;
  };

  void start(uint32_t node, uint64_t memory_bytes) {
    Host& host = hosts_.at(node);
    driver::RdmaSetup setup = tb::node_setup();
    setup.node_id = static_cast<uint16_t>(node);
    host.engine.emplace(host.bus, [](driver::RdmaCompletion) {});
    host.engine->start(setup);
    driver::NodeSize size;
    size.queues = 4;  // of sw/systemc/weft_nic_pins.sv, as are the regions
    size.regions = 16;
    size.memory_bytes = memory_bytes;
    host.barriers.emplace(host.bus, platform_.node(node).processor, driver::barrier_window(size.queues));
    host.server.emplace(node, host.bus, platform_.node(node).processor, *host.engine, size, directory_,
                        &*host.barriers);
  }
  void start_barriers(uint32_t node) {
    Host& host = hosts_.at(node);
    driver::BarrierSetup setup;
    setup.node = static_cast<uint16_t>(node);
    setup.ring_base = host.server->size().barrier_ring();
    setup.ring_log2 = driver::NodeSize::barrier_ring_log2;
    host.barriers->start(setup, [&host](bool ok) { host.barriers_started = ok; });
  }
  static constexpr int start_clocks = 200'000;  // more than enough
  static void run_until(const std::function<bool()>& ready, const std::string& what) {
    for (int clock = 0; clock < start_clocks && !ready(); ++clock) run_one_clock();
    if (!ready()) throw Fault("the " + what + " do not become ready");
  }
  static void run_one_clock() { sc_core::sc_start(Platform::clocks(1)); }

  std::array<Host, 2> hosts_;  // outlive the programs
  driver::Directory directory_{.nodes = 2, .notices = {}, .peers = {}};
  Platform platform_;
};

}  // namespace weft::systemc
