// SPDX-License-Identifier: Apache-2.0
// Trace library: writing, reading what is fine and what is not, first difference, and the records of the
// engine.
#include <gtest/gtest.h>

#include "rdma/trace_format.hpp"
#include "small_engine.hpp"
#include "temporary_folder.hpp"
#include "trace/record.hpp"

namespace weft::trace {
namespace {

const Fields about{{"unit", "rdma"}, {"node", "7"}};

class TraceTest : public test::TemporaryFolder {
 protected:
  std::filesystem::path trace(const std::string& name, const std::vector<Record>& records) const {
    Writer writer(path(name), about);
    for (const auto& record : records) writer.write(record);
    writer.close();
    return path(name);
  }

  static std::vector<Record> some_records() {
    std::vector<Record> records;
    for (uint64_t i = 0; i < 20; ++i) {
      records.push_back(
          {10 * i, i % 3 == 0 ? "tx" : "rx", {{"outcome", "ACCEPT"}, {"wbase", std::to_string(i)}}});
    }
    return records;
  }

  std::string fault_of(const std::string& text) const {
    const auto file = write("bad", text);
    try {
      Reader reader(file);
      while (reader.next()) {
      }
    } catch (const Fault& fault) {
      const std::string what = fault.what();
      EXPECT_TRUE(what.starts_with(file.string() + ":")) << what;
      return what.substr(file.string().size());
    }
    return "no fault";
  }
};

TEST_F(TraceTest, ComesBackAsItWasWritten) {
  Reader reader(trace("t", some_records()));
  EXPECT_EQ(reader.about(), about);
  for (const auto& record : some_records()) EXPECT_EQ(reader.next(), record);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.next(), std::nullopt);
}

TEST_F(TraceTest, IsPlainText) {
  EXPECT_EQ(read(trace("t", {{5, "rx", {{"outcome", "GRANT"}}}})),
            "# weft-trace 1 unit=rdma node=7\ncycle=5 unit=rx outcome=GRANT\n# end records=1\n");
}

TEST_F(TraceTest, IsThereOnlyWhenClosed) {
  {
    Writer writer(path("t"), about);
    writer.write({1, "rx", {}});
    EXPECT_FALSE(std::filesystem::exists(path("t")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(path("")));
}

TEST_F(TraceTest, WriterRefusesWhatReaderWould) {
  Writer writer(path("t"), about);
  writer.write({5, "rx", {}});
  EXPECT_THROW(writer.write({4, "rx", {}}), Fault);
  EXPECT_THROW(writer.write({5, "ry", {}}), Fault);
  EXPECT_THROW(writer.write({5, "rx", {{"a", "b c"}}}), Fault);
  EXPECT_THROW(writer.write({5, "rx", {{"a", ""}}}), Fault);
  EXPECT_THROW(writer.write({5, "rx", {{"a=", "b"}}}), Fault);
  EXPECT_THROW(writer.write({5, "rx", {{"a", "b"}, {"a", "b"}}}), Fault);
  EXPECT_THROW(writer.write({5, "rx", {{"cycle", "b"}}}), Fault);
  EXPECT_THROW(Writer(path("no/such/folder/t"), about), Fault);
}

TEST_F(TraceTest, FaultsNameTheLine) {
  const std::string head = "# weft-trace 1 unit=rdma\n";
  const std::string line = "cycle=7 unit=rx a=b\n";
  EXPECT_EQ(fault_of(""), ":1: the file is empty");
  EXPECT_EQ(fault_of("hello\n"), ":1: not a weft trace of version 1: starts with 'hello'");
  EXPECT_EQ(fault_of("# weft-trace 11\n"),
            ":1: not a weft trace of version 1: starts with '# weft-trace 11'");
  EXPECT_EQ(fault_of(head), ":2: the trace is cut off: no '# end' line");
  EXPECT_EQ(fault_of(head + line), ":3: the trace is cut off: no '# end' line");
  EXPECT_EQ(fault_of(head + "cycle=7 un"), ":2: the trace is cut off: the line does not end");
  EXPECT_EQ(fault_of(head + line + "# end records=2\n"), ":3: the trace says it has 2 records, but has 1");
  EXPECT_EQ(fault_of(head + "# end records=0\n" + line), ":3: there is more after the '# end' line");
  EXPECT_EQ(fault_of(head + "# end records=x\n"), ":2: number of records 'x' is not a number");
  EXPECT_EQ(fault_of(head + "\n"), ":2: a record starts with cycle= and unit=");
  EXPECT_EQ(fault_of(head + "cycle=-1 unit=rx\n"), ":2: cycle '-1' is not a number");
  EXPECT_EQ(fault_of(head + "cycle=1 unit=ry\n"), ":2: unit 'ry' is none of rx, tx, inbox, queues, network");
  EXPECT_EQ(fault_of(head + "cycle=1 unit=rx a\n"), ":2: 'a' is not key=value");
  EXPECT_EQ(fault_of(head + "cycle=1 unit=rx  a=b\n"), ":2: '' is not key=value");
  EXPECT_EQ(fault_of(head + "cycle=1 unit=rx \n"), ":2: a blank at the end of the line");
  EXPECT_EQ(fault_of(head + "cycle=1 unit=rx a=b a=c\n"), ":2: 'a' comes twice");
  EXPECT_EQ(fault_of(head + line + "cycle=6 unit=rx\n"), ":3: cycle goes back from 7");
  EXPECT_EQ(fault_of(head + "\x01\xff=\n"),
            ":2: '?"
            "?' is not a key");
}

TEST_F(TraceTest, EqualTracesDoNotDiffer) {
  EXPECT_FALSE(diff(trace("a", some_records()), trace("b", some_records())));
}

TEST_F(TraceTest, InterleavingOfUnitsDoesNotMatter) {
  const Record rx{5, "rx", {{"x", "1"}}};
  const Record tx{5, "tx", {{"x", "1"}}};
  EXPECT_FALSE(diff(trace("a", {rx, tx}), trace("b", {tx, rx})));
}

TEST_F(TraceTest, PlantedFaultIsFound) {
  auto records = some_records();
  records[11].fields[1].second = "99";
  records[15].fields[1].second = "99";  // later, in the other unit
  DiffOptions options;
  options.context = 2;
  const auto found = diff(trace("a", some_records()), trace("b", records), options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->unit, "rx");
  EXPECT_EQ(found->index, 7u);
  EXPECT_EQ(found->cycle, 110u);
  EXPECT_EQ(found->line_a, 13u);
  EXPECT_EQ(found->keys, std::vector<std::string>{"wbase"});
  EXPECT_EQ(found->context, (std::vector<Record>{records[8], records[10]}));
  options.ignore = {"wbase"};
  EXPECT_FALSE(diff(path("a"), path("b"), options));
}

TEST_F(TraceTest, EarliestCycleOfBothUnitsIsReported) {
  auto records = some_records();
  records[16].fields[0].second = "FINISH";
  records[9].fields[0].second = "FINISH";
  const auto found = diff(trace("a", some_records()), trace("b", records));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->unit, "tx");
  EXPECT_EQ(found->cycle, 90u);
}

TEST_F(TraceTest, MissingAndExtraFieldsDiffer) {
  const auto found = diff(trace("a", {{1, "rx", {{"x", "1"}}}}), trace("b", {{1, "rx", {{"y", "1"}}}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->keys, (std::vector<std::string>{"x", "y"}));
}

TEST_F(TraceTest, ShorterTraceDiffersWhereItEnds) {
  auto records = some_records();
  records.resize(17);
  for (const bool swap : {false, true}) {
    const auto a = trace("a", swap ? records : some_records());
    const auto b = trace("b", swap ? some_records() : records);
    const auto found = diff(a, b);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cycle, 170u);
    EXPECT_EQ(found->a.has_value(), !swap);
    EXPECT_EQ(found->b.has_value(), swap);
  }
}

TEST_F(TraceTest, TracesOfDifferentNodesCannotBeCompared) {
  const auto a = write("a", "# weft-trace 1 unit=rdma node=1\n# end records=0\n");
  const auto b = write("b", "# weft-trace 1 unit=rdma node=2\n# end records=0\n");
  EXPECT_THROW(diff(a, b), Fault);
}

// Records of the engine

TEST(TraceFormat, ReceiverRecord) {
  using namespace rdma;
  Receiver receiver(rdma::test::small_params(), rdma::test::small_config(rdma::test::receiver_node));
  Packet request{rdma::test::to_receiver(formats::Ptype::rqt, 2, 5), {}};
  request.header.pidx = 640;
  request.header.arg = 0x2000;
  const RxInputs inputs{true, 1, 12};
  const auto granted = receiver.packet(request, inputs);
  EXPECT_EQ(to_line(rx_record(1234, view("packet", request.header, inputs, granted))),
            "cycle=1234 unit=rx event=packet type=RQT src=3 msgid=5 gen=0 pidx=640 len=0 flags=0x0 "
            "arg=0x2000 sid=2 "
            "now=12 room=1 offer=1 over_quota=0 answer_room=1 admit=- ticket=- limit=0 outcome=GRANT cid=1 "
            "wbase=0 wvec=0x0 "
            "emit=RSP,dst=3,src=7,sid=2,msgid=5,cid=1,gen=1,pidx=0,len=0,flags=0x0,arg=0x0 write=-");

  Packet data{rdma::test::to_receiver(formats::Ptype::data, 2, 5), rdma::test::pattern(32, 0)};
  data.header.cid = 1;
  data.header.gen = 1;
  data.header.pidx = 8;
  data.header.len = 32;
  EXPECT_EQ(
      to_line(rx_record(1240, view("packet", data.header, {}, receiver.packet(data, {})))),
      "cycle=1240 unit=rx event=packet type=DATA src=3 msgid=5 gen=1 pidx=8 len=32 flags=0x0 arg=0x0 sid=2 "
      "now=0 room=1 offer=- over_quota=0 answer_room=1 admit=- ticket=- limit=0 outcome=ACCEPT cid=1 wbase=0 "
      "wvec=0x80 emit=- "
      "write=0x2100+32");

  const RxInputs late{false, {}, 22};
  EXPECT_EQ(to_line(rx_record(1300, view("timeout", {}, late, receiver.timeout(1, late)))),
            "cycle=1300 unit=rx event=timeout now=22 room=0 offer=- over_quota=0 answer_room=1 admit=- "
            "ticket=- limit=0 outcome=ASK_ONE cid=1 "
            "wbase=0 wvec=0x80 emit=- "
            "write=-");
}

TEST(TraceFormat, SenderRecord) {
  using namespace rdma;
  Sender sender(rdma::test::small_params(), rdma::test::small_config(rdma::test::sender_node));
  const Post post{0x400, 0x2000, 33, 7, 99};
  const TxInputs inputs{true, true, 2, 3};
  EXPECT_EQ(
      to_line(tx_record(5, view("post", {}, post, inputs, sender.post(post, inputs)))),
      "cycle=5 unit=tx event=post tag=99 node=7 bytes=33 from=0x400 to=0x2000 rkey=0x0 for=region imm=- "
      "origin=registers now=3 room=1 "
      "resend_room=1 offer=2 "
      "limit=0 outcome=SUBMIT sid=2 next=0 "
      "emit=RQT,dst=7,src=3,sid=2,msgid=0,cid=0,gen=0,pidx=33,len=0,flags=0x0,arg=0x2000 data=- "
      "completion=-");
  Packet response{rdma::test::to_sender(formats::Ptype::rsp, 2, 0), {}};
  response.header.cid = 600;
  response.header.gen = 4;
  EXPECT_EQ(to_line(tx_record(9, view("packet", response.header, {}, {}, sender.packet(response, {})))),
            "cycle=9 unit=tx event=packet type=RSP src=7 msgid=0 gen=4 pidx=0 len=0 flags=0x0 arg=0x0 "
            "cid=600 now=0 "
            "room=1 resend_room=1 offer=- limit=0 outcome=GRANTED sid=2 next=0 emit=- data=- completion=-");
  EXPECT_EQ(to_line(tx_record(12, view("turn", {}, {}, {}, sender.turn(2, {})))),
            "cycle=12 unit=tx event=turn now=0 room=1 resend_room=1 offer=- limit=0 outcome=SEND sid=2 "
            "next=1 emit=- "
            "data=DATA,dst=7,src=3,sid=2,msgid=0,cid=600,gen=4,pidx=0,len=32,flags=0x0,arg=0x0,from=0x400,"
            "queue=send "
            "completion=-");
  Sender failing = sender;
  EXPECT_EQ(to_line(tx_record(15, view("fault", {}, {}, {}, failing.fault(2, 0, {})))),
            "cycle=15 unit=tx event=fault now=0 room=1 resend_room=1 offer=- limit=0 outcome=SOURCE_FAILED "
            "sid=2 next=1 "
            "emit=RELEASE,dst=7,src=3,sid=2,msgid=0,cid=600,gen=4,pidx=0,len=0,flags=0x8,arg=0x0 data=- "
            "completion=99:SOURCE_ERROR");
  response.header.ptype = static_cast<uint8_t>(formats::Ptype::done);
  const auto line =
      to_line(tx_record(20, view("packet", response.header, {}, {}, sender.packet(response, {}))));
  EXPECT_NE(line.find(" outcome=COMPLETE sid=2 next=1 emit=RELEASE,"), std::string::npos) << line;
  EXPECT_TRUE(line.ends_with(" data=- completion=99:OK")) << line;
}

TEST(TraceFormat, WideWindowIsOneNumber) {
  rdma::RxEventView view;
  view.wvec = {1, 0x10};
  EXPECT_EQ(value_of(rx_record(0, view), "wvec"), "0x100000000000000001");
  view.wvec = {};
  EXPECT_EQ(value_of(rx_record(0, view), "wvec"), "0x0");
}

rdma::Params with_inbox() {
  rdma::Params params = rdma::test::small_params();
  params.transfers = true;
  params.n_tickets = 2;
  params.n_queues = 2;
  return params;
}

TEST(TraceFormat, InboxRecords) {
  using namespace rdma;
  Inbox inbox(with_inbox(), rdma::test::small_config(rdma::test::receiver_node));
  inbox.open(1, 0x77);
  InboxEventView posted;
  posted.event = "post";
  posted.post = TicketPost{TicketKind::recv, 1, 42, 0, 0, {}};
  posted.inputs = {true, 1, 9};
  posted.result = inbox.post(*posted.post, posted.inputs);
  posted.before = Ticket{};
  posted.after = inbox.ticket(1);
  posted.open = inbox.is_open(1);
  EXPECT_EQ(
      to_line(inbox_record(20, posted)),
      "cycle=20 unit=inbox event=post tag=42 node=0 bytes=0 from=0x0 to=0x0 rkey=0x0 now=9 room=1 offer=1 "
      "finds=- admit=- refusal=- decision=- outcome=WAIT ticket=1 kind=recv queue=1 open=1 was=FREE "
      "state=WAITING context=- retries=0 busy=0 emit=- completion=-");
  inbox.close(1);
  InboxEventView cancelled;
  cancelled.event = "cancel";
  cancelled.before = inbox.ticket(1);
  cancelled.result = inbox.cancel(1);
  cancelled.after = inbox.ticket(1);
  EXPECT_EQ(
      to_line(inbox_record(30, cancelled)),
      "cycle=30 unit=inbox event=cancel now=0 room=1 offer=- finds=- admit=- refusal=- decision=- "
      "outcome=CANCEL ticket=1 kind=recv queue=1 open=0 was=WAITING state=FREE context=- retries=0 busy=0 "
      "emit=- completion=42:CANCELLED,node=0,form=buffer,bytes=0,imm=-");
  InboxEventView refused;
  refused.event = "RQT";
  refused.header = rdma::test::to_receiver(formats::Ptype::rqt, 2, 5);
  refused.admission = Admission{.kind = Admission::Kind::refuse, .refusal = formats::Outcome::refuse_queue};
  EXPECT_EQ(
      to_line(inbox_record(40, refused)),
      "cycle=40 unit=inbox event=RQT type=RQT src=3 msgid=5 gen=0 pidx=0 len=0 flags=0x0 arg=0x0 sid=2 cid=0 "
      "now=0 room=1 offer=- finds=- admit=refuse refusal=REFUSE_QUEUE decision=- outcome=NONE ticket=- "
      "kind=- "
      "queue=- open=- was=- state=- context=- retries=- busy=- emit=- completion=-");
}

TEST(TraceFormat, QueueRecords) {
  using namespace rdma_queues;
  Queue queue;
  queue.config.sq_log2 = 4;
  queue.config.cq_log2 = 5;
  queue.state = formats::QueueState::run;
  queue.tail = queue.asked = 3;
  Outcome outcome{1, true, {}};
  outcome.fields.opcode = static_cast<uint8_t>(formats::Opcode::read);
  outcome.fields.status = 19;
  EXPECT_EQ(
      to_line(queue_record(7, "slot", slot_fields(outcome, false), 1, &queue)),
      "cycle=7 unit=queues event=slot opcode=READ status=LOCAL_REGION bytes=0 imm=0 signal=1 discarded=0 "
      "queue=1 state=RUN armed=0 entries=16 completions=32 quota=0 held=3 tail=3 asked=3 head=0 dropped=0 "
      "promised=0 written=0 retired=0 cq_head=0");
  EXPECT_EQ(to_line(queue_record(8, "write", write_fields(0x40, 1, true, {}), 0, nullptr)),
            "cycle=8 unit=queues event=write offset=0x40 data=0x1 ok=1 was=- queue=-");
  const auto bad_entry = static_cast<uint8_t>(formats::QueueStatus::bad_entry);
  const auto fault = [&](const formats::Submission& entry) {
    return entry_fields(formats::Verdict::rejected, entry, bad_entry).back().second;
  };
  formats::Submission recv{.opcode = static_cast<uint8_t>(formats::Opcode::recv)};
  recv.remote_key = 1;
  EXPECT_EQ(fault(recv), "remote_key");
  recv.node = 1;
  EXPECT_EQ(fault(recv), "node");
  recv.remote_addr = 1;
  EXPECT_EQ(fault(recv), "remote_addr");
  recv.reserved2 = 1;
  EXPECT_EQ(fault(recv), "reserved");
  recv.flags = formats::flag_imm;
  EXPECT_EQ(fault(recv), "imm");
  recv.flags = 0x80;
  EXPECT_EQ(fault(recv), "flags");
  EXPECT_EQ(status_name(0), "OK");
  EXPECT_EQ(status_name(200), "200");
}

}  // namespace
}  // namespace weft::trace
