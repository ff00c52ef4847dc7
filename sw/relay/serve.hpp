// SPDX-License-Identifier: Apache-2.0
// A growing image for others, by HTTP: each gets what is there already, then what comes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "relay/growing_file.hpp"
#include "relay/http.hpp"

namespace weft::relay {

class Server {
 public:
  /// Listens from now on. Throws Fault.
  Server(uint16_t port, std::string name, GrowingFile& image);

  /// Answers until the process ends, each request in a thread of its own.
  [[noreturn]] void run();

  /// Returns once nobody has been reading for so long.
  void wait_until_idle(double seconds) const;

 private:
  void answer(const Connection& connection);
  void give(const Connection& connection, uint64_t first);

  int socket_;
  std::string name_;
  GrowingFile& image_;
  std::atomic<uint32_t> readers_ = 0;
  std::atomic<uint64_t> requests_ = 0;
};

}  // namespace weft::relay
