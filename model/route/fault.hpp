// SPDX-License-Identifier: Apache-2.0
// What is thrown for fabrics, faults and tables that cannot be worked with.
#pragma once

#include <stdexcept>

namespace weft::route {

/// what() is the one line that the user sees: "WHAT: fault".
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weft::route
