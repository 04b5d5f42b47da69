#include "sim/checkers/contributor_checker.h"

#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Counts = std::vector<int>;

constexpr uint32_t kNodes = 3;
constexpr int64_t kElements = 12;
constexpr size_t kExact = 0;
constexpr size_t kSpread = 1;
const KeyId kKey = KeyId(4);

WorkerName WorkerOf(uint32_t node) { return {NodeId(node), WorkerId(0)}; }

// Three nodes with a worker each, which are members from epoch 1 on; a tensor that is summed as it is, in chunks of 6,
// and one with error feedback.
class ContributorCheckerTest : public testing::Test {
 protected:
  ContributorCheckerTest()
      : fields_({WorkerOf(1), WorkerOf(2), WorkerOf(3)}, {kSpread}, 5),
        chunks_(&plan_, &violations_),
        checker_(&plan_, &fields_, AggregationOp::kSum, &membership_, &chunks_, &violations_) {
    plan_.tensors = {{"w", kElements, 0}, {"b", kElements, 0}};
    plan_.source = &fields_;
    plan_.rounds = 20;
    plan_.flush_every = 4;
    for (uint32_t node = 1; node <= kNodes; ++node) checker_.OnStarted(now_, WorkerOf(node));
    Epochs(1, {1, 2, 3});
    KeysAssigned assigned;
    assigned.keys = {{kKey, "w", kElements}};
    Send(kSchedulerNode, NodeId(1), assigned);
  }

  void Send(NodeId from, NodeId to, const Message& message, const Payload& payload = {}) {
    const SentMessage sent{now_, from, to, Channel::kControl, 1, 1, 64, message, payload};
    membership_.OnSent(sent);
    chunks_.OnSent(sent);
  }
  void Epochs(uint64_t epoch, const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      PolicyPublished published;
      published.slice.epoch = Epoch(epoch);
      published.slice.member_count = static_cast<uint32_t>(nodes.size());
      Send(kSchedulerNode, NodeId(node), published);
      EpochPlan plan;
      plan.epoch = Epoch(epoch);
      Send(kSchedulerNode, NodeId(node), plan);
    }
  }
  void Push(uint32_t node, size_t tensor, uint64_t round) {
    checker_.OnPushed(now_, WorkerOf(node), tensor, Round(round));
  }
  void PushAll(size_t tensor, uint64_t round) {
    for (uint32_t node = 1; node <= kNodes; ++node) Push(node, tensor, round);
  }
  // The results of both chunks travel.
  void MadeIn(uint64_t epoch, uint64_t round) {
    for (uint32_t i = 0; i < 2; ++i) {
      ChunkMessage chunk;
      chunk.id.key = kKey;
      chunk.id.round = Round(round);
      chunk.id.chunk = ChunkIndex(i);
      chunk.id.half = Half::kBroadcast;
      chunk.made_in = Epoch(epoch);
      chunk.elements = kElements / 2;
      Send(NodeId(1), NodeId(2), chunk);
    }
  }
  std::vector<float> Sum(size_t tensor, uint64_t round, const Counts& counts) {
    std::vector<float> sum(kElements, 0.0f);
    std::vector<float> gradient(kElements);
    for (size_t i = 0; i < counts.size(); ++i) {
      fields_.Fill(fields_.workers()[i], tensor, Round(round), absl::MakeSpan(gradient));
      for (int times = 0; times < counts[i]; ++times) {
        for (size_t element = 0; element < kElements; ++element) sum[element] += gradient[element];
      }
    }
    return sum;
  }
  void Result(uint32_t node, size_t tensor, uint64_t round, const std::vector<float>& values) {
    checker_.OnResult(now_, WorkerOf(node), tensor, Round(round), values);
  }
  std::string Findings() {
    checker_.Finish();
    return violations_.Report();
  }

  Timestamp now_;
  Violations violations_;
  TrainingPlan plan_;
  ContributorFields fields_;
  MembershipWatch membership_;
  ChunkWatch chunks_;
  ContributorChecker checker_;
};

TEST_F(ContributorCheckerTest, EachOnceIsRight) {
  PushAll(kExact, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  MadeIn(1, 1);
  Result(2, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  EXPECT_EQ(Findings(), "");
  EXPECT_EQ(checker_.required(), 6);
}

TEST_F(ContributorCheckerTest, WhoeverRunsAndWasAMemberMustBeThere) {
  PushAll(kExact, 1);
  MadeIn(1, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_NE(Findings().find("lacks worker 0 of node 2"), std::string::npos) << violations_.Report();
}

TEST_F(ContributorCheckerTest, WhoeverHasEndedMayBeThereOnceAndNotTwice) {
  for (const auto& [round, count, found] : {std::tuple(1, 0, false), std::tuple(2, 1, false), std::tuple(3, 2, true)}) {
    PushAll(kExact, round);
    MadeIn(1, round);
    checker_.OnEnded(now_, WorkerOf(2));
    Result(1, kExact, round, Sum(kExact, round, {1, count, 1}));
    EXPECT_EQ(Findings().find("more than once") != std::string::npos, found) << violations_.Report();
    checker_.OnStarted(now_, WorkerOf(2));
  }
}

TEST_F(ContributorCheckerTest, WhoeverWasNoMemberInTheEpochThatMadeItNeedNotBeThere) {
  PushAll(kExact, 1);
  Epochs(2, {1, 3});
  MadeIn(2, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
  membership_.OnProcessStarted(now_, NodeId(2));
  Epochs(3, {1, 2, 3});
  PushAll(kExact, 2);
  MadeIn(2, 2);  // before it joined
  Result(1, kExact, 2, Sum(kExact, 2, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
  PushAll(kExact, 3);
  MadeIn(3, 3);
  Result(1, kExact, 3, Sum(kExact, 3, {1, 0, 1}));
  EXPECT_NE(Findings().find("lacks worker 0 of node 2"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhoBeganAfterTheEpochThatMadeItNeedNotBeThere) {
  for (const uint32_t node : {1, 3}) Push(node, kExact, 1);
  Epochs(2, {1, 2, 3});
  Push(2, kExact, 1);
  MadeIn(1, 1);  // when node 2 was a member, and abstained
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
  PushAll(kExact, 2);
  MadeIn(2, 2);
  Result(1, kExact, 2, Sum(kExact, 2, {1, 0, 1}));
  EXPECT_NE(Findings().find("lacks worker 0 of node 2"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhoHasFallenOutMayHaveAResultOfItsOwn) {
  PushAll(kExact, 1);
  MadeIn(1, 1);
  Epochs(2, {1, 3});
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  Result(2, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  Result(3, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
  Result(3, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  EXPECT_NE(Findings().find("identical replicas"), std::string::npos) << "node 3 is a member";
}

TEST_F(ContributorCheckerTest, WhoPushedNothingAndWhatBelongsToAnotherRoundIsFound) {
  Push(1, kExact, 1);
  Push(3, kExact, 1);
  MadeIn(1, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  EXPECT_NE(Findings().find("who pushed nothing"), std::string::npos) << violations_.Report();
  PushAll(kExact, 3);
  MadeIn(1, 3);
  std::vector<float> mixed = Sum(kExact, 3, {1, 0, 1});
  const std::vector<float> old = Sum(kExact, 2, {0, 1, 0});
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] += old[i];
  Result(1, kExact, 3, mixed);
  EXPECT_NE(Findings().find("w round 3"), std::string::npos) << violations_.Report();
}

TEST_F(ContributorCheckerTest, AChunkIsOfTheSameContributorsAndAnotherMayBeOfOthers) {
  PushAll(kExact, 1);
  checker_.OnEnded(now_, WorkerOf(2));
  MadeIn(1, 1);
  std::vector<float> values = Sum(kExact, 1, {1, 1, 1});
  const std::vector<float> without = Sum(kExact, 1, {1, 0, 1});
  std::copy(without.begin() + 6, without.end(), values.begin() + 6);
  Result(1, kExact, 1, values);
  EXPECT_EQ(Findings(), "");
  PushAll(kExact, 2);
  checker_.OnEnded(now_, WorkerOf(2));
  MadeIn(1, 2);
  values = Sum(kExact, 2, {1, 1, 1});
  values[8] = Sum(kExact, 2, {1, 0, 1})[8];
  Result(1, kExact, 2, values);
  EXPECT_NE(Findings().find("element 8 has contributors 1,0,1, the chunk begins with 1,1,1"), std::string::npos);
}

TEST_F(ContributorCheckerTest, ARoundHasOneResultWhileSomebodyHoldsIt) {
  PushAll(kExact, 1);
  MadeIn(1, 1);
  Result(2, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  checker_.OnEnded(now_, WorkerOf(2));
  Epochs(2, {1, 3});
  MadeIn(2, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_EQ(Findings(), "") << "who had the other is gone";
  Result(3, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  EXPECT_NE(Findings().find("identical replicas"), std::string::npos);
}

// One that has finished does not start again with its node.
TEST_F(ContributorCheckerTest, WhatWorkersDidOnAnEarlierStartOfTheirNodeIsGone) {
  PushAll(kExact, 1);
  Result(2, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  membership_.OnProcessStarted(now_, NodeId(2));
  Epochs(2, {1, 2, 3});
  MadeIn(2, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
  Result(3, kExact, 1, Sum(kExact, 1, {1, 1, 1}));
  EXPECT_NE(Findings().find("identical replicas"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhatAnEpochMadeTravelsAsItIs) {
  ChunkMessage chunk;
  chunk.id.key = kKey;
  chunk.id.round = Round(1);
  chunk.id.half = Half::kReduce;
  chunk.made_in = Epoch(1);
  chunk.elements = 2;
  chunk.frames = {{CodecId::kFp32, 0, 2, 8}};
  Send(NodeId(1), NodeId(2), chunk, {Buffer::CopyOf({1, 2})});
  Send(NodeId(3), NodeId(2), chunk, {Buffer::CopyOf({1, 2})});
  chunk.made_in = Epoch(2);
  Send(NodeId(3), NodeId(2), chunk, {Buffer::CopyOf({1, 3})});
  EXPECT_EQ(Findings(), "");
  Send(NodeId(2), NodeId(1), chunk, {Buffer::CopyOf({1, 2})});
  EXPECT_TRUE(violations_.Has("one result"));
}

TEST_F(ContributorCheckerTest, ABroadcastIsOfOneWorker) {
  plan_.broadcast_every = 1;
  PushAll(kExact, 1);
  Result(1, kExact, 1, Sum(kExact, 1, {0, 1, 0}));
  EXPECT_EQ(Findings(), "");
  PushAll(kExact, 2);
  MadeIn(1, 2);
  Result(1, kExact, 2, Sum(kExact, 2, {0, 1, 1}));
  EXPECT_NE(Findings().find("is the broadcast of none"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhatSomebodyPushedWhoIsGoneMayBeMissingAfterAFlush) {
  PushAll(kSpread, 3);
  checker_.OnEnded(now_, WorkerOf(2));
  Result(1, kSpread, 3, Sum(kSpread, 3, {1, 0, 1}));
  PushAll(kSpread, 4);
  Result(1, kSpread, 4, Sum(kSpread, 4, {1, 0, 1}));
  EXPECT_EQ(Findings(), "");
}

TEST_F(ContributorCheckerTest, WhoAbstainedFromAFlushGivesLaterWhatItKept) {
  for (const uint64_t flush : {4, 8, 12}) {
    for (const uint32_t node : {1, 2, 3}) {
      if (node != 2 || flush > 4) Push(node, kSpread, flush);
    }
    const Counts counts = flush == 8 ? Counts{1, 2, 1} : Counts{1, flush > 4 ? 1 : 0, 1};
    Result(1, kSpread, flush, Sum(kSpread, flush, counts));
    EXPECT_EQ(Findings(), "");
  }
  PushAll(kSpread, 16);
  Result(1, kSpread, 16, Sum(kSpread, 16, {1, 2, 1}));
  EXPECT_NE(Findings().find("nothing lost"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhatWasKeptBackComesWithAFlushUnlessSomebodyWent) {
  const auto play = [this](uint64_t first_round, bool goes) {
    for (uint64_t round = first_round; round < first_round + 4; ++round) {
      PushAll(kSpread, round);
      if (goes && round == first_round + 1) checker_.OnEnded(now_, WorkerOf(2));
      Result(1, kSpread, round, Sum(kSpread, round, {1, 1, 1}));
    }
  };
  play(1, false);
  EXPECT_EQ(Findings(), "");
  PushAll(kSpread, 5);
  Result(1, kSpread, 5, Sum(kSpread, 5, {1, 0, 1}));
  play(6, true);  // its flush is round 8
  checker_.OnStarted(now_, WorkerOf(2));
  for (const uint64_t round : {12, 16}) {
    EXPECT_EQ(Findings(), "") << "books begin anew after round 12";
    PushAll(kSpread, round - 2);
    Result(1, kSpread, round - 2, Sum(kSpread, round - 2, {1, 0, 1}));
    PushAll(kSpread, round);
    Result(1, kSpread, round, Sum(kSpread, round, {1, 1, 1}));
  }
  EXPECT_NE(Findings().find("nothing lost"), std::string::npos);
}

TEST_F(ContributorCheckerTest, WhoHasGoneMayHaveKeptSomethingOfAResultThatIsWholeLater) {
  for (const uint32_t node : {1, 3}) Push(node, kSpread, 1);
  // It abstained, and passed on a chunk of the sum of the others.
  Epochs(2, {1, 3});
  membership_.OnProcessStarted(now_, NodeId(2));
  Epochs(3, {1, 2, 3});
  for (const uint64_t flush : {4, 8}) {
    Result(1, kSpread, flush - 3, Sum(kSpread, flush - 3, {1, 0, 0}));
    EXPECT_EQ(Findings(), "");
    PushAll(kSpread, flush);
    Result(1, kSpread, flush, Sum(kSpread, flush, {1, 1, 1}));
    for (const uint32_t node : {1, 3}) Push(node, kSpread, flush + 1);
  }
  EXPECT_NE(Findings().find("round 8"), std::string::npos) << "what is pushed later must come back";
}

TEST_F(ContributorCheckerTest, WhatWasKeptOfARoundThatCameToNobodyComesBackLater) {
  Push(1, kSpread, 1);
  checker_.OnEnded(now_, WorkerOf(1));
  checker_.OnStarted(now_, WorkerOf(1));
  for (const uint64_t flush : {4, 8}) {
    PushAll(kSpread, flush - 2);
    Result(1, kSpread, flush - 2, Sum(kSpread, flush - 2, {2, 1, 1}));
    EXPECT_EQ(Findings(), "");
    PushAll(kSpread, flush);
    Result(1, kSpread, flush, Sum(kSpread, flush, {1, 1, 1}));
  }
  EXPECT_NE(Findings().find("round 8"), std::string::npos) << "what is pushed later must come back";
}

}  // namespace
}  // namespace banyan
