// SPDX-License-Identifier: Apache-2.0
// A program that runs beside a test, and never longer than it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace weft::test {

class Background {
 public:
  struct Program {
    std::vector<std::string> words;
    std::vector<std::pair<std::string, std::string>> environment;
    std::filesystem::path folder;  ///< where it runs
    std::filesystem::path log;     ///< both streams
    std::filesystem::path input = "/dev/null";
  };

  explicit Background(const Program& program) {
    const pid_t test = getpid();
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == test) run(program);
    _exit(127);
  }
  ~Background() { stop(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  bool running() {
    if (process_ > 0 && waitpid(process_, nullptr, WNOHANG) == process_) process_ = -1;
    return process_ > 0;
  }

  pid_t process() const { return process_; }

  /// At once, without a chance to tidy up.
  void stop() {
    if (!running()) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  static void run(const Program& program) {
    const int log = open(program.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int input = open(program.input.c_str(), O_RDWR);  // a pipe without writers has no end, then
    dup2(input, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (chdir(program.folder.c_str()) != 0) return;
    for (const auto& [name, value] : program.environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : program.words) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
  }

  pid_t process_ = -1;
};

/// Asks again and again; false if the answer is still no after `seconds`.
template <typename Question>
bool wait_until(double seconds, Question&& question) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!question()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace weft::test
