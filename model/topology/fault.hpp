// SPDX-License-Identifier: Apache-2.0
// What is thrown for fabrics that cannot be had.
#pragma once

#include <stdexcept>

namespace weft::topology {

/// A SPEC or file that makes no fabric; what() is the one line that the user sees.
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weft::topology
