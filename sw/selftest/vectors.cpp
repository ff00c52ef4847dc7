// SPDX-License-Identifier: Apache-2.0
// weft-selftest-vectors: files of the self-test on an FPGA board, for units of these parameters
// (docs/selftest.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "common/fault.hpp"
#include "common/output_file.hpp"
#include "selftest/hex_file.hpp"
#include "selftest/lookup_test.hpp"
#include "selftest/receiver_test.hpp"

namespace {

using namespace weft;

struct Sizes {
  rdma::Params receiver;
  switch_lookup::Sizes lookup;
};

/// NAME=VALUE as parameters of selftest_top; those that the vectors do not depend on have no name here.
Sizes sizes_of(const std::vector<std::string>& parameters) {
  Sizes sizes;
  rdma::Params& r = sizes.receiver;
  const std::map<std::string, uint32_t*> known{{"N_RX_CTX", &r.n_rx_ctx},
                                               {"WINDOW", &r.window},
                                               {"PAYLOAD", &r.payload},
                                               {"PIDX_W", &r.pidx_bits},
                                               {"CID_W", &r.cid_bits},
                                               {"SID_W", &r.sid_bits},
                                               {"MSGID_W", &r.msgid_bits},
                                               {"NODE_W", &r.node_bits},
                                               {"ADDR_W", &r.addr_bits},
                                               {"N_REGIONS", &r.n_regions},
                                               {"N_SOURCES", &r.n_sources},
                                               {"N_PORTS", &sizes.lookup.ports},
                                               {"N_COLOURS", &sizes.lookup.colours},
                                               {"N_UNICAST", &sizes.lookup.unicast_entries}};
  for (const std::string& parameter : parameters) {
    const size_t equals = parameter.find('=');
    const auto found = known.find(parameter.substr(0, equals));
    const std::string value = equals == std::string::npos ? "" : parameter.substr(equals + 1);
    if (found == known.end() || value.empty() || value.size() > 8 ||
        value.find_first_not_of("0123456789") != std::string::npos)
      throw Fault(fmt::format("'{}': must be NAME=NUMBER with a parameter of selftest_top", parameter));
    *found->second = static_cast<uint32_t>(std::stoul(value));
  }
  return sizes;
}

struct Options {
  std::vector<std::string> parameters;
  std::string folder;
  uint32_t headers = 255, images = 1, lookups = 120, seed = 1;
};

void write_files(const Options& options) {
  const Sizes sizes = sizes_of(options.parameters);
  const auto receiver = selftest::make_receiver_test(sizes.receiver, options.headers, options.seed);
  const auto lookup = selftest::make_lookup_test(sizes.lookup, options.images, options.lookups, options.seed);
  NewFolder folder(options.folder);
  const std::filesystem::path path = options.folder;
  write_whole(std::array{OutputFile{path / "receiver.hex", selftest::hex_text(receiver.vectors)},
                         OutputFile{path / "receiver_expected.hex", selftest::hex_text(receiver.expected)},
                         OutputFile{path / "lookup.hex", selftest::hex_text(lookup.steps)},
                         OutputFile{path / "lookup_expected.hex", selftest::hex_text(lookup.expected)}});
  folder.keep();
  fmt::print("{}: {} headers, {} steps with {} lookups\n", options.folder, receiver.vectors.size(),
             lookup.steps.size(), lookup.expected.size() - 1);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes the files of the self-test on an FPGA board", "weft-selftest-vectors");
  Options options;
  weft::command_line::add_version(app);
  app.add_option("--out", options.folder, "Folder for the files")
      ->required()
      ->check(command_line::file_name());
  app.add_option("--headers", options.headers, "Vectors of the receiver")
      ->check(command_line::whole_number(1, 65000))
      ->capture_default_str();
  app.add_option("--images", options.images, "Table images of the lookup block")
      ->check(command_line::whole_number(1, 16))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups, "Lookups with each image")
      ->check(command_line::whole_number(1, 4000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Seed of all that is random")
      ->check(command_line::whole_number(0, 0xffffffff))
      ->capture_default_str();
  app.add_option("parameters", options.parameters, "Parameters of selftest_top, NAME=VALUE");
  try {
    app.parse(argc, argv);
    write_files(options);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "weft-selftest-vectors: {}\n", command_line::complaint(app, error));
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-selftest-vectors: {}\n", error.what());
  }
  return 2;
}
