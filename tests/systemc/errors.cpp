// SPDX-License-Identifier: Apache-2.0
// What the SystemC module's register socket answers to accesses that are not registers, and what becomes of a
// transfer whose memory answers with an error.
#include <cstdio>
#include <cstring>
#include <optional>

#include "driver/rdma_driver.hpp"
#include "systemc/platform.hpp"

namespace {

using namespace weft;
using systemc::Platform;
using systemc::Processor;

int failures = 0;

void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "systemc_errors: %s\n", what);
  ++failures;
}

/// @return the status of one access
tlm::tlm_response_status access(Processor& processor, tlm::tlm_command command, uint64_t address,
                                unsigned length, uint64_t& data, bool with_enables = false) {
  tlm::tlm_generic_payload payload;
  unsigned char enables[8];
  std::memset(enables, TLM_BYTE_ENABLED, sizeof enables);
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&data));
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  if (with_enables) {
    payload.set_byte_enable_ptr(enables);
    payload.set_byte_enable_length(length);
  }
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  processor.socket->b_transport(payload, delay);
  return payload.get_response_status();
}

void registers(Processor& processor) {
  namespace reg = rdma::formats::reg;
  uint64_t data = 0;
  expect(access(processor, tlm::TLM_READ_COMMAND, reg::ID, 4, data) == tlm::TLM_OK_RESPONSE &&
             data == rdma::formats::reset::ID,
         "ID is not 'weft'");
  expect(access(processor, tlm::TLM_READ_COMMAND, reg::ID, 8, data) == tlm::TLM_BURST_ERROR_RESPONSE,
         "8 bytes are no register");
  expect(access(processor, tlm::TLM_READ_COMMAND, reg::ID + 2, 4, data) == tlm::TLM_ADDRESS_ERROR_RESPONSE,
         "registers are aligned");
  expect(access(processor, tlm::TLM_READ_COMMAND, 1u << 16, 4, data) == tlm::TLM_ADDRESS_ERROR_RESPONSE,
         "registers end");
  expect(
      access(processor, tlm::TLM_READ_COMMAND, reg::ID, 4, data, true) == tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
      "no byte enables");
  expect(access(processor, tlm::TLM_WRITE_COMMAND, reg::ID, 4, data) == tlm::TLM_GENERIC_ERROR_RESPONSE,
         "ID cannot be written");
  data = 5;
  expect(access(processor, tlm::TLM_WRITE_COMMAND, reg::NODE_ID, 4, data) == tlm::TLM_OK_RESPONSE,
         "NODE_ID can be written");
  data = 0;
  expect(access(processor, tlm::TLM_READ_COMMAND, reg::NODE_ID, 4, data) == tlm::TLM_OK_RESPONSE && data == 5,
         "NODE_ID keeps what is written");
}

constexpr uint64_t memory_bytes = 1 << 16;
constexpr uint16_t key = 7;

/// Region 0 is twice as long as memory.
void start(driver::RdmaDriver& engine, uint16_t node) {
  driver::RdmaSetup setup;
  setup.node_id = node;
  setup.regions.resize(1);
  setup.regions[0].limit = 2 * memory_bytes;
  setup.regions[0].key = key;
  setup.regions[0].local_use = true;
  setup.regions[0].owner = 1;
  engine.start(setup);
  expect(engine.ready(), "the engine is not ready");
}

/// To where the other node has no memory.
void write_beyond_memory(Processor& processor, const bool& other_ready) {
  driver::RdmaDriver engine(processor, [](driver::RdmaCompletion) {});
  start(engine, 0);
  driver::RingSetup ring;
  ring.sq_base = 0x1000;
  ring.cq_base = 0x2000;
  ring.owner = 1;
  driver::RingAdministrator administrator(processor, processor);
  bool enabled = false;
  administrator.enable(0, ring, [&](bool ok) { enabled = ok; });
  expect(enabled, "the queue is refused");
  driver::RingQueue queue(processor, processor, 0, ring);
  expect(processor.wait_until([&] { return other_ready; }), "the other node does not come up");
  const uint32_t region = driver::rdma_rkey(0, key);
  queue.post_write(1, {0x4000, 256, region}, {1, memory_bytes, region});
  queue.ring();
  std::optional<driver::RingQueue::Completion> completion;
  const bool came = processor.wait_until(
      [&] {
        completion = queue.take();
        return completion.has_value();
      },
      100'000);
  expect(came, "no completion");
  expect(came && completion->status == static_cast<uint8_t>(rdma::formats::Status::remote_error),
         "the status is not REMOTE_ERROR");
}

/// Wherever in an access it comes: it ends, and those after it are as ever.
void reset_in_accesses(Platform& platform, Processor& processor) {
  unsigned cut = 0;
  for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    for (unsigned clocks = 0; clocks < 8; ++clocks) {
      sc_core::sc_spawn([&platform, clocks] {
        sc_core::wait(Platform::clocks(clocks));
        platform.reset();
      });
      uint64_t data = 3;
      const auto status = access(processor, command, rdma::formats::reg::TICK_CYCLES, 4, data);
      expect(status == tlm::TLM_OK_RESPONSE || status == tlm::TLM_GENERIC_ERROR_RESPONSE, "another answer");
      cut += status == tlm::TLM_GENERIC_ERROR_RESPONSE;
      sc_core::wait(Platform::clocks(20));
      expect(
          access(processor, tlm::TLM_READ_COMMAND, rdma::formats::reg::ID, 4, data) == tlm::TLM_OK_RESPONSE &&
              static_cast<uint32_t>(data) == rdma::formats::reset::ID,
          "after a reset ID is not 'weft'");
    }
  }
  expect(cut >= 4, "hardly an access was cut by a reset");
}

}  // namespace

int sc_main(int, char**) {
  bool second_ready = false, done = false;
  Platform platform(
      memory_bytes,
      [&](Processor& processor) {
        registers(processor);
        write_beyond_memory(processor, second_ready);
        reset_in_accesses(platform, processor);
        done = true;
        sc_core::sc_stop();
      },
      [&](Processor& processor) {
        driver::RdmaDriver engine(processor, [](driver::RdmaCompletion) {});
        start(engine, 1);
        second_ready = true;
        processor.wait_until([] { return false; });  // the driver outlives what it drives
      });
  sc_core::sc_start(Platform::clocks(1'000'000));
  expect(done, "an access does not end");
  return failures == 0 ? 0 : 1;
}
