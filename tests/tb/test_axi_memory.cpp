// SPDX-License-Identifier: Apache-2.0
// The AXI4 memory finds every burst rule that the master breaks.
#include "axi_memory_test.hpp"

namespace weft::tb::test {
namespace {

using AxiRules = AxiMemoryTest;

/// Never ready, so that everything offered has to wait.
class AxiStall : public AxiMemoryTest {
 protected:
  AxiStall() : AxiMemoryTest({.max_reads = 0, .max_writes = 0}) {}

  template <typename Payload>
  void expect_watched(bool AxiPins::*valid, Payload AxiPins::*payload, const Payload& offered,
                      const std::vector<Payload>& changes, const std::string& channel) {
    for (const Payload& changed : changes) {
      memory_.reset();  // the offer before never went through
      pins_.*valid = true;
      pins_.*payload = offered;
      cycle();
      cycle();
      expect_clean();
      pins_.*payload = changed;
      cycle();
      expect_finding(channel + ": payload changed while valid waited for ready");
    }
    pins_.*valid = false;
    cycle();
    expect_finding(channel + ": valid fell before ready");
  }

  static std::vector<AxiAddress> changed(const AxiAddress& address) {
    return {{address.addr + 32, address.len, address.size, address.burst},
            {address.addr, 0, address.size, address.burst},
            {address.addr, address.len, 4, address.burst},
            {address.addr, address.len, address.size, 2}};
  }
};

TEST_F(AxiStall, FindsAnythingThatChangesBeforeReady) {
  const AxiAddress address = burst_at(0x1000, 128);
  expect_watched(&AxiPins::awvalid, &AxiPins::aw, address, changed(address), "m_axi aw");
  expect_watched(&AxiPins::arvalid, &AxiPins::ar, address, changed(address), "m_axi ar");
  const AxiWriteBeat offered = beat(1, all_lanes, false);
  AxiWriteBeat other_data = offered;
  other_data.data[31] ^= 1;
  expect_watched(&AxiPins::wvalid, &AxiPins::w, offered,
                 {other_data, beat(1, all_lanes >> 1, false), beat(1, all_lanes, true)}, "m_axi w");
}

TEST_F(AxiStall, ResetForgetsWhatWaits) {
  pins_.awvalid = pins_.arvalid = pins_.wvalid = true;
  cycle();
  memory_.reset();
  pins_ = AxiPins{};
  cycle();
  expect_clean();
}

TEST_F(AxiRules, BurstsMayReachAPageBoundaryButNotCrossIt) {
  read_address(burst_at(0xf00, 256));
  write_address(burst_at(0xf00, 256));
  write_address(burst_at(0xfe8, 32));  // not aligned: ends with its beat, at 0x1000
  expect_clean();
  read_address(burst_at(0xf20, 256));
  expect_finding("m_axi ar: burst of 256 bytes at 0xf20 crosses 4 KiB");
  write_address(burst_at(0xfe0, 64));
  expect_finding("m_axi aw: burst of 64 bytes at 0xfe0 crosses 4 KiB");
  write_address(burst_at(0xfff0, 64));  // not aligned: its first beat begins at 0xffe0
  expect_finding("m_axi aw: burst of 64 bytes at 0xfff0 crosses 4 KiB");
}

TEST_F(AxiRules, FindsBurstTypesOtherThanIncr) {
  for (const uint8_t type : {0, 2, 3}) {
    AxiAddress address = burst_at(0x1000, 64);
    address.burst = type;
    read_address(address);
    expect_finding("m_axi ar: burst type " + std::to_string(type) + ", not INCR");
    write_address(address);
    expect_finding("m_axi aw: burst type " + std::to_string(type) + ", not INCR");
  }
}

TEST_F(AxiRules, FindsBeatsNarrowerOrWiderThanTheBus) {
  for (const uint8_t size : {0, 4, 6, 7}) {
    AxiAddress address = burst_at(0x1000, 64);
    address.size = size;
    read_address(address);
    expect_finding("m_axi ar: size " + std::to_string(size) + " is not the bus width");
    write_address(address);
    expect_finding("m_axi aw: size " + std::to_string(size) + " is not the bus width");
  }
}

TEST_F(AxiRules, FindsBurstsLongerThanAPacket) {
  read_address(burst_at(0x1000, 288));
  expect_finding("m_axi ar: burst of 288 bytes is longer than a packet");
  write_address(burst_at(0x1000, 288));
  expect_finding("m_axi aw: burst of 288 bytes is longer than a packet");
}

TEST_F(AxiRules, FindsWlastTooEarly) {
  write_address(burst_at(0x1000, 96));
  write_data(beat(1, all_lanes, false));
  write_data(beat(2, all_lanes, true));
  expect_finding("m_axi w: wlast on beat 2 of a burst of 3");
}

TEST_F(AxiRules, FindsAMissingWlastAtOnce) {
  write_address(burst_at(0x1000, 64));
  write_data(beat(1, all_lanes, false));
  expect_clean();
  write_data(beat(2, all_lanes, false));
  expect_finding("m_axi w: no wlast on the last beat of a burst of 2");
  write_data(beat(3, all_lanes, false));
  write_data(beat(4, all_lanes, true));
  expect_clean();  // told once
  write(0x2000, 64);
  expect_clean();  // in step again
  write_address(burst_at(0x1000, 32));
  write_data(beat(1, all_lanes, false));
  expect_finding("m_axi w: no wlast on the last beat of a burst of 1");
}

TEST_F(AxiRules, FindsWrongWlastOfDataThatCameBeforeItsAddress) {
  write_data(beat(1, all_lanes, false));
  write_data(beat(2, all_lanes, true));
  expect_clean();
  write_address(burst_at(0x1000, 32));
  expect_finding("m_axi w: wlast on beat 2 of a burst of 1");
  write_data(beat(3, all_lanes, false));
  write_data(beat(4, all_lanes, false));
  write_address(burst_at(0x1000, 32));
  expect_finding("m_axi w: no wlast on the last beat of a burst of 1");
}

TEST_F(AxiRules, AWrongWlastDoesNotSpoilTheNextBurst) {
  write_address(burst_at(0x1000, 96));
  write_data(beat(1, all_lanes, true));
  expect_finding("m_axi w: wlast on beat 1 of a burst of 3");
  write(0x2000, 64);
  expect_clean();
  EXPECT_EQ(written_.back().bytes.size(), 64u);
}

TEST_F(AxiRules, FindsStrobesWithHoles) {
  const struct {
    uint64_t first, second;
    const char* at;
  } cases[] = {
      {all_lanes & ~(1ull << 9), all_lanes, "before 0x100a"},  // inside a beat
      {all_lanes >> 8, all_lanes, "before 0x1020"},            // at the end of a beat that is not the last
      {all_lanes & ~1ull, all_lanes, "before 0x1001"},         // at the beginning
      {all_lanes, all_lanes & ~3ull, "before 0x1022"},         // between beats
  };
  for (const auto& each : cases) {
    write_address(burst_at(0x1000, 64));
    write_data(beat(1, each.first, false));
    write_data(beat(2, each.second, true));
    expect_finding(std::string("m_axi w: strobes leave a gap ") + each.at);
  }
}

TEST_F(AxiRules, FindsStrobesBelowAnUnalignedAddress) {
  write_address(burst_at(0x1008, 32));
  write_data(beat(1, all_lanes << 8 & all_lanes, true));
  expect_clean();
  write_address(burst_at(0x1008, 32));
  write_data(beat(1, all_lanes << 7 & all_lanes, true));
  expect_finding("m_axi w: strobes leave a gap before 0x1007");
}

TEST_F(AxiRules, FindsABeatThatWritesNothing) {
  write_address(burst_at(0x1000, 64));
  write_data(beat(1, all_lanes, false));
  write_data(beat(2, 0, true));
  expect_finding("m_axi w: beat 2 of a burst of 2 writes nothing");
}

TEST_F(AxiRules, FindsDataWithoutAnAddressAtTheEnd) {
  write_data(beat(1, all_lanes, true));
  write_data(beat(1, all_lanes, false));
  EXPECT_FALSE(memory_.idle());
  memory_.check_quiet(reporter_);
  expect_finding("m_axi w: 2 beats whose address never came");
}

TEST_F(AxiRules, FindsAnAddressWithoutDataAtTheEnd) {
  write_address(burst_at(0x1000, 64));
  write_address(burst_at(0x2000, 64));
  write_data(beat(1, all_lanes, false));  // begins the first burst
  EXPECT_FALSE(memory_.idle());
  memory_.check_quiet(reporter_);
  expect_finding("m_axi aw: 2 bursts whose data never came");
}

TEST_F(AxiRules, NothingIsLeftAfterWholeBursts) {
  write(0x1000, 256);
  wait();
  memory_.check_quiet(reporter_);
  expect_clean();
}

}  // namespace
}  // namespace weft::tb::test
