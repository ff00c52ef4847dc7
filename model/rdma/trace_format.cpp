// SPDX-License-Identifier: Apache-2.0
// Events of the RDMA engine, its inbox and its host queues as trace records.
#include "rdma/trace_format.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "rdma/request.hpp"

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

/// Upper case, as in docs/rdma_transfers.md.
std::string_view state_name(Ticket::State state) {
  switch (state) {
    case Ticket::State::free:
      return "FREE";
    case Ticket::State::waiting:
      return "WAITING";
    case Ticket::State::taken:
      return "TAKEN";
    case Ticket::State::bound:
      return "BOUND";
    case Ticket::State::ending:
      return "ENDING";
    case Ticket::State::returning:
      return "RETURNING";
  }
  return "?";
}

std::string_view admission_name(Admission::Kind kind) {
  switch (kind) {
    case Admission::Kind::none:
      return "nothing";
    case Admission::Kind::with_ticket:
      return "with_ticket";
    case Admission::Kind::buffer:
      return "buffer";
    case Admission::Kind::again:
      return "again";
    case Admission::Kind::refuse:
      return "refuse";
    case Admission::Kind::drop:
      return "drop";
  }
  return "?";
}

std::string imm_word(const std::optional<uint32_t>& imm) { return imm ? fmt::format("{:#x}", *imm) : "-"; }

std::string completion_word(const std::optional<TicketCompletion>& completion) {
  if (!completion) return "-";
  return fmt::format("{}:{},node={},form={},bytes={},imm={}", completion->tag,
                     name_or_number(completion->status), completion->node,
                     completion->form == Form::buffer ? "buffer" : "immediate", completion->bytes,
                     imm_word(completion->imm));
}

std::string_view destination_name(Post::To to) {
  return to == Post::To::region ? "region" : to == Post::To::queue ? "queue" : "ticket";
}

std::string_view kind_name(TicketKind kind) { return kind == TicketKind::recv ? "recv" : "read"; }

std::string number_or_none(bool is_there, uint64_t number) { return is_there ? std::to_string(number) : "-"; }

void add_post(Fields& fields, const TicketPost& post) {
  add_number(fields, "tag", post.tag);
  add_number(fields, "node", post.node);
  add_number(fields, "bytes", post.bytes);
  add(fields, "from", fmt::format("{:#x}", post.remote_addr));
  add(fields, "to", fmt::format("{:#x}", post.address));
  add(fields, "rkey", fmt::format("{:#x}", rkey(post.rkey)));
}

/// A ticket and its queue before and after an event.
void add_ticket(Fields& fields, const InboxEventView& view) {
  const Ticket* const ticket = view.after ? &*view.after : nullptr;
  const TicketPost* const post = ticket ? &ticket->post : view.post ? &*view.post : nullptr;
  const bool has_context = view.before && view.before->state >= Ticket::State::bound;
  add(fields, "ticket", number_or_none(ticket, view.result.ticket));
  add(fields, "kind", post ? std::string(kind_name(post->kind)) : "-");
  add(fields, "queue", number_or_none(post, post ? post->queue : 0));
  add(fields, "open", number_or_none(post, view.open ? 1 : 0));
  add(fields, "was", view.before ? std::string(state_name(view.before->state)) : "-");
  add(fields, "state", ticket ? std::string(state_name(ticket->state)) : "-");
  add(fields, "context", number_or_none(has_context, has_context ? view.before->message.cid : 0));
  add(fields, "retries", number_or_none(ticket, ticket ? ticket->retries : 0));
  add(fields, "busy", number_or_none(ticket, ticket ? ticket->busy : 0));
}

void add_post(Fields& fields, const Post& post, std::string_view origin) {
  add_number(fields, "tag", post.tag);
  add_number(fields, "node", post.node);
  add_number(fields, "bytes", post.bytes);
  add(fields, "from", fmt::format("{:#x}", post.src_addr));
  add(fields, "to", fmt::format("{:#x}", post.dst_addr));
  add(fields, "rkey", fmt::format("{:#x}", post.rkey));
  add(fields, "for", std::string(destination_name(post.to)));
  add(fields, "imm", imm_word(post.imm));
  add(fields, "origin", std::string(origin));
}

std::optional<Header> header_of(const std::optional<Packet>& packet) {
  return packet ? std::optional(packet->header) : std::nullopt;
}

}  // namespace

RxEventView view(std::string_view event, std::optional<Header> header, const RxInputs& inputs,
                 const RxResult& result) {
  RxEventView view{event,
                   header,
                   inputs,
                   false,
                   result.outcome,
                   result.cid,
                   result.wbase,
                   result.wvec,
                   header_of(result.emitted),
                   std::nullopt,
                   0};
  if (result.write)
    view.write = HostRange{result.write->addr, static_cast<uint32_t>(result.write->bytes.size())};
  return view;
}

TxEventView view(std::string_view event, std::optional<Header> header, std::optional<Post> post,
                 const TxInputs& inputs, const TxResult& result) {
  return {event,
          header,
          post,
          "registers",
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
  add_number(fields, "answer_room", view.inputs.answer_room ? 1 : 0);
  const Admission& admission = view.inputs.admission;
  const bool takes_ticket =
      admission.kind == Admission::Kind::buffer || admission.kind == Admission::Kind::with_ticket;
  const bool admitted = view.from_inbox || admission.kind == Admission::Kind::again;
  add(fields, "admit", admitted ? std::string(admission_name(admission.kind)) : "-");
  add(fields, "ticket", number_or_none(takes_ticket, admission.ticket));
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
  if (view.post) add_post(fields, *view.post, view.origin);
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

trace::Record inbox_record(uint64_t cycle, const InboxEventView& view) {
  trace::Record record{cycle, "inbox", {}};
  Fields& fields = record.fields;
  add(fields, "event", std::string(view.event));
  if (view.header) {
    add_header(fields, *view.header);
    add_number(fields, "sid", view.header->sid);
    add_number(fields, "cid", view.header->cid);
  }
  if (view.post) add_post(fields, *view.post);
  add_number(fields, "now", view.inputs.now & tick_mask);
  add_number(fields, "room", view.inputs.room ? 1 : 0);
  add(fields, "offer", offer_word(view.inputs.offer));
  add(fields, "finds", view.finds ? std::string(state_name(*view.finds)) : "-");
  add(fields, "admit", view.admission ? std::string(admission_name(view.admission->kind)) : "-");
  add(fields, "refusal", view.admission ? name_or_number(view.admission->refusal) : "-");
  add(fields, "decision", view.decision ? name_or_number(*view.decision) : "-");
  add(fields, "outcome", name_or_number(view.result.outcome));
  add_ticket(fields, view);
  add(fields, "emit", emitted_word(header_of(view.result.emitted)));
  add(fields, "completion", completion_word(view.result.completion));
  return record;
}

}  // namespace weft::rdma

namespace weft::rdma_queues {
namespace {

std::string opcode_name(uint8_t opcode) {
  const auto name = formats::name(static_cast<formats::Opcode>(opcode));
  return name == "?" ? std::to_string(opcode) : std::string(name);
}

std::string bit(bool on) { return on ? "1" : "0"; }

/// What of it has to be zero and is not: the first such part of the entry.
std::string_view fault_of(const formats::Submission& entry) {
  const bool send = entry.opcode == static_cast<uint8_t>(formats::Opcode::send);
  if ((entry.flags & ~formats::flag_all) != 0) return "flags";
  if ((entry.flags & formats::flag_imm) != 0 && !send) return "imm";
  if (entry.reserved0 != 0 || entry.reserved1 != 0 || entry.reserved2 != 0) return "reserved";
  if (entry.remote_addr != 0) return "remote_addr";
  return entry.node != 0 ? "node" : "remote_key";
}

}  // namespace

std::string status_name(uint8_t status) {
  const auto of_queues = formats::name(static_cast<formats::QueueStatus>(status));
  if (of_queues != "?") return std::string(of_queues);
  const auto of_engine = rdma::formats::name(static_cast<rdma::formats::Status>(status));
  return of_engine == "?" ? std::to_string(status) : std::string(of_engine);
}

trace::Record queue_record(uint64_t cycle, std::string_view event, const trace::Fields& details,
                           uint32_t number, const Queue* after) {
  trace::Record record{cycle, "queues", {{"event", std::string(event)}}};
  trace::Fields& fields = record.fields;
  fields.insert(fields.end(), details.begin(), details.end());
  fields.emplace_back("queue", after ? std::to_string(number) : "-");
  if (!after) return record;
  fields.emplace_back("state", formats::name(after->state));
  fields.emplace_back("armed", bit(after->armed));
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, uint32_t>>{{"entries", after->sq_size()},
                                                               {"completions", after->cq_size()},
                                                               {"quota", after->config.quota},
                                                               {"held", after->held()},
                                                               {"tail", after->tail},
                                                               {"asked", after->asked},
                                                               {"head", after->head},
                                                               {"dropped", after->dropped},
                                                               {"promised", after->promised},
                                                               {"written", after->written},
                                                               {"retired", after->retired},
                                                               {"cq_head", after->cq_head}}) {
    fields.emplace_back(key, std::to_string(value));
  }
  return record;
}

trace::Fields order_fields(uint16_t index, uint32_t count) {
  return {{"index", std::to_string(index)}, {"count", std::to_string(count)}};
}

trace::Fields entry_fields(formats::Verdict verdict, const formats::Submission& entry, uint8_t status) {
  const bool malformed = status == static_cast<uint8_t>(formats::QueueStatus::bad_entry);
  return {{"verdict", std::string(formats::name(verdict))},
          {"opcode", opcode_name(entry.opcode)},
          {"status", status_name(status)},
          {"fault", malformed ? std::string(fault_of(entry)) : "-"}};
}

trace::Fields request_fields(const Request& request, uint8_t status) {
  return {{"opcode", opcode_name(request.entry.opcode)}, {"status", status_name(status)}};
}

trace::Fields slot_fields(const Outcome& outcome, bool discarded) {
  return {{"opcode", opcode_name(outcome.fields.opcode)},
          {"status", status_name(outcome.fields.status)},
          {"bytes", std::to_string(outcome.fields.bytes)},
          {"imm", bit(outcome.fields.has_immediate)},
          {"signal", bit(outcome.signal)},
          {"discarded", bit(discarded)}};
}

trace::Fields retired_fields(bool discarded, bool urgent, bool failed) {
  return {{"discarded", bit(discarded)}, {"urgent", bit(urgent)}, {"failed", bit(failed)}};
}

trace::Fields fire_fields(formats::IrqKind kind, std::string_view cause) {
  return {{"irq", std::string(formats::name(kind))}, {"cause", std::string(cause)}};
}

trace::Fields told_fields(bool open, uint16_t key) {
  return {{"open", bit(open)}, {"key", fmt::format("{:#x}", key)}};
}

trace::Fields message_fields(bool ok) { return {{"ok", bit(ok)}}; }

trace::Fields write_fields(uint32_t offset, uint32_t data, bool ok, std::optional<formats::QueueState> was) {
  return {{"offset", fmt::format("{:#x}", offset)},
          {"data", fmt::format("{:#x}", data)},
          {"ok", bit(ok)},
          {"was", was ? std::string(formats::name(*was)) : "-"}};
}

}  // namespace weft::rdma_queues
