// SPDX-License-Identifier: Apache-2.0
// weft trace: compare two traces, or show one.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "common/command_line.hpp"
#include "trace/record.hpp"
#include "weft/command.hpp"
#include "weft/rdma/formats.hpp"
#include "weft/switch_lookup/formats.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;
using trace::Difference;
using trace::Record;

json to_json(const Record& record) {
  json object{{"cycle", record.cycle}, {"unit", record.unit}};
  for (const auto& [key, value] : record.fields) object[key] = value;
  return object;
}

json to_json(const std::optional<Record>& record) { return record ? to_json(*record) : json(nullptr); }

// weft trace diff

constexpr std::size_t most_context = 1'000'000;

struct DiffArguments {
  CommonOptions common;
  std::string a, b;
  std::size_t context = 5;
  std::vector<std::string> ignore;
};

json to_json(const Difference& difference) {
  json context = json::array();
  for (const auto& record : difference.context) context.push_back(to_json(record));
  return {{"unit", difference.unit},     {"index", difference.index},   {"cycle", difference.cycle},
          {"keys", difference.keys},     {"a", to_json(difference.a)},  {"b", to_json(difference.b)},
          {"line_a", difference.line_a}, {"line_b", difference.line_b}, {"context", context}};
}

std::string side(const std::optional<Record>& record) { return record ? to_line(*record) : "(has ended)"; }

void print(const Difference& difference, const DiffArguments& arguments) {
  const auto& d = difference;
  fmt::print("first difference: {} record {}, {}:{} against {}:{}\n", d.unit, d.index + 1, arguments.a,
             d.line_a, arguments.b, d.line_b);
  for (const auto& record : d.context) fmt::print("    {}\n", to_line(record));
  fmt::print("A > {}\nB > {}\n", side(d.a), side(d.b));
  for (const auto& key : d.keys) {
    fmt::print("  {}: {} | {}\n", key, value_of(*d.a, key).value_or("(none)"),
               value_of(*d.b, key).value_or("(none)"));
  }
  if (!d.a || !d.b) fmt::print("  {} has no more {} records\n", d.a ? arguments.b : arguments.a, d.unit);
  fmt::print("look at cycle {} in the waves\n", d.cycle);
}

/// @throws BadInput if a key that is not to be compared is in neither trace: probably misspelt
void check_ignored(const DiffArguments& arguments) {
  std::set<std::string> unseen(arguments.ignore.begin(), arguments.ignore.end());
  unseen.erase("cycle");
  bool empty = true;
  for (const auto& file : {arguments.a, arguments.b}) {
    trace::Reader reader(file);
    while (!unseen.empty()) {
      const auto record = reader.next();
      if (!record) break;
      empty = false;
      for (const auto& field : record->fields) unseen.erase(field.first);
    }
  }
  if (!unseen.empty() && !empty) {
    throw BadInput(fmt::format("--ignore {}: no record of either trace has this key", *unseen.begin()));
  }
}

int run_diff(const DiffArguments& arguments) {
  check_ignored(arguments);
  trace::DiffOptions options;
  options.context = arguments.context;
  options.ignore.insert(arguments.ignore.begin(), arguments.ignore.end());
  const auto difference = trace::diff(arguments.a, arguments.b, options);

  json results{
      {"a", arguments.a}, {"b", arguments.b}, {"equal", !difference}, {"seed", arguments.common.seed}};
  if (difference) results["difference"] = to_json(*difference);
  write_json(arguments.common, results);

  if (!difference) {
    fmt::print("the traces are equal\n");
    return ok;
  }
  print(*difference, arguments);
  return check_failed;
}

void add_diff(CLI::App& group, int& exit_code) {
  auto* command = group.add_subcommand("diff", "first difference of two traces; exit code 1 if there is one");
  auto arguments = std::make_shared<DiffArguments>();
  command->add_option("A", arguments->a, "trace")->required()->check(command_line::file_name());
  command->add_option("B", arguments->b, "trace")->required()->check(command_line::file_name());
  command->add_option("--context", arguments->context, "records to show before the difference")
      ->check(command_line::whole_number(0, most_context))
      ->capture_default_str();
  command->add_option("--ignore", arguments->ignore, "do not compare this key (may be given more than once)")
      ->type_name("KEY")
      ->take_all()
      ->expected(1);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_diff(*arguments); });
}

// weft trace show

struct ShowArguments {
  CommonOptions common;
  std::string file;
  std::optional<std::string> unit, outcome, cid, sid;
};

bool matches(const Record& record, const std::string& key, const std::optional<std::string>& wanted) {
  return !wanted || value_of(record, key) == wanted;
}

bool matches(const Record& record, const ShowArguments& arguments) {
  return matches(record, "unit", arguments.unit) && matches(record, "outcome", arguments.outcome) &&
         matches(record, "cid", arguments.cid) && matches(record, "sid", arguments.sid);
}

/// Names of all outcomes that events can have.
std::vector<std::string> outcome_names() {
  std::vector<std::string> names;
  const auto add = [&](std::string_view name) {
    if (name != "?" && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  for (unsigned code = 0; code < 256; ++code) {
    add(rdma::formats::name(static_cast<rdma::formats::Outcome>(code)));
    add(switch_lookup::formats::name(static_cast<switch_lookup::formats::Outcome>(code)));
  }
  return names;
}

int run_show(const ShowArguments& arguments) {
  json records = json::array();
  const bool want_json = !arguments.common.json_file.empty();
  trace::Reader reader(arguments.file);
  while (const auto record = reader.next()) {
    if (!matches(*record, arguments)) continue;
    fmt::print("{}\n", to_line(*record));
    if (want_json) records.push_back(to_json(*record));
  }
  write_json(arguments.common,
             {{"file", arguments.file}, {"records", records}, {"seed", arguments.common.seed}});
  return ok;
}

void add_show(CLI::App& group, int& exit_code) {
  auto* command = group.add_subcommand("show", "print the records of a trace");
  auto arguments = std::make_shared<ShowArguments>();
  command->add_option("A", arguments->file, "trace")->required()->check(command_line::file_name());
  command->add_option("--unit", arguments->unit, "only this unit")
      ->check(CLI::IsMember({"rx", "tx", "inbox", "queues", "network", "lookup", "barrier"}));
  command->add_option("--outcome", arguments->outcome, "only this outcome, e.g. DROP_WINDOW")
      ->type_name("NAME")
      ->check(CLI::IsMember(outcome_names()).description(""));
  const auto index = command_line::whole_number(0, 65535);
  command->add_option("--cid", arguments->cid, "only this CID")->type_name("N")->check(index);
  command->add_option("--sid", arguments->sid, "only this SID")->type_name("N")->check(index);
  add_common(*command, arguments->common);
  command->callback([arguments, &exit_code] { exit_code = run_show(*arguments); });
}

}  // namespace

void add_trace(CLI::App& weft, int& exit_code) {
  auto* group = weft.add_subcommand("trace", "traces of retired events (docs/trace.md)");
  group->require_subcommand(1);
  add_diff(*group, exit_code);
  add_show(*group, exit_code);
}

}  // namespace weft::cli
