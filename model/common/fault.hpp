// SPDX-License-Identifier: Apache-2.0
// What is thrown for specifications, files and wishes that cannot be worked with.
#pragma once

#include <stdexcept>

namespace weft {

/// what() is the one line that the user sees: "WHAT: fault", "FILE: fault" or "FILE:LINE: fault".
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace weft
