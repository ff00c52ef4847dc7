// SPDX-License-Identifier: Apache-2.0
#include "selftest/lookup_test.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "common/fault.hpp"
#include "common/record_words.hpp"
#include "selftest/signature.hpp"
#include "switch/lookup.hpp"

namespace weft::selftest {
namespace {

namespace block = switch_lookup::formats;

constexpr uint64_t identity = 0x7765667400000001;
constexpr uint32_t image_mark = 0xa5a5a5a5;  // as in rtl/selftest/selftest_pkg.sv
constexpr uint32_t most_ports = 24;          // of an answer
constexpr uint32_t rows = 8;                 // of the fabric that it plays in, and columns

class Maker {
 public:
  Maker(const switch_lookup::Sizes& sizes, uint32_t seed) : sizes_(sizes), golden_(sizes), random_(seed) {}

  LookupTest make(uint32_t images, uint32_t lookups) {
    write(block::reg::SWITCH_ID_LO, static_cast<uint32_t>(identity));
    write(block::reg::SWITCH_ID_HI, static_cast<uint32_t>(identity >> 32));
    look();  // without tables
    for (uint32_t i = 0; i < images; ++i) {
      load(any_image(static_cast<uint8_t>((1 + i) % 4)));
      for (uint32_t n = 0; n < lookups; ++n) {
        if (n % 16 == 8) set_alive(random_() | random_());
        look();
      }
    }
    test_.steps.back().ends = 1;
    test_.expected.push_back(signature_.value());
    return std::move(test_);
  }

 private:
  uint32_t below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  switch_lookup::Ports any_ports() { return random_() & switch_lookup::all_ports(sizes_.ports); }

  void step(formats::Operation operation, uint32_t address, uint64_t data) {
    formats::LookupStep step;
    step.operation = static_cast<uint8_t>(operation);
    step.address = static_cast<uint16_t>(address);
    step.data = data;
    test_.steps.push_back(step);
  }

  void write(uint32_t address, uint32_t data) { step(formats::Operation::write, address, data); }

  void set_alive(switch_lookup::Ports ports) {
    alive_ = ports & switch_lookup::all_ports(sizes_.ports);
    step(formats::Operation::alive, 0, alive_);
  }

  void load(const switch_lookup::Image& image) {
    write(block::reg::LOAD_BEGIN, 0);
    for (const uint32_t word : switch_lookup::write_image(image)) write(block::reg::LOAD_DATA, word);
    golden_.set_tables(image);
    signature_.add(std::array{image_mark});
  }

  switch_lookup::Image any_image(uint8_t role) {
    switch_lookup::Image image;
    image.head.switch_id = identity;
    image.head.role = role;
    image.head.vc_max = 1;
    image.head.column_bits = 3;
    if (role == static_cast<uint8_t>(block::Role::leaf)) {
      image.head.row_port = static_cast<uint8_t>(sizes_.ports - 1);
      image.head.column_port = static_cast<uint8_t>(sizes_.ports);
    }
    image.head.row = static_cast<uint16_t>(below(rows));
    image.head.column = static_cast<uint16_t>(below(rows));
    image.head.table_version = static_cast<uint32_t>(random_());
    for (uint32_t colour = 0; colour < sizes_.colours; ++colour)
      if (below(4) != 0) image.multicast.push_back({colour, 0, any_ports()});
    for (uint32_t index = 0; index < std::min(sizes_.unicast_entries, rows * rows); ++index)
      if (below(8) != 0)
        image.unicast.push_back({index, static_cast<uint8_t>(1 + below(sizes_.ports)), any_ports()});
    return image;
  }

  block::Request any_request() {
    block::Request request;
    request.kind = static_cast<uint8_t>(below(24) == 0 ? 2 : below(2));
    request.vc = static_cast<uint8_t>(below(3));
    request.in_port = static_cast<uint8_t>(below(24) == 0 ? 0 : 1 + below(sizes_.ports));
    request.index = static_cast<uint16_t>(below(request.kind == 1 ? sizes_.colours + 2 : rows * rows + 2));
    request.row = static_cast<uint16_t>(below(rows + 1));
    request.column = static_cast<uint16_t>(below(rows + 1));
    request.host = static_cast<uint8_t>(below(sizes_.ports + 2));
    return request;
  }

  void look() {
    const block::Request request = any_request();
    const std::vector<uint32_t> words = record_words(block::pack(request));
    step(formats::Operation::lookup, 0, uint64_t{words[1]} << 32 | words[0]);
    const switch_lookup::Result result = golden_.look(request, alive_);
    formats::Answer answer;
    answer.ports = static_cast<uint32_t>(result.ports);
    answer.outcome = static_cast<uint8_t>(result.outcome);
    answer.vc = result.vc;
    const uint32_t answer_word = record_words(formats::pack(answer)).front();
    test_.expected.push_back(answer_word);
    signature_.add(std::array{answer_word});
  }

  switch_lookup::Sizes sizes_;
  switch_lookup::Lookup golden_;
  std::mt19937_64 random_;
  switch_lookup::Ports alive_ = switch_lookup::all_ports(sizes_.ports);
  Signature signature_;
  LookupTest test_;
};

}  // namespace

LookupTest make_lookup_test(const switch_lookup::Sizes& sizes, uint32_t images, uint32_t lookups,
                            uint32_t seed) {
  if (sizes.ports < 2 || sizes.ports > most_ports)
    throw Fault("N_PORTS is " + std::to_string(sizes.ports) + ", but must be 2 to " +
                std::to_string(most_ports));
  return Maker(sizes, seed).make(images, lookups);
}

}  // namespace weft::selftest
