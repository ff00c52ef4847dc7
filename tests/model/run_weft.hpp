// SPDX-License-Identifier: Apache-2.0
// The program `weft` as its users call it.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <string>

namespace weft::test {

struct Finished {
  int exit_code = -1;
  std::string output;  ///< both streams
};

/// Runs a command of the shell.
inline Finished run_command(const std::string& command) {
  Finished run;
  FILE* pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  while (const std::size_t count = fread(buffer, 1, sizeof buffer, pipe)) run.output.append(buffer, count);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  return run;
}

inline Finished weft(const std::string& arguments) {
  return run_command(std::string(WEFT_BINARY) + " " + arguments);
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

}  // namespace weft::test
