// SPDX-License-Identifier: Apache-2.0
// A plan as a file.
#include "ib/journal.hpp"

#include <fmt/format.h>

#include <charconv>

#include "common/input_file.hpp"
#include "common/json_text.hpp"

namespace weft::ib {

using nlohmann::json;

namespace {

constexpr const char* no_journal = "is no journal of weft push: ";
constexpr const char* format_name = "weft push journal 1";
constexpr std::size_t mask_digits = 4;

std::string to_hex(const Block& block) {
  std::string digits;
  for (const uint16_t mask : block) digits += fmt::format("{:04x}", mask);
  return digits;
}

uint64_t parse_hex(std::string_view digits) {
  uint64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, number, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) throw std::invalid_argument("bad hexadecimal number");
  return number;
}

Block parse_block(const std::string& digits) {
  if (digits.size() != mask_digits * block_mlids)
    throw std::invalid_argument("a block is not 128 digits long");
  Block block{};
  for (uint32_t i = 0; i < block_mlids; ++i)
    block[i] =
        static_cast<uint16_t>(parse_hex(std::string_view(digits).substr(i * mask_digits, mask_digits)));
  return block;
}

/// A number from 0 to `most`; of what is negative or broken as well.
uint32_t number(const json& value, uint32_t most) {
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most)
    throw std::invalid_argument("a number is out of range");
  return value.get<uint32_t>();
}

json to_json(const SwitchChange& change) {
  json blocks = json::array();
  for (const BlockChange& block : change.blocks)
    blocks.push_back({{"block", block.place.number},
                      {"position", block.place.position},
                      {"from", to_hex(block.from)},
                      {"to", to_hex(block.to)}});
  json result{{"guid", fmt::format("{:#018x}", change.guid)}, {"blocks", blocks}};
  if (change.top) result["top"] = {{"from", change.top->from}, {"to", change.top->to}};
  return result;
}

const json& list(const json& parent, const char* key) {
  const json& found = parent.at(key);
  if (!found.is_array()) throw std::invalid_argument(fmt::format("{} is no list", key));
  for (const json& element : found)
    if (!element.is_object())
      throw std::invalid_argument(fmt::format("{} has {} in it", key, element.type_name()));
  return found;
}

BlockChange parse_change(const json& block) {
  return {{number(block.at("block"), 511), number(block.at("position"), 15)},
          parse_block(block.at("from")),
          parse_block(block.at("to"))};
}

void check_order(const std::vector<BlockChange>& blocks) {
  for (std::size_t i = 1; i < blocks.size(); ++i)
    if (!(blocks[i - 1].place < blocks[i].place)) throw std::invalid_argument("blocks are not in order");
}

SwitchChange parse_switch(const json& value, const std::string& name) {
  SwitchChange change;
  const auto& guid = value.at("guid").get_ref<const std::string&>();
  if (!guid.starts_with("0x")) throw std::invalid_argument("bad GUID");
  change.guid = parse_hex(std::string_view(guid).substr(2));
  if (const auto top = value.find("top"); top != value.end())
    change.top = TopChange{static_cast<uint16_t>(number(top->at("from"), 0xffff)),
                           static_cast<uint16_t>(number(top->at("to"), 0xffff))};
  for (const json& block : list(value, "blocks"))
    json_text::within(
        block, name, [&] { change.blocks.push_back(parse_change(block)); }, no_journal);
  check_order(change.blocks);
  return change;
}

Plan plan_in(const json& journal, const std::string& name) {
  if (journal.at("format") != format_name) throw std::invalid_argument("of another format");
  Plan plan;
  for (const json& value : list(journal, "switches"))
    json_text::within(
        value, name,
        [&] {
          plan.push_back(parse_switch(value, name));
          if (plan.size() > 1 && plan.back().guid <= plan[plan.size() - 2].guid)
            throw std::invalid_argument("switches are not in order");
        },
        no_journal);
  return plan;
}

}  // namespace

std::string write_journal(const Plan& plan) {
  json switches = json::array();
  for (const SwitchChange& change : plan) switches.push_back(to_json(change));
  return json{{"format", format_name}, {"switches", switches}}.dump(1) + '\n';
}

Plan read_journal(std::string_view text, const std::string& name) {
  const json journal = json_text::parse(text, name);
  Plan plan;
  json_text::within(
      journal, name, [&] { plan = plan_in(journal, name); }, no_journal);
  return plan;
}

Plan read_journal_file(const std::filesystem::path& file) {
  return read_journal(read_whole<Fault>(file), file.string());
}

}  // namespace weft::ib
