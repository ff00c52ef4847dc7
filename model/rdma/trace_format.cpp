// SPDX-License-Identifier: Apache-2.0
// Events of the RDMA engine as trace records.
#include "rdma/trace_format.hpp"

#include <fmt/format.h>

namespace weft::rdma {
namespace {

using formats::Header;
using trace::Fields;

std::string type_name(const Header& header) {
  const auto name = formats::name(static_cast<formats::Ptype>(header.ptype));
  return name == "?" ? fmt::format("{:#x}", header.ptype) : std::string(name);
}

template <typename Enum>
std::string name_or_number(Enum value) {
  const auto name = formats::name(value);
  return name == "?" ? fmt::format("{}", static_cast<unsigned>(value)) : std::string(name);
}

void add(Fields& fields, std::string key, std::string value) {
  fields.emplace_back(std::move(key), std::move(value));
}

void add_number(Fields& fields, std::string key, uint64_t value) {
  add(fields, std::move(key), std::to_string(value));
}

/// The packet that is the event, without the index of the context here: the result names that one.
void add_header(Fields& fields, const Header& header) {
  add(fields, "type", type_name(header));
  add_number(fields, "src", header.src);
  add_number(fields, "msgid", header.msgid);
  add_number(fields, "gen", header.gen);
  add_number(fields, "pidx", header.pidx);
  add_number(fields, "len", header.len);
  add(fields, "flags", fmt::format("{:#x}", header.flags));
  add(fields, "arg", fmt::format("{:#x}", header.arg));
}

/// A packet that leaves, as one word: everything but crc.
std::string header_word(const Header& header) {
  return fmt::format("{},dst={},src={},sid={},msgid={},cid={},gen={},pidx={},len={},flags={:#x},arg={:#x}",
                     type_name(header), header.dst, header.src, header.sid, header.msgid, header.cid,
                     header.gen, header.pidx, header.len, header.flags, header.arg);
}

std::string emitted_word(const std::optional<Header>& header) { return header ? header_word(*header) : "-"; }

std::string offer_word(const std::optional<uint16_t>& offer) { return offer ? std::to_string(*offer) : "-"; }

/// WVEC as one hexadecimal number; its bit 0 is WVEC bit 1.
std::string bits_word(const WindowBits& bits) {
  std::string digits;
  for (auto word = bits.rbegin(); word != bits.rend(); ++word) digits += fmt::format("{:016x}", *word);
  const auto first = digits.find_first_not_of('0');
  return "0x" + (first == std::string::npos ? "0" : digits.substr(first));
}

std::string data_word(const std::optional<DataOrder>& data) {
  if (!data) return "-";
  return fmt::format("{},from={:#x},queue={}", header_word(data->header), data->src_addr,
                     data->resend ? "resend" : "send");
}

std::string completion_word(const std::optional<Completion>& completion) {
  return completion ? fmt::format("{}:{}", completion->tag, name_or_number(completion->status)) : "-";
}

void add_post(Fields& fields, const Post& post) {
  add_number(fields, "tag", post.tag);
  add_number(fields, "node", post.node);
  add_number(fields, "bytes", post.bytes);
  add(fields, "from", fmt::format("{:#x}", post.src_addr));
  add(fields, "to", fmt::format("{:#x}", post.dst_addr));
  add(fields, "rkey", fmt::format("{:#x}", post.rkey));
}

std::optional<Header> header_of(const std::optional<Packet>& packet) {
  return packet ? std::optional(packet->header) : std::nullopt;
}

}  // namespace

RxEventView view(std::string_view event, std::optional<Header> header, const RxInputs& inputs,
                 const RxResult& result) {
  RxEventView view{event,        header,
                   inputs,       result.outcome,
                   result.cid,   result.wbase,
                   result.wvec,  header_of(result.emitted),
                   std::nullopt, 0};
  if (result.write)
    view.write = HostRange{result.write->addr, static_cast<uint32_t>(result.write->bytes.size())};
  return view;
}

TxEventView view(std::string_view event, std::optional<Header> header, std::optional<Post> post,
                 const TxInputs& inputs, const TxResult& result) {
  return {event,
          header,
          post,
          inputs,
          result.outcome,
          result.sid,
          result.next,
          header_of(result.emitted),
          result.data,
          result.completion,
          0};
}

trace::Record rx_record(uint64_t cycle, const RxEventView& view) {
  trace::Record record{cycle, "rx", {}};
  Fields& fields = record.fields;
  add(fields, "event", std::string(view.event));
  if (view.header) {
    add_header(fields, *view.header);
    add_number(fields, "sid", view.header->sid);
  }
  add_number(fields, "now", view.inputs.now & tick_mask);
  add_number(fields, "room", view.inputs.room ? 1 : 0);
  add(fields, "offer", offer_word(view.inputs.offer));
  add_number(fields, "over_quota", view.inputs.over_quota ? 1 : 0);
  add_number(fields, "limit", view.limit);
  add(fields, "outcome", name_or_number(view.outcome));
  add_number(fields, "cid", view.cid);
  add_number(fields, "wbase", view.wbase);
  add(fields, "wvec", bits_word(view.wvec));
  add(fields, "emit", emitted_word(view.emitted));
  add(fields, "write", view.write ? fmt::format("{:#x}+{}", view.write->addr, view.write->bytes) : "-");
  return record;
}

trace::Record tx_record(uint64_t cycle, const TxEventView& view) {
  trace::Record record{cycle, "tx", {}};
  Fields& fields = record.fields;
  add(fields, "event", std::string(view.event));
  if (view.header) {
    add_header(fields, *view.header);
    add_number(fields, "cid", view.header->cid);
  }
  if (view.post) add_post(fields, *view.post);
  add_number(fields, "now", view.inputs.now & tick_mask);
  add_number(fields, "room", view.inputs.room ? 1 : 0);
  add_number(fields, "resend_room", view.inputs.resend_room ? 1 : 0);
  add(fields, "offer", offer_word(view.inputs.offer));
  add_number(fields, "limit", view.limit);
  add(fields, "outcome", name_or_number(view.outcome));
  add_number(fields, "sid", view.sid);
  add_number(fields, "next", view.next);
  add(fields, "emit", emitted_word(view.emitted));
  add(fields, "data", data_word(view.data));
  add(fields, "completion", completion_word(view.completion));
  return record;
}

}  // namespace weft::rdma
