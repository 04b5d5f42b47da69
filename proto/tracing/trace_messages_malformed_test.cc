#include <functional>
#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/envelope.pb.h"
#include "proto/testing/wire_samples.h"
#include "proto/wire.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// What is wrong with the sample of one kind when it was changed so; empty when nothing is.
std::string FaultOf(wire::Envelope::MessageCase kind, const std::function<void(wire::Envelope&)>& change) {
  for (const WireSample& sample : WireSamples()) {
    wire::Envelope envelope;
    EXPECT_TRUE(envelope.ParseFromString(EncodeMessage(sample.message)));
    if (envelope.message_case() != kind) continue;
    change(envelope);
    const absl::StatusOr<Message> message = DecodeMessage(envelope.SerializeAsString(), {});
    return message.ok() ? "" : std::string(message.status().message());
  }
  return "no sample";
}

TEST(TraceMessagesMalformedTest, OrdersAndAnswers) {
  const auto rounds = wire::Envelope::kTraceRounds;
  EXPECT_EQ(FaultOf(rounds, [](auto&) {}), "");
  EXPECT_THAT(FaultOf(rounds, [](auto& e) { e.mutable_trace_rounds()->set_rounds(0); }), HasSubstr("rounds: 1 to"));
  EXPECT_THAT(FaultOf(rounds, [](auto& e) { e.mutable_trace_rounds()->set_rounds(1001); }), HasSubstr("rounds: 1 to"));
  EXPECT_THAT(FaultOf(rounds, [](auto& e) { e.mutable_trace_rounds()->set_patience_ns(-1); }), HasSubstr("patience"));
  const auto order = wire::Envelope::kTraceOrder;
  EXPECT_THAT(FaultOf(order, [](auto& e) { e.mutable_trace_order()->set_term(0); }), HasSubstr("term"));
  EXPECT_THAT(FaultOf(order, [](auto& e) { e.mutable_trace_order()->set_trace(0); }), HasSubstr("trace"));
  EXPECT_THAT(FaultOf(order, [](auto& e) { e.mutable_trace_order()->set_step(5); }), HasSubstr("step: 0 to 4"));
  EXPECT_THAT(FaultOf(order, [](auto& e) { e.mutable_trace_order()->set_step(UINT32_MAX); }), HasSubstr("step"));
  const auto ready = wire::Envelope::kTraceReady;
  EXPECT_THAT(FaultOf(ready, [](auto& e) { e.mutable_trace_ready()->set_trace(0); }), HasSubstr("trace"));
  EXPECT_THAT(FaultOf(ready, [](auto& e) { e.mutable_trace_ready()->set_next(UINT64_MAX); }), HasSubstr("next"));
  EXPECT_THAT(FaultOf(ready, [](auto& e) { e.mutable_trace_ready()->set_refusal(std::string(5000, 'a')); }),
              HasSubstr("refusal"));
  const auto end = wire::Envelope::kTraceEnd;
  EXPECT_THAT(FaultOf(end, [](auto& e) { e.mutable_trace_end()->mutable_missing(1)->set_node(""); }),
              HasSubstr("missing[1].node"));
  EXPECT_THAT(
      FaultOf(end, [](auto& e) { e.mutable_trace_end()->mutable_missing(0)->set_reason(std::string(5000, 'a')); }),
      HasSubstr("missing[0].reason"));
}

TEST(TraceMessagesMalformedTest, Pieces) {
  const auto piece = wire::Envelope::kTracePiece;
  EXPECT_THAT(FaultOf(piece, [](auto& e) { e.mutable_trace_piece()->set_trace(0); }), HasSubstr("trace"));
  EXPECT_THAT(FaultOf(piece, [](auto& e) { e.mutable_trace_piece()->clear_records(); }), HasSubstr("records.name"));
  EXPECT_THAT(
      FaultOf(piece, [](auto& e) { e.mutable_trace_piece()->mutable_records()->mutable_moments(0)->set_key(0); }),
      HasSubstr("records.moments[0].key"));
  EXPECT_THAT(FaultOf(piece,
                      [](auto& e) {
                        tracing::RoundRecords& records = *e.mutable_trace_piece()->mutable_records();
                        while (records.clocks_size() < 2048) *records.add_clocks() = records.clocks(0);
                      }),
              HasSubstr("records: 0 to 2048 expected, 2051 came"));
  // Refused before it is parsed.
  EXPECT_THAT(
      FaultOf(piece, [](auto& e) { e.mutable_trace_piece()->mutable_records()->set_name(std::string(1 << 20, 'a')); }),
      HasSubstr("a header of at most 524288 bytes expected"));
}

}  // namespace
}  // namespace banyan
