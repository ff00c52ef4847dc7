// SPDX-License-Identifier: Apache-2.0
// Journals of pushes: written and read again, each fault with its message.
#include "ib/journal.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::test {
namespace {

using ib::Plan;

Plan some_plan() {
  ib::Block from{}, to{};
  from[0] = 0xffff;
  to[31] = 0x8001;
  return {{1, std::nullopt, {{{0, 0}, from, to}, {{0, 1}, to, from}, {{511, 15}, from, to}}},
          {0xffffffffffffffff, ib::TopChange{0xbfff, 0xc01f}, {}}};
}

TEST(Journal, IsReadAsItWasWritten) {
  EXPECT_EQ(ib::read_journal(ib::write_journal(some_plan()), "journal"), some_plan());
  EXPECT_EQ(ib::read_journal(ib::write_journal({}), "journal"), Plan());
}

std::string replaced(const std::string& from, const std::string& to) {
  std::string text = ib::write_journal(some_plan());
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_fault(const std::string& text, const std::string& message) {
  try {
    ib::read_journal(text, "journal");
    ADD_FAILURE() << "no fault: " << message;
  } catch (const Fault& fault) {
    const std::string what = fault.what();
    EXPECT_EQ(what.substr(0, what.find('\n')), what) << "more than a line";
    EXPECT_EQ(what, "journal:" + message);
  }
}

void expect_no_journal(const std::string& text, uint32_t line, const std::string& message) {
  expect_fault(text, std::to_string(line) + ": is no journal of weft push: " + message);
}

TEST(Journal, NamesFaultsAndTheirLine) {
  expect_fault("", "1: is no JSON");
  expect_fault("{\n\n\"format\": nul", "3: is no JSON");
  expect_fault(replaced("\"block\": 511", "\"block\" 511"), "19: is no JSON");
  expect_fault("{\"format\":\n1e999\n}", "2: is no JSON");
  expect_no_journal("[]", 1, "cannot use at() with array");
  expect_no_journal("\n{}", 2, "key 'format' not found");
  expect_no_journal(replaced("journal 1", "journal 2"), 1, "of another format");
  expect_no_journal(R"({"format": "weft push journal 1", "switches": 7})", 1, "switches is no list");
  expect_no_journal(R"({"format": "weft push journal 1", "switches": [7]})", 1, "switches has number in it");
  expect_no_journal(replaced("0x0000000000000001", "1"), 4, "bad GUID");
  expect_no_journal(replaced("0x0000000000000001", "0xg"), 4, "bad hexadecimal number");
  expect_no_journal(replaced("ffff0000", "ffff000"), 6, "a block is not 128 digits long");
  expect_no_journal(replaced("\"block\": 511", "\"block\": 512"), 18, "a number is out of range");
  expect_no_journal(replaced("\"position\": 15", "\"position\": -1"), 18, "a number is out of range");
  expect_no_journal(replaced("\"position\": 1,", "\"position\": 0,"), 4, "blocks are not in order");
  expect_no_journal(replaced("0xffffffffffffffff", "0x0000000000000001"), 27, "switches are not in order");
}

TEST(Journal, NamesFilesThatCannotBeRead) {
  EXPECT_THROW(ib::read_journal_file("/nowhere/journal"), Fault);
  EXPECT_THROW(ib::read_journal_file("/"), Fault);
}

}  // namespace
}  // namespace weft::test
