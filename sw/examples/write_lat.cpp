// SPDX-License-Identifier: Apache-2.0
// weft_write_lat: latency of WRITEs, with the options and the table of ib_write_lat: two processes write to
// each other in turns and look at all bytes, which come in any order; half of a round trip is told.
#include <cmath>
#include <numeric>

#include "await.hpp"
#include "perf.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;
using examples::PerfOptions;

constexpr uint8_t over = 255;  // turn of the write that ends a measurement by time

struct Options : PerfOptions {
  using PerfOptions::PerfOptions;

  bool cycles = false;     // of the NIC, in place of microseconds
  bool histogram = false;  // each result, from the shortest
  bool unsorted = false;   // ... in order of time

  double unit(double clocks) const { return cycles ? clocks : microseconds(clocks); }
  double clocks(double unit) const { return cycles ? unit : unit * mhz; }
};

/// One of the two.
struct Side {
  Side(const PerfOptions& options, std::string_view name)
      : context(options.place.attach()),
        domain(context),
        source(domain, PerfOptions::largest, access_source),
        target(domain, PerfOptions::largest, access_remote_write),
        queue(domain) {
    context.publish(name, target.remote());
  }

  void write(uint32_t bytes, uint8_t turn, const RemoteBytes& to) {
    std::ranges::fill(source.bytes().first(bytes), turn);
    queue.post_write(turn, source.local(0, bytes), to);
  }
  /// For the peer's write of this turn. False if it says that it was the last one.
  bool await(uint32_t bytes, uint8_t turn) {
    return examples::await_all(target.bytes().first(bytes), turn, over, [&](uint64_t index, uint8_t value) {
      return context.wait_for_byte(target.address() + index, value);
    });
  }

  Context context;
  ProtectionDomain domain;
  MemoryRegion source, target;
  Queue queue;
};

/// Never 0, which is what memory holds before, and not `over`.
uint8_t turn_of(size_t iteration) { return static_cast<uint8_t>(iteration % 254 + 1); }

/// Answers writes of this size, as many as are wanted, or until one says that it is over.
void answer(const Options& options, Side& side, uint32_t bytes, const RemoteBytes& client) {
  for (uint32_t i = 0; options.seconds || i < options.iterations; ++i) {
    if (!side.await(bytes, turn_of(i))) return;
    side.write(bytes, turn_of(i), client);
    side.queue.expect();
  }
}

/// The client says where it is.
void serve(const Options& options) {
  Side side(options, "lat server");
  const uint32_t node =
      examples::Meeting(side.context, side.domain, side.queue, options.terms()).await_client("lat");
  const RemoteBytes client = side.context.find_memory(node, "lat client");
  for (const uint32_t bytes : options.sizes()) answer(options, side, bytes, client);
}

/// Half of each round trip, in the unit of the table, in order of time.
std::vector<double> measure(const Options& options, Side& side, uint32_t bytes, const RemoteBytes& server) {
  std::vector<double> halves;
  const uint64_t first = side.context.clock();
  while (options.goes_on(halves.size(), first, side.context)) {
    const uint64_t began = side.context.clock();
    side.write(bytes, turn_of(halves.size()), server);
    side.queue.expect();
    side.await(bytes, turn_of(halves.size()));
    halves.push_back(options.unit(static_cast<double>(side.context.clock() - began)) / 2);
  }
  if (options.seconds) {
    side.write(bytes, over, server);
    side.queue.expect();
  }
  return halves;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

struct Result {
  uint32_t bytes;
  size_t iterations;
  double least, most, typical, mean, deviation, percent99, percent999;
};

Result result_of(uint32_t bytes, const std::vector<double>& sorted) {
  const auto count = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  const double squares = std::accumulate(sorted.begin(), sorted.end(), 0.0, [&](double sum, double each) {
    return sum + (each - mean) * (each - mean);
  });
  return {bytes,
          sorted.size(),
          sorted.front(),
          sorted.back(),
          percentile(sorted, 0.5),
          mean,
          std::sqrt(squares / count),
          percentile(sorted, 0.99),
          percentile(sorted, 0.999)};
}

nlohmann::ordered_json json_of(const Result& result) {
  return {{"MsgSize", result.bytes},
          {"n_iterations", result.iterations},
          {"t_min", result.least},
          {"t_max", result.most},
          {"t_typical", result.typical},
          {"t_avg", result.mean},
          {"t_stdev", result.deviation},
          {"percentile_99", result.percent99},
          {"percentile_99.9", result.percent999}};
}

/// Heads and rows are those of ib_write_lat, to the blank.
void print_head(const Options& options) {
  const char* const unit = options.cycles ? "cycles" : "usec";
  fmt::print("{0}                    RDMA_Write Latency Test\n{0}", examples::rule);
  if (options.seconds)
    fmt::print(" #bytes        #iterations       t_avg[{}]    tps average\n", unit);
  else
    fmt::print(
        " #bytes #iterations    t_min[{0}]    t_max[{0}]  t_typical[{0}]    t_avg[{0}]    t_stdev[{0}]   "
        "99% percentile[{0}]   99.9% percentile[{0}] \n",
        unit);
}

void print(const Options& options, const Result& result) {
  if (options.output == "latency") {
    fmt::print("{:f}\n", result.mean);
  } else if (options.seconds) {
    const double turns_a_second = options.mhz * 1e6 / (2 * options.clocks(result.mean));
    fmt::print(" {:<7}       {}            {:<7.2f}        {:<7.2f}\n", result.bytes, result.iterations,
               result.mean, turns_a_second);
  } else {
    fmt::print(
        " {:<7} {}          {:<7.2f}        {:<7.2f}      {:<7.2f}  \t       {:<7.2f}     \t{:<7.2f}\t\t"
        "{:<7.2f} \t\t{:<7.2f}\n",
        result.bytes, result.iterations, result.least, result.most, result.typical, result.mean,
        result.deviation, result.percent99, result.percent999);
  }
}

void print_all(const Options& options, const std::vector<double>& halves) {
  fmt::print("#, {}\n", options.cycles ? "cycles" : "usec");
  for (size_t i = 0; i < halves.size(); ++i) fmt::print("{}, {:g}\n", i + 1, halves[i]);
}

void run_client(const Options& options) {
  Side side(options, "lat client");
  examples::Meeting(side.context, side.domain, side.queue, options.terms()).find_server(*options.peer, "lat");
  const RemoteBytes server = side.context.find_memory(*options.peer, "lat server");
  if (options.output.empty()) print_head(options);
  const examples::ClockWatch watch("weft_write_lat", side.context);
  auto results = nlohmann::ordered_json::array();
  for (const uint32_t bytes : options.sizes()) {
    std::vector<double> halves = measure(options, side, bytes, server);
    if (options.unsorted) print_all(options, halves);
    std::ranges::sort(halves);
    if (options.histogram && !options.unsorted) print_all(options, halves);
    const Result result = result_of(bytes, halves);
    print(options, result);
    results.push_back(json_of(result));
  }
  watch.tell();
  if (options.output.empty()) fmt::print("{}", examples::rule);
  options.write_json(results);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Latency of WRITEs between two nodes, in clocks of the simulated NICs", "weft_write_lat");
  Options options(2, 100);
  options.add_to(app, {"latency"});
  app.add_flag("-C,--report-cycles", options.cycles, "Clocks of the NIC in place of microseconds");
  app.add_flag("-H,--report-histogram", options.histogram, "Each result, too, from the shortest");
  app.add_flag("-U,--report-unsorted", options.unsorted, "... in order of time");
  return examples::run(app, argc, argv, [&] { options.peer ? run_client(options) : serve(options); });
}
