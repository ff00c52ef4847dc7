// SPDX-License-Identifier: Apache-2.0
// weft-fuzz: plays courses that the fuzzer has written, step by step, or writes those it starts from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/command_line.hpp"
#include "common/output_file.hpp"
#include "draw.hpp"
#include "player.hpp"
#include "rdma/trace_format.hpp"
#include "seeds.hpp"
#include "trace/record.hpp"

namespace weft::fuzz {
namespace {

constexpr int exit_ok = 0, exit_failed = 1, exit_bad_input = 2;

class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<uint8_t> read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad() || bytes.empty()) throw BadInput(file + ": cannot be read, or is empty");
  return bytes;
}

PlayOptions verbose() {
  PlayOptions options;
  options.on_step = [](uint64_t cycle, const std::string& text) { fmt::print("{:>7} > {}\n", cycle, text); };
  options.on_receiver_event = [](uint64_t cycle, const rdma::RxEventView& view) {
    fmt::print("{:>7}     {}\n", cycle, trace::to_line(rdma::rx_record(cycle, view)));
  };
  options.on_sender_event = [](uint64_t cycle, const rdma::TxEventView& view) {
    fmt::print("{:>7}     {}\n", cycle, trace::to_line(rdma::tx_record(cycle, view)));
  };
  return options;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw BadInput(folder.string() + ": " + error.message());
}

/// @param traces folder for a folder of this file's name with its traces; empty: none
bool replay(const std::string& file, PlayOptions options, const std::string& traces) {
  if (!traces.empty()) {
    const auto folder = std::filesystem::path(traces) / std::filesystem::path(file).filename();
    make_folder(folder);
    options.traces = folder.string();
  }
  setenv("WEFT_TRACE_NAME", std::filesystem::path(file).filename().c_str(), 1);
  const Played played = play(parse(read_file(file)), options);
  const bool good = played.finding.empty();
  fmt::print("{}: {} cycles, {} events, {}\n", file, played.cycles, played.events,
             good ? "no difference" : "first difference:");
  if (!good) fmt::print("{}\n", played.finding);
  return good;
}

void write_course(const std::filesystem::path& file, const Course& course) {
  const std::vector<uint8_t> bytes = encode(course);
  write_whole(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// @param drawn how many more, drawn at random
void write_seeds(const std::string& folder, uint64_t drawn) {
  make_folder(folder);
  for (const Seed& seed : seeds()) write_course(std::filesystem::path(folder) / seed.name, seed.course);
  for (uint64_t number = 0; number < drawn; ++number) {
    write_course(std::filesystem::path(folder) / fmt::format("drawn_{:04}", number), draw_course(number));
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "Plays courses of the fuzzer on the engine beside the golden model, or writes those to start from",
      "weft-fuzz");
  app.footer("Exit code: 0 no difference, 1 a difference, 2 bad input");
  std::vector<std::string> files;
  std::string seed_folder, build, traces;
  uint64_t drawn = 0;
  bool quiet = false;
  app.add_option("FILE", files, "courses to play")->check(command_line::file_name());
  app.add_option("--seeds", seed_folder, "write the courses to start from into this folder")
      ->check(command_line::file_name());
  app.add_option("--drawn", drawn, "with --seeds: and so many more, drawn at random, always the same ones")
      ->check(command_line::whole_number());
  app.add_option("--build", build, "engine to play on instead of the course's own");
  app.add_option("--traces", traces, "folder for the traces of RTL and golden model, a folder each FILE")
      ->check(command_line::file_name());
  app.add_flag("--quiet", quiet, "only the result of each file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    throw BadInput(command_line::complaint(app, error));
  }
  if (files.empty() == seed_folder.empty()) throw BadInput("give courses to play, or --seeds FOLDER");
  if (!build.empty() && !tb::find_rdma_build(build))
    throw BadInput("--build " + build + ": not in this program");
  if (!seed_folder.empty()) {
    write_seeds(seed_folder, drawn);
    return exit_ok;
  }
  PlayOptions options = quiet ? PlayOptions{} : verbose();
  options.build = build;
  bool good = true;
  for (const std::string& file : files) good = replay(file, options, traces) && good;
  return good ? exit_ok : exit_failed;
}

}  // namespace
}  // namespace weft::fuzz

int main(int argc, char** argv) {
  try {
    return weft::fuzz::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-fuzz: {}\n", error.what());
    return weft::fuzz::exit_bad_input;
  }
}
