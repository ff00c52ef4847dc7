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
  using PerfOptions::PerfOptions;

  uint32_t depth = 64;  // the node's quota of a queue
  bool no_peak = false;
  bool gigabits = false;
  bool warm_up = false;
  double least_bandwidth = 0;  // in the unit of the table
  double least_rate = 0;       // million messages a second
};

struct Result {
  uint32_t bytes;
  size_t messages;
  double peak, average;  // in the unit of the table
  double rate;           // million messages a second
};

/// Is written to until the client says that it has done.
void serve(const Options& options) {
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const MemoryRegion target(domain, PerfOptions::largest, access_remote_write);
  const MemoryRegion word(domain, 1, access_buffer);
  Queue queue(domain);
  examples::Meeting meeting(context, domain, queue, options.terms());
  queue.post_recv(0, word.local(0, 1));
  context.publish("bw target", target.remote());
  meeting.await_client("bw");
  queue.expect(1'000'000'000'000);
}

/// All that is posted is completed.
Times measure(const Options& options, Context& context, Queue& queue, const LocalBytes& from,
              const RemoteBytes& to) {
  Times times;
  const uint64_t began = context.clock();
  while (true) {
    if (times.posted.size() - times.completed.size() < options.depth &&
        options.goes_on(times.posted.size(), began, context)) {
      times.posted.push_back(context.clock());
      queue.post_write(times.posted.size(), from, to);
    } else if (times.completed.size() < times.posted.size()) {
      queue.expect();
      times.completed.push_back(context.clock());
    } else {
      break;
    }
  }
  // What ends behind the time does not count, but one message has to.
  while (times.completed.size() > 1 && options.is_over(began, times.completed.back()))
    times.completed.pop_back();
  return times;
}

void warm_up(const Options& options, Queue& queue, const LocalBytes& from, const RemoteBytes& to) {
  for (uint32_t i = 0; i < options.depth; ++i) queue.post_write(i, from, to);
  for (uint32_t i = 0; i < options.depth; ++i) queue.expect();
}

Result result_of(const Options& options, uint32_t bytes, const Times& times) {
  const auto messages_a_second = [&](double clocks) { return 1e6 / options.microseconds(clocks); };
  const double unit = options.gigabits ? 1e9 / 8 : 1 << 20;  // ib_write_bw's MB is 2^20 bytes
  const double average =
      messages_a_second(static_cast<double>(times.completed.back() - times.posted.front()) /
                        static_cast<double>(times.completed.size()));
  const double peak = options.no_peak ? 0 : messages_a_second(fewest_clocks(times));
  return {bytes, times.completed.size(), peak * bytes / unit, average * bytes / unit, average / 1e6};
}

void print(const Options& options, const Result& result) {
  if (options.output == "bandwidth")
    fmt::print("{:f}\n", result.average);
  else if (options.output == "message_rate")
    fmt::print("{:f}\n", result.rate);
  else  // to the blank as in ib_write_bw
    fmt::print(" {:<7}    {:<10}       {:<7.2f}            {:<7.2f}\t\t   {:<7.6f}\n", result.bytes,
               result.messages, result.peak, result.average, result.rate);
}

nlohmann::ordered_json json_of(const Result& result) {
  return {{"MsgSize", result.bytes},
          {"n_iterations", result.messages},
          {"BW_peak", result.peak},
          {"BW_average", result.average},
          {"MsgRate", result.rate}};
}

/// @return whether it is as much as was demanded
bool is_enough(const Options& options, const Result& result) {
  if (result.average < options.least_bandwidth) fmt::print("Error: BW result is below bw limit\n");
  if (result.rate < options.least_rate) fmt::print("Error: Msg rate  is below msg_rate limit\n");
  return result.average >= options.least_bandwidth && result.rate >= options.least_rate;
}

/// @return whether all results are enough
bool run_client(Options options) {
  if (options.seconds || options.iterations > most_for_a_peak) {
    if (!options.seconds && !options.no_peak && options.output.empty())
      fmt::print(" WARNING: BW peak won't be measured in this run.\n");
    options.no_peak = true;
  }
  Context context(options.place.attach());
  const ProtectionDomain domain(context);
  const MemoryRegion source(domain, PerfOptions::largest, access_source);
  Queue queue(domain);
  examples::Meeting meeting(context, domain, queue, options.terms());
  const RemoteQueue done = meeting.find_server(*options.peer, "bw");
  const RemoteBytes target = context.find_memory(*options.peer, "bw target");
  const char* const unit = options.gigabits ? "Gb" : "MB";
  if (options.output.empty()) {
    fmt::print("{0}                    RDMA_Write BW Test\n{0}", examples::rule);
    fmt::print(" #bytes     #iterations    BW peak[{0}/sec]    BW average[{0}/sec]   MsgRate[Mpps]\n", unit);
  }
  const examples::ClockWatch watch("weft_write_bw", context);
  bool enough = true;
  auto results = nlohmann::ordered_json::array();
  for (const uint32_t bytes : options.sizes()) {
    const LocalBytes from = source.local(0, bytes);
    if (options.warm_up) warm_up(options, queue, from, target);
    const Result result = result_of(options, bytes, measure(options, context, queue, from, target));
    print(options, result);
    results.push_back(json_of(result));
    enough = is_enough(options, result) && enough;
  }
  watch.tell();
  if (options.output.empty()) fmt::print("{}", examples::rule);
  queue.post_send(0, source.local(0, 1), done);
  queue.expect();
  options.write_json(results);
  return enough;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Bandwidth of WRITEs between two nodes, in clocks of the simulated NICs", "weft_write_bw");
  Options options(65536, 100);
  options.add_to(app, {"bandwidth", "message_rate"});
  app.add_option("-t,--tx-depth", options.depth, "Messages posted at once")
      ->check(command_line::whole_number(1, 128))
      ->capture_default_str();
  app.add_flag("-N,--noPeak", options.no_peak, "No peak: 0.00 in its column");
  app.add_flag("--report_gbits", options.gigabits, "Gb/sec in place of MB/sec");
  app.add_flag("--perform_warm_up", options.warm_up, "As many messages as --tx-depth before each size");
  app.add_option("-w,--limit_bw", options.least_bandwidth, "Exit code 1 if the average is below this")
      ->check(command_line::within(0, 1e9));
  app.add_option("-y,--limit_msgrate", options.least_rate, "Exit code 1 if fewer Mpps than this")
      ->check(command_line::within(0, 1e9));
  bool enough = true;
  const int code = examples::run(app, argc, argv, [&] {
    if (options.peer)
      enough = run_client(options);
    else
      serve(options);
  });
  return code == 0 && !enough ? 1 : code;
}
