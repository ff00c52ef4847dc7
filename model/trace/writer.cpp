// SPDX-License-Identifier: Apache-2.0
// Writing traces.
#include "trace/record.hpp"
#include "trace/text.hpp"

namespace weft::trace {

Writer::Writer(std::filesystem::path file, const Fields& about)
    : file_(std::move(file)),
      part_(file_.string() + ".part"),
      out_(part_, std::ios::binary | std::ios::trunc) {
  if (!out_) throw Fault(part_.string() + ": cannot be written");
  open_ = true;
  out_ << first_words;
  for (const auto& [key, value] : about) out_ << ' ' << key << '=' << value;
  out_ << '\n';
}

Writer::~Writer() {
  if (!open_) return;
  out_.close();
  std::error_code ignored;
  std::filesystem::remove(part_, ignored);
}

void Writer::write(const Record& record) {
  if (!open_) throw Fault(file_.string() + ": is closed");
  try {
    check_unit(record.unit);
    Fields all{{"cycle", std::to_string(record.cycle)}, {"unit", record.unit}};
    all.insert(all.end(), record.fields.begin(), record.fields.end());
    check_fields(all);
    if (record.cycle < last_cycle_) throw BadText("cycle " + std::to_string(record.cycle) + " goes back");
  } catch (const BadText& bad) {
    throw Fault(file_.string() + ": record " + std::to_string(records_ + 1) + ": " + bad.what());
  }
  out_ << to_line(record) << '\n';
  last_cycle_ = record.cycle;
  records_ += 1;
}

void Writer::close() {
  if (!open_) return;
  out_ << end_words << records_ << '\n';
  out_.close();
  if (!out_) throw Fault(part_.string() + ": cannot be written (disk full?)");
  std::error_code error;
  std::filesystem::rename(part_, file_, error);
  if (error) throw Fault(file_.string() + ": cannot be written: " + error.message());
  open_ = false;
}

}  // namespace weft::trace
