#include "node/transcript/transcript_recorder.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "proto/transcript/transcript_wire.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class TranscriptRecorderTest : public testing::Test {
 protected:
  // Ends a step. Returns what it persists.
  std::vector<TranscriptEntry> EndStep() {
    Actions actions;
    RejectionLog rejections;
    StepContext step{Timestamp(), actions, rejections};
    EXPECT_TRUE(recorder_.EndStep(step, nullptr, nullptr).ok());
    if (actions.empty()) return {};
    EXPECT_EQ(actions.size(), 1u);
    return *DecodeTranscript(std::get<PersistRecord>(actions[0]).bytes);
  }
  void Bind(uint64_t round, uint64_t version) {
    PolicySlice slice;
    slice.version = PolicyVersion(version);
    slice.epoch = Epoch(1);
    slice.key_table = KeyTableVersion(1);
    slice.chunk_max_elements = 100;
    slice.member_count = 1;
    slice.source = NodeId(1);
    slice.trees = {TreeSlice{NodeId(1), 1, {}, {}, {}, {}}};
    recorder_.OnBound(KeyId(1), Round(round), slice);
  }

  TranscriptRecorder recorder_{"n1"};
};

TEST_F(TranscriptRecorderTest, BeginsWithTheNodeAndPersistsAStepAtOnce) {
  std::vector<TranscriptEntry> entries = EndStep();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(std::get<TranscriptStart>(entries[0]).node, "n1");
  EXPECT_TRUE(EndStep().empty());
  WorkerCall pull = WorkerPull{RequestId(5), WorkerId(2), KeyId(1)};
  EXPECT_FALSE(recorder_.TakeCall(pull));
  WorkerCall barrier = WorkerBarrier{RequestId(6), WorkerId(2)};
  EXPECT_FALSE(recorder_.TakeCall(barrier)) << "which changes no sum";
  recorder_.OnLeftOut(KeyId(1), Round(3));
  recorder_.OnComplete(KeyId(1), Round(3), 77);
  entries = EndStep();
  const std::vector<TranscriptEntry> expected = {TranscriptCall{WorkerId(2), TranscriptCall::Kind::kPull, KeyId(1)},
                                                 TranscriptLeftOut{KeyId(1), Round(3)},
                                                 TranscriptComplete{KeyId(1), Round(3), 77}};
  EXPECT_TRUE(entries == expected);
}

TEST_F(TranscriptRecorderTest, NotesAPolicyOnceAndRoundsWhereItChanges) {
  EndStep();
  Bind(0, 3);
  EXPECT_EQ(EndStep().size(), 2u);
  Bind(1, 3);
  EXPECT_TRUE(EndStep().empty());
  // A later round may be bound first.
  Bind(4, 5);
  EXPECT_EQ(EndStep().size(), 2u);
  Bind(3, 5);
  EXPECT_TRUE((EndStep() == std::vector<TranscriptEntry>{TranscriptBound{KeyId(1), Round(3), PolicyVersion(5)}}));
  Bind(2, 3);
  EXPECT_TRUE(EndStep().empty());
}

TEST_F(TranscriptRecorderTest, NotesEncodingsThatAreNotWhole) {
  EndStep();
  const RoundScript::Place place = {KeyId(1), Round(1), ChunkIndex(0), Half::kReduce};
  EncodingChoice whole;
  recorder_.OnEncoding(place, whole);
  EXPECT_TRUE(EndStep().empty());
  for (EncodingChoice choice : {EncodingChoice{.ratio = 0.5}, {.share = 0.5}, {.is_light = true}}) {
    const EncodingChoice before = choice;
    recorder_.OnEncoding(place, choice);
    EXPECT_EQ(EndStep().size(), 1u);
    EXPECT_EQ(choice, before);
  }
}

TEST_F(TranscriptRecorderTest, RefusesAJobThatCannotBeReplayed) {
  const absl::Status refused = recorder_.OnJoined(JoinAccepted());
  EXPECT_THAT(std::string(refused.message()), HasSubstr("--transcript: sums in the order of arrival"));
}

TEST_F(TranscriptRecorderTest, OnlyAChangeOfMembersIsAnEpoch) {
  EndStep();
  recorder_.OnEpoch(Epoch(1));
  EXPECT_TRUE(EndStep().empty());
  recorder_.OnEpoch(Epoch(2));
  EXPECT_EQ(EndStep().size(), 1u);
}

}  // namespace
}  // namespace banyan
