// SPDX-License-Identifier: Apache-2.0
// Plays a course on one Verilated engine beside the golden model.
#include "player.hpp"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <vector>

#include "expected_packets.hpp"
#include "packets.hpp"
#include "setting.hpp"
#include "wire.hpp"

namespace weft::fuzz {

namespace reg = rdma::formats::reg;

namespace {

constexpr uint64_t most_cycles = 5'000;     // of a course; then no step waits any more
constexpr uint64_t ready_cycles = 5'000;    // within which an engine is set up
constexpr uint64_t settle_cycles = 50'000;  // within which it comes to rest
constexpr std::size_t remembered = 16;      // packets that may come again
constexpr std::size_t most_posts = 24;      // that wait in the driver

class Player {
 public:
  Player(const Course& course, const PlayOptions& options)
      : course_(course),
        options_(options),
        setting_(read_setting(course.setting, build_of(course.setting, options.build))),
        params_(setting_.system.node.build.params),
        system_(setting_.system),
        packets_(params_, scoreboard().receiver(), scoreboard().sender()) {
    scoreboard().on_receiver_event(options.on_receiver_event);
    scoreboard().on_sender_event(options.on_sender_event);
    if (!options.traces.empty()) scoreboard().write_traces(options.traces);
  }

  Played play() {
    begin();
    for (const Step& step : course_.steps) {
      if (over()) break;
      take(step);
    }
    if (!over()) end();
    scoreboard().close_traces();
    return {system_.findings().summary(), system_.cycle(), scoreboard().events()};
  }

 private:
  tb::RdmaNode& node() { return system_.node(0); }
  tb::Scoreboard& scoreboard() { return node().scoreboard(); }
  /// The first difference is all that is asked for.
  bool over() { return system_.findings().any() || system_.stopped(); }

  void tell(const std::string& text) {
    if (options_.on_step) options_.on_step(system_.cycle(), text);
  }

  void run(uint64_t cycles) {
    for (uint64_t n = 0; n < cycles && !over(); ++n) system_.step();
  }

  void fail(std::string text) {
    if (!over()) node().reporter().add(std::move(text));
  }

  void start() {
    setting_.driver.node_id = 0;
    node().driver().start(setting_.driver);
    node_id_ = 0;
    if (setting_.wait_until_ready) wait_until_ready();
  }

  void wait_until_ready() {
    const bool ready = system_.run_until([this] { return node().driver().ready() || over(); }, ready_cycles);
    if (!ready) fail("the engine does not get ready: " + node().driver().fault());
  }

  void begin() {
    RandomStream random(setting_.system.seed, 7);
    std::vector<uint8_t> bytes(source_bytes);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    node().memory().memory().write(source_base, bytes);
    node().memory().inject_errors(setting_.error_base, setting_.error_limit);
    start();
  }

  /// Nothing holds anything up any more, no timer is long, and no packet is left without an end.
  void end() {
    tell("end");
    stall(0);
    if (mid_packet_) {
      node().receive_beats(std::array{tb::AxisBeat{.last = true}});
      mid_packet_ = false;
    }
    if (!node().driver().ready()) wait_until_ready();
    for (const auto& [address, value] : {std::pair{reg::RX_TIMEOUT, 4u},
                                         {reg::MAX_SILENT, 0u},
                                         {reg::BACKOFF, 0u},
                                         {reg::TX_RETRY, 4u},
                                         {reg::MAX_RETRY, 0u},
                                         {reg::TX_DEAD, 16u},
                                         {reg::NODE_ID, 0u}}) {
      node().registers().write(address, value, nullptr);
    }
    system_.run_until([this] { return system_.settled() || over(); }, settle_cycles);
    if (over()) return;
    run(tb::trace_lag + 8);
    system_.check_at_end();
    if (!node().driver().fault().empty()) fail("driver: " + node().driver().fault());
  }

  void take(const Step& step) {
    switch (step.act) {
      case Act::again:
        again(step);
        break;
      case Act::post:
        post(step);
        break;
      case Act::setting:
        access(step);
        break;
      case Act::stall:
        tell(fmt::format("stall: network {}, memory {}", step.where & 1, step.where >> 1 & 1));
        stall(step.where);
        break;
      case Act::wait:
        tell(fmt::format("wait {} clocks", 1 + 2 * step.who));
        wait(1 + 2 * uint64_t{step.who});
        break;
      case Act::reset:
        reset();
        break;
      default:
        send(step, packets_.make(step, node_id_));
    }
    wait(gap(step));
  }

  /// Mostly none, so that packets follow one another without a gap.
  static uint64_t gap(const Step& step) { return step.gap < 128 ? 0 : step.gap % 64; }

  void wait(uint64_t cycles) {
    if (system_.cycle() < most_cycles) run(cycles);
  }

  void send(const Step& step, const std::vector<Flits>& packets) {
    for (const Flits& flits : packets) {
      const WireFault fault = &flits == &packets.front() ? wire_fault(step) : WireFault::none;
      if (options_.on_step) tell_packet(step, flits, fault);
      recent_.push_front(flits);
      if (recent_.size() > remembered) recent_.pop_back();
      send_beats(step, to_beats(flits, fault, step.extra, setting_.system.node.build.data_bytes));
    }
  }

  void tell_packet(const Step& step, const Flits& flits, WireFault fault) {
    const auto header =
        rdma::formats::unpack(std::span<const uint8_t, rdma::flit_bytes>(flits.data(), rdma::flit_bytes));
    std::string text = fmt::format("{}: {}", name(step.act), tb::describe(header));
    if (fault != WireFault::none) text += fmt::format(", on the wire: {}", name(fault));
    tell(text);
  }

  /// A gap of an odd number of clocks is in the middle of the packet.
  void send_beats(const Step& step, const std::vector<tb::AxisBeat>& beats) {
    const std::span<const tb::AxisBeat> all(beats);
    const std::size_t first = gap(step) % 2 == 1 ? all.size() / 2 : all.size();
    node().receive_beats(all.first(first));
    if (first < all.size()) {
      wait(gap(step));
      node().receive_beats(all.subspan(first));
    }
    mid_packet_ = !all.back().last;
  }

  void again(const Step& step) {
    if (recent_.empty()) return;
    const Flits packet = recent_[step.who % recent_.size()];
    send(step, {packet});
  }

  void post(const Step& step) {
    if (node().driver().unposted() >= most_posts) return;
    driver::RdmaRequest request;
    request.src_addr = source_base + (step.extra % 32) * uint64_t{params_.payload};
    request.dst_addr = region_base + step.extra * uint64_t{params_.payload};
    request.bytes = transfer_bytes(step, params_);
    request.node = step.who < 128 ? 0 : step.who % 16;
    request.tag = next_tag_++;
    request.rkey = driver::rdma_rkey(step.amount >> 7, region_keys[step.amount >> 7]);
    switch (step.fault < 192 ? 0 : step.fault % 8) {
      case 1:
        request.bytes = 0;
        break;
      case 2:
        request.bytes = ((1u << params_.pidx_bits) - 1) * params_.payload + 1;
        break;
      case 3:
        request.src_addr += 1u << step.amount % 5;
        break;
      case 4:
        request.dst_addr += 1u << step.amount % 5;
        break;
      case 5:
        request.node = 1u << params_.node_bits;
        break;
      case 6:
        request.dst_addr = (uint64_t{1} << params_.addr_bits) - params_.payload;
        break;
      case 7:
        request.dst_addr = 0;  // not open
        break;
      default:
        break;
    }
    tell(fmt::format("post: tag {}, {} bytes from {:#x} to {:#x} of node {}", request.tag, request.bytes,
                     request.src_addr, request.dst_addr, request.node));
    node().driver().post(request);
  }

  void write(uint32_t address, uint32_t value) {
    tell(fmt::format("write {:#x} to register {:#x}", value, address));
    node().registers().write(address, value, nullptr);
  }

  void access(const Step& step) {
    switch (step.who % 13) {
      case 0:
        return write(reg::MODE, step.where & 1);
      case 1:
        return write(reg::RX_TIMEOUT, step.where % 64);
      case 2:
        return write(reg::ASK_FROM_AFTER, step.where % 4);
      case 3:
        return write(reg::MAX_SILENT, step.where % 16);
      case 4:
        return renumber(step.where < 128 ? 0 : step.where % 16);
      case 5:
        return write(reg::TX_RETRY, step.where % 64);
      case 6:
        return write(reg::TX_DEAD, 16 + step.where);
      case 7:
        return write(reg::MAX_RETRY, step.where % 4);
      case 8:
        return read(4u * step.where);
      case 9:
        return change_region(step);
      case 10:
        return write(reg::RX_QUOTA, step.where % 4);
      case 11:
        return write(reg::BACKOFF, step.where % 4);
      default:
        tell(fmt::format("write with strobes {:#x} to register {:#x}", step.amount % 15, 4u * step.where));
        node().registers().write_strobed(4u * step.where, step.extra, step.amount % 15, nullptr);
    }
  }

  /// As at the start, closed in one of two ways, with another key, shrunk, or moved.
  void change_region(const Step& step) {
    if (!node().driver().ready()) return;
    const uint8_t number = step.extra % std::size(region_keys);
    driver::RdmaRegion region = setting_.driver.regions[number];
    switch (step.where % 6) {
      case 1:
        region.limit = 0;
        break;
      case 2:
        region.remote_write = false;
        break;
      case 3:
        region.key = static_cast<uint16_t>(region.key ^ 1u << step.amount % 16);
        break;
      case 4:
        region.limit = region.base + step.amount % 32 * uint64_t{params_.payload};
        break;
      case 5:
        region.base += step.amount % 32 * uint64_t{params_.payload};
        break;
      default:
        break;
    }
    tell(fmt::format("region {}: [{:#x}, {:#x}), key {:#x}{}", number, region.base, region.limit, region.key,
                     region.remote_write ? "" : ", closed"));
    node().driver().set_region(number, region);
  }

  /// Packets made from now on go to the new number, which is a little early for the first of them.
  void renumber(uint32_t number) {
    write(reg::NODE_ID, number);
    node_id_ = static_cast<uint16_t>(number);
  }

  /// Anything but the completion that a read takes away.
  void read(uint32_t address) {
    if (address == reg::CPL) return;
    tell(fmt::format("read register {:#x}", address));
    node().registers().read(address, nullptr);
  }

  void stall(uint8_t what) {
    node().stall_output((what & 1) != 0);
    node().memory().stall((what & 2) != 0);
  }

  void reset() {
    tell("reset");
    system_.reset_node(0);
    mid_packet_ = false;
    start();
  }

  const Course& course_;
  const PlayOptions& options_;
  Setting setting_;
  rdma::Params params_;
  tb::RdmaSystem system_;
  Packets packets_;
  std::deque<Flits> recent_;
  uint16_t node_id_ = 0;
  uint16_t next_tag_ = 1;
  bool mid_packet_ = false;
};

}  // namespace

Played play(const Course& course, const PlayOptions& options) { return Player(course, options).play(); }

}  // namespace weft::fuzz
