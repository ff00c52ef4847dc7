// SPDX-License-Identifier: Apache-2.0
// What fuzzing plays to the readers of files (make fuzz-files): a text is refused in one line that names the
// file, or what it says is the same once written and read again.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace weft::fuzz {

/// A reader has failed; what() says how.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Each throws Wrong.
void play_topology(std::string_view text);
void play_groups(std::string_view text);
void play_mcfdbs(std::string_view text);
void play_mft(std::string_view text);
void play_journal(std::string_view text);

struct Reader {
  std::string_view name;  ///< of the folder in tests/data with texts to begin with
  void (*play)(std::string_view text);
};
inline constexpr std::array readers{Reader{"topology", play_topology}, Reader{"groups", play_groups},
                                    Reader{"mcfdbs", play_mcfdbs}, Reader{"mft", play_mft},
                                    Reader{"journal", play_journal}};

}  // namespace weft::fuzz
