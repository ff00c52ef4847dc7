// SPDX-License-Identifier: Apache-2.0
// Wave files need the program weft-sim-waves.
#include "wave_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "rdma_run.hpp"
#include "rdma_system.hpp"

namespace weft::sim {

namespace {

[[noreturn]] void run_with_waves(std::vector<std::string> arguments) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (self.parent_path() / "weft-sim-waves").string();
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw BadInput(fmt::format("--waves: needs {}, which cannot be run: {}", program, std::strerror(errno)));
}

}  // namespace

void prepare_waves(const std::string& file, const std::vector<std::string>& arguments) {
  if (file.empty()) return;
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    throw BadInput(fmt::format("{}: is no regular file, waves need one", file));
  }
  if (!tb::waves_built_in()) run_with_waves(arguments);
  if (!std::ofstream(file))
    throw BadInput(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
}

}  // namespace weft::sim
