#include "node/transcript/transcript_replayer.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class TranscriptReplayerTest : public testing::Test {
 protected:
  TranscriptReplayerTest() {
    NodeTranscript transcript;
    transcript.start.node = "n1";
    transcript.joined.node = NodeId(4);
    transcript.keys = {KeySlice{KeyId(1), "w", 10, 0}};
    transcript.encodings[{KeyId(1), Round(1), ChunkIndex(0), Half::kReduce}] = {0.25, 0.5, true};
    transcript.cuts[{KeyId(1), Round(1), ChunkIndex(0), Half::kReduce}] = 3;
    transcript.events = {TranscriptComplete{KeyId(1), Round(1), 77}};
    replayer_ = std::make_unique<TranscriptReplayer>(std::make_shared<const NodeTranscript>(std::move(transcript)));
  }

  absl::Status EndStep() {
    Actions actions;
    RejectionLog rejections;
    StepContext step{Timestamp(), actions, rejections};
    return replayer_->EndStep(step, nullptr, nullptr);
  }

  std::unique_ptr<TranscriptReplayer> replayer_;
};

// What happens to calls and rounds is for sim/replay_test.cc, with whole jobs.
TEST_F(TranscriptReplayerTest, EncodesAndCutsAsItWas) {
  EncodingChoice choice = {0.1, 0.1, false};
  replayer_->OnEncoding({KeyId(1), Round(1), ChunkIndex(0), Half::kReduce}, choice);
  EXPECT_EQ(choice, (EncodingChoice{0.25, 0.5, true}));
  replayer_->OnEncoding({KeyId(1), Round(2), ChunkIndex(0), Half::kReduce}, choice);
  EXPECT_EQ(choice, EncodingChoice());
  EXPECT_EQ(replayer_->CutOf({KeyId(1), Round(1), ChunkIndex(0), Half::kReduce}), 3u);
  EXPECT_EQ(replayer_->CutOf({KeyId(1), Round(1), ChunkIndex(1), Half::kReduce}), 0u);
}

TEST_F(TranscriptReplayerTest, RoundsEndInTheirOrderAndWithTheirResults) {
  EXPECT_FALSE(replayer_->MayComplete(KeyId(1), Round(2)));
  ASSERT_TRUE(replayer_->MayComplete(KeyId(1), Round(1)));
  replayer_->OnComplete(KeyId(1), Round(1), 77);
  EXPECT_TRUE(EndStep().ok());
  EXPECT_FALSE(replayer_->MayComplete(KeyId(1), Round(2)));
  EXPECT_THAT(std::string(EndStep().message()), HasSubstr("the transcript of n1 ends here, after 1 events"));
}

TEST_F(TranscriptReplayerTest, AnotherResultIsAnError) {
  replayer_->OnComplete(KeyId(1), Round(1), 78);
  EXPECT_THAT(std::string(EndStep().message()), HasSubstr("the result of key 'w' in round 1 differs"));
}

TEST_F(TranscriptReplayerTest, CallsBeyondTheEndAreAnErrorButAGoodByeIsNone) {
  replayer_->OnComplete(KeyId(1), Round(1), 77);
  WorkerCall barrier = WorkerBarrier{RequestId(6), WorkerId(0)};
  EXPECT_FALSE(replayer_->TakeCall(barrier));
  WorkerCall end = WorkerDetach{WorkerId(1), true};
  EXPECT_TRUE(replayer_->TakeCall(end));
  EXPECT_TRUE(EndStep().ok());
  WorkerCall pull = WorkerPull{RequestId(5), WorkerId(2), KeyId(1)};
  EXPECT_TRUE(replayer_->TakeCall(pull));
  EXPECT_THAT(std::string(EndStep().message()), HasSubstr("worker 2 calls for a pull of key 'w'"));
  EXPECT_EQ(replayer_->ReturnCalls().size(), 2u);
  EXPECT_TRUE(replayer_->ReturnCalls().empty());
}

TEST_F(TranscriptReplayerTest, ATranscriptOfAnotherNodeIsRefused) {
  JoinAccepted accepted;
  accepted.node = NodeId(4);
  EXPECT_TRUE(replayer_->OnJoined(accepted).ok());
  accepted.node = NodeId(5);
  EXPECT_THAT(std::string(replayer_->OnJoined(accepted).message()), HasSubstr("is of node 4"));
}

}  // namespace
}  // namespace banyan
