// SPDX-License-Identifier: Apache-2.0
// Outcomes that only receivers of the older schemes have (docs/rdma_baseline.md).
#pragma once

#include "weft/rdma/formats.hpp"

namespace weft::rdma {

constexpr bool is_of_older_schemes(formats::Outcome outcome) {
  return outcome == formats::Outcome::drop_early || outcome == formats::Outcome::kept;
}

}  // namespace weft::rdma
