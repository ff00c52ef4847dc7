// SPDX-License-Identifier: Apache-2.0
// Which context each request was granted, as a receiver remembers it (docs/rdma.md, Repeated requests).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/params.hpp"
#include "rdma/receiver.hpp"
#include "weft/rdma/formats.hpp"

namespace weft::rdma {

/// Whether the receiver itself remembers its grant: a RQT of a plain write. Others have a ticket.
bool is_remembered(const formats::Header& request);

class GrantedRequests {
 public:
  explicit GrantedRequests(const Params& params);

  std::size_t places() const { return places_.size(); }

  /// Where a request is remembered, in place of the one granted there before.
  uint32_t place_of(const formats::Header& request) const;

  /// The context that the very same request was granted.
  std::optional<uint16_t> context_of(const formats::Header& request) const;

  /// The same for the receiver's inputs.
  Admission admit(const formats::Header& request) const;

  /// What became of a request: its grant is remembered, or forgotten because that context is over.
  void decided(const formats::Header& request, const RxResult& result);

  void granted(const formats::Header& request, uint16_t cid);

  void reset();

 private:
  struct Grant {
    formats::Header request;
    uint16_t cid = 0;
  };

  uint32_t source_bits_, sid_bits_;  // that a place depends on
  std::vector<std::optional<Grant>> places_;
};

}  // namespace weft::rdma
