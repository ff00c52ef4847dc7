// SPDX-License-Identifier: Apache-2.0
// OpenSM's dumps of multicast tables: what it writes, written and read again, each fault with its message.
#include "mcast/mcfdbs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "property.hpp"

namespace weft::mcast {
namespace {

std::vector<uint32_t> ports_of(const PortMask& mask) {
  std::vector<uint32_t> ports;
  mask.for_each([&ports](uint32_t port) { ports.push_back(port); });
  return ports;
}

PortMask mask_of(const std::vector<uint32_t>& ports) {
  PortMask mask;
  for (const uint32_t port : ports) mask.set(port);
  return mask;
}

TEST(PortMask, HoldsPorts) {
  PortMask mask = mask_of({0, 15, 16, 63, 64, 254});
  EXPECT_EQ(ports_of(mask), (std::vector<uint32_t>{0, 15, 16, 63, 64, 254}));
  EXPECT_EQ(mask.count(), 6u);
  EXPECT_EQ(mask.highest(), 254u);
  mask.clear(254);
  EXPECT_FALSE(mask.test(254));
  EXPECT_EQ(mask.highest(), 64u);
  EXPECT_EQ(mask_of({0}).highest(), 0u);
  EXPECT_FALSE(mask_of({0}).empty());
  EXPECT_TRUE(PortMask().empty());
}

TEST(PortMask, MovesInParts) {
  const PortMask mask = mask_of({0, 15, 16, 63, 64, 254});
  EXPECT_EQ(mask.part(0), 0x8001);
  EXPECT_EQ(mask.part(1), 0x0001);
  EXPECT_EQ(mask.part(3), 0x8000);
  EXPECT_EQ(mask.part(15), 0x4000);
  PortMask copy;
  for (uint32_t position = 0; position < PortMask::parts; ++position) {
    copy.set_part(position, 0xffff);  // what was there goes
    copy.set_part(position, mask.part(position));
  }
  EXPECT_EQ(copy, mask);
}

// As OpenSM 3.3.23 wrote it: also the blanks.
const std::string dump =
    "\nSwitch 0x0000001000000000\n"
    "LID    : Out Port(s)\n"
    "0xC001 : 0x001  0x002  0x003 \n"
    "0xC0AB : 0x023 \n"
    "\nSwitch 0x000000100000000e\n"
    "LID    : Out Port(s)\n"
    "0xC001 : 0x000  0x0FE \n";

TEST(Mcfdbs, ReadsAndWritesWhatOpenSmWrites) {
  const ForwardingTables tables = read_mcfdbs(dump, "dump");
  const ForwardingTables expected{
      {0x1000000000, {{0xc001, mask_of({1, 2, 3})}, {0xc0ab, mask_of({35})}}},
      {0x100000000e, {{0xc001, mask_of({0, 254})}}},
  };
  EXPECT_EQ(tables, expected);
  EXPECT_EQ(write_mcfdbs(tables), dump);
}

TEST(Mcfdbs, SortsSwitchesAsOpenSmDoes) {
  const Entries entries{{0xc000, mask_of({1})}};
  const std::string text =
      write_mcfdbs({{0x1000000001, entries}, {0x1000000100, entries}, {0x1000000002, {}}});
  EXPECT_LT(text.find("0x0000001000000100"), text.find("0x0000001000000001"));
  EXPECT_EQ(text.find("0x0000001000000002"), std::string::npos) << "has no entries";
}

TEST(Mcfdbs, ReadsAnEmptyFile) { EXPECT_TRUE(read_mcfdbs("", "dump").empty()); }

TEST(Mcfdbs, ReadsAFileWithoutItsLastLineFeed) {
  EXPECT_EQ(read_mcfdbs(dump.substr(0, dump.size() - 2), "dump"), read_mcfdbs(dump, "dump"));
}

TEST(Mcfdbs, ReadsItsOwnWriting) {
  EXPECT_PROPERTY("a table is read as it was written", [] {
    const auto guids = *rc::gen::unique<std::vector<uint64_t>>(rc::gen::positive<uint64_t>());
    ForwardingTables tables;
    for (const uint64_t guid : guids)
      for (const uint16_t mlid :
           *rc::gen::container<std::vector<uint16_t>>(rc::gen::inRange<uint16_t>(0xc000, 0xffff)))
        tables[guid][mlid].set(*rc::gen::inRange<uint32_t>(0, 255));
    RC_ASSERT(read_mcfdbs(write_mcfdbs(tables), "dump") == tables);
  });
}

// In one half of the draws hexadecimal digits become others, which leaves many files readable; in the
// other half bytes are changed, lost, or taken from elsewhere in the file.
TEST(Mcfdbs, ReadsOrRefusesSpoiltFiles) {
  const std::string digits = "0123456789abcdefABCDEF";
  uint32_t read = 0, refused = 0;
  EXPECT_PROPERTY("spoilt files are read or refused in one line", [&] {
    std::string text = dump;
    const bool only_digits = *rc::gen::arbitrary<bool>();
    const auto faults = *rc::gen::inRange(1, 4);
    for (int i = 0; i < faults; ++i) {
      const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
      if (only_digits) {
        const auto digit = std::min(text.find_first_of("0123456789abcdef", at), text.rfind("0x0"));
        text[digit] = *rc::gen::elementOf(digits);
        continue;
      }
      const auto from = *rc::gen::inRange<std::size_t>(0, text.size());
      const auto length = *rc::gen::inRange<std::size_t>(0, 40);
      const auto how = *rc::gen::inRange(0, 3);
      if (how == 0) text[at] = static_cast<char>(*rc::gen::arbitrary<uint8_t>());
      if (how == 1) text.erase(at, length);
      if (how == 2) text.insert(at, text.substr(from, length));
      if (text.empty()) text = "\n";
    }
    try {
      const ForwardingTables tables = read_mcfdbs(text, "dump");
      RC_ASSERT(read_mcfdbs(write_mcfdbs(tables), "again").size() <= tables.size());
      ++read;
    } catch (const Fault& fault) {
      const std::string what = fault.what();
      RC_ASSERT(what.starts_with("dump:"));
      RC_ASSERT(what.find('\n') == std::string::npos);
      ++refused;
    }
  });
  EXPECT_GT(read, 0u);
  EXPECT_GT(refused, 0u);
}

void expect_fault(const std::string& text, const std::string& message) {
  try {
    read_mcfdbs(text, "dump");
    ADD_FAILURE() << "no fault: " << message;
  } catch (const Fault& fault) {
    EXPECT_EQ(std::string(fault.what()), message);
  }
}

TEST(Mcfdbs, NamesFaults) {
  const std::string head = "Switch 0x1\nLID    : Out Port(s)\n";
  expect_fault("Switch 0x1\n", "dump:1: the file ends after the name of a switch");
  expect_fault("Switch 0x1\n0xC000 : 0x001 \n", "dump:2: '0xC000 : 0x001 ', expected 'LID    : Out Port(s)'");
  expect_fault("Switch 0x0\n", "dump:1: '0x0' is not the GUID of a switch");
  expect_fault("Switch 17\n", "dump:1: '17' is not the GUID of a switch");
  expect_fault("Switch 0x12345678123456781\n", "dump:1: '0x12345678123456781' is not the GUID of a switch");
  expect_fault(head + head, "dump:3: switch 0x0000000000000001 is there twice");
  expect_fault("\n0xC000 : 0x001\n", "dump:2: an entry before the first switch");
  expect_fault(head + "0xBFFF : 0x001\n", "dump:3: '0xBFFF' is not an MLID, 0xC000 to 0xFFFE");
  expect_fault(head + "0xFFFF : 0x001\n", "dump:3: '0xFFFF' is not an MLID, 0xC000 to 0xFFFE");
  expect_fault(head + "0xC0000 : 0x001\n", "dump:3: '0xC0000' is not an MLID, 0xC000 to 0xFFFE");
  expect_fault(head + "0xC000 0x001\n", "dump:3: there is no ':' after the MLID");
  expect_fault(head + "0xC000 : 0x001\n0xC000 : 0x002\n",
               "dump:4: MLID 0xC000 is there twice in this switch");
  expect_fault(head + "0xC000 : \n", "dump:3: an entry without ports");
  expect_fault(head + "0xC000 : 0x0FF\n", "dump:3: '0x0FF' is not a port, 0x000 to 0x0FE");
  expect_fault(head + "0xC000 : 1\n", "dump:3: '1' is not a port, 0x000 to 0x0FE");
  expect_fault(head + "0xC000 : 0x001 0x001\n", "dump:3: port 0x001 is there twice");
  expect_fault(head + "nonsense\t\n", "dump:3: 'nonsense?' is neither a switch nor an entry");
}

TEST(Mcfdbs, NamesFilesThatCannotBeRead) {
  EXPECT_THROW(read_mcfdbs_file("/nowhere/dump"), Fault);
  EXPECT_THROW(read_mcfdbs_file("/"), Fault);
}

}  // namespace
}  // namespace weft::mcast
