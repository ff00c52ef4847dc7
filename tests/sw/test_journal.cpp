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
  } catch (const ib::BadJournal& fault) {
    const std::string what = fault.what();
    EXPECT_EQ(what.substr(0, what.find('\n')), what) << "more than a line";
    EXPECT_NE(what.find("journal: is no journal of weft push: " + message), std::string::npos) << what;
  }
}

TEST(Journal, NamesFaults) {
  expect_fault("", "");
  expect_fault("[]", "");
  expect_fault("{}", "");
  expect_fault(replaced("journal 1", "journal 2"), "of another format");
  expect_fault(replaced("0x0000000000000001", "1"), "bad GUID");
  expect_fault(replaced("0x0000000000000001", "0xg"), "bad hexadecimal number");
  expect_fault(replaced("ffff0000", "ffff000"), "a block is not 128 digits long");
  expect_fault(replaced("\"block\": 511", "\"block\": 512"), "a number is out of range");
  expect_fault(replaced("\"position\": 15", "\"position\": -1"), "a number is out of range");
  expect_fault(replaced("\"position\": 1,", "\"position\": 0,"), "blocks are not in order");
  expect_fault(replaced("0xffffffffffffffff", "0x0000000000000001"), "switches are not in order");
}

TEST(Journal, NamesFilesThatCannotBeRead) {
  EXPECT_THROW(ib::read_journal_file("/nowhere/journal"), ib::BadJournal);
  EXPECT_THROW(ib::read_journal_file("/"), ib::BadJournal);
}

}  // namespace
}  // namespace weft::test
