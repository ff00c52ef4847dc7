// SPDX-License-Identifier: Apache-2.0
// Golden model of the receiving half of the RDMA engine: one call an event (docs/rdma.md, Receiver).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/packet.hpp"
#include "rdma/params.hpp"
#include "rdma/region.hpp"
#include "rdma/timer.hpp"
#include "rdma/transfer.hpp"
#include "rdma/window.hpp"
#include "rdma_baseline/count.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// Bytes to be written to host memory at byte address `addr`.
struct HostWrite {
  uint64_t addr = 0;
  std::vector<uint8_t> bytes;

  bool operator==(const HostWrite&) const = default;
};

/// What the inbox says about a RQT with flag IMM, SEND or READ (docs/rdma_transfers.md, Inbox).
struct Admission {
  enum class Kind {
    none,         // nothing: decided as it stands
    with_ticket,  // the same, `ticket` waits for the decision
    buffer,       // it becomes a request for the buffer of `ticket`
    again,        // granted before, at `cid`
    refuse,       // with `refusal`
    drop,
  };

  Kind kind = Kind::none;
  uint16_t ticket = 0;
  uint16_t cid = 0;
  uint64_t address = 0;  // buffer
  RegionKey rkey = {};   // buffer, again
  bool of_read = false;  // the ticket's kind
  formats::Outcome refusal = formats::Outcome::none;

  bool operator==(const Admission&) const = default;
};

/// A READ that was taken: what the sender here has to transfer to whom.
struct ReadOrder {
  uint64_t src_addr = 0;
  uint32_t bytes = 0;
  uint16_t node = 0;
  uint16_t ticket = 0;
  uint32_t number = 0;

  bool operator==(const ReadOrder&) const = default;
};

/// What the surroundings say at the moment of the event.
struct RxInputs {
  bool room = true;               // the control queue can take a packet
  std::optional<uint16_t> offer;  // a free CID, looked at by RQT only
  uint16_t now = 0;               // ticks modulo 2^16
  bool over_quota = false;        // the source holds all the contexts that it may; looked at by RQT only
  Admission admission = {};       // looked at by RQT only
  bool answer_asked = false;      // this READ's answer is posted or under way; looked at by READ only
  bool answer_room = true;        // one more READ of this source may be answered; looked at by READ only
};

/// What became of an event. `cid` is the context touched; for what is rejected the one named in the packet,
/// for a request with a buffer or granted before the one that the inbox put there.
/// `wbase` and `wvec` are those of the context after the event (a context just freed keeps them), 0 if the
/// packet found no context in use. `emitted` has no crc yet. `wvec` always has the full number of words.
struct RxResult {
  formats::Outcome outcome = formats::Outcome::none;
  uint16_t cid = 0;
  uint32_t wbase = 0;
  WindowBits wvec;
  std::optional<Packet> emitted;
  std::optional<HostWrite> write;
  bool ctl_dropped = false;  // a control packet was not sent for want of room
  std::optional<ReadOrder> read;

  bool operator==(const RxResult&) const = default;
};

struct RxContext {
  enum class State { free, active, done };

  State state = State::free;
  uint8_t gen = 0;
  uint16_t src = 0;
  uint16_t sid = 0;
  uint32_t msgid = 0;
  uint8_t region = 0;
  Use use = Use::remote_write;  // what the region must be open to
  uint64_t offset = 0;          // bytes from the region's base to the destination of packet 0
  Cut cut;
  uint8_t asks = 0;
  uint8_t silent = 0;
  Window window;
  Count count;  // of scheme receiver_counter, instead of asks and window; of sender_window only `came`
  Timer timer;

  bool operator==(const RxContext&) const = default;
};

class Receiver {
 public:
  Receiver(Params params, Config config);

  /// A packet dropped by arrival checks 1 to 3.
  RxResult drop(formats::Outcome verdict);

  /// RQT, DATA, RELEASE or READ that passed the arrival checks, or the refusal of a READ that the inbox had
  /// no room for. Throws Violation for other types, if a grant would use an offered context that is in use or
  /// exceed the quota of its source, or if the inbox was not asked about a request for a buffer or a refusal.
  RxResult packet(const Packet& packet, const RxInputs& inputs);

  /// Throws Violation for a free context, or one whose timer is not due.
  RxResult timeout(uint16_t cid, const RxInputs& inputs);

  const RxContext& context(uint16_t cid) const;
  const Config& config() const { return config_; }
  uint32_t free_contexts() const { return free_; }

  /// Contexts in use by the group of sources to which this one belongs.
  uint32_t held_by(uint16_t source) const { return held_.at(source % params_.n_sources); }

  /// Whether the timer of this context has ended.
  bool due(uint16_t cid, uint16_t now) const;

  /// Ticks past due of the most overdue timer, 0 if none is.
  uint32_t longest_overdue(uint16_t now) const;

  /// Registers change, contexts stay.
  void configure(Config config);

  /// As after reset: all contexts free, generations 0.
  void reset();

 private:
  RxResult request(formats::Header request, const RxInputs& inputs);
  RxResult data(const Packet& packet, const RxInputs& inputs);
  RxResult release(const formats::Header& header, const RxInputs& inputs);

  RxResult read(const formats::Header& request, const RxInputs& inputs) const;
  RxResult turned_away(const formats::Header& refusal, const RxInputs& inputs) const;
  std::optional<formats::Outcome> want_of_context(const RxInputs& inputs) const;
  RxResult refuse(const formats::Header& request, formats::Outcome outcome, formats::Refusal code) const;
  RxResult grant_again(const formats::Header& request, const RxInputs& inputs) const;
  Packet granting(uint16_t cid, const formats::Header& request, RegionKey buffer) const;
  RxResult grant(const formats::Header& request, const RxInputs& inputs);
  std::optional<RxResult> rejection(const formats::Header& header) const;
  RxResult keep(const Packet& packet, uint64_t address, const RxInputs& inputs);
  void ask_hole(RxResult& result, RxContext& context, uint32_t pidx, const RxInputs& inputs) const;
  void finish_or_advance(RxResult& result, RxContext& context, const formats::Header& header,
                         const RxInputs& inputs) const;
  void ask(RxResult& result, RxContext& context, const RxInputs& inputs) const;
  void ask_map(RxResult& result, RxContext& context, const RxInputs& inputs) const;
  Packet ack(uint16_t cid, uint64_t map) const;

  // Of scheme receiver_counter.
  bool counts() const { return params_.scheme == Scheme::receiver_counter; }
  RxResult count_packet(const Packet& packet, uint64_t address, const RxInputs& inputs);
  void ask_all(RxResult& result, RxContext& context, const RxInputs& inputs) const;

  // Of scheme sender_window.
  bool answers_each() const { return params_.scheme == Scheme::sender_window; }
  RxResult answer_packet(const Packet& packet, uint64_t address, const RxInputs& inputs);
  RxResult keep_waiting(uint16_t cid, const RxInputs& inputs);
  void ask_whether_of_use(RxResult& result, const RxContext& context, const RxInputs& inputs) const;

  bool untouched(const RxContext& context) const;
  static void emit_control(RxResult& result, bool room, Packet packet);
  RxResult without_context(formats::Outcome outcome, uint16_t cid) const;
  RxResult with_context(formats::Outcome outcome, uint16_t cid) const;
  Packet to_sender(formats::Ptype type, uint16_t cid) const;
  void free(RxContext& context);
  uint32_t& held(uint16_t source) { return held_.at(source % params_.n_sources); }

  Params params_;
  Config config_;
  std::vector<RxContext> contexts_;
  uint32_t free_ = 0;
  std::vector<uint32_t> held_;  // contexts, by group of sources
};

}  // namespace weft::rdma
