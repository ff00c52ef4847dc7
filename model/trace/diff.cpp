// SPDX-License-Identifier: Apache-2.0
// The first difference between two traces.
#include <algorithm>
#include <deque>

#include "trace/record.hpp"
#include "trace/text.hpp"

namespace weft::trace {
namespace {

std::optional<Record> next_of(Reader& reader, std::string_view unit) {
  auto record = reader.next();
  while (record && record->unit != unit) record = reader.next();
  return record;
}

std::set<std::string> keys_of(const Record& record) {
  std::set<std::string> keys{"cycle"};
  for (const auto& [key, value] : record.fields) keys.insert(key);
  return keys;
}

std::vector<std::string> differing_keys(const Record& a, const Record& b,
                                        const std::set<std::string>& ignore) {
  if (a == b) return {};
  auto keys = keys_of(a);
  keys.merge(keys_of(b));
  std::vector<std::string> differing;
  for (const auto& key : keys) {
    if (!ignore.contains(key) && value_of(a, key) != value_of(b, key)) differing.push_back(key);
  }
  return differing;
}

uint64_t first_cycle(const std::optional<Record>& a, const std::optional<Record>& b) {
  if (a && b) return std::min(a->cycle, b->cycle);
  return a ? a->cycle : b->cycle;
}

std::optional<Difference> diff_of_unit(std::string_view unit, Reader& in_a, Reader& in_b,
                                       const DiffOptions& options) {
  std::deque<Record> before;
  for (uint64_t index = 0;; ++index) {
    auto a = next_of(in_a, unit);
    auto b = next_of(in_b, unit);
    if (!a && !b) return std::nullopt;
    std::vector<std::string> keys;
    if (a && b) keys = differing_keys(*a, *b, options.ignore);
    if (!a || !b || !keys.empty()) {
      return Difference{std::string(unit),
                        index,
                        first_cycle(a, b),
                        a,
                        b,
                        in_a.line(),
                        in_b.line(),
                        keys,
                        {before.begin(), before.end()}};
    }
    before.push_back(*std::move(a));
    if (before.size() > options.context) before.pop_front();
  }
}

std::string about(const Reader& reader, const std::string& key) {
  for (const auto& [name, value] : reader.about()) {
    if (name == key) return value;
  }
  return "?";
}

void check_comparable(const Reader& a, const Reader& b, const std::filesystem::path& file) {
  for (const std::string key : {"unit", "node"}) {
    if (about(a, key) != about(b, key)) {
      throw Fault(file.string() + ":1: is of " + key + " " + about(b, key) + ", the other trace of " +
                  about(a, key));
    }
  }
}

}  // namespace

std::optional<Difference> diff(const std::filesystem::path& a, const std::filesystem::path& b,
                               const DiffOptions& options) {
  std::optional<Difference> first;
  for (const std::string_view unit : units) {
    Reader in_a(a);
    Reader in_b(b);
    check_comparable(in_a, in_b, b);
    auto found = diff_of_unit(unit, in_a, in_b, options);
    if (found && (!first || found->cycle < first->cycle)) first = std::move(found);
  }
  return first;
}

}  // namespace weft::trace
