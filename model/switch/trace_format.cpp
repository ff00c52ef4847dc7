// SPDX-License-Identifier: Apache-2.0
// Events of the switch lookup block as trace records.
#include "switch/trace_format.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace weft::switch_lookup {
namespace {

using trace::Fields;

template <typename Enum>
std::string name_or_number(Enum value) {
  const auto name = formats::name(value);
  return name == "?" ? fmt::format("{}", static_cast<unsigned>(value)) : std::string(name);
}

std::string role_name(uint8_t role) { return name_or_number(static_cast<formats::Role>(role)); }

void add(Fields& fields, std::string key, std::string value) {
  fields.emplace_back(std::move(key), std::move(value));
}

void add_number(Fields& fields, std::string key, uint64_t value) {
  add(fields, std::move(key), std::to_string(value));
}

void add_ports(Fields& fields, std::string key, Ports ports) {
  add(fields, std::move(key), fmt::format("{:#x}", ports));
}

std::string entry_word(const std::optional<Slot>& slot) {
  if (!slot) return "-";
  if (slot->corrupt) return "corrupt";
  return slot->valid ? "valid" : "empty";
}

void add_request(Fields& fields, const formats::Request& request) {
  add(fields, "kind", name_or_number(static_cast<formats::Kind>(request.kind)));
  add_number(fields, "in_port", request.in_port);
  add_number(fields, "in_vc", request.vc);
  add_number(fields, "index", request.index);
  add_number(fields, "row", request.row);
  add_number(fields, "column", request.column);
  add_number(fields, "host", request.host);
}

trace::Record record(uint64_t cycle, std::string event, Fields fields) {
  fields.emplace(fields.begin(), "event", std::move(event));
  return {cycle, "lookup", std::move(fields)};
}

}  // namespace

trace::Record lookup_record(uint64_t cycle, const formats::Request& request, const Fetched& fetched,
                            Ports alive, const Result& result) {
  Fields fields;
  add_request(fields, request);
  add_ports(fields, "alive", alive);
  add(fields, "role", fetched.loaded ? role_name(fetched.head.role) : "-");
  add(fields, "entry", entry_word(fetched.slot));
  const Slot slot = fetched.slot.value_or(Slot{});
  add_number(fields, "primary", slot.primary);
  add_ports(fields, "entry_ports", slot.ports);
  add_number(fields, "corrected", slot.corrected);
  add(fields, "outcome", name_or_number(result.outcome));
  add_ports(fields, "ports", result.ports);
  add_number(fields, "vc", result.vc);
  return record(cycle, "lookup", std::move(fields));
}

trace::Record tables_record(uint64_t cycle, const Image& image, bool by_packets) {
  Fields fields;
  add_number(fields, "version", image.head.table_version);
  add(fields, "role", role_name(image.head.role));
  add_number(fields, "fine", image.head.fine);
  add_number(fields, "vc_max", image.head.vc_max);
  add_number(fields, "own_row", image.head.row);
  add_number(fields, "own_column", image.head.column);
  add_number(fields, "row_port", image.head.row_port);
  add_number(fields, "column_port", image.head.column_port);
  add_number(fields, "multicast", image.multicast.size());
  add_number(fields, "unicast", image.unicast.size());
  add(fields, "by", by_packets ? "packets" : "registers");
  return record(cycle, "tables", std::move(fields));
}

trace::Record refused_record(uint64_t cycle, formats::LoadFault fault, uint32_t words) {
  Fields fields;
  add(fields, "fault", name_or_number(fault));
  add_number(fields, "words", words);
  return record(cycle, "refused", std::move(fields));
}

trace::Record scrubbed_record(uint64_t cycle, bool multicast, uint32_t entry, bool mended,
                              const std::string& meanwhile) {
  Fields fields;
  add(fields, "table", multicast ? "multicast" : "unicast");
  add_number(fields, "place", entry);
  add_number(fields, "mended", mended);
  add(fields, "meanwhile", meanwhile);
  return record(cycle, "scrubbed", std::move(fields));
}

trace::Record management_record(uint64_t cycle, const ManagementPacket& packet,
                                std::optional<formats::ManagementDrop> drop) {
  Fields fields;
  const auto opcode = packet.size() > 1 ? static_cast<formats::ManagementOpcode>(packet[1] & 0xff)
                                        : formats::ManagementOpcode{};
  add(fields, "opcode", name_or_number(opcode));
  add_number(fields, "words", packet.size());
  add(fields, "drop", drop ? name_or_number(*drop) : "-");
  return record(cycle, "management", std::move(fields));
}

}  // namespace weft::switch_lookup
