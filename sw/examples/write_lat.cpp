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
  /// For the peer's write of this turn.
  void await(uint32_t bytes, uint8_t turn) {
    examples::await_all(target.bytes().first(bytes), turn, [&](uint64_t index, uint8_t value) {
      return context.wait_for_byte(target.address() + index, value);
    });
  }

  Context context;
  ProtectionDomain domain;
  MemoryRegion source, target;
  Queue queue;
};

/// Never 0, which is what memory holds before.
uint8_t turn_of(uint32_t iteration) { return static_cast<uint8_t>(iteration % 255 + 1); }

/// The client says where it is.
void serve(const PerfOptions& options) {
  Side side(options, "lat server");
  const MemoryRegion word(side.domain, 1, access_buffer);
  side.queue.post_recv(0, word.local(0, 1));
  side.context.publish("lat hello", side.queue.remote());
  const uint32_t node = side.queue.expect(1'000'000'000'000).node;
  const RemoteBytes client = side.context.find_memory(node, "lat client");
  for (const uint32_t bytes : options.sizes()) {
    for (uint32_t i = 0; i < options.iterations; ++i) {
      side.await(bytes, turn_of(i));
      side.write(bytes, turn_of(i), client);
      side.queue.expect();
    }
  }
}

/// Half of each round trip, in microseconds, from the shortest.
std::vector<double> measure(const PerfOptions& options, Side& side, uint32_t bytes,
                            const RemoteBytes& server) {
  std::vector<double> halves;
  for (uint32_t i = 0; i < options.iterations; ++i) {
    const uint64_t began = side.context.clock();
    side.write(bytes, turn_of(i), server);
    side.queue.expect();
    side.await(bytes, turn_of(i));
    halves.push_back(options.microseconds(static_cast<double>(side.context.clock() - began)) / 2);
  }
  std::ranges::sort(halves);
  return halves;
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

void print_row(uint32_t bytes, const std::vector<double>& sorted) {
  const auto count = static_cast<double>(sorted.size());
  const double mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  const double squares = std::accumulate(sorted.begin(), sorted.end(), 0.0, [&](double sum, double each) {
    return sum + (each - mean) * (each - mean);
  });
  fmt::print(" {:<10} {:<14} {:<12.2f} {:<12.2f} {:<15.2f} {:<12.2f} {:<14.2f} {:<20.2f} {:.2f}\n", bytes,
             sorted.size(), sorted.front(), sorted.back(), percentile(sorted, 0.5), mean,
             std::sqrt(squares / count), percentile(sorted, 0.99), percentile(sorted, 0.999));
}

void run_client(const PerfOptions& options) {
  Side side(options, "lat client");
  const RemoteQueue hello = side.context.find_queue(*options.peer, "lat hello");
  const RemoteBytes server = side.context.find_memory(*options.peer, "lat server");
  side.queue.post_send(0, side.source.local(0, 1), hello);
  side.queue.expect();
  fmt::print("{0}                    RDMA_Write Latency Test\n{0}", examples::rule);
  fmt::print(
      " #bytes     #iterations    t_min[usec]  t_max[usec]  t_typical[usec] t_avg[usec]  t_stdev[usec]  "
      "99% percentile[usec] 99.9% percentile[usec]\n");
  for (const uint32_t bytes : options.sizes()) print_row(bytes, measure(options, side, bytes, server));
  fmt::print("{}", examples::rule);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Latency of WRITEs between two nodes, in clocks of the simulated NICs", "weft_write_lat");
  PerfOptions options{.place = {}, .peer = {}, .bytes = 2, .iterations = 100};
  options.add_to(app);
  return examples::run(app, argc, argv, [&] { options.peer ? run_client(options) : serve(options); });
}
