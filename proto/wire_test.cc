#include "proto/wire.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/envelope.pb.h"
#include "proto/testing/wire_samples.h"

namespace banyan {
namespace {

using google::protobuf::FieldDescriptor;
using ::testing::AnyOf;
using ::testing::HasSubstr;

wire::Envelope Parsed(const std::string& header) {
  wire::Envelope envelope;
  EXPECT_TRUE(envelope.ParseFromString(header));
  return envelope;
}

std::string Outcome(const absl::StatusOr<Message>& message) {
  return message.ok() ? "accepted" : std::string(message.status().message());
}

// Fields of `message` and of those within it that a default value would not be told from.
std::vector<std::string> UnsetFields(const google::protobuf::Message& message) {
  std::vector<std::string> unset;
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->containing_oneof() != nullptr && !field->has_optional_keyword()) continue;
    const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 0;
    if (field->is_repeated() ? count == 0 : !reflection->HasField(message, field)) unset.push_back(field->full_name());
    for (int entry = 0; is_message && entry < count; ++entry) {
      for (auto& name : UnsetFields(reflection->GetRepeatedMessage(message, field, entry))) unset.push_back(name);
    }
    if (is_message && !field->is_repeated()) {
      for (auto& name : UnsetFields(reflection->GetMessage(message, field))) unset.push_back(name);
    }
  }
  return unset;
}

const google::protobuf::Message& Inner(const wire::Envelope& envelope) {
  const FieldDescriptor* field = wire::Envelope::descriptor()->FindFieldByNumber(envelope.message_case());
  return envelope.GetReflection()->GetMessage(envelope, field);
}

// WireSamples, and what has whatever counters there are: those have fixed bytes, and may lack newer ones.
std::vector<WireSample> AllSamples() {
  std::vector<WireSample> samples = WireSamples();
  NodeReport report;
  static_cast<NodeCounters&>(report) = SampleCounters<NodeCounters>();
  report.links = {{SampleCounters<LinkCounters>(), NodeId(2), std::nullopt}};
  samples.push_back({report, {}});
  JobStatus status = SampleStatus();
  status.nodes[0].report->counters = report;
  status.links[0].traffic = report.links[0];
  samples.push_back({StatusReply{status}, {}});
  return samples;
}

TEST(WireTest, EveryKindOfMessageHasASampleWithEveryFieldSet) {
  std::set<size_t> kinds;
  std::set<int> numbers;
  std::map<size_t, std::vector<std::string>> never_set;  // by kind
  for (const WireSample& sample : AllSamples()) {
    kinds.insert(sample.message.index());
    const wire::Envelope envelope = Parsed(EncodeMessage(sample.message));
    numbers.insert(envelope.message_case());
    // A kind may have several samples, whose fields exclude each other.
    std::vector<std::string> unset = UnsetFields(Inner(envelope));
    if (const auto [of_kind, is_first] = never_set.try_emplace(sample.message.index(), unset); !is_first) {
      std::erase_if(of_kind->second,
                    [&unset](const std::string& field) { return !absl::c_linear_search(unset, field); });
    }
  }
  for (const auto& [kind, fields] : never_set) {
    // The first codec is number 0, and so is the first level.
    for (const std::string& field : fields) {
      EXPECT_THAT(field, AnyOf("banyan.wire.FrameHeader.codec", "banyan.wire.FrameHeader.level"));
    }
  }
  EXPECT_EQ(kinds.size(), std::variant_size_v<AnyMessage>);
  EXPECT_EQ(numbers.size(), std::variant_size_v<AnyMessage>);
  EXPECT_EQ(static_cast<size_t>(wire::Envelope::descriptor()->field_count()), std::variant_size_v<AnyMessage>);
}

TEST(WireTest, EveryMessageComesBackAsItWas) {
  std::vector<WireSample> samples = AllSamples();
  samples.push_back(SampleEmptyContribution());
  samples.push_back(SampleEmptyResult());
  samples.push_back(SampleStateChunk());
  for (const WireSample& sample : samples) {
    const absl::StatusOr<Message> message = DecodeMessage(EncodeMessage(sample.message), sample.payload);
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_TRUE(*message == sample.message) << Parsed(EncodeMessage(sample.message)).DebugString();
  }
}

TEST(WireTest, TheBytesOfSamplesAreThoseOfBefore) {
  std::vector<WireSample> samples = WireSamples();
  samples.push_back(SampleEmptyContribution());
  samples.push_back(SampleEmptyResult());
  samples.push_back(SampleStateChunk());
  std::vector<std::string> bytes;
  for (const WireSample& sample : samples) bytes.push_back(absl::BytesToHexString(EncodeMessage(sample.message)));
  EXPECT_EQ(bytes, GoldenLines("proto/testing/golden_messages.txt"));
}

TEST(WireTest, ListedKeysHaveARoleAndTheFormOfAKey) {
  const auto error_of = [](ListedKey key) {
    return std::string(DecodeMessage(EncodeMessage(AccessList{Term(3), {std::move(key)}}), {}).status().message());
  };
  const std::string text(40, 'a');
  EXPECT_EQ(error_of({text, Role::kNode, "n7", NodeId(7)}), "");
  EXPECT_THAT(error_of({"short", Role::kNode, "n7", NodeId(7)}), testing::HasSubstr("keys[0].public_key: 40 char"));
  EXPECT_THAT(error_of({text, static_cast<Role>(3), "n7", NodeId(7)}), testing::HasSubstr("keys[0].role: 0 to 2"));
  EXPECT_THAT(error_of({text, Role::kNode, "", NodeId(7)}), testing::HasSubstr("keys[0].name"));
}

TEST(WireTest, ARootHasNoParents) {
  for (const WireSample& sample : WireSamples()) {
    if (!std::holds_alternative<PolicyPublished>(sample.message)) continue;
    PolicyPublished published = std::get<PolicyPublished>(sample.message);
    published.slice.trees[0].reduce_parent.reset();
    published.slice.trees[0].broadcast_parent.reset();
    const absl::StatusOr<Message> message = DecodeMessage(EncodeMessage(published), {});
    ASSERT_TRUE(message.ok()) << message.status();
    EXPECT_TRUE(*message == Message(published));
  }
}

// Daemons of different builds talk to each other: these bytes may change only together with kProtocolVersion.
TEST(WireTest, EncodingsAreStable) {
  const auto hex = [](const Message& message) { return absl::BytesToHexString(EncodeMessage(message)); };
  EXPECT_EQ(hex(SampleChunk().message),
            "0a630a0c080210011829200528093001100c18042001298877665544332211"
            "32080a0403ac0207100138014009480550645a071028183c20f0015a0710011827209c0160f0a20469cb04fb711f010000"
            "71000000000000d03f78018001ac02880102a00101");
  EXPECT_EQ(hex(PeerHello{1, "job", Term(3), NodeId(7), Incarnation(0x1122334455667788)}),
            "1214080112036a6f6218032007298877665544332211");
  EXPECT_EQ(hex(LinkAck{{{5, Timestamp::FromNanoseconds(1000), Timestamp::FromNanoseconds(2000)}}}),
            "1a160a14080511e80300000000000019d007000000000000");
  EXPECT_EQ(hex(LinkAck{{{5, Timestamp::FromNanoseconds(1000), Timestamp::FromNanoseconds(2000), true}}}),
            "1a180a16080511e80300000000000019d0070000000000002001");
  EXPECT_EQ(hex(PolicyRequest{{{KeyId(1), Round(18)}}}), "ca01060a0408011012");
  EXPECT_EQ(hex(JobFailed{Term(3), absl::StatusCode::kDataLoss, "why"}), "9a02090803100f1a03776879");
  EXPECT_EQ(hex(StatusRequest{}), "aa0200");
}

TEST(WireTest, AMessageAboutAllKeysHasTheSizeOfOneAboutOne) {
  PolicyRequest request;
  PolicyAnswer answer = {Term(3), Epoch(1), {}};
  ClosedEverywhere closed = {Term(3), {}};
  CutBound bound = {Term(3), Epoch(1), CutId(12), {}};
  for (KeyId key(1); key <= KeyId(5000); key = key.Next()) {
    request.entries.push_back({key, Round(18)});
    answer.bindings.push_back({key, Round(18), Round(25), PolicyVersion(12), Attempt(1)});
    closed.entries.push_back({key, Round(17)});
    bound.rounds.push_back({key, Round(19)});
  }
  for (const Message& message : {Message(request), Message(answer), Message(closed), Message(bound)}) {
    const std::string bytes = EncodeMessage(message);
    EXPECT_LT(bytes.size(), 32u);
    const absl::StatusOr<Message> read = DecodeMessage(bytes, {}, WireLimits());
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == message);
  }
}

TEST(WireTest, ATypeOfElementsThatThisVersionDoesNotKnowIsRefused) {
  const auto unknown = static_cast<DataType>(static_cast<int>(kLastElementType) + 1);
  const RegisterKeys asked = {{{"w", 3, {{}, unknown}}}};
  const KeysAssigned told = {Term(3), KeyTableVersion(1), {{KeyId(1), "w", 3, 0, unknown}}};
  for (const Message& message : {Message(asked), Message(told)}) {
    const absl::Status refused = DecodeMessage(EncodeMessage(message), {}).status();
    EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("keys[0].type: 0 to 17 expected, 18 came"));
  }
}

// The destination refuses it, and can say of whom it is; a relay has no part in it.
TEST(WireTest, ACodecThatThisVersionDoesNotKnowArrives) {
  WireSample sample = SampleChunk();
  for (FrameHeader& frame : std::get<ChunkMessage>(sample.message).frames) frame.codec = static_cast<CodecId>(200);
  const absl::StatusOr<Message> message = DecodeMessage(EncodeMessage(sample.message), sample.payload);
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(std::get<ChunkMessage>(*message).frames[0].codec, static_cast<CodecId>(200));
}

TEST(WireTest, AReasonThatIsTooLongArrivesCut) {
  const std::string reason(3 * kMaxWireReasonBytes, 'x');
  const absl::StatusOr<Message> message =
      DecodeMessage(EncodeMessage(JobFailed{Term(1), absl::StatusCode::kUnavailable, reason}), {});
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_EQ(std::get<JobFailed>(*message).reason, reason.substr(0, kMaxWireReasonBytes));
}

TEST(WireTest, ALossThatIsNoNumberArrivesAsTheLargest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto arrived = [](double loss) {
    NodeReport report;
    report.loss = loss;
    return std::get<NodeReport>(DecodeMessage(EncodeMessage(report), {}).value()).loss;
  };
  EXPECT_EQ(arrived(std::nan("")), 1e308) << "which can be read however it is printed";
  EXPECT_EQ(arrived(kInfinity), 1e308);
  EXPECT_EQ(arrived(-kInfinity), -1e308);
}

TEST(WireTest, FieldsOfALaterVersionAreIgnored) {
  wire::Envelope envelope = Parsed(EncodeMessage(BarrierEntered{4}));
  envelope.mutable_barrier_entered()
      ->GetReflection()
      ->MutableUnknownFields(envelope.mutable_barrier_entered())
      ->AddVarint(1000, 5);
  const absl::StatusOr<Message> message = DecodeMessage(envelope.SerializeAsString(), {});
  ASSERT_TRUE(message.ok()) << message.status();
  EXPECT_TRUE(*message == Message(BarrierEntered{4}));
}

TEST(WireTest, TheHeaderIsOneKnownMessageFromEndToEnd) {
  const std::string heartbeat = EncodeMessage(Heartbeat{Timestamp::FromNanoseconds(5)});
  EXPECT_THAT(Outcome(DecodeMessage("", {})), HasSubstr("an envelope expected, 0 other bytes came"));
  EXPECT_THAT(Outcome(DecodeMessage("\x08\x01", {})), HasSubstr("an envelope expected"));
  EXPECT_THAT(Outcome(DecodeMessage(std::string("\x7a\x00", 2), {})), HasSubstr("number 15 is unknown"));
  EXPECT_THAT(Outcome(DecodeMessage(heartbeat + heartbeat, {})),
              HasSubstr("malformed Heartbeat: a body of 9 bytes expected, 21 came"));
  EXPECT_THAT(Outcome(DecodeMessage(heartbeat.substr(0, 5), {})), HasSubstr("a body of 9 bytes expected, 2 came"));
}

TEST(WireTest, OnlyChunksHaveAPayload) {
  for (const WireSample& sample : WireSamples()) {
    if (std::holds_alternative<ChunkMessage>(sample.message)) continue;
    EXPECT_THAT(Outcome(DecodeMessage(EncodeMessage(sample.message), {Buffer::Allocate(1)})),
                HasSubstr("no payload expected, 1 frames came"));
  }
}

TEST(WireTest, EachKindOfMessageHasItsSizeLimit) {
  WireLimits limits;
  limits.max_chunk_header_bytes = 10;
  limits.max_control_bytes = 20;
  limits.max_key_table_bytes = 5;
  limits.max_status_bytes = 8;
  const auto outcome = [&](const Message& message) {
    return Outcome(DecodeMessage(EncodeMessage(message), {}, limits));
  };
  EXPECT_THAT(outcome(SampleEmptyContribution().message), HasSubstr("malformed ChunkMessage: a header of at most 10"));
  EXPECT_THAT(outcome(Leave{std::string(30, 'x')}),
              HasSubstr("malformed Leave: a header of at most 20 bytes expected"));
  EXPECT_THAT(outcome(RegisterKeys{{{"fc1", 1}}}), HasSubstr("malformed RegisterKeys: a header of at most 5 bytes"));
  EXPECT_THAT(outcome(StatusReply{SampleStatus()}), HasSubstr("malformed StatusReply: a header of at most 8 bytes"));
}

// Two bytes for each entry on the wire, much more in memory.
TEST(WireTest, EmptyEntriesAreCountedBeforeTheyAreParsed) {
  std::string body;
  for (int i = 0; i < 100'000; ++i) body.append("\x0a\x00", 2);
  wire::Envelope envelope;
  ASSERT_TRUE(envelope.mutable_link_ack()->ParseFromString(body));
  EXPECT_THAT(Outcome(DecodeMessage(envelope.SerializeAsString(), {})),
              HasSubstr("malformed LinkAck: entries: 0 to 65536 entries expected, 100000 came"));
}

TEST(WireTest, ListsOfOneMessageAreCountedEachForItself) {
  NodeReport report;
  for (uint32_t key = 1; key <= 65536; ++key) report.progress.push_back({KeyId(key), Round(key % 2), Round(key % 3)});
  for (uint32_t node = 1; node <= 1023; ++node) report.links.push_back({{1, 0, 0, 0}, NodeId(node), {}});
  EXPECT_EQ(Outcome(DecodeMessage(EncodeMessage(report), {})), "accepted");
}

}  // namespace
}  // namespace banyan
