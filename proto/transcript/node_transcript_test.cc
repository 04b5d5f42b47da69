#include "proto/transcript/node_transcript.h"

#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/testing/wire_samples.h"
#include "proto/transcript/transcript.pb.h"
#include "proto/transcript/transcript_wire.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TranscriptStart Start(const std::string& node = "n1") {
  TranscriptStart start;
  start.node = node;
  return start;
}

JoinAccepted Joined() {
  JoinAccepted joined;
  joined.term = Term(1);
  joined.node = NodeId(2);
  joined.start = StartId(1);
  joined.config.job = "job";
  joined.config.aggregation.fixed_order = true;
  return joined;
}

PolicyPublished Policy(uint64_t version) {
  PolicyPublished published{Term(1), {}};
  published.slice.version = PolicyVersion(version);
  published.slice.epoch = Epoch(1);
  published.slice.key_table = KeyTableVersion(1);
  published.slice.chunk_max_elements = 100;
  published.slice.member_count = 1;
  published.slice.source = NodeId(2);
  published.slice.trees = {TreeSlice{NodeId(2), 1, {}, {}, {}, {}}};
  return published;
}

KeysAssigned Keys() { return {Term(1), KeyTableVersion(1), {KeySlice{KeyId(1), "w", 10, 0}}}; }

// One entry of each kind, all fields other than their defaults.
std::vector<TranscriptEntry> Sample() {
  return {Start(),
          Joined(),
          Keys(),
          Policy(3),
          TranscriptBound{KeyId(1), Round(4), PolicyVersion(3)},
          TranscriptEncoding{KeyId(1), Round(4), ChunkIndex(2), Half::kBroadcast, {0.25, 0.5, true}},
          TranscriptCut{KeyId(1), Round(4), ChunkIndex(2), 7},
          TranscriptCall{WorkerId(3), TranscriptCall::Kind::kFlush, KeyId(1)},
          TranscriptLeftOut{KeyId(1), Round(5)},
          TranscriptComplete{KeyId(1), Round(5), 1234567},
          TranscriptEpoch{Epoch(2)}};
}

std::string ErrorOf(const std::vector<std::vector<TranscriptEntry>>& records) {
  std::vector<std::string> encoded;
  for (const std::vector<TranscriptEntry>& record : records) encoded.push_back(EncodeTranscript(record));
  return std::string(ReadNodeTranscript(encoded).status().message());
}

TEST(TranscriptWireTest, WhatIsWrittenIsWhatTheFileDescribes) {
  const std::string bytes = EncodeTranscript(Sample());
  transcript::Record record;
  ASSERT_TRUE(record.ParseFromString(bytes));
  record.DiscardUnknownFields();
  EXPECT_EQ(record.SerializeAsString(), bytes);
  // Each field of each kind is among them, in its place.
  EXPECT_EQ(record.entries(4).bound().policy(), 3u);
  const transcript::Encoding& encoding = record.entries(5).encoding();
  EXPECT_TRUE(encoding.is_result() && encoding.is_light());
  EXPECT_EQ(std::tuple(encoding.chunk(), encoding.ratio(), encoding.share()), std::tuple(2u, 0.25, 0.5));
  EXPECT_EQ(record.entries(6).cut().frames(), 7u);
  EXPECT_EQ(record.entries(7).call().kind(), transcript::CALL_KIND_FLUSH);
  EXPECT_EQ(record.entries(7).call().worker(), 3u);
  EXPECT_EQ(record.entries(8).left_out().round(), 5u);
  EXPECT_EQ(record.entries(9).complete().hash(), 1234567u);
  EXPECT_EQ(record.entries(10).epoch().epoch(), 2u);
}

TEST(TranscriptWireTest, WhatIsWrittenIsRead) {
  const std::vector<TranscriptEntry> entries = Sample();
  ASSERT_EQ(entries.size(), std::variant_size_v<TranscriptEntry>) << "the sample needs each kind";
  const absl::StatusOr<std::vector<TranscriptEntry>> read = DecodeTranscript(EncodeTranscript(entries));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(*read == entries);
}

TEST(TranscriptWireTest, NamesWhatIsMalformed) {
  EXPECT_THAT(DecodeTranscript("\xff\xff").status().message(), HasSubstr("expected a record of a transcript"));
  const auto error = [](TranscriptEntry entry) {
    return std::string(DecodeTranscript(EncodeTranscript({std::move(entry)})).status().message());
  };
  TranscriptStart newer = Start();
  newer.format = kTranscriptFormat + 1;
  EXPECT_THAT(error(newer),
              HasSubstr("entries[0].start.format: 1 to 1, which this program reads expected, 2, written by Banyan"));
  EXPECT_THAT(error(TranscriptBound{KeyId(0), Round(1), PolicyVersion(1)}), HasSubstr("bound.key"));
  EXPECT_THAT(error(TranscriptBound{KeyId(1), Round(1), PolicyVersion(0)}), HasSubstr("bound.policy"));
  EXPECT_THAT(error(TranscriptEncoding{KeyId(1), Round(1), ChunkIndex(0), Half::kReduce, {0, 1}}),
              HasSubstr("encoding.ratio"));
  EXPECT_THAT(error(TranscriptEncoding{KeyId(1), Round(1), ChunkIndex(0), Half::kReduce, {1, 2}}),
              HasSubstr("encoding.share"));
  EXPECT_THAT(error(TranscriptCut{KeyId(1), Round(1), ChunkIndex(0), 0}), HasSubstr("cut.frames"));
  EXPECT_THAT(error(TranscriptCall{WorkerId(0), static_cast<TranscriptCall::Kind>(9), KeyId(1)}),
              HasSubstr("call.kind"));
  EXPECT_THAT(error(TranscriptEpoch{Epoch(0)}), HasSubstr("epoch.epoch"));
  JoinAccepted nobody = Joined();
  nobody.node = NodeId(0);
  EXPECT_THAT(error(nobody), HasSubstr("message: one that decodes expected, malformed JoinAccepted"));
}

TEST(NodeTranscriptTest, LooksUpWhatIsRecorded) {
  std::vector<TranscriptEntry> entries = Sample();
  entries.pop_back();
  entries.push_back(Policy(4));
  entries.push_back(TranscriptBound{KeyId(1), Round(9), PolicyVersion(4)});
  const absl::StatusOr<NodeTranscript> read = ReadNodeTranscript({EncodeTranscript(entries)});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->start.node, "n1");
  EXPECT_EQ(read->joined.node, NodeId(2));
  EXPECT_EQ(read->keys.at(0).name, "w");
  EXPECT_EQ(read->PolicyOf(KeyId(1), Round(3)).first, PolicyVersion(0));
  EXPECT_EQ(read->PolicyOf(KeyId(1), Round(5)), std::pair(PolicyVersion(3), Round(8)));
  EXPECT_EQ(read->PolicyOf(KeyId(1), Round(20)), std::pair(PolicyVersion(4), Round(20)));
  EXPECT_EQ(read->PolicyOf(KeyId(2), Round(5)).first, PolicyVersion(0));
  const NodeTranscript::Place place = {KeyId(1), Round(4), ChunkIndex(2), Half::kBroadcast};
  EXPECT_EQ(read->encodings.at(place), (EncodingChoice{0.25, 0.5, true}));
  EXPECT_EQ(read->cuts.at({KeyId(1), Round(4), ChunkIndex(2), Half::kReduce}), 7u);
  EXPECT_EQ(read->events.size(), 3u);
}

TEST(NodeTranscriptTest, SaysInWhichRecordWhatIsWrong) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("the transcript is empty"));
  EXPECT_THAT(ErrorOf({{Start()}}), HasSubstr("never joined a job"));
  EXPECT_THAT(ErrorOf({{Joined()}}), HasSubstr("record 1: expected the start of a transcript first"));
  EXPECT_THAT(ErrorOf({{Start(), Joined()}, {TranscriptBound{KeyId(1), Round(0), PolicyVersion(3)}}}),
              HasSubstr("record 2: key 1 round 0: policy 3 is not in the transcript"));
}

TEST(NodeTranscriptTest, RefusesWhatNoReplayGivesAgain) {
  EXPECT_THAT(ErrorOf({{Start(), Joined()}, {Start()}}), HasSubstr("record 2: n1 was started again"));
  EXPECT_THAT(ErrorOf({{Start(), Joined(), TranscriptEpoch{Epoch(2)}}}), HasSubstr("the membership changed (epoch 2)"));
  EXPECT_THAT(ErrorOf({{Start(), Joined(), TranscriptCall{WorkerId(1), TranscriptCall::Kind::kDeath, KeyId()}}}),
              HasSubstr("worker 1 of n1 died"));
  JoinAccepted unordered = Joined();
  unordered.config.aggregation.fixed_order = false;
  EXPECT_THAT(ErrorOf({{Start(), unordered}}), HasSubstr("set aggregation: {order: fixed}"));
  JoinAccepted low_bit = Joined();
  low_bit.config.low_bit.emplace();
  EXPECT_THAT(ErrorOf({{Start(), low_bit}}), HasSubstr("low-bit rounds cannot be replayed"));
  JoinAccepted pruning = Joined();
  pruning.config.compression.rules = {
      CompressionRule{.codec = CodecId::kTopK, .controller = RatioControllerKind::kNetSense}};
  EXPECT_THAT(ErrorOf({{Start(), pruning}}), HasSubstr("NetSenseML"));
}

}  // namespace
}  // namespace banyan
