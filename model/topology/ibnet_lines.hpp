// SPDX-License-Identifier: Apache-2.0
// One line of the ibnetdiscover and ibsim formats. Not for use outside this folder.
//
// Formats: infiniband-diags' ibnetdiscover(8) as it prints them, and the comments in ibsim's net-examples.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace weft::topology {

inline constexpr uint32_t most_ib_ports = 254;

enum class Kind : uint8_t { sw, host, router };

/// switchguid=0x1(1): of the next node of this kind.
struct GuidLine {
  Kind kind;
  uint64_t guid = 0;
};

/// Switch 36 "S-0000000000000001" # "name" base port 0 lid 1 lmc 0
struct NodeLine {
  Kind kind;
  uint32_t ports = 0;
  std::string id;
  std::string name;  ///< without control characters; the id if there is none
};

struct LidsText {
  std::optional<uint32_t> first, lmc;
};

/// [1](2) "S-0000000000000001"[3] # lid 1 lmc 0 "name" lid 2 4xQDR
struct PortLine {
  struct Peer {
    std::string id;
    uint32_t port = 1;  ///< what ibsim takes if there is none
    std::optional<uint64_t> guid;
  };
  uint32_t port = 0;
  std::optional<uint64_t> guid;      ///< of this port
  LidsText lids;                     ///< of this port, if it is a host's; any numbers
  std::optional<uint32_t> peer_lid;  ///< of the port at the other end, LMC aside
  std::optional<Peer> peer;          ///< nothing: not connected
  uint32_t mbps = 0;                 ///< 0: not told
};

/// Nothing: a line that says nothing about switches, hosts and links.
using Line = std::variant<std::monostate, GuidLine, NodeLine, PortLine>;

/// A line that is not understood; what() says why, without the place.
class BadLine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// @param text without its line feed. Throws BadLine.
Line parse_line(std::string_view text);

/// The GUID in names such as S-0000000000000001, H-..., R-...
std::optional<uint64_t> guid_of_id(std::string_view id);

/// The start of some text, fit for a message of one line.
std::string quotable(std::string_view text);

}  // namespace weft::topology
