// SPDX-License-Identifier: Apache-2.0
// A simulated InfiniBand subnet: ibsim (Debian: ibsim-utils) on a netlist.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "background.hpp"
#include "run_weft.hpp"
#include "topology/graph.hpp"

namespace weft::test {

/// It listens on sockets of the abstract name space, that vanish with it; their name has the number of this
/// process in it, so that others can run beside.
class Ibsim {
 public:
  /// Starts it. @param folder to which netlist and log are written, and where programs run inside
  /// @param options more of ibsim's
  Ibsim(const topology::Graph& graph, std::filesystem::path folder,
        const std::vector<std::string>& options = {});

  /// Until it listens; false if it has ended before, or does not in half a minute.
  bool wait();
  void stop() { process_.stop(); }
  /// The cable of a link between two switches is cut.
  void cut(uint32_t link);
  pid_t process() const { return process_.process(); }
  std::string log() const;

  /// What makes a program see the subnet from one of its hosts.
  using Environment = std::vector<std::pair<std::string, std::string>>;
  Environment environment(uint32_t host) const;

  /// A command that sees the subnet from one of its hosts; ended after a minute.
  Finished run_inside(const std::string& command, uint32_t host = 0) const;

  const topology::Graph& graph() const { return graph_; }
  const std::filesystem::path& folder() const { return folder_; }

  /// Nothing if all Debian programs are there that these tests start, else which one is missing.
  static std::string missing();

 private:
  Background::Program program(const std::vector<std::string>& options) const;

  topology::Graph graph_;
  std::filesystem::path folder_;
  std::string name_;
  Background process_;
};

/// Nothing if weft's own programs can run inside, else why not: in builds with sanitizers.
std::string unfit_inside();

/// Debian has some of these programs where users do not look: so that they are found there, too.
void look_in_sbin();

}  // namespace weft::test
