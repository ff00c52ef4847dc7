// SPDX-License-Identifier: Apache-2.0
// Table image of a switch: what its lookup block is loaded with, as words; writer and strict reader
// (docs/switch.md).
//
// An image is a head of 9 words, 3 words an entry, and a CRC-32 over all words before it (little endian).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "weft/switch_lookup/formats.hpp"

namespace weft::switch_lookup {

inline constexpr uint32_t image_magic = 0x31575357;
inline constexpr uint32_t image_format = 1;
inline constexpr uint32_t head_words = formats::image_bytes / 4;
inline constexpr uint32_t entry_words = formats::entry_bytes / 4;
/// Of the largest image that any block takes: 65,536 colors for each of 64 input ports, 32,768 unicast
/// entries.
inline constexpr std::size_t most_image_bytes = 4 * (head_words + entry_words * (65536 * 64 + 32768) + 1);
inline constexpr uint32_t most_column_bits = 12;

/// What a lookup block is built for.
struct Sizes {
  uint32_t ports = 16;     ///< 2 to 64
  uint32_t colours = 128;  ///< multicast entries of the switch, or of each input port
  uint32_t unicast_entries = 256;
  bool per_port = false;  ///< each input port has a multicast table of its own

  bool operator==(const Sizes&) const = default;
};

inline constexpr Sizes largest_sizes{64, 1u << 16, 1u << 15, false};

/// Ports as a bit vector: bit i is port i + 1.
using Ports = uint64_t;
constexpr Ports port_bit(uint32_t port) { return Ports{1} << (port - 1); }
constexpr Ports all_ports(uint32_t ports) { return ports >= 64 ? ~Ports{0} : (Ports{1} << ports) - 1; }

struct Image {
  formats::Image head;  ///< magic, format and numbers of entries are filled in by the writer
  std::vector<formats::Entry> multicast, unicast;  ///< by index, each index once

  bool operator==(const Image&) const = default;
};

/// An image that is refused; what() says why in words.
class Refused : public std::runtime_error {
 public:
  Refused(formats::LoadFault fault, const std::string& words) : std::runtime_error(words), fault_(fault) {}
  formats::LoadFault fault() const { return fault_; }

 private:
  formats::LoadFault fault_;
};

std::vector<uint32_t> write_image(const Image& image);

/// Throws Refused for anything but a whole image for a switch of this identity and size.
Image read_image(std::span<const uint32_t> words, uint64_t switch_id, const Sizes& sizes);

/// The same as file contents, words little endian; throws Refused, also for part of a word or words too many.
std::string write_image_bytes(const Image& image);
Image read_image_bytes(const std::string& bytes, uint64_t switch_id, const Sizes& sizes);
/// Of whichever switch, for a block of the largest sizes, with tables of input ports or without.
Image read_any_image(const std::string& bytes);

/// The same checks word by word, in the order and with the verdicts of the hardware's loader.
class ImageLoader {
 public:
  ImageLoader(const Sizes& sizes, uint64_t switch_id) : sizes_(sizes), switch_id_(switch_id) {}

  enum class State { more, done, refused };
  /// Only while more().
  State take(uint32_t word);
  State state() const { return state_; }
  formats::LoadFault fault() const { return fault_; }
  uint32_t words() const { return static_cast<uint32_t>(words_.size()); }
  /// Once done.
  const Image& image() const { return image_; }

 private:
  void check_head(uint32_t number);
  void check_entry();
  void refuse(formats::LoadFault fault);
  bool good_entry(const formats::Entry& entry, bool multicast) const;

  Sizes sizes_;
  uint64_t switch_id_;
  State state_ = State::more;
  formats::LoadFault fault_ = formats::LoadFault::none;
  std::vector<uint32_t> words_;
  Image image_;
};

}  // namespace weft::switch_lookup
