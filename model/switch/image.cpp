// SPDX-License-Identifier: Apache-2.0
// Writer and reader of table images.
#include "switch/image.hpp"

#include "common/crc32.hpp"
#include "common/record_words.hpp"

namespace weft::switch_lookup {
namespace {

const char* words_of(formats::LoadFault fault) {
  using enum formats::LoadFault;
  switch (fault) {
    case none:
      break;
    case magic:
      return "no table image";
    case format:
      return "another version of the format";
    case identity:
      return "for another switch";
    case head:
      return "a field of the head is out of range";
    case entry:
      return "an entry is out of range, out of order, or names a port that is not there";
    case check:
      return "wrong check word";
    case truncated:
      return "ends early";
  }
  return "?";
}

[[noreturn]] void refuse_with(formats::LoadFault fault, std::size_t word) {
  throw Refused(fault, "word " + std::to_string(word) + ": " + words_of(fault));
}

/// Word 4 of the head says which tables there are.
bool is_of_other_tables(uint32_t word, const Sizes& sizes) {
  std::vector<uint32_t> head(head_words);
  head[4] = word;
  return (formats::unpack_image(bytes_of<formats::image_bytes>(head)).per_port != 0) != sizes.per_port;
}

/// Without what is behind the last whole word.
std::vector<uint32_t> words_of_file(const std::string& bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  for (std::size_t i = 0; i < words.size() * 4; ++i)
    words[i / 4] |= uint32_t{static_cast<uint8_t>(bytes[i])} << (8 * (i % 4));
  return words;
}

}  // namespace

std::vector<uint32_t> write_image(const Image& image) {
  formats::Image head = image.head;
  head.magic = image_magic;
  head.format = image_format;
  head.multicast_entries = static_cast<uint32_t>(image.multicast.size());
  head.unicast_entries = static_cast<uint32_t>(image.unicast.size());
  std::vector<uint32_t> words;
  append_words(words, formats::pack(head));
  for (const formats::Entry& entry : image.multicast) append_words(words, formats::pack(entry));
  for (const formats::Entry& entry : image.unicast) append_words(words, formats::pack(entry));
  words.push_back(crc32_of(words));
  return words;
}

Image read_image(std::span<const uint32_t> words, uint64_t switch_id, const Sizes& sizes) {
  ImageLoader loader(sizes, switch_id);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto state = loader.take(words[i]);
    if (state == ImageLoader::State::refused && i == 4 && is_of_other_tables(words[i], sizes))
      throw Refused(loader.fault(), sizes.per_port
                                        ? "without tables for each input port, which the block has"
                                        : "with tables for each input port, which the block has not");
    if (state == ImageLoader::State::refused) refuse_with(loader.fault(), i);
    if (state == ImageLoader::State::done) {
      if (i + 1 != words.size()) throw Refused(formats::LoadFault::head, "words behind its end");
      return loader.image();
    }
  }
  refuse_with(formats::LoadFault::truncated, words.size());
}

std::string write_image_bytes(const Image& image) {
  std::string bytes;
  for (const uint32_t word : write_image(image))
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  return bytes;
}

Image read_image_bytes(const std::string& bytes, uint64_t switch_id, const Sizes& sizes) {
  const auto words = words_of_file(bytes);
  if (bytes.size() % 4 != 0) refuse_with(formats::LoadFault::truncated, words.size());
  return read_image(words, switch_id, sizes);
}

Image read_any_image(const std::string& bytes) {
  auto words = words_of_file(bytes);
  words.resize(head_words);
  const formats::Image head = formats::unpack_image(bytes_of<formats::image_bytes>(words));
  Sizes sizes = largest_sizes;
  sizes.per_port = head.per_port != 0;
  return read_image_bytes(bytes, head.switch_id, sizes);
}

ImageLoader::State ImageLoader::take(uint32_t word) {
  words_.push_back(word);
  const uint32_t number = words() - 1;
  if (number < head_words) {
    check_head(number);
  } else {
    const uint64_t entries = uint64_t{image_.head.multicast_entries} + image_.head.unicast_entries;
    const uint64_t place = number - head_words;
    if (place < entries * entry_words) {
      if (place % entry_words == entry_words - 1) check_entry();
    } else if (word != crc32_of({words_.data(), words_.size() - 1})) {
      refuse(formats::LoadFault::check);
    } else {
      state_ = State::done;
    }
  }
  return state_;
}

void ImageLoader::refuse(formats::LoadFault fault) {
  state_ = State::refused;
  fault_ = fault;
}

void ImageLoader::check_head(uint32_t number) {
  auto known = words_;
  known.resize(head_words);
  const formats::Image head = formats::unpack_image(bytes_of<formats::image_bytes>(known));
  image_.head = head;
  const auto bad_port = [&](uint32_t port) { return port > sizes_.ports; };
  const uint64_t most_multicast = uint64_t{sizes_.colours} * (sizes_.per_port ? sizes_.ports : 1);
  switch (number) {
    case 0:
      if (head.magic != image_magic) refuse(formats::LoadFault::magic);
      break;
    case 1:
      if (head.format != image_format || head.reserved0 != 0) refuse(formats::LoadFault::format);
      break;
    case 2:
      if (words_[2] != static_cast<uint32_t>(switch_id_)) refuse(formats::LoadFault::identity);
      break;
    case 3:
      if (words_[3] != static_cast<uint32_t>(switch_id_ >> 32)) refuse(formats::LoadFault::identity);
      break;
    case 4: {
      const bool leaf = head.role == static_cast<uint8_t>(formats::Role::leaf);
      const bool ports_wrong = leaf
                                   ? head.row_port == 0 || head.column_port == 0 || bad_port(head.row_port) ||
                                         bad_port(head.column_port) || head.row_port == head.column_port
                                   : head.row_port != 0 || head.column_port != 0;
      if ((head.per_port != 0) != sizes_.per_port || head.reserved2 || head.reserved3 || head.vc_max < 1 ||
          head.vc_max > 2 || head.column_bits > most_column_bits || ports_wrong)
        refuse(formats::LoadFault::head);
      break;
    }
    case 5:
      if (head.reserved4) refuse(formats::LoadFault::head);
      break;
    case 7:
      if (head.multicast_entries > most_multicast) refuse(formats::LoadFault::head);
      break;
    case 8:
      if (head.unicast_entries > sizes_.unicast_entries) refuse(formats::LoadFault::head);
      break;
    default:
      break;
  }
}

bool ImageLoader::good_entry(const formats::Entry& entry, bool multicast) const {
  if ((entry.ports & ~all_ports(sizes_.ports)) != 0) return false;
  if (multicast) {
    const uint32_t colour = entry.index & 0xffff, port = entry.index >> 16;
    return entry.primary == 0 && colour < sizes_.colours && port < (sizes_.per_port ? sizes_.ports : 1);
  }
  return entry.index < sizes_.unicast_entries && entry.primary <= sizes_.ports;
}

void ImageLoader::check_entry() {
  const formats::Entry entry = formats::unpack_entry(
      bytes_of<formats::entry_bytes>(std::span(words_).subspan(words_.size() - entry_words)));
  const bool multicast = image_.multicast.size() < image_.head.multicast_entries;
  auto& list = multicast ? image_.multicast : image_.unicast;
  const bool rises = list.empty() || entry.index > list.back().index;
  if (!rises || !good_entry(entry, multicast)) return refuse(formats::LoadFault::entry);
  list.push_back(entry);
}

}  // namespace weft::switch_lookup
