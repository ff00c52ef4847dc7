// SPDX-License-Identifier: Apache-2.0
// Courses drawn from a number.
#include "draw.hpp"

#include <vector>

#include "fabric/random.hpp"

namespace weft::fuzz {

namespace {

constexpr uint64_t most_favourites = 6;
constexpr double always = 0.97;

/// The values of one byte of all steps.
class Values {
 public:
  explicit Values(RandomStream& random)
      : random_(random),
        share_(always * static_cast<double>(random.below(5)) / 4),
        favourites_(1 + random.below(most_favourites)) {
    for (uint8_t& value : favourites_) value = any();
  }

  uint8_t next() { return random_.chance(share_) ? favourites_[random_.below(favourites_.size())] : any(); }

 private:
  uint8_t any() { return static_cast<uint8_t>(random_.next()); }

  RandomStream& random_;
  double share_;
  std::vector<uint8_t> favourites_;
};

}  // namespace

Course draw_course(uint64_t seed) {
  RandomStream random(seed, 2);
  std::vector<Values> values;
  for (std::size_t byte = 0; byte < record_bytes; ++byte) values.emplace_back(random);
  std::vector<uint8_t> bytes(record_bytes);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
  const std::size_t steps = 1 + random.below(max_steps);
  for (std::size_t step = 0; step < steps; ++step) {
    for (Values& of_byte : values) bytes.push_back(of_byte.next());
  }
  return parse(bytes);
}

}  // namespace weft::fuzz
