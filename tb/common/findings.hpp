// SPDX-License-Identifier: Apache-2.0
// Collects everything a testbench finds wrong: the first is told in full, all are counted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::tb {

struct Finding {
  uint32_t node;
  uint64_t cycle;
  std::string text;  ///< what was expected and what came; may have several lines
};

class Findings {
 public:
  /// Beyond this many a run is not worth going on with: the sides have drifted apart.
  static constexpr uint64_t enough = 20;

  void add(uint32_t node, uint64_t cycle, std::string text) {
    count_++;
    if (list_.size() < enough) list_.push_back({node, cycle, std::move(text)});
  }

  /// All of another's, which has none afterwards.
  void take(Findings& other) {
    count_ += other.count_;
    for (Finding& each : other.list_) {
      if (list_.size() < enough) list_.push_back(std::move(each));
    }
    other = {};
  }

  uint64_t count() const { return count_; }
  bool any() const { return count_ > 0; }
  bool too_many() const { return count_ >= enough; }
  const std::vector<Finding>& list() const { return list_; }

  /// The first finding in full and the number of the others; empty if there is none.
  std::string summary() const {
    if (list_.empty()) return {};
    const Finding& first = list_.front();
    std::string text = "node " + std::to_string(first.node) + ": " + first.text + "\n  look at cycle " +
                       std::to_string(first.cycle);
    if (count_ > 1) text += "\n  and " + std::to_string(count_ - 1) + " more";
    return text;
  }

 private:
  uint64_t count_ = 0;
  std::vector<Finding> list_;
};

/// Where a monitor or a bus model tells what it finds: node and clock are filled in here.
class Reporter {
 public:
  Reporter(Findings& findings, uint32_t node) : findings_(&findings), node_(node) {}

  void set_cycle(uint64_t cycle) { cycle_ = cycle; }
  uint64_t cycle() const { return cycle_; }
  uint32_t node() const { return node_; }
  void add(std::string text) const { findings_->add(node_, cycle_, std::move(text)); }

 private:
  Findings* findings_;
  uint32_t node_;
  uint64_t cycle_ = 0;
};

}  // namespace weft::tb
