// SPDX-License-Identifier: Apache-2.0
// Sums up the runs of a fault campaign, for people (terminal, Markdown) and machines (JSON). Nothing in it
// depends on the machine or on the number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "soak_run.hpp"

namespace weft::sim {

class SoakReport {
 public:
  /// @param command that runs one seed again: the seed is appended
  /// @param older the campaign of the older schemes
  SoakReport(uint64_t first_seed, std::string command, bool older)
      : first_seed_(first_seed), command_(std::move(command)), older_(older) {}

  /// In the order of the seeds.
  void add(const Plan& plan, const SoakResult& result);

  bool ok() const { return failures_.empty(); }
  /// Types of packets and faults of the network that never met.
  std::vector<std::string> faults_never_seen() const;
  std::string table() const;
  std::string markdown() const;
  nlohmann::json json() const;
  std::string reproduction(uint64_t seed) const;

 private:
  struct Group {
    uint64_t runs = 0, failed = 0;
    uint64_t excused = 0, lost = 0;
    uint64_t worst_settle = 0, its_chain = 0, its_seed = 0;
    uint64_t packets = 0;  ///< that the fault has struck
  };
  struct Failure {
    uint64_t seed;
    std::string finding;
  };

  void add_to(Group& group, const Plan& plan, const SoakResult& result, uint64_t packets);
  void add_nics(const Plan& plan, const SoakResult& result);
  std::string nic_markdown() const;
  std::vector<std::string> drops_never_seen() const;
  std::string fates_markdown() const;
  const Group& worst() const;
  bool can_occur(rdma::formats::Outcome outcome) const;
  bool is_used(rdma::formats::Ptype type) const;

  uint64_t first_seed_;
  std::string command_;
  bool older_;
  uint64_t runs_ = 0, events_ = 0, cycles_ = 0, given_ = 0, accepted_ = 0, lost_ = 0, excused_ = 0;
  std::map<std::string, Group> by_incident_, by_fault_, by_field_, by_shape_, by_nic_incident_;
  NicCounts nics_;
  tb::Fates fates_;
  std::map<std::string, uint64_t> completions_;
  std::array<uint64_t, tb::outcome_codes> outcomes_{};
  std::array<uint64_t, tb::outcome_codes> runs_with_{};
  std::vector<Failure> failures_;
};

}  // namespace weft::sim
