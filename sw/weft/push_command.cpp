// SPDX-License-Identifier: Apache-2.0
// weft push: multicast tables into the switches of an InfiniBand subnet.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/command_line.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "ib/journal.hpp"
#include "ib/push.hpp"
#include "ib/subnet.hpp"
#include "mcast/mcfdbs.hpp"
#include "weft/command.hpp"

namespace weft::cli {
namespace {

using nlohmann::json;

struct PushArguments {
  CommonOptions common;
  std::string tables, journal, resume, roll_back;
  bool dry_run = false, clear_others = false;
  ib::SubnetOptions subnet;
  uint32_t timeout_ms = 500;
};

void check(const PushArguments& a) {
  const int sources = !a.tables.empty() + !a.resume.empty() + !a.roll_back.empty();
  if (sources != 1) throw BadInput("push takes one of FILE, --resume JOURNAL and --roll-back JOURNAL");
  if (a.tables.empty()) {
    if (!a.journal.empty() || a.clear_others)
      throw BadInput("--journal and --clear-others go with a file of tables only");
    return;
  }
  if (a.dry_run) return;
  if (a.journal.empty()) throw BadInput("push needs --journal FILE (or --dry-run)");
  std::error_code error;
  if (std::filesystem::exists(a.journal, error))
    throw BadInput(fmt::format("{}: is there already: --resume or --roll-back it, or remove it", a.journal));
}

/// With --clear-others a file without entries, perhaps one that was cut off, would empty all switches.
mcast::ForwardingTables read_tables(const std::string& file) {
  mcast::ForwardingTables tables = mcast::read_mcfdbs_file(file);
  const auto is_empty = [](const auto& sw) { return sw.second.empty(); };
  if (std::all_of(tables.begin(), tables.end(), is_empty)) throw BadInput(file + ": there is no entry in it");
  return tables;
}

/// Shows how far a step is.
ib::Done shown_by(Progress& progress) {
  return [&progress](std::size_t done, std::size_t of) { progress.show(done, of); };
}

ib::Plan plan_for(const PushArguments& a, ib::Subnet& subnet, const mcast::ForwardingTables& tables,
                  const ib::Plan& before) {
  Progress progress("reading tables");
  if (!a.tables.empty()) return ib::make_plan(subnet, tables, a.clear_others, shown_by(progress));
  const auto direction = a.resume.empty() ? ib::Direction::back : ib::Direction::forward;
  return ib::make_plan(subnet, before, direction, shown_by(progress));
}

void print(const ib::Plan& plan) {
  for (const ib::SwitchChange& change : plan) {
    fmt::print("switch {:#018x}\n", change.guid);
    if (change.top) fmt::print("  last MLID: 0x{:04X} -> 0x{:04X}\n", change.top->from, change.top->to);
    for (const ib::BlockChange& block : change.blocks)
      for (const std::string& line : describe(block)) fmt::print("{}\n", line);
  }
}

const char* name_of(ib::State state) {
  switch (state) {
    case ib::State::unchanged:
      return "unchanged";
    case ib::State::partly:
      return "partly changed";
    case ib::State::uncertain:
      return "uncertain";
    case ib::State::changed:
      return "changed";
  }
  return "?";
}

uint64_t blocks_of(const ib::Plan& plan) {
  uint64_t blocks = 0;
  for (const ib::SwitchChange& change : plan) blocks += change.blocks.size();
  return blocks;
}

json summary(const PushArguments& a, const ib::Subnet& subnet, const ib::Plan& plan,
             const ib::Report& report) {
  json switches = json::array();
  for (std::size_t i = 0; i < plan.size(); ++i)
    switches.push_back({{"guid", fmt::format("{:#018x}", plan[i].guid)},
                        {"state", name_of(a.dry_run ? ib::State::unchanged : report.states[i])}});
  return {{"switches", subnet.all().size()},
          {"switches_to_change", plan.size()},
          {"blocks_to_change", blocks_of(plan)},
          {"blocks_written", report.blocks_written},
          {"blocks_verified", report.blocks_verified},
          {"dry_run", a.dry_run},
          {"failure", report.failure},
          {"states", switches},
          {"seed", a.common.seed}};
}

/// What a push that failed has left: one line for each switch that it should change, and what to do.
void print_failure(const PushArguments& a, const ib::Plan& plan, const ib::Report& report) {
  for (std::size_t i = 0; i < plan.size(); ++i)
    fmt::print("switch {:#018x}: {}\n", plan[i].guid, name_of(report.states[i]));
  const std::string& journal = !a.journal.empty() ? a.journal : !a.resume.empty() ? a.resume : a.roll_back;
  std::fflush(stdout);
  fmt::print(stderr, "weft: {}; weft push --resume {} goes on, --roll-back {} undoes it\n", report.failure,
             journal, journal);
}

int run_push(PushArguments a) {
  check(a);
  mcast::ForwardingTables tables;
  ib::Plan before;
  if (!a.tables.empty()) tables = read_tables(a.tables);
  if (!a.resume.empty()) before = ib::read_journal_file(a.resume);
  if (!a.roll_back.empty()) before = ib::read_journal_file(a.roll_back);
  a.subnet.timeout = std::chrono::milliseconds(a.timeout_ms);
  ib::Subnet subnet(a.subnet);
  ib::Plan plan;
  try {
    plan = plan_for(a, subnet, tables, before);
  } catch (const ib::Misfit& misfit) {
    throw BadInput(fmt::format("{}: {}", a.tables + a.resume + a.roll_back, misfit.what()));
  }
  ib::Report report;
  if (a.dry_run) {
    print(plan);
  } else if (!plan.empty()) {
    if (!a.journal.empty()) write_whole(a.journal, ib::write_journal(plan));
    Progress progress("writing tables");
    report = ib::push(subnet, plan, shown_by(progress));
  }
  write_json(a.common, summary(a, subnet, plan, report));
  if (!report.ok()) {
    print_failure(a, plan, report);
    return check_failed;
  }
  fmt::print("{} of {} switches {}: {} blocks\n", plan.size(), subnet.all().size(),
             a.dry_run ? "would change" : "changed", blocks_of(plan));
  return ok;
}

}  // namespace

void add_push(CLI::App& weft, int& exit_code) {
  auto* command = weft.add_subcommand(
      "push", "program multicast tables into the switches of an InfiniBand subnet (docs/mcast_opensm.md)");
  auto a = std::make_shared<PushArguments>();
  command->add_option("FILE", a->tables, "tables, as OpenSM dumps them (opensm.mcfdbs)")
      ->check(command_line::file_name());
  command
      ->add_option("--journal", a->journal,
                   "write down first what is changed; this file must not be there yet")
      ->type_name("FILE")
      ->check(command_line::result_file());
  command->add_option("--resume", a->resume, "go on with a push that stopped half-way")
      ->type_name("JOURNAL")
      ->check(command_line::file_name());
  command->add_option("--roll-back", a->roll_back, "undo a push, whether it stopped half-way or not")
      ->type_name("JOURNAL")
      ->check(command_line::file_name());
  command->add_flag("--dry-run", a->dry_run, "print what would change, change nothing");
  command->add_flag("--clear-others", a->clear_others, "remove the entries of MLIDs that are not in FILE");
  command->add_option("--device", a->subnet.device, "InfiniBand device; the first that is up if not given")
      ->type_name("NAME")
      ->check(command_line::file_name());
  command->add_option("--port", a->subnet.port, "port of the device; the first that is up if not given")
      ->check(command_line::whole_number(1, 254));
  command->add_option("--m-key", a->subnet.m_key, "M_Key of the subnet, if its switches are protected")
      ->type_name("0x...")
      ->check(command_line::hexadecimal_number(1, std::numeric_limits<uint64_t>::max()));
  command->add_option("--timeout", a->timeout_ms, "milliseconds to wait for an answer, four times")
      ->check(command_line::whole_number(1, 60000))
      ->capture_default_str();
  command
      ->add_option("--in-flight", a->subnet.in_flight,
                   "datagrams under way at a time while blocks are written and read back")
      ->type_name("N")
      ->check(command_line::whole_number(1, 1024))
      ->capture_default_str();
  add_common(*command, a->common);
  command->callback([a, &exit_code] { exit_code = run_push(*a); });
}

}  // namespace weft::cli
