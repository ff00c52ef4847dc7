// SPDX-License-Identifier: Apache-2.0
// Traces of retired events as text, one line a record: writer, reader, and the first difference
// (docs/trace.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::trace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// One retired event. `unit` is "rx", "tx", "inbox", "queues", "network", "lookup" or "barrier". Keys and
/// values hold no blanks, keys no '=', and no key comes twice.
struct Record {
  uint64_t cycle = 0;
  std::string unit;
  Fields fields;

  bool operator==(const Record&) const = default;
};

/// Value of a field ("cycle" and "unit" included), nothing if the record has no such field.
std::optional<std::string> value_of(const Record& record, std::string_view key);

/// The line of a record, without the line feed.
std::string to_line(const Record& record);

/// A trace that cannot be read or written; what() is "FILE:LINE: fault" or "FILE: fault".
class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes to FILE.part and renames it to FILE on close, so that a FILE is always a whole trace.
/// A writer that is destroyed without close() leaves no file behind.
class Writer {
 public:
  /// `about` follows "# weft-trace 1" on the first line, e.g. {{"unit", "rdma"}, {"node", "0"}}.
  Writer(std::filesystem::path file, const Fields& about);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Cycles must not go down. Throws Fault for a record that is not well formed.
  void write(const Record& record);
  void close();

 private:
  std::filesystem::path file_;
  std::filesystem::path part_;
  std::ofstream out_;
  uint64_t records_ = 0;
  uint64_t last_cycle_ = 0;
  bool open_ = false;
};

/// Reads a trace record by record; everything that is wrong throws Fault.
class Reader {
 public:
  explicit Reader(std::filesystem::path file);

  const Fields& about() const { return about_; }

  /// The next record, nothing after the last one (only if the trace's end line is there).
  std::optional<Record> next();

  /// Number in the file of the line read last, from 1 on.
  uint64_t line() const { return line_; }

 private:
  bool get_line(std::string& text);
  [[noreturn]] void fail(const std::string& fault) const;
  void read_first_line();
  void check_end(const std::string& text);

  std::filesystem::path file_;
  std::ifstream in_;
  Fields about_;
  uint64_t line_ = 0;
  uint64_t records_ = 0;
  uint64_t last_cycle_ = 0;
  bool ended_ = false;
};

/// First place where two traces differ.
struct Difference {
  std::string unit;
  uint64_t index = 0;          // records of that unit before it
  uint64_t cycle = 0;          // the cycle to look at in the waves
  std::optional<Record> a, b;  // nothing: that trace has ended
  uint64_t line_a = 0, line_b = 0;
  std::vector<std::string> keys;  // that differ; empty if one trace has ended
  std::vector<Record> context;    // records of that unit just before, oldest first
};

struct DiffOptions {
  std::size_t context = 5;
  std::set<std::string> ignore;  // keys not compared
};

/// Compare the records of each unit in their order (how units interleave does not matter); of the units that
/// differ, the one that does so in the earliest cycle is reported. Throws Fault for bad traces or traces of
/// different units or nodes.
std::optional<Difference> diff(const std::filesystem::path& a, const std::filesystem::path& b,
                               const DiffOptions& options = {});

}  // namespace weft::trace
