// SPDX-License-Identifier: Apache-2.0
// Checks of command lines.
#include "common/command_line.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

namespace weft::command_line {

namespace {

/// All of `text` as a number.
template <typename Number, typename... Base>
std::optional<Number> parse(std::string_view text, Base... base) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, base...);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return number;
}

}  // namespace

void add_version(CLI::App& program) {
  program.set_version_flag("--version", program.get_name() + " " WEFT_VERSION, "Print the version and exit");
}

CLI::Validator whole_number(uint64_t least, uint64_t most) {
  const bool bounded = most != std::numeric_limits<uint64_t>::max();
  const std::string range = bounded ? fmt::format("from {} to {}", least, most)
                            : least ? fmt::format("of {} or more", least)
                                    : std::string("without sign");
  const auto check = [=](const std::string& text) {
    const auto number = parse<uint64_t>(text);
    const bool fits = number && *number >= least && *number <= most;
    return fits ? std::string() : fmt::format("'{}' is not a whole number {}", text, range);
  };
  return {check, bounded ? fmt::format("{}..{}", least, most) : std::string()};
}

CLI::Validator hexadecimal_number(uint64_t least, uint64_t most) {
  const auto check = [=](const std::string& text) {
    const auto number =
        text.starts_with("0x") ? parse<uint64_t>(std::string_view(text).substr(2), 16) : std::nullopt;
    const bool fits = number && *number >= least && *number <= most;
    return fits ? std::string()
                : fmt::format("'{}' is not a hexadecimal number (0x...) from 0x{:X} to 0x{:X}", text, least,
                              most);
  };
  return {check, fmt::format("0x{:X}..0x{:X}", least, most)};
}

CLI::Validator within(double least, double most) {
  const auto check = [=](const std::string& text) {
    const auto number = parse<double>(text);
    const bool fits = number && *number >= least && *number <= most;
    return fits ? std::string() : fmt::format("'{}' is not a number from {} to {}", text, least, most);
  };
  return {check, fmt::format("{}..{}", least, most)};
}

CLI::Validator file_name() {
  return {[](const std::string& text) { return std::string(text.empty() ? "the name is empty" : ""); }, ""};
}

CLI::Validator result_file() {
  const auto check = [](const std::string& text) -> std::string {
    if (text.empty()) return "the name is empty";
    const auto bad = [&](int error) {
      return fmt::format("{}: cannot be written: {}", text, std::strerror(error));
    };
    const std::filesystem::path file(text), folder = file.parent_path();
    if (std::error_code unknown; std::filesystem::is_directory(file, unknown)) return bad(EISDIR);
    return access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? std::string() : bad(errno);
  };
  return {check, ""};
}

CLI::Validator list_of(const CLI::Validator& item) {
  const auto check = [item](const std::string& text) {
    for (std::string& each : items_of({text})) {
      if (each.empty()) return fmt::format("'{}' has an item that is empty", text);
      if (std::string fault = item(each); !fault.empty()) return fault;
    }
    return std::string();
  };
  return {check, item.get_description()};
}

std::vector<std::string> items_of(const std::vector<std::string>& lists) {
  std::vector<std::string> items;
  for (const std::string& list : lists) {
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      items.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return items;
}

std::string complaint(const CLI::App& app, const CLI::ParseError& error) {
  const auto* missing = dynamic_cast<const CLI::RequiredError*>(&error);
  const std::vector<std::string> unknown = app.remaining(true);
  if (missing != nullptr && !unknown.empty())
    return fmt::format("{}: there is no such subcommand or option (see --help)", unknown.front());
  return fmt::format("{} (see --help)", error.what());
}

}  // namespace weft::command_line
