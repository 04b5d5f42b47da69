#include "proto/session_codec.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "core/random.h"
#include "gtest/gtest.h"
#include "proto/session.pb.h"
#include "proto/testing/wire_samples.h"

namespace banyan {
namespace {

std::vector<WorkerMessage> Messages() {
  return {
      AttachWorker{7, WorkerId(3), CallId(11)},
      OpenTensor{CallId(1), "fc1.weight", 12345},
      OpenTensor{CallId(1), "count", 1, DataType::kInt64},
      DescribeGroup{{{"q", 4}, {"none", 0}, {"v", int64_t{1} << 40}}},
      TensorCall{CallId(2), TensorId(4), TensorCallKind::kPushPull, 1, 2, -5, 4096},
      TensorCall{CallId(3), TensorId(4), TensorCallKind::kInit, 0, 0, 0},
      TensorCall{CallId(4), TensorId(4), TensorCallKind::kRegisterWeights, 1, 0, 0},
      TensorCall{CallId(3), TensorId(4), kLastTensorCallKind, 0, 1, 0},
      BarrierCall{CallId(9)},
      ReportLossCall{CallId(10), 77, 0.25, 0.125, 0.75, 0.5},
      WorkerGoodBye{},
      DescribeState{{{"adam.step", 8}, {"fc1.weight", int64_t{1} << 33}}},
      ShareStateCall{CallId(12)},
      BoundaryCall{CallId(13), 1200},
      LeaveBoundary{},
      FetchStateCall{CallId(14), absl::Seconds(3)},
      FetchStateCall{CallId(15), absl::InfiniteDuration()},
      StateFilled{3, true},
      StateFilled{0, false},
      StateTaken{4, true},
      DescribeWait{CallId(16), "fc1.weight"},
      DescribeWait{CallId(17), ""},
  };
}

std::vector<WorkerReply> Replies() {
  return {
      WorkerAttached{CallId(1), "n1", 2, JobTraits{AggregationOp::kAdam, true}},
      TensorOpened{CallId(2), TensorId(3), 999, 2, 1},
      CallCompleted{CallId(4), absl::OkStatus(), Round(17)},
      CallCompleted{CallId(5), absl::UnavailableError("node n3 was lost"), Round(18)},
      SlotFreed{TensorId(3), 1},
      RoundCompleted{TensorId(3), Round(19)},
      JobEnded{absl::UnavailableError("node n3 was lost")},
      WorkerMessageRejected{absl::InvalidArgumentError("what")},
      CallCompleted{CallId(6), absl::OkStatus(), Round(), 1200},
      StateOpened{CallId(7), 1 << 18, 8},
      HoldAtBoundary{true},
      HoldAtBoundary{false},
      StateRead{2, ChunkIndex(5)},
      StateHashesRead{1},
      StateWrite{7, ChunkIndex(6)},
      MembersChanged{Epoch(3), {{"n1", 2}, {"n2", 1}}, true},
  };
}

TEST(SessionCodecTest, EveryMessageComesBackEqualAndItsBytesAreThoseOfBefore) {
  std::vector<std::string> bytes;
  for (const WorkerMessage& message : Messages()) {
    bytes.push_back(EncodeWorkerMessage(message));
    const absl::StatusOr<WorkerMessage> back = DecodeWorkerMessage(bytes.back());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, message);
  }
  for (const WorkerReply& reply : Replies()) {
    bytes.push_back(EncodeWorkerReply(reply));
    const absl::StatusOr<WorkerReply> back = DecodeWorkerReply(bytes.back());
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, reply);
  }
  for (std::string& message : bytes) message = absl::BytesToHexString(message);
  EXPECT_EQ(bytes, GoldenLines("proto/testing/golden_session.txt"));
}

TEST(SessionCodecTest, LongStatusTextsAreCut) {
  const std::string text(100000, 'x');
  const std::string bytes = EncodeWorkerReply(CallCompleted{CallId(1), absl::InternalError(text), Round(0)});
  EXPECT_LE(bytes.size(), kMaxSessionMessageBytes);
  absl::StatusOr<WorkerReply> back = DecodeWorkerReply(bytes);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(std::get<CallCompleted>(*back).status.message(), text.substr(0, 4096));
}

template <typename Change>
std::string Worker(Change change) {
  session::WorkerMessage envelope;
  change(envelope);
  return envelope.SerializeAsString();
}

void ExpectRefused(const std::string& bytes, absl::string_view part) {
  absl::StatusOr<WorkerMessage> message = DecodeWorkerMessage(bytes);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(message.status().message().find(part), absl::string_view::npos) << message.status();
}

TEST(SessionCodecTest, FieldsOutOfRangeAreRefused) {
  ExpectRefused("", "without a message");
  ExpectRefused(Worker([](auto& m) { m.mutable_open_tensor()->set_elements(5); }), "key's name");
  ExpectRefused(Worker([](auto& m) {
                  m.mutable_open_tensor()->set_name(std::string(kMaxTensorNameBytes + 1, 'x'));
                  m.mutable_open_tensor()->set_elements(1);
                }),
                "key's name");
  ExpectRefused(Worker([](auto& m) { m.mutable_describe_wait()->set_key("tab\tbed"); }), "key's name");
  ExpectRefused(Worker([](auto& m) {
                  m.mutable_open_tensor()->set_name("tab\tbed");
                  m.mutable_open_tensor()->set_elements(1);
                }),
                "printable");
  for (int64_t elements : {int64_t{-1}, kMaxTensorElements + 1}) {
    ExpectRefused(Worker([elements](auto& m) {
                    m.mutable_open_tensor()->set_name("x");
                    m.mutable_open_tensor()->set_elements(elements);
                  }),
                  "elements");
  }
  ExpectRefused(Worker([](auto& m) {
                  m.mutable_open_tensor()->set_name("x");
                  m.mutable_open_tensor()->set_type(static_cast<uint32_t>(kLastElementType) + 1);
                }),
                "OpenTensor: type: 0 to 17 expected, 18 came");
  ExpectRefused(
      Worker([](auto& m) { m.mutable_tensor_call()->set_kind(static_cast<uint32_t>(kLastTensorCallKind) + 1); }),
      "kind");
  ExpectRefused(Worker([](auto& m) { m.mutable_tensor_call()->set_not_finite(kMaxTensorElements + 1); }),
                "not_finite: 0 to");
  ExpectRefused(Worker([](auto& m) { m.mutable_tensor_call()->set_gradient_slot(kMaxTensorSlots); }), "slot");
  ExpectRefused(Worker([](auto& m) { m.mutable_tensor_call()->set_result_slot(kMaxTensorSlots); }), "slot");
  ExpectRefused(std::string(kMaxSessionMessageBytes + 1, '\0'), "at most");
}

TEST(SessionCodecTest, GroupsOutOfRangeAreRefused) {
  const auto part = [](const std::string& name, int64_t elements) {
    return Worker([&](auto& m) {
      session::DescribeGroup::Part& added = *m.mutable_describe_group()->add_parts();
      added.set_name(name);
      added.set_elements(elements);
    });
  };
  ExpectRefused(part("", 5), "name");
  ExpectRefused(part("tab\tbed", 5), "printable");
  ExpectRefused(part("w", -1), "parts[0].elements: 0 to 1099511627776 expected, -1 came");
  ExpectRefused(part("w", kMaxTensorElements + 1), "parts[0].elements");
}

TEST(SessionCodecTest, SplitsAGroupIntoMessagesThatFit) {
  TensorLayout layout;
  for (int i = 0; i < 1000; ++i) layout.parts.push_back({"part" + std::to_string(i), i});
  for (size_t length : {1, 500, 1000, 1024}) layout.parts.push_back({std::string(length, 'x'), kMaxTensorElements});
  TensorLayout again;
  for (const DescribeGroup& message : DescribeInMessages(layout)) {
    const std::string bytes = EncodeWorkerMessage(message);
    EXPECT_LE(bytes.size(), kMaxSessionMessageBytes);
    ASSERT_TRUE(DecodeWorkerMessage(bytes).ok());
    again.parts.insert(again.parts.end(), message.parts.begin(), message.parts.end());
  }
  EXPECT_EQ(again, layout);
  EXPECT_TRUE(DescribeInMessages(TensorLayout()).empty());
}

TEST(SessionCodecTest, StatesOutOfRangeAreRefused) {
  const auto part = [](const std::string& name, int64_t size_bytes) {
    return Worker([&](auto& m) {
      session::DescribeState::Part& added = *m.mutable_describe_state()->add_parts();
      added.set_name(name);
      added.set_size_bytes(size_bytes);
    });
  };
  ExpectRefused(part("", 5), "name");
  ExpectRefused(part("w", 0), "parts[0].size_bytes: 1 to 549755813888 expected, 0 came");
  ExpectRefused(part("w", (int64_t{1} << 39) + 1), "parts[0].size_bytes");
  ExpectRefused(Worker([](auto& m) { m.mutable_fetch_state()->set_timeout_ns(-1); }), "timeout: 0 or longer");
  ExpectRefused(Worker([](auto& m) { m.mutable_state_filled()->set_slot(kMaxTensorSlots); }), "slot");
  ExpectRefused(Worker([](auto& m) { m.mutable_state_taken()->set_slot(kMaxTensorSlots); }), "slot");
  session::WorkerReply reply;
  for (int64_t size_bytes : {int64_t{0}, int64_t{12}, int64_t{1} << 25}) {
    reply.mutable_state_opened()->set_slot_bytes(size_bytes);
    reply.mutable_state_opened()->set_slots(4);
    EXPECT_FALSE(DecodeWorkerReply(reply.SerializeAsString()).ok()) << size_bytes;
  }
  reply.mutable_state_opened()->set_slot_bytes(1024);
  EXPECT_TRUE(DecodeWorkerReply(reply.SerializeAsString()).ok());
  reply.mutable_state_opened()->set_slots(kMaxTensorSlots + 1);
  EXPECT_FALSE(DecodeWorkerReply(reply.SerializeAsString()).ok());
  reply.mutable_state_read()->set_slot(kMaxTensorSlots);
  EXPECT_FALSE(DecodeWorkerReply(reply.SerializeAsString()).ok());
  reply.mutable_state_hashes_read()->set_slot(kMaxTensorSlots);
  EXPECT_FALSE(DecodeWorkerReply(reply.SerializeAsString()).ok());
  reply.mutable_state_write()->set_slot(kMaxTensorSlots);
  EXPECT_FALSE(DecodeWorkerReply(reply.SerializeAsString()).ok());
}

TEST(SessionCodecTest, RepliesOutOfRangeAreRefused) {
  session::WorkerReply attached;
  attached.mutable_attached()->set_rounds_in_flight(0);
  EXPECT_FALSE(DecodeWorkerReply(attached.SerializeAsString()).ok());
  attached.mutable_attached()->set_rounds_in_flight(1);
  EXPECT_TRUE(DecodeWorkerReply(attached.SerializeAsString()).ok());
  attached.mutable_attached()->set_aggregation_op(6);
  EXPECT_FALSE(DecodeWorkerReply(attached.SerializeAsString()).ok());
  session::WorkerReply opened;
  opened.mutable_tensor_opened()->set_elements(4);
  EXPECT_FALSE(DecodeWorkerReply(opened.SerializeAsString()).ok());
  session::WorkerReply completed;
  completed.mutable_call_completed()->mutable_status()->set_code(17);
  EXPECT_FALSE(DecodeWorkerReply(completed.SerializeAsString()).ok());
  session::WorkerReply round;
  round.mutable_round_completed()->set_tensor(3);
  EXPECT_EQ(DecodeWorkerReply(round.SerializeAsString()).status().code(), absl::StatusCode::kInvalidArgument);
  session::WorkerReply ended;
  ended.mutable_job_ended();
  EXPECT_EQ(DecodeWorkerReply(ended.SerializeAsString()).status().code(), absl::StatusCode::kInvalidArgument);
  ended.mutable_job_ended()->mutable_reason()->set_code(17);
  EXPECT_EQ(DecodeWorkerReply(ended.SerializeAsString()).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(DecodeWorkerReply("").ok());
}

TEST(SessionCodecTest, TruncatedAndRandomBytesNeverCrash) {
  const std::string whole = EncodeWorkerMessage(OpenTensor{CallId(1), "fc1.weight", 12345});
  for (size_t size = 0; size < whole.size(); ++size) (void)DecodeWorkerMessage(whole.substr(0, size)).ok();
  const std::string reply = EncodeWorkerReply(JobEnded{absl::UnavailableError("node n3 was lost")});
  for (size_t size = 0; size < reply.size(); ++size) (void)DecodeWorkerReply(reply.substr(0, size)).ok();
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random.Below(64), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Next());
    (void)DecodeWorkerMessage(bytes).ok();
    (void)DecodeWorkerReply(bytes).ok();
  }
}

}  // namespace
}  // namespace banyan
