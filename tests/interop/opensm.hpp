// SPDX-License-Identifier: Apache-2.0
// Stock OpenSM (Debian: opensm) as the subnet manager of a simulated subnet, and groups that hosts join.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "background.hpp"
#include "ibsim.hpp"
#include "mcast/forwarding_tables.hpp"

namespace weft::test {

/// Hosts of a group, by number. A host joins with its first port.
using Members = std::vector<uint32_t>;

class OpenSm {
 public:
  struct Options {
    std::string engine = "minhop";
    std::string more_settings;  ///< lines for its configuration
    Ibsim::Environment environment;
  };

  /// Starts it at host 0. Dumps, caches and log go to `folder`, which is made.
  OpenSm(const Ibsim& ibsim, std::filesystem::path folder, const Options& options);

  /// Until the subnet is up; false if it does not come up in a minute.
  bool wait();
  void stop() { process_.stop(); }
  /// Lets it find everything anew.
  void sweep() { kill(process_.process(), SIGHUP); }
  std::string log() const;

  /// Joins all members of all groups, in order; the MLID of each group. Nothing if a join was refused, or no
  /// group has all its members in the dump after a minute.
  std::optional<std::vector<uint16_t>> join(const std::vector<Members>& groups);
  /// Joins or leaves, by number of the group in the order of all that were joined so far; "" or what is
  /// wrong.
  std::string change(const std::string& verb, uint32_t group, const Members& members);

  /// The tables that it has dumped last. Throws Fault while it writes them.
  mcast::ForwardingTables dump() const;
  std::filesystem::path dump_file() const { return folder_ / "opensm.mcfdbs"; }

  /// Nothing if it is there, else what is missing.
  static std::string missing();

 private:
  Background::Program program(const Options& options) const;
  bool all_there(const std::vector<Members>& groups, const std::vector<uint16_t>& mlids) const;

  const Ibsim& ibsim_;
  std::filesystem::path folder_;
  uint32_t groups_ = 0;
  Background process_;
};

/// Tables with other MLIDs: `to[i]` instead of `from[i]`; entries of others are left out.
mcast::ForwardingTables renamed(const mcast::ForwardingTables& tables, const std::vector<uint16_t>& from,
                                const std::vector<uint16_t>& to);

}  // namespace weft::test
