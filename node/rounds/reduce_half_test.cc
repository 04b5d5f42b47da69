#include "node/rounds/reduce_half.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "node/testing/test_scheduler.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using State = ReduceHalf::State;

constexpr KeyId kKey(1);
constexpr Round kRound(4);
// Of two: elements 0 to 1, and element 2.
constexpr ChunkIndex kChunk(0);

CheckedChunk Fp32(const std::vector<float>& values, uint32_t weight = 1) {
  return EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf(values), weight);
}

std::vector<float> Decoded(const CheckedChunk& chunk) {
  std::vector<float> values(2);
  DecodeChunk(chunk, absl::MakeSpan(values));
  return values;
}

// One node of the chain 1 <- 2 <- 3, unless a test takes another plan, in one round of a tensor of three elements.
class ReduceHalfTest : public testing::Test, protected ReduceHalf::Owner {
 protected:
  // Node `self`, under this codec on every link.
  void Start(uint32_t self, AggregationOp op = AggregationOp::kSum, std::optional<CompressionRule> rule = {}) {
    self_ = self;
    op_ = op;
    CompressionConfig compression;
    compression.least_elements = 1;
    if (rule.has_value()) compression.rules = {*rule};
    encodings_ = std::make_unique<EncodingChooser>(NodeId(self), compression);
    AggregationConfig aggregation;
    aggregation.op = op;
    memory_ = std::make_unique<TensorMemory>(aggregation, key_.elements);
    StartAttempt(1);
  }
  // Whatever the former attempt had is gone.
  void StartAttempt(uint32_t attempt) {
    JobConfig config;
    auto chunks = ChunkAssignment::Create({1.0}, 2);
    ASSERT_TRUE(chunks.ok() && chunks->AddKey(kKey, key_.elements).ok());
    const PolicyTable::Binding binding{std::make_shared<PolicySlice>(plan_.Slice(self_, config)),
                                       std::make_shared<ChunkAssignment>(*chunks), Attempt(attempt)};
    attempt_ = Attempt(attempt);
    half_.reset();
    half_.emplace(&key_, kRound, binding, memory_.get(),
                  ReduceHalf::Tools{NodeId(self_), op_, encodings_.get(), &computations_, &residuals_, &waiting_bytes_,
                                    this, fixed_order_});
  }

  void CountChild(const CheckedChunk& input, double result_ratio = 1, RoundKind kind = RoundKind::kAggregate) {
    half_->CountChild(step_, kind, kChunk, NodeId(self_ + 1), result_ratio, input);
  }
  // In a star around this node.
  void CountSecondChild(const CheckedChunk& input) {
    half_->CountChild(step_, RoundKind::kAggregate, kChunk, NodeId(self_ + 2), 1, input);
  }
  void CountOwn(const std::vector<float>& values, RoundKind kind = RoundKind::kAggregate) {
    own_ = values.empty() ? Buffer() : Buffer::CopyOf(values);
    half_->CountOwn(step_, kind, kChunk, own_, values.empty() ? 0 : 1);
  }
  // Runs what has been started, in order, but not what that starts.
  void RunComputations() {
    for (Action& action : std::exchange(actions_, {})) {
      auto* start = std::get_if<StartComputation>(&action);
      if (start == nullptr) continue;
      start->computation->Run();
      ComputationFinished finished{start->id, std::move(start->computation)};
      computations_.OnFinished(step_, finished);
    }
  }

  // ReduceHalf::Owner.
  ReduceHalf* FindReduceHalf(StepContext&, const AttemptId& id) override {
    EXPECT_EQ(id.key, kKey);
    EXPECT_EQ(id.round, kRound);
    if (id.attempt == attempt_) return &*half_;
    ++late_;
    return nullptr;
  }
  void OnSum(StepContext&, const AttemptId& id, ChunkIndex chunk, NodeId parent, const CheckedChunk& sum,
             double result_ratio) override {
    EXPECT_EQ(id.attempt, attempt_);
    EXPECT_EQ(chunk, kChunk);
    EXPECT_EQ(parent, NodeId(self_ - 1));
    sums_.push_back(sum);
    result_ratio_ = result_ratio;
  }
  void OnResultMade(StepContext&, const AttemptId&, ChunkIndex chunk, CheckedChunk result) override {
    results_.push_back(std::move(result));
    half_->OnResult(chunk);
  }
  void OnNobodySpoke(StepContext&, const AttemptId&, ChunkIndex) override { ++silent_; }
  void OnSumBroken(StepContext&, const AttemptId&, NodeId culprit, const std::string& reason) override {
    broken_.push_back(reason);
    culprits_.push_back(culprit);
  }

  const KeySlice key_{kKey, "w", 3};
  TestPlan plan_ = TestPlan::Chain(3);
  uint32_t self_ = 0;
  bool fixed_order_ = false;
  AggregationOp op_ = AggregationOp::kSum;
  std::unique_ptr<EncodingChooser> encodings_;
  std::unique_ptr<TensorMemory> memory_;
  ComputationTable computations_;
  NextResiduals residuals_;
  int64_t waiting_bytes_ = 0;
  Attempt attempt_;
  std::optional<ReduceHalf> half_;
  Buffer own_;
  Actions actions_;
  RejectionLog rejections_;
  StepContext step_{Timestamp(), actions_, rejections_};

  std::vector<CheckedChunk> sums_;
  double result_ratio_ = 0;
  std::vector<CheckedChunk> results_;
  std::vector<std::string> broken_;
  std::vector<NodeId> culprits_;  // of what is broken
  int late_ = 0;
  int silent_ = 0;
};

TEST_F(ReduceHalfTest, KnowsTheChunksOfItsPolicy) {
  Start(2);
  EXPECT_EQ(half_->chunks(), 2u);
  EXPECT_EQ(half_->RangeOf(ChunkIndex(1)), (ElementRange{2, 1}));
  EXPECT_EQ(half_->TreeOf(kChunk), TreeIndex(0));
  EXPECT_THAT(half_->PlaceOf(kChunk).reduce_children, ElementsAre(NodeId(3)));
}

TEST_F(ReduceHalfTest, AnInnerNodePassesTheSumUpOnceAllAreCounted) {
  Start(2);
  CountChild(Fp32({1, 2}, 3));
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  EXPECT_TRUE(half_->HasCounted(kChunk, NodeId(3)));
  EXPECT_FALSE(half_->HasCounted(kChunk, NodeId(2)));
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kCollecting);
  EXPECT_EQ(half_->sum_bytes(), 8);
  CountOwn({10, 20, 30});
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kPassedUp);
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(11, 22));
  EXPECT_EQ(sums_[0].weight(), 4u);
  EXPECT_EQ(half_->sum_bytes(), 0);
  half_->OnResult(kChunk);
  EXPECT_EQ(half_->StateOf(kChunk), State::kDone);
}

TEST_F(ReduceHalfTest, WhatComesWhileASumIsMadeIsAddedNext) {
  Start(2);
  CountChild(Fp32({1, 2}));
  CountOwn({10, 20, 30});
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  EXPECT_THAT(sums_, IsEmpty());
  RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(11, 22));
}

TEST_F(ReduceHalfTest, ALeafPassesItsOwnMemoryOn) {
  Start(3);
  CountOwn({10, 20, 30});
  EXPECT_EQ(half_->StateOf(kChunk), State::kPassedUp);
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_EQ(sums_[0].encoded().payload[0].data(), own_.data());
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(ReduceHalfTest, WhoHasNothingToSayPassesNothingUp) {
  Start(2);
  CountChild(CheckedChunk());
  EXPECT_THAT(sums_, IsEmpty());
  CountOwn({});
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_TRUE(sums_[0].empty());
  EXPECT_EQ(sums_[0].weight(), 0u);
}

TEST_F(ReduceHalfTest, TheRootMakesTheResult) {
  Start(1, AggregationOp::kMean);
  CountChild(Fp32({1, 2}, 3));
  CountOwn({11, 22, 33});
  RunComputations();
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kFinishing);
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kDone);
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_THAT(Decoded(results_[0]), ElementsAre(3, 6));
  EXPECT_THAT(sums_, IsEmpty());
}

TEST_F(ReduceHalfTest, WhatAnEncodingDropsStaysInTheTensorsMemory) {
  Start(3, AggregationOp::kSum, CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.5}}});
  CountOwn({10, 20, 30});
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kEncoding);
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kPassedUp);
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(0, 20));
  // What comes of it is not known yet.
  EXPECT_THAT(memory_->Residual({0, 2}).floats(), ElementsAre(0, 0));
  residuals_.OnResult(kChunk, Epoch(1), *memory_);
  EXPECT_THAT(memory_->Residual({0, 3}).floats(), ElementsAre(10, 0, 0));
}

TEST_F(ReduceHalfTest, AFlushIsLosslessAndBringsTheResidual) {
  Start(3, AggregationOp::kSum, CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.5}}});
  memory_->CommitResidual({0, 3}, Buffer::CopyOf({0, 5, 0}));
  CountOwn({10, 20, 30}, RoundKind::kFlush);
  RunComputations();
  RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(10, 25));
  residuals_.OnResult(kChunk, Epoch(1), *memory_);
  EXPECT_THAT(memory_->Residual({0, 3}).floats(), ElementsAre(0, 0, 0));
}

TEST_F(ReduceHalfTest, TheLeastRatioBelowTravelsUp) {
  Start(2, AggregationOp::kSum, CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.5}}});
  CountChild(Fp32({1, 2}), 0.25);
  CountOwn({10, 20, 30});
  for (int i = 0; i < 3; ++i) RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_EQ(result_ratio_, 0.25);
}

TEST_F(ReduceHalfTest, OfABroadcastTheOneContributionPassesUnchanged) {
  Start(2);
  const CheckedChunk sole = Fp32({1, 2});
  CountChild(sole, 1, RoundKind::kBroadcast);
  CountOwn({}, RoundKind::kBroadcast);
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_EQ(sums_[0].encoded().payload[0].data(), sole.encoded().payload[0].data());
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(ReduceHalfTest, TwoContributionsToABroadcastBreakTheRound) {
  Start(2);
  CountChild(Fp32({1, 2}), 1, RoundKind::kBroadcast);
  CountOwn({1, 2, 3}, RoundKind::kBroadcast);
  EXPECT_THAT(broken_, ElementsAre("it sent values for a broadcast, and so did another member"));
  // Whichever of the two came first: this node is not the one to blame.
  EXPECT_THAT(culprits_, ElementsAre(NodeId(self_ + 1)));
  EXPECT_THAT(sums_, IsEmpty());
}

// Its source abstains: an epoch in which there is another one will end it.
TEST_F(ReduceHalfTest, ABroadcastOfNobodyWaitsForAnotherSource) {
  Start(1);
  CountChild(CheckedChunk(), 1, RoundKind::kBroadcast);
  CountOwn({}, RoundKind::kBroadcast);
  EXPECT_THAT(broken_, IsEmpty());
  EXPECT_THAT(results_, IsEmpty());
  ASSERT_THAT(actions_, SizeIs(1));
  EXPECT_THAT(std::get<LogLine>(actions_[0]).text, ::testing::HasSubstr("waits for another source"));
}

TEST_F(ReduceHalfTest, WhoAbstainsIsCountedWhateverTheOthersDo) {
  for (const RoundKind kind : {RoundKind::kAggregate, RoundKind::kFlush, RoundKind::kBroadcast}) {
    for (const bool abstains_first : {true, false}) {
      sums_.clear();
      Start(2);
      if (abstains_first) CountOwn({}, RoundKind::kAbstention);
      CountChild(Fp32({1, 2}), 1, kind);
      if (!abstains_first) CountOwn({}, RoundKind::kAbstention);
      RunComputations();
      ASSERT_THAT(sums_, SizeIs(1));
      EXPECT_THAT(Decoded(sums_[0]), ElementsAre(1, 2));
      EXPECT_EQ(sums_[0].weight(), 1u);
    }
  }
}

TEST_F(ReduceHalfTest, ARoundFromWhichAllAbstainEndsWithoutWeightWhenItIsTime) {
  Start(1);
  CountChild(CheckedChunk(), 1, RoundKind::kAbstention);
  CountOwn({}, RoundKind::kAbstention);
  EXPECT_EQ(silent_, 1);
  EXPECT_THAT(results_, IsEmpty());
  half_->FinishSilent(step_, kChunk);
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(results_[0].weight(), 0u);
  EXPECT_EQ(results_[0].elements(), 2);
}

// Its kind is known from another chunk, of which there is a result of an earlier epoch.
TEST_F(ReduceHalfTest, AChunkFromWhichAllAbstainInARoundOfAKnownKindIsZeroAtOnce) {
  Start(1);
  CountChild(CheckedChunk(), 1, RoundKind::kAggregate);
  CountOwn({}, RoundKind::kAbstention);
  EXPECT_EQ(silent_, 0);
  ASSERT_THAT(results_, SizeIs(1));
  EXPECT_EQ(results_[0].weight(), 0u);
  EXPECT_EQ(results_[0].elements(), 2);
  EXPECT_THAT(Decoded(results_[0]), ElementsAre(0, 0));
}

TEST_F(ReduceHalfTest, AnEarlierResultEndsTheChunkInWhateverState) {
  Start(2, AggregationOp::kSum, CompressionRule{.codec = CodecId::kTopK, .numbers = {{"ratio", 0.5}}});
  CountChild(Fp32({1, 2}));
  half_->OnResult(kChunk);
  RunComputations();
  CountOwn({10, 20, 30});
  RunComputations();
  EXPECT_EQ(half_->StateOf(kChunk), State::kDone);
  EXPECT_THAT(sums_, IsEmpty());
  EXPECT_EQ(half_->sum_bytes(), 0);

  StartAttempt(2);
  CountChild(Fp32({1, 2}));
  CountOwn({10, 20, 30});
  RunComputations();
  RunComputations();
  ASSERT_EQ(half_->StateOf(kChunk), State::kEncoding);
  half_->OnResult(kChunk);
  RunComputations();
  EXPECT_THAT(sums_, IsEmpty());
  EXPECT_EQ(residuals_.size_bytes(), 0) << "nobody has got what was encoded";
}

TEST_F(ReduceHalfTest, CountsWhatWaitsToBeAdded) {
  plan_ = TestPlan::Star(3);
  Start(1);
  CountOwn({10, 20, 30});
  CountChild(Fp32({1, 2}));
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  EXPECT_FALSE(half_->WouldWait(kChunk, NodeId(self_ + 1)));
  CountSecondChild(Fp32({1, 2}));
  EXPECT_TRUE(half_->WouldWait(kChunk, NodeId(self_ + 1)));
  EXPECT_EQ(waiting_bytes_, 8);
  RunComputations();
  EXPECT_EQ(waiting_bytes_, 0);
  StartAttempt(2);
  CountOwn({10, 20, 30});
  CountChild(Fp32({1, 2}));
  CountSecondChild(Fp32({1, 2}));
  EXPECT_EQ(waiting_bytes_, 8);
  StartAttempt(3);
  EXPECT_EQ(waiting_bytes_, 0);
}

// In another order the sum would be 1.
TEST_F(ReduceHalfTest, AFixedOrderIsThatOfTheNodes) {
  plan_ = TestPlan::Star(3);
  fixed_order_ = true;
  for (const bool comes_last : {true, false}) {
    Start(1);
    if (!comes_last) CountOwn({1e8, 1e8, 0});
    CountSecondChild(Fp32({-1e8, -1e8}));
    EXPECT_TRUE(half_->WouldWait(kChunk, NodeId(3)));
    EXPECT_EQ(half_->WouldWait(kChunk, NodeId(2)), comes_last) << "the others wait for it";
    RunComputations();
    CountChild(Fp32({1, 1}));
    RunComputations();
    if (comes_last) CountOwn({1e8, 1e8, 0});
    for (int i = 0; i < 3; ++i) RunComputations();
    ASSERT_THAT(results_, SizeIs(1));
    EXPECT_THAT(Decoded(results_[0]), ElementsAre(0, 0));
    EXPECT_EQ(waiting_bytes_, 0);
    results_.clear();
  }
  Start(1);
  CountSecondChild(Fp32({1, 2}));
  EXPECT_EQ(waiting_bytes_, 8);
  half_->OnResult(kChunk);
  EXPECT_EQ(waiting_bytes_, 0);
}

// Alone they would only be copied.
TEST_F(ReduceHalfTest, ItsOwnValuesWaitForThoseOfAChild) {
  Start(2);
  CountOwn({10, 20, 30});
  EXPECT_EQ(half_->StateOf(kChunk), State::kCollecting);
  EXPECT_FALSE(half_->WouldWait(kChunk, NodeId(self_ + 1)));
  EXPECT_THAT(actions_, IsEmpty());
  CountChild(Fp32({1, 2}));
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(11, 22));
  EXPECT_THAT(own_.floats(), ElementsAre(10, 20, 30));
}

TEST_F(ReduceHalfTest, ItsOwnValuesGoAloneWhenNoChildHasAny) {
  Start(2);
  CountOwn({10, 20, 30});
  CountChild(CheckedChunk());
  EXPECT_EQ(half_->StateOf(kChunk), State::kAdding);
  RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(10, 20));
}

// Whatever computations an attempt leaves behind, the next one starts from nothing and ends with each once.
TEST_F(ReduceHalfTest, ComputationsOfAnAttemptThatIsGoneChangeNothing) {
  Start(2);
  CountChild(Fp32({1, 2}));
  StartAttempt(2);
  RunComputations();
  EXPECT_EQ(late_, 1);
  EXPECT_EQ(half_->StateOf(kChunk), State::kCollecting);
  EXPECT_FALSE(half_->HasCounted(kChunk, NodeId(3)));
  EXPECT_EQ(half_->sum_bytes(), 0);
  CountOwn({10, 20, 30});
  CountChild(Fp32({3, 4}));
  RunComputations();
  RunComputations();
  ASSERT_THAT(sums_, SizeIs(1));
  EXPECT_THAT(Decoded(sums_[0]), ElementsAre(13, 24));
  EXPECT_EQ(late_, 1);
}

TEST_F(ReduceHalfTest, AnEncodingOfAnAttemptThatIsGoneIsNotSent) {
  Start(3, AggregationOp::kSum, CompressionRule{.codec = CodecId::kInt8});
  CountOwn({10, 20, 30});
  RunComputations();
  ASSERT_EQ(half_->StateOf(kChunk), State::kEncoding);
  StartAttempt(2);
  RunComputations();
  EXPECT_EQ(late_, 1);
  EXPECT_THAT(sums_, IsEmpty());
}

}  // namespace
}  // namespace banyan
