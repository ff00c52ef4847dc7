// SPDX-License-Identifier: Apache-2.0
// weft_write_bw: bandwidth of WRITEs, with the options and the table of ib_write_bw.
#include <algorithm>
#include <vector>

#include "perf.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;
using examples::PerfOptions;

constexpr uint32_t at_once = 64;  // the node's quota of a queue
constexpr uint32_t most_for_peak = 20'000;

/// Is written to until the client says that it has done.
void serve(const PerfOptions& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const MemoryRegion target(domain, PerfOptions::largest, access_remote_write);
  const MemoryRegion word(domain, 1, access_buffer);
  Queue queue(domain);
  queue.post_recv(0, word.local(0, 1));
  context.publish("bw target", target.remote());
  context.publish("bw done", queue.remote());
  queue.expect(1'000'000'000'000);
}

/// Clocks at which each WRITE was posted, and at which the first, second, ... of them completed.
struct Times {
  std::vector<uint64_t> posted, completed;

  double clocks() const { return static_cast<double>(completed.back() - posted.front()); }
  /// Clocks a WRITE in the fastest run of them, from the post of its first to the completion of its last, as
  /// ib_write_bw has it.
  double fastest() const {
    double least = clocks() / static_cast<double>(posted.size());
    for (std::size_t first = 0; first < posted.size(); ++first)
      for (std::size_t last = first; last < posted.size(); ++last)
        least = std::min(least, static_cast<double>(completed[last] - posted[first]) /
                                    static_cast<double>(last - first + 1));
    return least;
  }
};

Times measure(const PerfOptions& options, Context& context, Queue& queue, const LocalBytes& from,
              const RemoteBytes& to) {
  Times times;
  while (times.completed.size() < options.iterations) {
    while (times.posted.size() < options.iterations &&
           times.posted.size() - times.completed.size() < at_once) {
      queue.post_write(times.posted.size(), from, to);
      times.posted.push_back(context.clock());
    }
    queue.expect();
    times.completed.push_back(context.clock());
  }
  return times;
}

void run_client(const PerfOptions& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const MemoryRegion source(domain, PerfOptions::largest, access_source);
  Queue queue(domain);
  const RemoteBytes target = context.find_memory(*options.peer, "bw target");
  const RemoteQueue done = context.find_queue(*options.peer, "bw done");
  fmt::print("{0}                    RDMA_Write BW Test\n{0}", examples::rule);
  fmt::print(" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n");
  for (const uint32_t bytes : options.sizes()) {
    context.wait_for_byte(source.address(), 0, 1);  // for the clock
    const Times times = measure(options, context, queue, source.local(0, bytes), target);
    const double seconds = options.microseconds(times.clocks()) * 1e-6;
    const double rate = options.iterations / seconds;
    constexpr double mebi = 1 << 20;  // as ib_write_bw counts MB
    // ib_write_bw has no peak of so many either.
    const double peak = options.iterations > most_for_peak
                            ? 0
                            : bytes / (options.microseconds(times.fastest()) * 1e-6) / mebi;
    fmt::print(" {:<10} {:<14} {:<18.2f} {:<20.2f} {:.6f}\n", bytes, options.iterations, peak,
               rate * bytes / mebi, rate / 1e6);
  }
  fmt::print("{}", examples::rule);
  queue.post_send(0, source.local(0, 1), done);
  queue.expect();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Bandwidth of WRITEs between two nodes, in clocks of the simulated NICs", "weft_write_bw");
  PerfOptions options{.place = {}, .peer = {}, .bytes = 65536, .iterations = 100};
  options.add_to(app);
  return examples::run(app, argc, argv, [&] { options.peer ? run_client(options) : serve(options); });
}
