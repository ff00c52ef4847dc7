// SPDX-License-Identifier: Apache-2.0
// weft_write_bw: bandwidth of WRITEs, with the options and the table of ib_write_bw.
#include "perf.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;
using examples::PerfOptions;

constexpr uint32_t at_once = 64;  // the node's quota of a queue
constexpr double no_peak = 0;     // as ib_write_bw --noPeak has it

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

/// Clocks from the first post to the last completion.
double measure(const PerfOptions& options, Context& context, Queue& queue, const LocalBytes& from,
               const RemoteBytes& to) {
  uint32_t posted = 0;
  const uint64_t began = context.clock();
  for (uint32_t done = 0; done < options.iterations; ++done) {
    for (; posted < options.iterations && posted - done < at_once; ++posted)
      queue.post_write(posted, from, to);
    queue.expect();
  }
  return static_cast<double>(context.clock() - began);
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
    const double clocks = measure(options, context, queue, source.local(0, bytes), target);
    const double seconds = options.microseconds(clocks) * 1e-6;
    const double rate = options.iterations / seconds;
    constexpr double mebi = 1 << 20;  // as ib_write_bw counts MB
    fmt::print(" {:<10} {:<14} {:<18.2f} {:<20.2f} {:.6f}\n", bytes, options.iterations, no_peak,
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
