// SPDX-License-Identifier: Apache-2.0
// weft-sim rdma: one simulation with everything settable.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "common/command_line.hpp"
#include "other_program.hpp"
#include "rdma_run.hpp"
#include "report.hpp"
#include "traffic_plan.hpp"

namespace weft::sim {

namespace {

constexpr uint32_t max_nodes = 4096;  // more engines than anyone has memory for
constexpr uint64_t default_bytes = 65536;
constexpr uint64_t max_bytes = 1ull << 30;  // per node; each has them twice in its memory

struct Options {
  std::string scheme = "rxwindow";
  std::string pattern = "neighbour";
  std::vector<uint64_t> cut;
  std::vector<std::string> golden;
  std::string mode = "weft";
  std::string nodes = "2x1x1";
  std::string network = "ideal";
  bool adaptive = false;
  fabric::TorusConfig torus;
  std::string router_option;  ///< the first one given of those that need routers
  std::string file;
  std::optional<uint64_t> bytes;
  RunConfig run;
  std::string json;
};

std::vector<uint8_t> bytes_to_send(const Options& options) {
  if (options.file.empty()) return random_bytes(options.bytes.value_or(default_bytes), options.run.seed);
  std::vector<uint8_t> bytes = read_file(options.file);
  if (options.bytes && *options.bytes < bytes.size()) bytes.resize(*options.bytes);
  return bytes;
}

void tell_progress(const Progress& progress) {
  fmt::print(stderr, "\r  cycle {:>12}  {}/{} transfers  {:5.1f} % of the bytes", progress.cycle,
             progress.transfers_done, progress.transfers, 100 * progress.bytes_fraction);
  std::fflush(stderr);
}

/// What the network does not take is the user's.
RunResult checked_run(const RunConfig& config, const std::vector<uint8_t>& bytes,
                      const OnProgress& on_progress) {
  try {
    return run_rdma(config, bytes, on_progress);
  } catch (const std::invalid_argument& error) {
    throw BadInput(error.what());
  }
}

/// Routers, if there are to be any.
std::optional<fabric::TorusConfig> torus_of(const Options& options, const fabric::Sizes& sizes) {
  if (options.network == "ideal") {
    if (!options.router_option.empty())
      throw BadInput(fmt::format("{}: with --network torus or mesh only", options.router_option));
    return {};
  }
  if (options.network != "torus" && options.network != "mesh") {
    throw BadInput(fmt::format("--network {}: must be ideal, torus or mesh", options.network));
  }
  fabric::TorusConfig torus = options.torus;
  torus.sizes = sizes;
  torus.joined = options.network == "torus";
  if (options.adaptive) torus.algorithm = fabric::Algorithm::minimal_adaptive;
  check_routers(torus);
  return torus;
}

rdma::Scheme scheme_of(const std::string& name) {
  for (const auto scheme :
       {rdma::Scheme::receiver_window, rdma::Scheme::receiver_counter, rdma::Scheme::sender_window}) {
    if (name == scheme_name(scheme)) return scheme;
  }
  throw BadInput(fmt::format("--scheme {}: must be rxwindow, rxcounter or txwindow", name));
}

Pattern pattern_of(const std::string& name) {
  for (const auto pattern : {Pattern::neighbour, Pattern::incast, Pattern::uniform}) {
    if (name == pattern_name(pattern)) return pattern;
  }
  throw BadInput(fmt::format("--pattern {}: must be neighbour, incast or uniform", name));
}

CutTimes cut_of(const std::vector<uint64_t>& times) {
  if (times[0] >= times[1])
    throw BadInput(fmt::format("--cut {} {}: must end after it begins", times[0], times[1]));
  return {times[0], times[1]};
}

/// The link that --cut cuts.
void check_cut(const Options& options, const fabric::Sizes& sizes) {
  const bool ideal = options.network == "ideal";
  if (ideal ? options.run.nodes < 2 : sizes[0] < 2)
    throw BadInput(fmt::format("--cut: with --nodes {} there is no link from node 0 {}", options.nodes,
                               ideal ? "to node 1" : "towards higher x"));
}

/// Registers and sizes that nothing would look at.
void check_used(const CLI::App& command, const Options& options) {
  const auto refuse = [&](const char* option, const char* where, bool used) {
    if (command.count(option) > 0 && !used) throw BadInput(fmt::format("{}: {} only", option, where));
  };
  const RunConfig& run = options.run;
  const bool windowed = run.scheme == rdma::Scheme::receiver_window;
  refuse("--held", "with --reorder or --detour", command.count("--reorder") + command.count("--detour") > 0);
  refuse("--window", "with --scheme rxwindow or txwindow", run.scheme != rdma::Scheme::receiver_counter);
  refuse("--ahead", "with --scheme rxwindow and --mode weft", windowed && run.weft_mode);
  refuse("--adapt", "1 with --mode weft", run.weft_mode || run.adapt == 0);
  refuse("--floor", "with --mode weft and --adapt 1", run.weft_mode && run.adapt != 0);
}

/// What has nothing to show of nodes without RTL.
void check_golden(const RunConfig& run) {
  const bool all = run.golden.size() == run.nodes;
  if (all && !run.waves.empty()) throw BadInput("--waves: golden nodes have no signals");
  if (all && !run.trace_dir.empty()) throw BadInput("--trace: golden nodes write no events");
}

int run(Options& options, const CLI::App& command, const std::vector<std::string>& arguments) {
  options.run.scheme = scheme_of(options.scheme);
  options.run.pattern = pattern_of(options.pattern);
  if (!options.cut.empty()) options.run.cut = cut_of(options.cut);
  if (options.mode != "weft" && options.mode != "paper") {
    throw BadInput(fmt::format("--mode {}: must be weft or paper", options.mode));
  }
  options.run.weft_mode = options.mode == "weft";
  check_used(command, options);
  const auto sizes = parse_sizes(options.nodes, max_nodes);
  options.run.nodes = sizes[0] * sizes[1] * sizes[2];
  options.run.golden = golden_of(options.golden, options.run.nodes, "node");
  check_golden(options.run);
  options.run.torus = torus_of(options, sizes);
  if (options.run.cut) check_cut(options, sizes);
  if (options.run.threads > 1 && !options.run.waves.empty()) throw BadInput("--waves: with --threads 1 only");
  if (options.run.bare) {
    if (!options.run.waves.empty() || !options.run.trace_dir.empty())
      throw BadInput("--bare: without --trace and --waves only");
    prepare_bare(arguments);
  }
  prepare_waves(options.run.waves, arguments);
  const std::vector<uint8_t> bytes = bytes_to_send(options);
  const bool terminal = isatty(STDERR_FILENO);
  const RunResult result = checked_run(options.run, bytes, terminal ? tell_progress : OnProgress{});
  if (terminal) fmt::print(stderr, "\r{:79}\r", "");
  if (!options.json.empty()) write_json(options.json, to_json(options.run, result));
  fmt::print("{}", table(options.run, result));
  if (result.ok()) return exit_ok;
  std::fflush(stdout);
  if (!result.finding.empty()) fmt::print(stderr, "{}\n", result.finding);
  fmt::print(stderr, "{}\n", reproduction(arguments));
  return exit_failed;
}

}  // namespace

std::set<uint32_t> golden_of(const std::vector<std::string>& chosen, uint32_t count,
                             const std::string& what) {
  std::set<uint32_t> golden;
  for (const std::string& text : command_line::items_of(chosen)) {
    uint32_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool parses = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
    if (text == "all") {
      for (uint32_t i = 0; i < count; ++i) golden.insert(i);
    } else if (parses && number < count) {
      golden.insert(number);
    } else {
      throw BadInput(fmt::format("--golden {}: must be all, or a {} from 0 to {}", text, what, count - 1));
    }
  }
  return golden;
}

std::array<uint32_t, 3> parse_sizes(const std::string& text, uint32_t most) {
  std::array<uint32_t, 3> sizes{};
  uint64_t product = 1;
  const char* at = text.data();
  const char* end = at + text.size();
  for (uint32_t& size : sizes) {
    const auto parsed = std::from_chars(at, end, size);
    const bool separated =
        &size == &sizes.back() ? parsed.ptr == end : parsed.ptr != end && *parsed.ptr == 'x';
    if (parsed.ec != std::errc() || size == 0 || size > most || !separated) {
      throw BadInput(fmt::format("--nodes {}: must be XxYxZ, 1 to {} nodes in all", text, most));
    }
    product *= size;
    at = parsed.ptr + 1;
  }
  if (product > most) throw BadInput(fmt::format("--nodes {}: more than {} nodes", text, most));
  return sizes;
}

std::vector<uint8_t> random_bytes(uint64_t count, uint64_t seed) {
  if (count > max_bytes) throw BadInput(fmt::format("--bytes {}: more than {}", count, max_bytes));
  RandomStream random(seed, 0x62797465);
  std::vector<uint8_t> bytes(count);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random.next());
  return bytes;
}

std::vector<uint8_t> read_file(const std::string& file) {
  if (std::filesystem::is_directory(file)) throw BadInput(fmt::format("{}: is a directory", file));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw BadInput(fmt::format("{}: {}", file, std::strerror(errno)));
  std::vector<uint8_t> bytes;
  std::vector<char> block(1 << 20);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    if (bytes.size() > max_bytes) throw BadInput(fmt::format("{}: more than {} bytes", file, max_bytes));
    bytes.insert(bytes.end(), block.data(), block.data() + in.gcount());
  }
  if (in.bad()) throw BadInput(fmt::format("{}: cannot be read", file));
  return bytes;
}

Command add_rdma_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("rdma", "Send a file through RDMA engines in lockstep with the golden model");
  using command_line::file_name, command_line::whole_number;
  const CLI::Validator probability = command_line::within(0, 1);
  const CLI::Validator count = whole_number();
  RunConfig& run_config = options->run;
  command
      ->add_option("--scheme", options->scheme,
                   "rxwindow, or as in older engines rxcounter: packets are counted, any loss resends all; "
                   "txwindow: the sender keeps packets until each is answered")
      ->capture_default_str();
  command
      ->add_option(
          "--mode", options->mode,
          "weft or paper: what the receiver does about what is missing; of older schemes only whether "
          "timeouts back off, which they do in weft")
      ->capture_default_str();
  command->add_option("--nodes", options->nodes, "XxYxZ")->capture_default_str();
  command
      ->add_option(
          "--pattern", options->pattern,
          "neighbour: node i sends to node i + 1; incast: all send to node 0; uniform: each transfer goes "
          "to a random node")
      ->capture_default_str();
  command
      ->add_option(
          "--cut", options->cut,
          "cycles after the first post from and until which a link is cut: from node 0 to node 1, of "
          "routers from node 0 towards higher x")
      ->expected(2)
      ->check(whole_number(0, 1'000'000'000'000));
  command
      ->add_option(
          "--network", options->network,
          "ideal; torus or mesh: a router at each node, with the faults below in front of the network")
      ->capture_default_str();
  add_router_options(*command, options->adaptive, options->torus);
  command
      ->add_option("--link-loss", options->torus.link_loss,
                   "torus or mesh: probability that a packet is lost on a link")
      ->check(probability)
      ->capture_default_str();
  command->add_option("--threads", run_config.threads, "that step the nodes; same result")
      ->check(whole_number(1, 1024))
      ->capture_default_str();
  command->add_flag("--bare", run_config.bare,
                    "engines alone, many times as fast: no event is compared, only the bytes at the end");
  command->add_option(
      "--golden", options->golden,
      "nodes that are the golden model itself instead of RTL: 0,2 or all; their events are not compared");
  command->add_option("--file", options->file, "send this file; an empty one needs no transfer")
      ->check(file_name());
  command
      ->add_option("--bytes", options->bytes,
                   "without --file: so many random bytes (65536); with it: its first bytes")
      ->check(count);
  command
      ->add_option("--transfers", run_config.transfers,
                   "cut it into so many concurrent transfers, of a packet at least")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command->add_option("--loss", run_config.faults.loss, "probability that a packet is lost")
      ->check(probability)
      ->capture_default_str();
  command->add_option("--duplicate", run_config.faults.duplicate, "probability that a packet comes twice")
      ->check(probability)
      ->capture_default_str();
  command->add_option("--corrupt", run_config.faults.corrupt, "probability that a packet has flipped bits")
      ->check(probability)
      ->capture_default_str();
  command
      ->add_option("--reorder", run_config.faults.reorder_degree,
                   "a packet is overtaken by up to so many of its transfer")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--held", run_config.faults.reorder,
                   "with --reorder or --detour: probability that a packet is held back")
      ->check(probability)
      ->capture_default_str();
  command
      ->add_option("--detour", run_config.faults.detour,
                   "instead of --reorder: a packet that is held back takes up to so many cycles more")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str()
      ->excludes("--reorder");
  command->add_option("--delay", run_config.faults.delay, "cycles from node to node")
      ->check(whole_number(1, 10'000'000))
      ->capture_default_str();
  command->add_option("--jitter", run_config.faults.jitter, "up to so many cycles more")
      ->check(whole_number(0, 10'000'000))
      ->capture_default_str();
  command->add_option("--memory-latency", run_config.memory_latency, "cycles until host memory answers")
      ->check(whole_number(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--pause", run_config.pause, "probability of a pause, per stream and cycle")
      ->check(command_line::within(0, 0.99))
      ->capture_default_str();
  command->add_option("--window", run_config.window, "bits of the receiver's window")
      ->check(whole_number(1, 65535))
      ->capture_default_str();
  command->add_option("--payload", run_config.payload, "bytes of a full packet")
      ->check(whole_number(1, 65535))
      ->capture_default_str();
  command
      ->add_option(
          "--timeout", run_config.timeout,
          "cycles until lost packets are asked for again, rounded up to ticks of 16 or a 64th of them; 0: "
          "from delay, jitter and reordering")
      ->check(whole_number(0, 1'000'000))
      ->capture_default_str();
  command
      ->add_option("--floor", run_config.floor,
                   "cycles, register TIMEOUT_FLOOR; 0: from delay, jitter, reordering and transfers")
      ->check(whole_number(0, 1'000'000));
  command->add_option("--ahead", run_config.ahead, "weft mode: register RX_AHEAD; without it from reordering")
      ->check(whole_number(0, 255));
  command->add_option("--adapt", run_config.adapt, "register ADAPT: 1 timeouts as measured, 0 as set")
      ->check(whole_number(0, 1))
      ->capture_default_str();
  command->add_option("--seed", run_config.seed, "same seed, same run")->check(count)->capture_default_str();
  command
      ->add_option("--trace", run_config.trace_dir,
                   "folder for the event traces of RTL and golden model; none of --golden nodes")
      ->check(file_name());
  command->add_option("--waves", run_config.waves, "FST wave file")->check(file_name());
  command->add_option("--json", options->json, "result as JSON")->check(command_line::result_file());
  command
      ->add_option("--max-cycles", run_config.max_cycles,
                   "give up in this cycle, start included; 0: far beyond what the bytes should take")
      ->check(count)
      ->capture_default_str();
  return [options, command](const std::vector<std::string>& arguments) {
    for (const char* name : {"--adaptive", "--channels", "--buffer", "--link", "--link-loss"}) {
      if (options->router_option.empty() && command->count(name) > 0) options->router_option = name;
    }
    return run(*options, *command, arguments);
  };
}

}  // namespace weft::sim
