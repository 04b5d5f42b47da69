#include "node/rounds/broadcast_half.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr KeyId kKey(1);
constexpr Round kRound(4);

CheckedChunk Fp32(const std::vector<float>& values) {
  return EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf(values), 1);
}

// A round of a tensor of three elements, in chunks of two and one.
class BroadcastHalfTest : public testing::Test, protected BroadcastHalf::Owner {
 protected:
  void Start(AggregationOp op = AggregationOp::kSum) {
    AggregationConfig aggregation;
    aggregation.op = op;
    aggregation.learning_rate = 1;
    memory_ = std::make_unique<TensorMemory>(aggregation, 3);
    StartRound();
  }
  void StartRound() {
    auto chunks = ChunkAssignment::Create({1.0}, 2);
    ASSERT_TRUE(chunks.ok() && chunks->AddKey(kKey, 3).ok());
    const PolicyTable::Binding binding{nullptr, std::make_shared<ChunkAssignment>(*chunks), Attempt(1)};
    BroadcastHalf::Owner* const owner = this;
    half_.emplace(kKey, kRound, binding, memory_.get(), &computations_, owner);
  }
  void Take(uint32_t chunk, const CheckedChunk& result, RoundKind kind = RoundKind::kAggregate) {
    half_->Take(step_, kind, ChunkIndex(chunk), Epoch(2), result);
  }
  void RunComputations() {
    for (Action& action : std::exchange(actions_, {})) {
      auto* start = std::get_if<StartComputation>(&action);
      if (start == nullptr) continue;
      start->computation->Run();
      ComputationFinished finished{start->id, std::move(start->computation)};
      computations_.OnFinished(step_, finished);
    }
  }
  std::vector<float> Replayed() const {
    std::vector<float> all;
    half_->Replay([&](int64_t first_element, const Buffer& values) {
      EXPECT_EQ(first_element, static_cast<int64_t>(all.size()));
      all.insert(all.end(), values.floats().begin(), values.floats().end());
    });
    return all;
  }

  // BroadcastHalf::Owner.
  BroadcastHalf* FindBroadcastHalf(StepContext&, KeyId key, Round round) override {
    EXPECT_EQ(key, kKey);
    EXPECT_EQ(round, kRound);
    if (half_.has_value()) return &*half_;
    ++late_;
    return nullptr;
  }
  void OnRead(StepContext&, KeyId, Round, int64_t first_element, const Buffer& values) override {
    read_.emplace_back(first_element, values.elements());
  }
  void OnAllRead(StepContext&, KeyId, Round, uint64_t hash) override { hash_ = hash; }

  std::unique_ptr<TensorMemory> memory_;
  ComputationTable computations_;
  std::optional<BroadcastHalf> half_;
  Actions actions_;
  RejectionLog rejections_;
  StepContext step_{Timestamp(), actions_, rejections_};

  std::vector<std::pair<int64_t, int64_t>> read_;
  std::optional<uint64_t> hash_;
  int late_ = 0;
};

TEST_F(BroadcastHalfTest, HoldsAResultAsTheSameBytes) {
  Start();
  EXPECT_FALSE(half_->HasAny());
  const CheckedChunk result = Fp32({1, 2});
  Take(0, result);
  EXPECT_TRUE(half_->HasAny());
  EXPECT_TRUE(half_->Has(ChunkIndex(0)));
  EXPECT_FALSE(half_->Has(ChunkIndex(1)));
  EXPECT_EQ(half_->ResultOf(ChunkIndex(0)).encoded().payload[0].data(), result.encoded().payload[0].data());
  EXPECT_EQ(half_->MadeIn(ChunkIndex(0)), Epoch(2));
}

TEST_F(BroadcastHalfTest, TellsAnotherResultFromTheOneThatItHolds) {
  Start();
  Take(0, Fp32({1, 2}));
  EXPECT_TRUE(half_->IsSame(ChunkIndex(0), Epoch(2), Fp32({1, 2})));
  EXPECT_FALSE(half_->IsSame(ChunkIndex(0), Epoch(2), Fp32({1, 3})));
  EXPECT_FALSE(half_->IsSame(ChunkIndex(0), Epoch(3), Fp32({1, 2})));
  const CheckedChunk heavier = EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf({1, 2}), 2);
  EXPECT_FALSE(half_->IsSame(ChunkIndex(0), Epoch(2), heavier));
}

TEST_F(BroadcastHalfTest, KnowsHowTheTensorWasCut) {
  Start();
  for (const int64_t chunk_elements : {1, 2, 3}) {
    auto chunks = ChunkAssignment::Create({0.5, 0.5}, chunk_elements);
    ASSERT_TRUE(chunks.ok() && chunks->AddKey(kKey, 3).ok());
    EXPECT_EQ(half_->Fits(*chunks), chunk_elements == 2);
  }
}

// Nobody has contributed: every element is zero.
TEST_F(BroadcastHalfTest, AResultThatSaysNothingIsReadAsZeros) {
  Start();
  Take(0, *CheckChunk(EncodedChunk(), 2), RoundKind::kAbstention);
  RunComputations();
  EXPECT_THAT(Replayed(), ElementsAre(0, 0));
}

// Members of the round before had values in one chunk of it, and are gone.
TEST_F(BroadcastHalfTest, AChunkThatSaysNothingLeavesTheParametersAsTheyAre) {
  Start(AggregationOp::kSgd);
  memory_->Replica({0, 3}).mutable_floats()[0] = 10;
  Take(0, *CheckChunk(EncodedChunk(), 2), RoundKind::kAbstention);
  Take(1, Fp32({3}), RoundKind::kBroadcast);
  RunComputations();
  EXPECT_THAT(Replayed(), ElementsAre(10, 0, 3));
  EXPECT_THAT(memory_->Parameters(), ElementsAre(10, 0, 3));
  EXPECT_EQ(memory_->Step({0, 3})->slices.step, 1u) << "nobody has made a step";
}

// The parameters of a member that is in step with the others after `steps`, all of this value.
std::vector<uint8_t> SgdImage(uint64_t steps, float value) {
  TensorMemory memory({.op = AggregationOp::kSgd}, 3);
  memory.Replica({0, 3}).mutable_floats()[0] = value;
  for (uint64_t i = 0; i < steps; ++i) memory.EndStep();
  std::vector<uint8_t> image(memory.image_bytes());
  memory.ReadImage(0, absl::MakeSpan(image));
  return image;
}

TEST_F(BroadcastHalfTest, WithoutTheReplicaARoundEndsForNobody) {
  Start(AggregationOp::kSgd);
  memory_->Lack();
  Take(0, Fp32({1, 2}));
  Take(1, Fp32({3}));
  RunComputations();
  EXPECT_EQ(hash_, 0u);
  EXPECT_THAT(read_, IsEmpty());
  EXPECT_TRUE(half_->Has(ChunkIndex(1)));
}

TEST_F(BroadcastHalfTest, AReplicaThatComesMeanwhileTakesTheStepOnce) {
  Start(AggregationOp::kSgd);
  memory_->Lack();
  Take(0, Fp32({1, 2}));
  RunComputations();
  // This one is being read when the replica comes.
  Take(1, Fp32({3}));
  memory_->TakeImage(SgdImage(4, 10));
  half_->ReadAnew(step_);
  for (int i = 0; i < 3; ++i) RunComputations();
  EXPECT_THAT(Replayed(), ElementsAre(9, -2, -3));
  EXPECT_TRUE(hash_.has_value() && *hash_ != 0);
  EXPECT_EQ(memory_->Step({0, 3})->slices.step, 6u);
}

TEST_F(BroadcastHalfTest, WorkersGetEachPartAndTheRoundEndsWithTheLast) {
  Start();
  Take(1, Fp32({3}));
  RunComputations();
  EXPECT_THAT(read_, ElementsAre(Pair(2, 1)));
  EXPECT_FALSE(hash_.has_value());
  Take(0, Fp32({1, 2}));
  RunComputations();
  EXPECT_THAT(read_, ElementsAre(Pair(2, 1), Pair(0, 2)));
  EXPECT_TRUE(hash_.has_value());
  EXPECT_THAT(Replayed(), ElementsAre(1, 2, 3));
}

// Whatever the order in which chunks come, the hash is that of the values and their places.
TEST_F(BroadcastHalfTest, TheHashTellsValuesAndPlacesApart) {
  std::vector<uint64_t> hashes;
  const std::vector<std::vector<std::pair<uint32_t, std::vector<float>>>> orders = {
      {{0, {1, 2}}, {1, {3}}}, {{1, {3}}, {0, {1, 2}}}, {{0, {2, 1}}, {1, {3}}}, {{0, {1, 2}}, {1, {4}}}};
  for (const auto& order : orders) {
    Start();
    for (const auto& [chunk, values] : order) Take(chunk, Fp32(values));
    RunComputations();
    hashes.push_back(*hash_);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[2]);
  EXPECT_NE(hashes[0], hashes[3]);
}

TEST_F(BroadcastHalfTest, AnOptimizerMakesOneStepARound) {
  Start(AggregationOp::kSgd);
  for (int round = 1; round <= 2; ++round) {
    StartRound();
    Take(0, Fp32({1, 2}));
    Take(1, Fp32({3}));
    EXPECT_EQ(memory_->Step({0, 1})->slices.step, static_cast<uint64_t>(round));
    RunComputations();
  }
  EXPECT_THAT(Replayed(), ElementsAre(-2, -4, -6));
  EXPECT_EQ(memory_->Step({0, 1})->slices.step, 3u);
}

TEST_F(BroadcastHalfTest, ABroadcastReplacesTheParametersAndIsNoStep) {
  Start(AggregationOp::kSgd);
  Take(0, Fp32({1, 2}), RoundKind::kBroadcast);
  Take(1, Fp32({3}), RoundKind::kBroadcast);
  RunComputations();
  EXPECT_THAT(memory_->Replica({0, 3}).floats(), ElementsAre(1, 2, 3));
  EXPECT_EQ(memory_->Step({0, 1})->slices.step, 1u);
}

TEST_F(BroadcastHalfTest, WhatTravelledIsForgottenButNotWhatWasRead) {
  Start();
  const CheckedChunk halves = EncodeChunk({.codec = CodecId::kFp16}, Buffer::CopyOf({1, 2}), 1);
  Take(0, halves);
  EXPECT_EQ(half_->size_bytes(), 4);
  RunComputations();
  EXPECT_EQ(half_->size_bytes(), 8);
  half_->DropResults();
  EXPECT_EQ(half_->size_bytes(), 8);
  EXPECT_THAT(Replayed(), ElementsAre(1, 2));
}

TEST_F(BroadcastHalfTest, AReadOfARoundThatIsGoneChangesNothing) {
  Start();
  Take(0, Fp32({1, 2}));
  half_.reset();
  RunComputations();
  EXPECT_EQ(late_, 1);
  EXPECT_THAT(read_, IsEmpty());
}

}  // namespace
}  // namespace banyan
