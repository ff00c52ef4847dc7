// SPDX-License-Identifier: Apache-2.0
// From SPEC to fabric.
#include "topology/spec.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "common/input_file.hpp"
#include "topology/generate.hpp"
#include "topology/ibnet.hpp"
#include "topology/json.hpp"

namespace weft::topology {

namespace {

using Numbers = std::vector<uint64_t>;

/// What else it may be is the generator's to say.
uint32_t small(uint64_t number) {
  if (number > std::numeric_limits<uint32_t>::max())
    throw std::invalid_argument(fmt::format("{} is too large", number));
  return static_cast<uint32_t>(number);
}

struct Form {
  std::string_view name;
  /// What follows the name: letters are numbers, what is in brackets may be missing, all else stands as it
  /// is.
  std::string_view shape;
  Graph (*make)(const Numbers&);
};

constexpr std::array<Form, 7> forms{{
    {"fattree3", ":K", [](const Numbers& n) { return fat_tree(small(n[0])); }},
    {"torus3d", ":XxYxZ:H",
     [](const Numbers& n) {
       return torus({small(n[0]), small(n[1]), small(n[2])}, small(n[3]));
     }},
    {"dragonfly", ":A,P,H",
     [](const Numbers& n) { return dragonfly(small(n[0]), small(n[1]), small(n[2])); }},
    {"random", ":SWITCHES,PORTS,HOSTS_PER_SWITCH,SEED",
     [](const Numbers& n) { return random_fabric(small(n[0]), small(n[1]), small(n[2]), n[3]); }},
    {"bluelight", "", [](const Numbers&) { return trimmed_fat_tree(bluelight); }},
    {"taihulight", "", [](const Numbers&) { return trimmed_fat_tree(taihulight); }},
    {"kfat2d", ":RxC:H[:ExS]",
     [](const Numbers& n) {
       if (n.size() == 3) return kfat2d(small(n[0]), small(n[1]), small(n[2]));
       if (n[4] == 0) throw std::invalid_argument("S is 0, must be 1 or more");
       return kfat2d(small(n[0]), small(n[1]), small(n[2]), small(n[3]), small(n[4]));
     }},
}};

bool is_name(char c) { return (c >= 'A' && c <= 'Z') || c == '_'; }

/// The numbers of `text` in the places that `shape` names.
std::optional<Numbers> match(std::string_view text, std::string_view shape) {
  Numbers numbers;
  while (!shape.empty()) {
    if (shape.front() == '[' && text.empty()) return numbers;
    if (shape.front() == '[' || shape.front() == ']') {
      shape.remove_prefix(1);
      continue;
    }
    if (!is_name(shape.front())) {
      if (text.empty() || text.front() != shape.front()) return std::nullopt;
      text.remove_prefix(1);
      shape.remove_prefix(1);
      continue;
    }
    while (!shape.empty() && is_name(shape.front())) shape.remove_prefix(1);
    uint64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (parsed.ec != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    numbers.push_back(number);
  }
  return text.empty() ? std::optional(numbers) : std::nullopt;
}

Graph make(const std::string& spec, const Form& form) {
  const auto numbers = match(std::string_view(spec).substr(form.name.size()), form.shape);
  if (!numbers) throw Fault(fmt::format("{}: must be {}{} with whole numbers", spec, form.name, form.shape));
  try {
    return form.make(*numbers);
  } catch (const std::invalid_argument& error) {
    throw Fault(fmt::format("{}: {}", spec, error.what()));
  }
}

/// JSON begins with a bracket, which no line of ibnetdiscover does.
Graph read_file(const std::string& file) {
  const std::string text = read_whole<Fault>(file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{' ? read_json(text, file) : read_ibnet(text, file);
}

}  // namespace

Graph load(const std::string& spec) {
  if (spec.empty()) throw Fault(fmt::format("an empty text is no topology, which is {}", spec_forms));
  if (spec == "file:") throw Fault(spec + ": must be file:PATH, the path is missing");
  const std::string name = spec.substr(0, spec.find(':'));
  if (name == "file" && name != spec) return read_file(spec.substr(name.size() + 1));
  for (const Form& form : forms)
    if (form.name == name) return make(spec, form);
  throw Fault(fmt::format("{}: is no topology, which is {}", spec, spec_forms));
}

}  // namespace weft::topology
