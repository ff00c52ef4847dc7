// SPDX-License-Identifier: Apache-2.0
// weft_write_bw: bandwidth of WRITEs, with the options and the table of ib_write_bw.
#include "perf.hpp"

namespace {

using namespace weft;
using namespace weft::verbs;
using examples::fewest_clocks;
using examples::PerfOptions;
using examples::Times;

constexpr uint32_t most_for_a_peak = 20'000;  // messages; its pairs are their square

struct Options : PerfOptions {
  uint32_t depth = 64;  // the node's quota of a queue
  bool no_peak = false;
  bool gigabits = false;
};

/// Is written to until the client says that it has done.
void serve(const Options& options) {
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

Times measure(const Options& options, Context& context, Queue& queue, const LocalBytes& from,
              const RemoteBytes& to) {
  Times times;
  while (times.completed.size() < options.iterations) {
    while (times.posted.size() < options.iterations &&
           times.posted.size() - times.completed.size() < options.depth) {
      times.posted.push_back(context.clock());
      queue.post_write(times.posted.size(), from, to);
    }
    queue.expect();
    times.completed.push_back(context.clock());
  }
  return times;
}

void print_row(const Options& options, uint32_t bytes, const Times& times) {
  const auto messages_a_second = [&](double clocks) { return 1e6 / options.microseconds(clocks); };
  const double unit = options.gigabits ? 1e9 / 8 : 1 << 20;  // ib_write_bw's MB is 2^20 bytes
  const double average =
      messages_a_second(static_cast<double>(times.completed.back() - times.posted.front()) /
                        static_cast<double>(times.completed.size()));
  const double peak = options.no_peak ? 0 : messages_a_second(fewest_clocks(times));
  fmt::print(" {:<10} {:<14} {:<18.2f} {:<20.2f} {:.6f}\n", bytes, times.completed.size(),
             peak * bytes / unit, average * bytes / unit, average / 1e6);
}

void run_client(Options options) {
  if (options.iterations > most_for_a_peak) {
    fmt::print(" WARNING: BW peak won't be measured in this run.\n");
    options.no_peak = true;
  }
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const MemoryRegion source(domain, PerfOptions::largest, access_source);
  Queue queue(domain);
  const RemoteBytes target = context.find_memory(*options.peer, "bw target");
  const RemoteQueue done = context.find_queue(*options.peer, "bw done");
  const char* const unit = options.gigabits ? "Gb" : "MB";
  fmt::print("{0}                    RDMA_Write BW Test\n{0}", examples::rule);
  fmt::print(" #bytes     #iterations    BW peak[{0}/sec]    BW average[{0}/sec]   MsgRate[Mpps]\n", unit);
  for (const uint32_t bytes : options.sizes())
    print_row(options, bytes, measure(options, context, queue, source.local(0, bytes), target));
  fmt::print("{}", examples::rule);
  queue.post_send(0, source.local(0, 1), done);
  queue.expect();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Bandwidth of WRITEs between two nodes, in clocks of the simulated NICs", "weft_write_bw");
  Options options{{.place = {}, .peer = {}, .bytes = 65536, .iterations = 100}};
  options.add_to(app);
  app.add_option("-t,--tx-depth", options.depth, "Messages posted at once")
      ->check(command_line::whole_number(1, 128))
      ->capture_default_str();
  app.add_flag("-N,--noPeak", options.no_peak, "No peak: 0.00 in its column");
  app.add_flag("--report_gbits", options.gigabits, "Gb/sec in place of MB/sec");
  return examples::run(app, argc, argv, [&] { options.peer ? run_client(options) : serve(options); });
}
