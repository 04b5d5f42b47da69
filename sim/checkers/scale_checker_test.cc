#include "sim/checkers/scale_checker.h"

#include "compression/counts/vote_codecs.h"
#include "compression/counts/vote_count.h"
#include "compression/counts/vote_decision.h"
#include "compression/counts/vote_frame.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using testing::HasSubstr;

constexpr KeyId kKey(1);
constexpr int64_t kElements = 4;  // of a chunk; a slice has two

VoteRules RulesOf(VoteAggregate aggregate) {
  VoteRules rules;
  rules.aggregate = aggregate;
  return rules;
}

// Node 2 sends to node 1, the root; each has one worker.
class ScaleCheckerTest : public testing::TestWithParam<VoteAggregate> {
 protected:
  ScaleCheckerTest() {
    plan_.tensors = {{"w", 4 * kElements, 0}};
    Show(
        KeysAssigned{Term(1), KeyTableVersion(1), {{kKey, "w", 4 * kElements, 0, DataType::kFloat32, {2 * kElements}}}},
        {});
    PolicySlice slice;
    slice.version = PolicyVersion(1);
    slice.chunk_max_elements = kElements;
    Show(PolicyPublished{Term(1), slice}, {});
    Show(PolicyAnswer{Term(1), Epoch(1), {{kKey, Round(1), Round(9), PolicyVersion(1), Attempt(0), 0, Routes()}}}, {});
  }
  static KeyRoutes Routes() {
    KeyRoutes routes(PrecisionRoute::kLowBit);
    routes.Set(1, PrecisionRoute::kLowBit);
    return routes;
  }
  void Show(const Message& message, Payload payload, uint32_t from = 0, uint32_t to = 2) {
    const SentMessage sent{
        .now = Timestamp(), .from = NodeId(from), .to = NodeId(to), .message = message, .payload = payload};
    slices_.OnSent(sent);
    checker_.OnSent(sent);
    checker_.OnDelivered(sent);
  }
  float ScaleOf(uint32_t node, uint32_t slice) const {
    std::vector<float> values(4 * kElements);
    plan_.Fill({NodeId(node), WorkerId(0)}, 0, Round(1), absl::MakeSpan(values));
    return SliceScale(absl::MakeConstSpan(values).subspan(slice * 2 * kElements, 2 * kElements));
  }
  VoteCount VoteOf(float scale) const { return VoteCount::OfVoter(std::vector<float>(kElements, 1), scale, rules_); }
  void SendVotes(uint32_t from, uint32_t to, uint32_t chunk, const VoteCount& votes) {
    ChunkMessage message = Chunk(from, to, chunk, votes.weight(), CodecId::kVoteCount);
    Show(message, {Buffer::CopyOfBytes(EncodeVoteFrame(votes))}, from, to);
  }
  void SendResult(uint32_t chunk, const VoteCount& votes) {
    ChunkMessage message = Chunk(1, 2, chunk, votes.weight(), CodecId::kVoteDecision);
    message.id.half = Half::kBroadcast;
    message.made_in = Epoch(1);
    Show(message, {Buffer::CopyOfBytes(EncodeDecision(VoteDecision(votes, rules_)))}, 1, 2);
  }
  static ChunkMessage Chunk(uint32_t from, uint32_t to, uint32_t chunk, int64_t weight, CodecId codec) {
    ChunkMessage message;
    message.id = {Epoch(1), Attempt(0), Round(1), kKey, ChunkIndex(chunk), Half::kReduce};
    message.policy = PolicyVersion(1);
    message.route.path = {NodeId(from), NodeId(to)};
    message.precision = PrecisionRoute::kLowBit;
    message.weight = static_cast<uint32_t>(weight);
    message.elements = kElements;
    message.frames = {{codec, 0, kElements, 1, 0}};
    return message;
  }
  static VoteCount SumOf(const VoteCount& a, const VoteCount& b) { return VoteCount::SumOf(std::vector{&a, &b}); }

  const VoteRules rules_ = RulesOf(GetParam());
  TrainingPlan plan_;
  Violations violations_;
  SliceRoutes slices_;
  ScaleChecker checker_{&plan_, {{NodeId(1), WorkerId(0)}, {NodeId(2), WorkerId(0)}}, rules_, &slices_, &violations_};
};

TEST_P(ScaleCheckerTest, VotesOfASliceHaveItsScale) {
  for (uint32_t chunk = 0; chunk < 4; ++chunk) {
    const VoteCount child = VoteOf(ScaleOf(2, chunk / 2));
    SendVotes(2, 1, chunk, child);
    const VoteCount sum = SumOf(child, VoteOf(ScaleOf(1, chunk / 2)));
    SendVotes(1, 3, chunk, sum);
    SendResult(chunk, sum);
  }
  EXPECT_TRUE(violations_.empty()) << violations_.Report();
  EXPECT_EQ(checker_.parts(), 8);
  EXPECT_EQ(checker_.known(), GetParam() == VoteAggregate::kMean ? 0 : 6);
}

TEST_P(ScaleCheckerTest, ChunksOfASliceHaveOneScale) {
  SendVotes(2, 1, 0, VoteOf(ScaleOf(2, 0)));
  SendVotes(2, 1, 1, VoteOf(ScaleOf(2, 1)));
  EXPECT_THAT(violations_.Report(), HasSubstr("slice 0 has another scale here than in its other chunks"));
}

TEST_P(ScaleCheckerTest, AParentAddsTheSameToTheVotesOfAllChunks) {
  for (uint32_t chunk = 0; chunk < 2; ++chunk) {
    const VoteCount child = VoteOf(ScaleOf(2, 0));
    SendVotes(2, 1, chunk, child);
    SendVotes(1, 3, chunk, SumOf(child, VoteOf(ScaleOf(1, chunk))));
  }
  EXPECT_THAT(violations_.Report(), HasSubstr("node 1 to node 3"));
  EXPECT_THAT(violations_.Report(), HasSubstr("another scale here than in its other chunks"));
}

TEST_P(ScaleCheckerTest, AParentKeepsTheVotesOfItsChildren) {
  SendVotes(2, 1, 0, VoteOf(ScaleOf(2, 0)));
  SendVotes(1, 3, 0, VoteOf(ScaleOf(2, 0) / 2));
  EXPECT_THAT(violations_.Report(), HasSubstr("has less than the children's votes have together"));
}

TEST_P(ScaleCheckerTest, ResultsOfASliceHaveOneScale) {
  SendResult(0, SumOf(VoteOf(ScaleOf(1, 0)), VoteOf(ScaleOf(2, 0))));
  SendResult(1, SumOf(VoteOf(ScaleOf(1, 1)), VoteOf(ScaleOf(2, 0))));
  EXPECT_THAT(violations_.Report(), HasSubstr("slice 0 has another scale here than in its other results"));
}

INSTANTIATE_TEST_SUITE_P(Aggregates, ScaleCheckerTest, testing::Values(VoteAggregate::kMajority, VoteAggregate::kMean));

using KnownScalesTest = ScaleCheckerTest;

TEST_P(KnownScalesTest, AScaleOfAnotherSliceIsNotTheGradients) {
  SendVotes(2, 1, 0, VoteOf(ScaleOf(2, 1)));
  EXPECT_THAT(violations_.Report(), HasSubstr("is not that of slice 0"));
}

TEST_P(KnownScalesTest, AResultHasTheMeanScaleOfAll) {
  SendResult(2, SumOf(VoteOf(ScaleOf(1, 1)), VoteOf(ScaleOf(2, 0))));
  EXPECT_THAT(violations_.Report(), HasSubstr("of slice 1"));
}

INSTANTIATE_TEST_SUITE_P(Majority, KnownScalesTest, testing::Values(VoteAggregate::kMajority));

}  // namespace
}  // namespace banyan
