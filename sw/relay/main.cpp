// SPDX-License-Identifier: Apache-2.0
// weft-relay: an image for this node from the one before it in its chain, for the one behind it at the same
// time.
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <set>
#include <thread>

#include "boot/addresses.hpp"
#include "boot/chain_file.hpp"
#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "relay/fetch.hpp"
#include "relay/serve.hpp"

namespace {

using namespace weft;
using namespace weft::relay;

enum ExitCode { ok = 0, failed = 1, bad_input = 2 };

struct Options {
  std::vector<std::string> chain;
  std::string self, output;
  double linger_seconds = 60;
  Patience patience;
};

/// Of all interfaces of this machine.
std::set<uint32_t> own_addresses() {
  ifaddrs* all = nullptr;
  std::set<uint32_t> found;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_INET) continue;
    found.insert(ntohl(reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr.s_addr));
  }
  freeifaddrs(all);
  return found;
}

uint32_t self_in(const boot::ChainFile& chain, const Options& options) {
  if (!options.self.empty()) return boot::address_of(options.self);
  const auto own = own_addresses();
  for (const uint32_t node : chain.nodes)
    if (own.contains(node)) return node;
  throw Fault("this machine has none of the addresses of the chain's nodes");
}

boot::ChainFile chain_of(const Options& options) {
  if (options.chain.size() == 1 && !options.chain[0].starts_with("http://"))
    return boot::read_chain(options.chain[0]);
  std::vector<Source> sources;
  for (const std::string& url : options.chain) sources.push_back(source_of(url));
  return boot::chain_from(fetch_text(sources, options.patience), options.chain[0]);
}

std::vector<Source> sources_of(const boot::ChainFile& chain, uint32_t self) {
  std::vector<Source> sources;
  for (const uint32_t node : parents_in(chain, self)) sources.push_back({node, chain.port, chain.image});
  for (const uint32_t server : chain.servers) sources.push_back({server, 80, chain.image});
  return sources;
}

void print(const GrowingFile& image, const std::string& name, const std::vector<Share>& shares,
           double seconds) {
  fmt::print("{}: {} bytes in {:.2f} s", name, image.bytes(), seconds);
  for (const Share& share : shares) fmt::print(", {} from {}", share.bytes, share.source.text());
  fmt::print("\n");
  std::fflush(stdout);
}

/// Returns when nobody reads any more. @param done where a byte goes once the image is there
void relay(const std::vector<Source>& sources, const Options& options, GrowingFile& image, Server& server,
           int done) {
  std::thread([&server] { server.run(); }).detach();
  const auto start = std::chrono::steady_clock::now();
  const auto shares = fetch(sources, options.patience, image);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print(image, sources.front().path, shares, seconds.count());
  if (write(done, "", 1) != 1) throw Fault("nobody waits for the image any more");
  close(done);
  server.wait_until_idle(options.linger_seconds);
}

/// Whether the child said that the image is there.
int wait_for(pid_t child, int said) {
  char byte = 0;
  if (read(said, &byte, 1) == 1) return ok;
  int status = 0;
  waitpid(child, &status, 0);
  return failed;
}

/// Returns when the image is there; what passes it on goes on as a process of its own.
int run(const Options& options) {
  const boot::ChainFile chain = chain_of(options);
  const auto sources = sources_of(chain, self_in(chain, options));
  GrowingFile image(options.output);
  Server server(chain.port, chain.image, image);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Fault("no pipe can be had");
  const pid_t child = fork();
  if (child < 0) throw Fault("no process can be had");
  close(ends[child > 0 ? 1 : 0]);
  if (child > 0) return wait_for(child, ends[0]);
  int code = ok;
  try {
    relay(sources, options, image, server, ends[1]);
  } catch (const Fault& fault) {
    fmt::print(stderr, "weft-relay: {}\n", fault.what());
    code = failed;
  }
  std::_Exit(code);  // threads still use what would be torn down
}

void add_options(CLI::App& app, Options& options) {
  const auto seconds = command_line::within(0.01, 1e6);
  app.add_option("--chain", options.chain,
                 "file of the chain: a path, or http://ADDRESS/PATH; several with commas")
      ->delimiter(',')
      ->required();
  app.add_option("--output", options.output, "where the image goes; FILE.part until it is complete")
      ->type_name("FILE")
      ->required()
      ->check(command_line::result_file());
  app.add_option("--self", options.self, "address of this node in the chain (found)");
  app.add_option("--silence", options.patience.silence_seconds,
                 "seconds without a byte, after which a source is asked whether it is there")
      ->check(seconds)
      ->capture_default_str();
  app.add_option("--wait", options.patience.start_seconds, "seconds for the node before this one to come up")
      ->check(command_line::within(0, 1e6))
      ->capture_default_str();
  app.add_option("--turns", options.patience.turns, "through all sources, before none has the image")
      ->check(command_line::whole_number(1, 1000000))
      ->capture_default_str();
  app.add_option("--linger", options.linger_seconds, "seconds without a reader, after which passing on ends")
      ->check(seconds)
      ->capture_default_str();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    CLI::App app("weft-relay: a node's image from its chain, and on to the next node (docs/boot.md)",
                 "weft-relay");
    command_line::add_version(app);
    app.footer("Exit codes: 0 the image is there, 1 it cannot be had, 2 bad input.");
    add_options(app, options);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) return app.exit(error);
      std::cerr << "weft-relay: " << command_line::complaint(app, error) << '\n';
      return bad_input;
    }
    return run(options);
  } catch (const NotHad& fault) {
    std::cerr << "weft-relay: " << fault.what() << '\n';
    return failed;
  } catch (const std::exception& error) {
    std::cerr << "weft-relay: " << error.what() << '\n';
    return bad_input;
  }
}
