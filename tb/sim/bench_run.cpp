// SPDX-License-Identifier: Apache-2.0
// Speed of the engine, counted in clocks at its pins.
#include "bench_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include "bench_latency.hpp"
#include "bench_system.hpp"
#include "made_packets.hpp"

namespace weft::sim {

namespace {

using rdma::formats::Header;
using rdma::formats::Outcome;
using rdma::formats::Ptype;
using Packets = std::vector<std::vector<uint8_t>>;

constexpr const char* line_build = "line";  // a header and 32 bytes of payload are one beat
constexpr const char* default_build = "w128";
constexpr uint32_t one_beat_bytes = 32;

tb::SystemConfig system_config(const std::string& build, uint32_t nodes) {
  tb::SystemConfig config;
  config.nodes = nodes;
  config.node.build = *tb::find_rdma_build(build);
  return config;
}

/// The memory behind `destination_base` open to writes, and no timer that ends meanwhile.
driver::RdmaSetup patient_setup(uint64_t region_bytes) {
  driver::RdmaSetup setup;
  setup.regions = {{tb::destination_base, tb::destination_base + region_bytes}};
  setup.rx_timeout = setup.tx_retry = 8191;
  return setup;
}

/// Engines, and packets that the bench makes for them.
class Bench : public BenchSystem {
 public:
  Bench(const tb::SystemConfig& config, uint64_t region_bytes)
      : BenchSystem(config, patient_setup(region_bytes)) {}

  void send(const Packets& packets) {
    for (const auto& packet : packets) system.node(0).receive(packet);
  }

  uint64_t count(Outcome outcome) { return system.node(0).scoreboard().outcomes(outcome); }

  /// Clocks from the first to the last increment of `counter`, which goes up by at least `count`.
  uint64_t clocks_of(const std::function<uint64_t()>& counter, uint64_t count) {
    const uint64_t before = counter();
    if (!reach([&] { return counter() > before; }, many_clocks, "nothing comes")) return 0;
    const uint64_t first = system.cycle();
    if (!reach([&] { return counter() >= before + count; }, many_clocks, "not all comes")) return 0;
    return system.cycle() - first + 1;
  }

  void grant(uint16_t transfers, uint32_t bytes) {
    for (uint16_t sid = 0; sid < transfers; ++sid) send({tb::flits_of(tb::request(sid, bytes))});
    reach([&] { return count(Outcome::grant) == transfers; }, many_clocks, "no context is granted");
  }

  /// The transfers that were granted are over for their sender.
  void release(uint16_t transfers) {
    for (uint16_t sid = 0; sid < transfers; ++sid) {
      Header over = tb::header_to_zero(Ptype::release);
      over.sid = over.cid = sid;
      over.gen = 1;
      send({tb::flits_of(over)});
    }
  }
};

uint64_t events(Bench& bench) { return bench.system.node(0).scoreboard().events(); }
uint64_t packets_out(Bench& bench) { return bench.system.node(0).scoreboard().packets().packets(); }

/// Packets that all come in without a pause: clocks from the first to the last event.
Rate arrivals(Bench& bench, std::string what, const Packets& packets) {
  Rate rate{std::move(what), line_build, packets.size(), 0, 1, {}};
  bench.send(packets);
  rate.clocks = bench.clocks_of([&] { return events(bench); }, packets.size());
  return rate;
}

/// Packets that each make one leave: clocks from the first to the last that leaves.
Rate departures(Bench& bench, std::string what, const Packets& packets) {
  Rate rate{std::move(what), line_build, packets.size(), 0, 1, {}};
  bench.send(packets);
  rate.clocks = bench.clocks_of([&] { return packets_out(bench); }, packets.size());
  return rate;
}

/// One transfer of one packet, so far that all of it was sent; it waits for its DONE.
bool post_one_packet(Bench& bench) {
  bench.system.node(0).driver().post({tb::source_base, tb::destination_base, one_beat_bytes, 7, 0, 0});
  if (!bench.reach([&] { return bench.count(Outcome::submit) == 1; }, many_clocks, "no request is sent"))
    return false;
  Header granted = tb::header_to_zero(Ptype::rsp);
  granted.sid = granted.cid = 0;
  granted.msgid = 0;
  granted.gen = 1;
  bench.send({tb::flits_of(granted)});
  return bench.reach([&] { return packets_out(bench) == 2; }, many_clocks, "no data is sent");
}

}  // namespace

bool has_bench_engines() {
  return tb::find_rdma_build(line_build) && tb::find_rdma_build(default_build) &&
         tb::find_rdma_build(latency_build);
}

Rate headers_of_one_context() {
  constexpr size_t packets = 8000;
  Bench bench(system_config(line_build, 1), 1 << 20);
  bench.grant(1, one_beat_bytes);
  Rate rate = arrivals(bench, "DATA of one beat in, all of one context (one new, then the same again)",
                       Packets(packets, tb::data_packet(0, 0, 1, one_beat_bytes)));
  bench.release(1);
  rate.finding = bench.finding();
  return rate;
}

Rate headers_of_many_contexts() {
  constexpr uint16_t transfers = 256;
  constexpr size_t copies = 32;
  Bench bench(system_config(line_build, 1), 1 << 20);
  bench.grant(transfers, one_beat_bytes);
  Packets packets;
  for (size_t copy = 0; copy < copies; ++copy) {
    for (uint16_t sid = 0; sid < transfers; ++sid)
      packets.push_back(tb::data_packet(sid, 0, 1, one_beat_bytes));
  }
  std::mt19937_64 random(1);
  std::shuffle(packets.begin(), packets.end(), random);
  Rate rate = arrivals(bench, "DATA of one beat in, 256 contexts in any order (one new of each, and copies)",
                       packets);
  bench.release(transfers);
  rate.finding = bench.finding();
  return rate;
}

Rate new_data_of_many_contexts() {
  constexpr uint16_t transfers = 256;
  Bench bench(system_config(line_build, 1), 1 << 20);
  bench.grant(transfers, one_beat_bytes);
  Packets packets;
  for (uint16_t sid = 0; sid < transfers; ++sid)
    packets.push_back(tb::data_packet(sid, 0, 1, one_beat_bytes));
  std::mt19937_64 random(2);
  std::shuffle(packets.begin(), packets.end(), random);
  Rate rate =
      arrivals(bench, "DATA of one beat in, 256 transfers of one packet each, all new and written", packets);
  bench.release(transfers);
  rate.finding = bench.finding();
  return rate;
}

Rate responses() {
  constexpr size_t packets = 8000;
  Bench bench(system_config(line_build, 1), 1 << 20);
  Rate rate =
      departures(bench, "RSP out, one for each RQT in", Packets(packets, tb::flits_of(tb::request(0, 0))));
  rate.finding = bench.finding();
  return rate;
}

Rate data_of_one_beat() {
  constexpr size_t packets = 8000;
  Bench bench(system_config(line_build, 1), 1 << 20);
  if (!post_one_packet(bench)) return {"DATA of one beat out", line_build, 0, 0, 1, bench.finding()};
  Header resend = tb::header_to_zero(Ptype::resend);
  resend.sid = resend.cid = 0;
  resend.msgid = 0;
  resend.gen = 1;
  Rate rate = departures(bench, "DATA of one beat out, one for each RESEND in",
                         Packets(packets, tb::flits_of(resend)));
  Header done = resend;
  done.ptype = static_cast<uint8_t>(Ptype::done);
  bench.send({tb::flits_of(done)});
  rate.finding = bench.finding();
  return rate;
}

Rate data_of_many_transfers() {
  constexpr uint16_t transfers = 16;
  Bench bench(system_config(line_build, 1), 1 << 20);
  Rate rate{"DATA of one beat out, 16 transfers of one packet each, granted before",
            line_build,
            transfers,
            0,
            1,
            {}};
  tb::RdmaNode& node = bench.system.node(0);
  for (uint16_t tag = 0; tag < transfers; ++tag) {
    node.driver().post({tb::source_base, tb::destination_base, one_beat_bytes, 7, tag, 0});
  }
  bench.reach([&] { return packets_out(bench) == transfers; }, many_clocks, "not every request is sent");
  const auto answer_all = [&](Ptype type) {
    for (uint16_t sid = 0; sid < transfers; ++sid) {
      Header header = tb::header_to_zero(type);
      header.sid = header.cid = sid;
      header.msgid = sid;
      header.gen = 1;
      bench.send({tb::flits_of(header)});
    }
  };
  node.stall_output(true);
  answer_all(Ptype::rsp);
  bench.reach([&] { return bench.count(Outcome::granted) == transfers; }, many_clocks,
              "not every transfer begins");
  node.stall_output(false);
  rate.clocks = bench.clocks_of([&] { return packets_out(bench); }, transfers);
  answer_all(Ptype::done);
  rate.finding = bench.finding();
  return rate;
}

Goodput measure(Goodput goodput) {
  tb::SystemConfig config = system_config(goodput.build, 2);
  config.faults.delay = goodput.delay;
  config.node.memory_latency = goodput.memory_latency;
  const tb::RdmaBuild& build = config.node.build;
  const uint64_t part =
      (uint64_t{goodput.bytes} + build.params.payload - 1) / build.params.payload * build.params.payload;
  Bench bench(config, part * goodput.transfers);

  const uint64_t packets = part / build.params.payload * goodput.transfers;
  const uint64_t beats = 1 + build.params.payload / build.data_bytes;
  goodput.ideal_clocks = packets * beats;

  uint64_t first_beat = 0, last_beat = 0;
  bench.system.tamper_with(
      [&](tb::Bytes& packet) {  // changes nothing: it sees each packet in the clock of its last beat
        const auto header = rdma::formats::unpack(
            std::span<const uint8_t, rdma::flit_bytes>(packet.data(), rdma::flit_bytes));
        if (header.src != 0 || header.ptype != static_cast<uint8_t>(Ptype::data)) return;
        last_beat = bench.system.cycle();
        if (first_beat == 0) first_beat = last_beat - beats + 1;
      });
  uint32_t completed = 0;
  uint64_t last_completion = 0;
  const uint32_t senders = goodput.both_ways ? 2 : 1;
  const uint64_t began = bench.system.cycle();
  for (uint32_t index = 0; index < senders; ++index) {
    bench.system.node(index).on_completion([&](const driver::RdmaCompletion&) {
      completed++;
      last_completion = bench.system.cycle();
    });
    for (uint32_t i = 0; i < goodput.transfers; ++i) {
      bench.system.node(index).driver().post({tb::source_base + i * part, tb::destination_base + i * part,
                                              goodput.bytes, 1 - index, static_cast<uint16_t>(i), 0});
    }
  }
  const uint64_t limit = 10 * goodput.ideal_clocks + many_clocks;
  bench.reach([&] { return completed == senders * goodput.transfers; }, limit,
              "not every transfer completes");
  goodput.link_clocks = last_beat - first_beat + 1;
  goodput.total_clocks = last_completion - began;
  goodput.finding = bench.finding();
  if (goodput.finding.empty() && bench.count(Outcome::complete) != goodput.transfers)
    goodput.finding = "a transfer ended with an error";
  return goodput;
}

}  // namespace weft::sim
