// SPDX-License-Identifier: Apache-2.0
// Goes on as the program that has what this one lacks.
#include "other_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench_run.hpp"
#include "rdma_model.hpp"
#include "rdma_run.hpp"
#include "soak_plan.hpp"
#include "wave_file.hpp"

namespace weft::sim {

namespace {

/// @param wanted what only that program has, for the message
[[noreturn]] void go_on_as(const std::string& name, const std::string& wanted,
                           std::vector<std::string> arguments) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / name).string();
  const std::string build = self.parent_path().parent_path().string();
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw BadInput(
      fmt::format("{}: needs {}, which cannot be run: {}; to build it: cmake --build {} --target {}", wanted,
                  program, std::strerror(errno), build, name));
}

}  // namespace

void prepare_waves(const std::string& file, const std::vector<std::string>& arguments) {
  if (file.empty()) return;
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    throw BadInput(fmt::format("{}: is no regular file, waves need one", file));
  }
  if (!tb::waves_built_in()) go_on_as("weft-sim-waves", "--waves", arguments);
  if (!std::ofstream(file))
    throw BadInput(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
}

void prepare_soak(const std::string& build, const std::vector<std::string>& arguments) {
  if (has_soak_engines() || (!build.empty() && tb::find_rdma_build(build))) return;
  go_on_as("weft-sim-soak", "soak", arguments);
}

void prepare_bench(const std::vector<std::string>& arguments) {
  if (!has_bench_engines()) go_on_as("weft-sim-bench", "bench", arguments);
}

void prepare_bare(const std::vector<std::string>& arguments) {
  if (tb::rdma_builds().front().asserted) go_on_as("weft-sim-bare", "--bare", arguments);
}

}  // namespace weft::sim
