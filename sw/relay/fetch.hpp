// SPDX-License-Identifier: Apache-2.0
// An image from the first of several sources that has it: if one dies, the rest comes from the next one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fault.hpp"
#include "relay/growing_file.hpp"
#include "relay/http.hpp"

namespace weft::relay {

struct Patience {
  double silence_seconds = 5;  ///< without a byte, after which a source is asked whether it is there at all
  double alive_seconds = 1;    ///< for its answer
  double start_seconds = 30;   ///< until the first source must have come up; it may boot itself
  uint32_t turns = 20;         ///< through all sources, a second apart
};

/// No source gives what is wanted.
class NotHad : public Fault {
 public:
  using Fault::Fault;
};

struct Share {
  Source source;
  uint64_t bytes = 0;
};

/// @return of whom how much came, in its order. Throws NotHad, or Fault if it cannot be written.
std::vector<Share> fetch(const std::vector<Source>& sources, const Patience& patience, GrowingFile& image);

/// A small file as a whole. Throws NotHad.
std::string fetch_text(const std::vector<Source>& sources, const Patience& patience);

}  // namespace weft::relay
