// SPDX-License-Identifier: Apache-2.0
// Sums up the runs of a fault campaign.
#include "soak_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "rdma_baseline/outcomes.hpp"

namespace weft::sim {

namespace formats = rdma::formats;
using formats::Outcome;

namespace {

std::string outcome_name(uint32_t code) { return std::string(formats::name(static_cast<Outcome>(code))); }

bool is_drop(uint32_t code) {
  const std::string name = outcome_name(code);
  return name.starts_with("DROP_") || name.starts_with("REFUSE_");
}

/// Those of NICs, and of the window that the engine's own receiver has.
bool is_of_the_engine_only(Outcome outcome) {
  switch (outcome) {
    case Outcome::drop_window:
    case Outcome::drop_no_key:
    case Outcome::drop_old_read:
    case Outcome::refuse_queue:
    case Outcome::refuse_not_ready:
    case Outcome::refuse_too_long:
    case Outcome::refuse_not_wanted:
    case Outcome::refuse_buffer:
    case Outcome::refuse_answers:
      return true;
    default:
      return false;
  }
}

using Cells = std::vector<std::string>;

std::string markdown_row(const Cells& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

/// The first column is text, all others are numbers.
std::string markdown_table(const Cells& columns, const std::vector<Cells>& rows) {
  std::string text = markdown_row(columns) + "|---|";
  for (size_t i = 1; i < columns.size(); ++i) text += "---:|";
  text += "\n";
  for (const Cells& row : rows) text += markdown_row(row);
  return text + "\n";
}

std::string number(uint64_t value) { return fmt::format("{}", value); }

/// With commas between thousands.
std::string grouped(uint64_t value) {
  std::string text = number(value);
  for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string loss_class(double loss) {
  if (loss < 0.05) return "below 5 %";
  return loss < 0.1 ? "from 5 to 10 %" : "from 10 to 20 %";
}

/// Faults that a plan has, with the packets that each has struck.
std::vector<std::pair<std::string, uint64_t>> faults_of(const Plan& plan, const SoakResult& result) {
  std::vector<std::pair<std::string, uint64_t>> list;
  const fabric::Faults& faults = plan.system.faults;
  if (faults.loss > 0) list.emplace_back("loss " + loss_class(faults.loss), result.network.lost);
  if (faults.duplicate > 0) list.emplace_back("duplication", result.network.duplicated);
  if (faults.reorder_degree > 0) list.emplace_back("reordering", result.network.reordered);
  if (faults.corrupt > 0) list.emplace_back("bit errors anywhere", result.network.corrupted);
  if (plan.header_errors.rate > 0) {
    list.emplace_back(plan.header_errors.crc_mended
                          ? "bit errors in a header field that the CRC does not show"
                          : "bit errors in a header field",
                      result.header_hits);
  }
  if (list.empty()) list.emplace_back("none of these", 0);
  return list;
}

constexpr std::array packet_types{formats::Ptype::rqt,    formats::Ptype::rsp,     formats::Ptype::data,
                                  formats::Ptype::resend, formats::Ptype::release, formats::Ptype::done,
                                  formats::Ptype::ack,    formats::Ptype::read};

std::vector<std::pair<std::string, uint64_t>> faults_in(const tb::FateCounts& counts) {
  return {{"lost", counts.lost},
          {"duplicated", counts.duplicated},
          {"overtaken", counts.held_back},
          {"bit errors", counts.corrupted}};
}

std::string mode_of(const Plan& plan) {
  const auto weft = std::ranges::count_if(plan.setups, &driver::RdmaSetup::weft_mode);
  if (weft == 0) return "paper mode";
  return weft == static_cast<ptrdiff_t>(plan.setups.size()) ? "weft mode" : "both modes";
}

}  // namespace

void SoakReport::add_to(Group& group, const Plan& plan, const SoakResult& result, uint64_t packets) {
  group.runs++;
  group.failed += !result.ok();
  group.excused += result.excused;
  group.lost += result.lost;
  group.packets += packets;
  if (result.settle_cycles < group.worst_settle) return;
  group.worst_settle = result.settle_cycles;
  group.its_chain = plan.bounds.chain();
  group.its_seed = plan.seed;
}

void SoakReport::add_nics(const Plan& plan, const SoakResult& result) {
  add_to(by_nic_incident_[std::string(name(plan.incident.kind))], plan, result, result.network.cut_off);
  for (const auto& [opcode, count] : result.nics.given) nics_.given[opcode] += count;
  for (const auto& [opcode, count] : result.nics.ended_ok) nics_.ended_ok[opcode] += count;
  nics_.delivered += result.nics.delivered;
  nics_.wake_ups += result.nics.wake_ups;
}

void SoakReport::add(const Plan& plan, const SoakResult& result) {
  runs_++;
  events_ += result.events;
  cycles_ += result.cycles;
  given_ += result.given;
  accepted_ += result.accepted;
  lost_ += result.lost;
  excused_ += result.excused;
  add_to(by_incident_[std::string(name(plan.incident.kind))], plan, result, result.network.cut_off);
  if (plan.nic) add_nics(plan, result);
  for (const auto& [fault, packets] : faults_of(plan, result))
    add_to(by_fault_[fault], plan, result, packets);
  if (plan.header_errors.rate > 0) {
    add_to(by_field_[std::string(plan.header_errors.field.name)], plan, result, result.header_hits);
  }
  const std::string shapes[] = {"engine " + plan.system.node.build.name,
                                fmt::format("{} nodes", plan.nodes()), "receivers in " + mode_of(plan)};
  for (const std::string& shape : shapes) add_to(by_shape_[shape], plan, result, result.network.sent);
  for (const auto& [type, counts] : result.fates) fates_[type] += counts;
  for (const auto& [status, count] : result.completions) completions_[status_name(status)] += count;
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
    outcomes_[code] += result.outcomes[code];
    runs_with_[code] += result.outcomes[code] > 0;
  }
  if (!result.ok()) failures_.push_back({plan.seed, result.finding});
}

/// No engine asks for what the first two refuse: its own sender rejects such posts with the same rules.
bool SoakReport::can_occur(Outcome outcome) const {
  if (outcome == Outcome::refuse_length || outcome == Outcome::refuse_align) return false;
  return older_ ? !is_of_the_engine_only(outcome) : !rdma::is_of_older_schemes(outcome);
}

/// READ is of NICs.
bool SoakReport::is_used(formats::Ptype type) const { return !older_ || type != formats::Ptype::read; }

std::vector<std::string> SoakReport::drops_never_seen() const {
  std::vector<std::string> names;
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
    const bool missing = is_drop(code) && can_occur(static_cast<Outcome>(code)) && outcomes_[code] == 0;
    if (missing) names.push_back(outcome_name(code));
  }
  return names;
}

std::vector<std::string> SoakReport::faults_never_seen() const {
  std::vector<std::string> names;
  for (const formats::Ptype type : packet_types) {
    if (!is_used(type)) continue;
    const auto found = fates_.find(type);
    const tb::FateCounts counts = found == fates_.end() ? tb::FateCounts{} : found->second;
    const std::string name(formats::name(type));
    for (const auto& [fault, count] : faults_in(counts)) {
      if (count == 0) names.push_back(fmt::format("{} {}", name, fault));
    }
  }
  return names;
}

std::string SoakReport::fates_markdown() const {
  std::vector<Cells> rows;
  for (const auto& [type, counts] : fates_) {
    Cells row{"`" + std::string(formats::name(type)) + "`", grouped(counts.sent)};
    for (const auto& [fault, count] : faults_in(counts)) row.push_back(grouped(count));
    rows.push_back(row);
  }
  Cells columns{"packets", "sent"};
  for (const auto& [fault, count] : faults_in({})) columns.emplace_back(fault);
  return "## By type of packet\n\nWithout bit errors in one header field, which are below. Lost: by the "
         "network, where it is cut, or on the way to a node that does not exist.\n\n" +
         markdown_table(columns, rows);
}

const SoakReport::Group& SoakReport::worst() const {
  static const Group none;
  const auto found =
      std::ranges::max_element(by_incident_, {}, [](const auto& entry) { return entry.second.worst_settle; });
  return found == by_incident_.end() ? none : found->second;
}

std::string SoakReport::reproduction(uint64_t seed) const { return fmt::format("{} {}", command_, seed); }

std::string SoakReport::table() const {
  std::string text = fmt::format(
      "{} runs, seeds {} to {}: {}\n", runs_, first_seed_, first_seed_ + runs_ - 1,
      ok() ? "nothing wrong delivered, nothing lost, no hang" : fmt::format("{} FAILED", failures_.size()));
  const auto row = [&](const char* title, const std::string& value) {
    text += fmt::format("  {:<26} {}\n", title, value);
  };
  std::string statuses;
  for (const auto& [status, count] : completions_) statuses += fmt::format("  {} {}", status, count);
  row("events compared", fmt::format("{}", events_));
  row("posts", fmt::format("{}, gone with a node that was reset or died: {}", given_, lost_));
  row("completions", statuses.empty() ? "none" : statuses.substr(2));
  row("errors of an incident", fmt::format("{}", excused_));
  std::string opcodes;
  for (const auto& [opcode, count] : nics_.given) opcodes += fmt::format("  {} {}", opcode, count);
  if (!opcodes.empty()) {
    row("requests of NICs", opcodes.substr(2));
    row("messages delivered", fmt::format("{}; software woken {} times", nics_.delivered, nics_.wake_ups));
  }
  row("longest to settle", fmt::format("{} cycles, seed {} (its bound: {})", worst().worst_settle,
                                       worst().its_seed, worst().its_chain));
  const auto never = drops_never_seen();
  std::string names;
  for (const std::string& each : never) names += " " + each;
  row("drops that never occurred", never.empty() ? "none" : names.substr(1));
  const auto unmet = faults_never_seen();
  row("packets without a fault", unmet.empty() ? "none" : fmt::format("{}", fmt::join(unmet, ", ")));
  return text;
}

std::string SoakReport::nic_markdown() const {
  std::string text = "## NICs\n\n";
  if (by_nic_incident_.empty()) return text + "None.\n\n";
  text += fmt::format(
      "{} messages were delivered, software that slept was woken {} times. These runs are in the "
      "other tables, too.\n\n",
      grouped(nics_.delivered), grouped(nics_.wake_ups));
  std::vector<Cells> rows;
  for (const auto& [title, group] : by_nic_incident_) {
    rows.push_back({title, grouped(group.runs), grouped(group.failed), grouped(group.excused),
                    grouped(group.lost), grouped(group.worst_settle), grouped(group.its_chain),
                    number(group.its_seed)});
  }
  text += markdown_table(
      {"incident", "runs", "failed", "transfers ended with an error for it", "posts gone with their node",
       "longest to settle, cycles", "bound of that run", "its seed"},
      rows);
  rows.clear();
  for (const auto& [opcode, count] : nics_.given) {
    const auto ok = nics_.ended_ok.find(opcode);
    rows.push_back(
        {"`" + opcode + "`", grouped(count), grouped(ok == nics_.ended_ok.end() ? 0 : ok->second)});
  }
  return text + markdown_table({"request", "given to queues", "ended with OK"}, rows);
}

std::string SoakReport::markdown() const {
  std::string text = older_ ? "# Fault campaign of the older schemes\n\n" : "# Fault campaign\n\n";
  text += fmt::format(
      "Written by `make {}`: {} runs, seeds {} to {}. {} cycles, {} events compared with the golden model, "
      "{} posts. "
      "Verdict: **{}**.\n\n",
      older_ ? "older-soak" : "soak", grouped(runs_), first_seed_, first_seed_ + runs_ - 1, grouped(cycles_),
      grouped(events_), grouped(given_),
      ok() ? "nothing wrong delivered, nothing lost, no hang"
           : fmt::format("{} runs failed", failures_.size()));
  text += "What a run is and what it checks: [verification.md](../verification.md#the-fault-campaign).\n\n";

  const auto rows_of = [](const std::map<std::string, Group>& groups, bool times) {
    std::vector<Cells> rows;
    for (const auto& [title, group] : groups) {
      Cells row{title, grouped(group.runs), grouped(group.failed), grouped(group.packets)};
      if (times) {
        const Cells more{grouped(group.excused), grouped(group.lost), grouped(group.worst_settle),
                         grouped(group.its_chain), number(group.its_seed)};
        row.insert(row.end(), more.begin(), more.end());
      }
      rows.push_back(row);
    }
    return rows;
  };
  text += "## By incident\n\n";
  text += markdown_table(
      {"incident", "runs", "failed", "packets cut off", "transfers ended with an error for it",
       "posts gone with their node", "longest to settle, cycles", "bound of that run", "its seed"},
      rows_of(by_incident_, true));
  text += "## By fault of the network\n\n";
  text += markdown_table({"fault", "runs", "failed", "packets struck"}, rows_of(by_fault_, false));
  text += fates_markdown();
  text += "## Bit errors by header field\n\n";
  text += markdown_table({"field", "runs", "failed", "packets struck"}, rows_of(by_field_, false));
  text += "## By system\n\n";
  text += markdown_table({"system", "runs", "failed", "packets sent"}, rows_of(by_shape_, false));

  if (!older_) text += nic_markdown();
  text += "## Completions\n\n";
  std::vector<Cells> rows;
  for (const auto& [status, count] : completions_) rows.push_back({"`" + status + "`", grouped(count)});
  text += markdown_table({"status", "transfers"}, rows);

  text += "## Drops and refusals\n\n";
  rows.clear();
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
    if (!is_drop(code)) continue;
    const bool possible = can_occur(static_cast<Outcome>(code));
    const std::string remark = outcomes_[code] == 0 ? (possible ? "**never**" : "cannot occur here") : "";
    rows.push_back(
        {"`" + outcome_name(code) + "`", grouped(outcomes_[code]), grouped(runs_with_[code]), remark});
  }
  text += markdown_table({"reason", "packets", "runs", ""}, rows);
  text += "`REFUSE_LENGTH` and `REFUSE_ALIGN` cannot occur here: every sender rejects such posts itself; ";
  text += older_ ? "the others are of the engine's own scheme and of NICs.\n\n"
                 : "`DROP_EARLY` is of an older scheme.\n\n";

  text += "## Failures\n\n";
  if (ok()) return text + "None.\n";
  for (const Failure& failure : failures_) {
    text += fmt::format("Seed {}: `{}`\n\n```\n{}\n```\n\n", failure.seed, reproduction(failure.seed),
                        failure.finding);
  }
  return text;
}

nlohmann::json SoakReport::json() const {
  const auto groups = [](const std::map<std::string, Group>& from) {
    nlohmann::json json = nlohmann::json::object();
    for (const auto& [title, group] : from) {
      json[title] = {{"runs", group.runs},
                     {"failed", group.failed},
                     {"packets", group.packets},
                     {"excused_errors", group.excused},
                     {"posts_lost_with_node", group.lost},
                     {"worst_settle_cycles", group.worst_settle},
                     {"worst_settle_bound", group.its_chain},
                     {"worst_settle_seed", group.its_seed}};
    }
    return json;
  };
  nlohmann::json outcomes = nlohmann::json::object();
  for (uint32_t code = 0; code < tb::outcome_codes; ++code) {
    if (outcome_name(code) == "?") continue;
    outcomes[outcome_name(code)] = {{"count", outcomes_[code]}, {"runs", runs_with_[code]}};
  }
  nlohmann::json fates = nlohmann::json::object();
  for (const auto& [type, counts] : fates_) {
    nlohmann::json& row = fates[std::string(formats::name(type))];
    row["sent"] = counts.sent;
    for (const auto& [fault, count] : faults_in(counts)) row[fault] = count;
  }
  nlohmann::json failures = nlohmann::json::array();
  for (const Failure& failure : failures_) {
    failures.push_back(
        {{"seed", failure.seed}, {"finding", failure.finding}, {"command", reproduction(failure.seed)}});
  }
  return {{"ok", ok()},
          {"runs", runs_},
          {"first_seed", first_seed_},
          {"cycles", cycles_},
          {"events", events_},
          {"posts", given_},
          {"posts_accepted", accepted_},
          {"posts_lost_with_node", lost_},
          {"excused_errors", excused_},
          {"completions", completions_},
          {"outcomes", outcomes},
          {"drops_never_seen", drops_never_seen()},
          {"by_incident", groups(by_incident_)},
          {"by_fault", groups(by_fault_)},
          {"by_header_field", groups(by_field_)},
          {"by_type_of_packet", fates},
          {"faults_never_seen", faults_never_seen()},
          {"by_system", groups(by_shape_)},
          {"by_incident_of_nics", groups(by_nic_incident_)},
          {"nic_requests", nics_.given},
          {"nic_requests_ok", nics_.ended_ok},
          {"messages_delivered", nics_.delivered},
          {"wake_ups", nics_.wake_ups},
          {"failures", failures}};
}

}  // namespace weft::sim
