// SPDX-License-Identifier: Apache-2.0
// What weft_write_bw and weft_write_lat share: options of ib_write_bw and ib_write_lat, sizes, results as
// JSON. Times are clocks of the simulated NIC at a frequency that is given; software takes none of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/output_file.hpp"
#include "program.hpp"

namespace weft::examples {

struct PerfOptions {
  PerfOptions(uint32_t size, uint32_t count) : bytes(size), iterations(count) {}

  Place place;
  std::optional<uint32_t> peer;  ///< none: the server
  uint32_t bytes;
  uint32_t iterations;
  bool all = false;
  std::optional<double> seconds;  ///< of simulated time, instead of iterations
  double mhz = 250;
  std::string output;  ///< the one result that is printed; empty: the table
  bool json = false;
  std::string json_file = "perftest_out.json";

  static constexpr uint32_t largest = 1 << 20;

  /// @param outputs what --output may name
  void add_to(CLI::App& app, const std::vector<std::string>& outputs) {
    place.add_to(app);
    app.add_option("server", peer, "Node of the server; without it this is the server")
        ->check(command_line::whole_number(0, 65535));
    app.add_option("-s,--size", bytes, "Bytes of a message")
        ->check(command_line::whole_number(1, largest))
        ->capture_default_str();
    app.add_option("-n,--iters", iterations, "Messages of a size")
        ->check(command_line::whole_number(5, 1'000'000))
        ->capture_default_str();
    CLI::Option* const every = app.add_flag("-a,--all", all, "Sizes from 2 bytes to 1 MiB");
    app.add_option("-D,--duration", seconds, "Seconds of simulated time, in place of a number of messages")
        ->check(command_line::within(1e-6, 1000))
        ->excludes(every);
    app.add_option("--output", output, "Print this result alone")->check(CLI::IsMember(outputs));
    app.add_flag("--out_json", json, "Results as JSON, too");
    app.add_option("--out_json_file", json_file, "Where to; with --out_json")->capture_default_str();
    app.add_flag_callback(
        "-F,--CPU-freq", [] {}, "Nothing: no clock of the host counts");
    app.add_flag_callback(
        "-V", [&app] { throw CLI::CallForVersion(app.version(), 0); }, "As --version");
    app.add_option("--clock", mhz, "MHz at which the NIC is taken to run")
        ->check(command_line::within(1, 100'000))
        ->capture_default_str();
  }
  std::vector<uint32_t> sizes() const {
    if (!all) return {bytes};
    std::vector<uint32_t> sizes;
    for (uint32_t size = 2; size <= largest; size *= 2) sizes.push_back(size);
    return sizes;
  }
  /// What client and server have to be told alike.
  std::string terms() const {
    return (all ? std::string("-a") : fmt::format("-s {}", bytes)) +
           (seconds ? fmt::format(" -D {}", *seconds) : fmt::format(" -n {}", iterations));
  }
  double microseconds(double clocks) const { return clocks / mhz; }
  /// Whether one more message is due.
  bool goes_on(size_t messages, uint64_t began, verbs::Context& context) const {
    return seconds ? !is_over(began, context.clock()) : messages < iterations;
  }
  /// Of a measurement by time.
  bool is_over(uint64_t began, uint64_t now) const {
    return seconds && microseconds(static_cast<double>(now - began)) >= *seconds * 1e6;
  }
  /// @param results an object for each size
  void write_json(const nlohmann::ordered_json& results) const {
    if (!json) return;
    try {
      write_whole(json_file, nlohmann::ordered_json{{"results", results}}.dump(2) + "\n");
    } catch (const std::runtime_error& why) {
      throw Fault(why.what());
    }
  }
};

/// How client and server meet: each sends the other its terms, which have to be the same. Throws Fault, at
/// both, if they are not.
class Meeting {
 public:
  Meeting(verbs::Context& context, const verbs::ProtectionDomain& domain, verbs::Queue& queue,
          std::string terms)
      : context_(context),
        queue_(queue),
        terms_(std::move(terms)),
        mine_(domain, most, verbs::access_source),
        other_(domain, most, verbs::access_buffer) {
    std::ranges::fill(mine_.bytes(), 0);  // as memory is given, others' bytes are in it
    std::ranges::copy(terms_, mine_.bytes().begin());
    queue_.post_recv(0, other_.local(0, most));
  }
  /// @return its node
  uint32_t await_client(const std::string& program) {
    context_.publish(program + " server queue", queue_.remote());
    const uint32_t node = queue_.expect(1'000'000'000'000).node;
    queue_.post_send(0, mine_.local(0, most), context_.find_queue(node, program + " client queue"));
    const auto sent = queue_.wait(verbs::Context::patience);
    compare(node);  // first, for a client that finds a difference goes
    if (!sent || sent->status != 0) throw Fault("the client is gone");
    return node;
  }
  /// @return its queue
  verbs::RemoteQueue find_server(uint32_t node, const std::string& program) {
    context_.publish(program + " client queue", queue_.remote());
    const verbs::RemoteQueue server = context_.find_queue(node, program + " server queue");
    queue_.post_send(0, mine_.local(0, most), server);
    queue_.expect();
    queue_.expect();
    compare(node);
    return server;
  }

 private:
  static constexpr uint32_t most = 64;  // bytes

  void compare(uint32_t node) {
    const auto bytes = other_.bytes();
    const std::string theirs(bytes.begin(), std::ranges::find(bytes, 0));
    if (theirs != terms_)
      throw Fault(
          fmt::format("both sides need the same options: {} here, {} at node {}", terms_, theirs, node));
  }

  verbs::Context& context_;
  verbs::Queue& queue_;
  std::string terms_;
  verbs::MemoryRegion mine_, other_;
};

/// Says on stderr, at its end, if clocks have passed meanwhile that no application should have taken.
class ClockWatch {
 public:
  ClockWatch(std::string program, verbs::Context& context)
      : program_(std::move(program)), context_(context), before_(context.not_waited()) {}
  void tell() const {
    const uint64_t times = context_.not_waited() - before_;
    if (times == 0) return;
    fmt::print(stderr, "{}: the node did not wait for an application {} times: times are too long\n",
               program_, times);
  }

 private:
  std::string program_;
  verbs::Context& context_;
  uint64_t before_;
};

/// When requests were posted and completed, in clocks, by their order.
struct Times {
  std::vector<uint64_t> posted, completed;
};

/// The fewest clocks a request that any run of consecutive requests took, from the first one's post to the
/// last one's completion: what ib_write_bw takes its peak from.
inline double fewest_clocks(const Times& times) {
  double fewest = std::numeric_limits<double>::infinity();
  for (size_t first = 0; first < times.posted.size(); ++first) {
    for (size_t last = first; last < times.completed.size(); ++last) {
      const auto clocks = static_cast<double>(times.completed[last] - times.posted[first]);
      fewest = std::min(fewest, clocks / static_cast<double>(last - first + 1));
    }
  }
  return fewest;
}

constexpr const char* rule =
    "---------------------------------------------------------------------------------------\n";

}  // namespace weft::examples
