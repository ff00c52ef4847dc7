// SPDX-License-Identifier: Apache-2.0
// Reading traces.
#include "trace/record.hpp"
#include "trace/text.hpp"

namespace weft::trace {

Reader::Reader(std::filesystem::path file) : file_(std::move(file)) {
  std::error_code error;
  if (!std::filesystem::exists(file_, error)) throw Fault(file_.string() + ": no such file");
  if (std::filesystem::is_directory(file_, error)) throw Fault(file_.string() + ": is a folder");
  in_.open(file_, std::ios::binary);
  if (!in_) throw Fault(file_.string() + ": cannot be read");
  read_first_line();
}

std::optional<Record> Reader::next() {
  std::string text;
  if (ended_) return std::nullopt;
  if (!get_line(text)) fail("the trace is cut off: no '# end' line");
  try {
    if (text.starts_with(end_words)) {
      check_end(text);
      return std::nullopt;
    }
    Record record = parse_record(text);
    if (record.cycle < last_cycle_) throw BadText("cycle goes back from " + std::to_string(last_cycle_));
    last_cycle_ = record.cycle;
    records_ += 1;
    return record;
  } catch (const BadText& bad) {
    fail(bad.what());
  }
}

/// False at the end of the file. A last line without line feed was cut off.
bool Reader::get_line(std::string& text) {
  line_ += 1;
  if (!std::getline(in_, text)) return false;
  if (in_.eof()) fail("the trace is cut off: the line does not end");
  return true;
}

void Reader::fail(const std::string& fault) const {
  throw Fault(file_.string() + ":" + std::to_string(line_) + ": " + fault);
}

void Reader::read_first_line() {
  std::string text;
  const std::string words(first_words);
  if (!get_line(text)) fail("the file is empty");
  if (text == words) return;
  if (!text.starts_with(words + " "))
    fail("not a weft trace of version 1: starts with '" + quotable(text) + "'");
  try {
    about_ = parse_fields(std::string_view(text).substr(words.size() + 1));
  } catch (const BadText& bad) {
    fail(bad.what());
  }
}

void Reader::check_end(const std::string& text) {
  const uint64_t records = parse_number(std::string_view(text).substr(end_words.size()), "number of records");
  if (records != records_) {
    throw BadText("the trace says it has " + std::to_string(records) + " records, but has " +
                  std::to_string(records_));
  }
  std::string more;
  line_ += 1;
  if (std::getline(in_, more)) throw BadText("there is more after the '# end' line");
  line_ -= 1;
  ended_ = true;
}

}  // namespace weft::trace
