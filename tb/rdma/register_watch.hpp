// SPDX-License-Identifier: Apache-2.0
// Follows the register port: what the engine was told (settings and posts), as the golden model wants it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/pins.hpp"
#include "rdma/params.hpp"
#include "rdma/sender.hpp"

namespace weft::tb {

class RegisterWatch {
 public:
  using OnConfig = std::function<void(const rdma::Config&)>;
  using OnPost = std::function<void(const rdma::Post&)>;
  using OnNumber = std::function<void(uint32_t first)>;

  RegisterWatch(OnConfig on_config, OnPost on_post, OnNumber on_msgid, OnNumber on_read_number);

  void reset();

  /// Once a cycle. A write counts from the cycle in which its answer is first seen.
  void sample(const AxiLitePins& pins);

  uint32_t tick_cycles() const;
  /// Nothing before the register is written.
  std::optional<uint16_t> node_id() const;

 private:
  void written(uint32_t address, uint32_t data);
  uint64_t pair(uint32_t low_address) const;
  rdma::Config config() const;
  rdma::Region region() const;
  rdma::Post post(uint16_t tag) const;

  OnConfig on_config_;
  OnPost on_post_;
  OnNumber on_msgid_, on_read_number_;
  std::vector<rdma::Region> regions_;  // in force
  std::map<uint32_t, uint32_t> values_;
  uint32_t address_ = 0;
  uint32_t data_ = 0;
  bool node_known_ = false;
  bool answer_seen_ = false;
};

}  // namespace weft::tb
