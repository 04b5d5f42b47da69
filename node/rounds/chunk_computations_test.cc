#include "node/rounds/chunk_computations.h"

#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <vector>

#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/rounds/tensor_memory.h"
#include "xxhash.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

CheckedChunk Fp32(const std::vector<float>& values, uint32_t weight = 1) {
  return EncodeChunk({.codec = CodecId::kFp32}, Buffer::CopyOf(values), weight);
}

// The same chunk with its frame where no float is aligned, as sockets deliver it.
CheckedChunk Misaligned(const CheckedChunk& aligned) {
  EncodedChunk chunk = aligned.encoded();
  const Buffer& frame = chunk.payload[0];
  std::vector<uint8_t> bytes(frame.size_bytes() + 1);
  std::memcpy(bytes.data() + 1, frame.data(), frame.size_bytes());
  chunk.payload[0] = Buffer::CopyOfBytes(bytes).Slice(1, frame.size_bytes());
  return *CheckChunk(std::move(chunk), aligned.elements());
}

AggregationConfig ConfigOf(AggregationOp op) {
  AggregationConfig config;
  config.op = op;
  return config;
}

TEST(AccumulateChunkTest, FreshAccumulatorIsReplacedThenAddedTo) {
  AccumulateChunk sum(Buffer::CopyOf({7, 7}), true, {Fp32({1, 2}), Misaligned(Fp32({10, 20})), Fp32({100, 200})}, 2);
  sum.Run();
  EXPECT_THAT(sum.accumulator().floats(), ElementsAre(111, 222));
}

TEST(AccumulateChunkTest, AddsToWhatWasThere) {
  Buffer accumulator = Buffer::CopyOf({7, 7});
  AccumulateChunk sum(accumulator, false, {Fp32({1, 2})}, 2);
  sum.Run();
  EXPECT_THAT(accumulator.floats(), ElementsAre(8, 9));
  EXPECT_EQ(sum.accumulator().data(), accumulator.data());
}

TEST(AccumulateChunkTest, MakesMemoryWhenNoneIsGiven) {
  AccumulateChunk sum(Buffer(), true, {Fp32({1, 2}), Fp32({1, 2})}, 2);
  sum.Run();
  EXPECT_THAT(sum.accumulator().floats(), ElementsAre(2, 4));
}

TEST(AccumulateChunkTest, TwoPlainInputsGiveTheBitsOfACopyAndASum) {
  Random random(5);
  std::vector<float> one(1000), other(1000);
  for (size_t i = 0; i < one.size(); ++i) {
    one[i] = static_cast<float>(random.Unit() - 0.5);
    other[i] = static_cast<float>(random.Unit() * 1e-3);
  }
  AccumulateChunk at_once(Buffer(), true, {CheckedChunk(), Fp32(one), Fp32(other)}, 1000);
  at_once.Run();
  AccumulateChunk after_a_copy(Buffer::CopyOf(one), false, {Fp32(other)}, 1000);
  after_a_copy.Run();
  EXPECT_EQ(at_once.accumulator().floats(), after_a_copy.accumulator().floats());
}

TEST(AccumulateChunkTest, EmptyInputsAddNothing) {
  AccumulateChunk only_empty(Buffer::CopyOf({7, 7}), true, {CheckedChunk(), CheckedChunk()}, 2);
  only_empty.Run();
  EXPECT_THAT(only_empty.accumulator().floats(), ElementsAre(0, 0));
  AccumulateChunk mixed(Buffer::CopyOf({7, 7}), true, {CheckedChunk(), Fp32({1, 2}), CheckedChunk()}, 2);
  mixed.Run();
  EXPECT_THAT(mixed.accumulator().floats(), ElementsAre(1, 2));
}

TEST(AccumulateChunkTest, InputsKeepTheirValues) {
  const CheckedChunk input = Fp32({1, 2});
  AccumulateChunk sum(Buffer(), true, {input, input}, 2);
  sum.Run();
  EXPECT_THAT(input.encoded().payload[0].AsFloats().floats(), ElementsAre(1, 2));
  EXPECT_NE(sum.accumulator().data(), input.encoded().payload[0].data());
}

TEST(AccumulateChunkTest, SizeCountsReadsAndWrites) {
  const std::vector<CheckedChunk> inputs = {Fp32({1, 2}), CheckedChunk(), Fp32({1, 2})};
  EXPECT_EQ(AccumulateChunk(Buffer(), true, inputs, 2).size_bytes(), 8 + 8 + 8) << "two plain ones at once";
  const std::vector<CheckedChunk> misaligned = {Misaligned(Fp32({1, 2})), CheckedChunk(), Fp32({1, 2})};
  EXPECT_EQ(AccumulateChunk(Buffer(), true, misaligned, 2).size_bytes(), (8 + 8) + (8 + 16));
  EXPECT_EQ(AccumulateChunk(Buffer::Allocate(2), false, inputs, 2).size_bytes(), 2 * (8 + 16));
  EXPECT_EQ(AccumulateChunk(Buffer(), true, {}, 2).size_bytes(), 8);
}

constexpr Encoding kHalfOfIt = {.codec = CodecId::kTopK, .ratio = 0.5};

std::vector<float> Decoded(const CheckedChunk& chunk, int64_t elements) {
  std::vector<float> values(elements);
  DecodeChunk(chunk, absl::MakeSpan(values));
  return values;
}

TEST(CompressChunkTest, WhatIsDroppedComesWithTheNextRound) {
  const Buffer residual = Buffer::CopyOf({0, 0, 0, 0});
  CompressChunk first(Buffer::CopyOf({4, 1, -3, 2}), 2, kHalfOfIt, residual, Buffer());
  first.Run();
  EXPECT_THAT(Decoded(first.encoded(), 4), ElementsAre(4, 0, -3, 0));
  EXPECT_EQ(first.encoded().weight(), 2u);
  EXPECT_THAT(first.next_residual().floats(), ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(residual.floats(), ElementsAre(0, 0, 0, 0)) << "another attempt may start from it";
  CompressChunk second(Buffer::CopyOf({1, 4, 0, 1}), 2, kHalfOfIt, first.next_residual(), Buffer());
  second.Run();
  EXPECT_THAT(Decoded(second.encoded(), 4), ElementsAre(0, 5, 0, 3));
  EXPECT_THAT(second.next_residual().floats(), ElementsAre(1, 0, 0, 0));
}

TEST(CompressChunkTest, WithoutErrorFeedbackItIsGone) {
  CompressChunk compress(Buffer::CopyOf({4, 1, -3, 2}), 2, kHalfOfIt, Buffer(), Buffer());
  compress.Run();
  EXPECT_THAT(Decoded(compress.encoded(), 4), ElementsAre(4, 0, -3, 0));
  EXPECT_TRUE(compress.next_residual().empty());
}

// Halves twice as many, without the gradients of the smallest weights.
constexpr Encoding kNetSense = {.codec = CodecId::kTopK, .ratio = 0.25, .netsense = {1e-6, 0.5}};

TEST(CompressChunkTest, WhatIsPrunedOrRoundedStaysInTheResidual) {
  Buffer residual = Buffer::CopyOf({0, 0, 1, 0, 0, 0, 0, 0});
  const Buffer weights = Buffer::CopyOf({0.1f, -5, 6, 7, 0.2f, 8, 9, 1});
  CompressChunk compress(Buffer::CopyOf({100, 2049, 3, -4, 90, 5, 6, 7}), 2, kNetSense, residual, weights);
  compress.Run();
  // A quarter becomes half of eight, then a quarter of them is pruned: the two smallest weights are 0.1 and 0.2.
  EXPECT_THAT(Decoded(compress.encoded(), 8), ElementsAre(0, 2048, 0, 0, 0, 5, 6, 7));
  EXPECT_THAT(compress.next_residual().floats(), ElementsAre(100, 1, 4, -4, 90, 0, 0, 0));
  EXPECT_THAT(residual.floats(), ElementsAre(0, 0, 1, 0, 0, 0, 0, 0));
  EXPECT_THAT(weights.floats(), ElementsAre(0.1f, -5, 6, 7, 0.2f, 8, 9, 1));
}

TEST(CompressChunkTest, WithoutErrorFeedbackThePrunedIsGone) {
  CompressChunk compress(Buffer::CopyOf({100, 2, 3, 4}), 2, kNetSense, Buffer(), Buffer::CopyOf({0.1f, 5, 6, 7}));
  compress.Run();
  EXPECT_THAT(Decoded(compress.encoded(), 4), ElementsAre(0, 0, 3, 4));
}

TEST(CompressChunkTest, WithoutWeightsNothingIsPruned) {
  Buffer residual = Buffer::Allocate(4);
  CompressChunk compress(Buffer::CopyOf({100, 2, 3, 4}), 2, kNetSense, residual, Buffer());
  compress.Run();
  EXPECT_THAT(Decoded(compress.encoded(), 4), ElementsAre(100, 0, 0, 4));
  EXPECT_THAT(compress.next_residual().floats(), ElementsAre(0, 2, 3, 0));
}

// Contribution = decoded bytes + new residual, to the last bit, whatever the magnitudes, the ratio and the selection.
TEST(CompressChunkTest, NothingIsLostUnderNetSense) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const int64_t elements = random.Between(1, i % 30 == 0 ? 40000 : 300);
    const double scale = std::pow(10.0, random.Between(-9, 4));
    std::vector<float> sum(elements), weights(elements), before(elements);
    for (int64_t j = 0; j < elements; ++j) {
      sum[j] = static_cast<float>(scale * (random.Unit() - 0.5));
      before[j] = static_cast<float>(scale * (random.Unit() - 0.5));
      weights[j] = static_cast<float>(random.Unit() - 0.5);
    }
    Encoding encoding = {.codec = CodecId::kTopK, .ratio = 0.001 + 0.9 * random.Unit(), .netsense = {1e-6, 0.5}};
    if (random.Chance(0.5)) encoding.selection = TopKSelection::kSampled;
    Buffer residual = Buffer::CopyOf(before);
    CompressChunk compress(Buffer::CopyOf(sum), 1, encoding, residual,
                           random.Chance(0.8) ? Buffer::CopyOf(weights) : Buffer());
    compress.Run();
    const std::vector<float> decoded = Decoded(compress.encoded(), elements);
    for (int64_t j = 0; j < elements; ++j) {
      ASSERT_EQ(double{decoded[j]} + compress.next_residual().floats()[j], double{sum[j] + before[j]}) << i << " " << j;
    }
  }
}

TEST(FinishChunkTest, UnderNetSenseAResultIsOfHalvesAndKeepsTheRounding) {
  Buffer residual = Buffer::Allocate(4);
  FinishChunk finish(Buffer::CopyOf({8196, 0, -12, 4}), 4, AggregationOp::kMean, {kNetSense, residual});
  finish.Run();
  EXPECT_THAT(Decoded(finish.result(), 4), ElementsAre(2048, 0, -3, 0));
  EXPECT_THAT(finish.next_residual().floats(), ElementsAre(4, 0, 0, 4));
}

// A residual is in units of the sum, so that it is worth the same wherever it is added later.
TEST(FinishChunkTest, OfAMeanTheResidualIsOfTheSum) {
  for (AggregationOp op : {AggregationOp::kMean, AggregationOp::kSgd}) {
    Buffer residual = Buffer::CopyOf({0, 8, 0, 0});
    FinishChunk finish(Buffer::CopyOf({16, 0, -12, 4}), 4, op, {kHalfOfIt, residual});
    finish.Run();
    EXPECT_THAT(Decoded(finish.result(), 4), ElementsAre(4, 0, -3, 0));
    EXPECT_THAT(finish.next_residual().floats(), ElementsAre(0, 8, 0, 4));
  }
}

TEST(FinishChunkTest, WithoutWeightTheResidualStays) {
  Buffer residual = Buffer::CopyOf({1, 2});
  FinishChunk finish(Buffer::CopyOf({0, 0}), 0, AggregationOp::kMean, {Encoding{}, residual});
  finish.Run();
  EXPECT_THAT(Decoded(finish.result(), 2), ElementsAre(0, 0));
  EXPECT_TRUE(finish.next_residual().empty());
  EXPECT_THAT(residual.floats(), ElementsAre(1, 2));
}

TEST(FinishChunkTest, SumIsPassedOnWithoutACopy) {
  const Buffer sum = Buffer::CopyOf({3, 6});
  FinishChunk finish(sum, 3, AggregationOp::kSum, {});
  EXPECT_EQ(finish.size_bytes(), 0);
  finish.Run();
  EXPECT_EQ(finish.result().encoded().payload[0].data(), sum.data());
  EXPECT_THAT(sum.floats(), ElementsAre(3, 6));
  EXPECT_EQ(finish.result().weight(), 3u);
}

// Members step their optimizers along the mean themselves.
TEST(FinishChunkTest, MeanAndOptimizersDivideByTheWeightInPlace) {
  for (AggregationOp op : {AggregationOp::kMean, AggregationOp::kAdam}) {
    const Buffer sum = Buffer::CopyOf({3, 6});
    FinishChunk finish(sum, 3, op, {});
    EXPECT_EQ(finish.size_bytes(), 16);
    finish.Run();
    EXPECT_EQ(finish.result().encoded().payload[0].data(), sum.data());
    EXPECT_THAT(sum.floats(), ElementsAre(1, 2));
  }
}

TEST(FinishChunkTest, WithoutWeightTheSumStays) {
  for (AggregationOp op : {AggregationOp::kMean, AggregationOp::kAdam}) {
    const Buffer sum = Buffer::CopyOf({0, 6});
    FinishChunk finish(sum, 0, op, {});
    finish.Run();
    EXPECT_THAT(finish.result().encoded().payload[0].AsFloats().floats(), ElementsAre(0, 6));
  }
}

TEST(ReadResultTest, AnAlignedFrameIsTheValues) {
  const CheckedChunk result = Fp32({1, 2});
  ReadResult read(result, std::nullopt);
  EXPECT_EQ(read.size_bytes(), 8);
  read.Run();
  EXPECT_EQ(read.values().data(), result.encoded().payload[0].data());
  EXPECT_THAT(read.values().floats(), ElementsAre(1, 2));
}

TEST(ReadResultTest, TheHashIsThatOfTheValuesBytes) {
  const std::vector<float> values = {1, -2, 0.5};
  const uint64_t expected = XXH3_64bits(values.data(), values.size() * sizeof(float));
  ReadResult aligned(Fp32(values), std::nullopt);
  ReadResult misaligned(Misaligned(Fp32(values)), std::nullopt);
  aligned.Run();
  misaligned.Run();
  EXPECT_EQ(aligned.hash(), expected);
  EXPECT_EQ(misaligned.hash(), expected);
  EXPECT_THAT(misaligned.values().floats(), ElementsAre(1, -2, 0.5));
}

TEST(ReadResultTest, EmptyAndPartialResultsAreFilledWithZeros) {
  ReadResult empty(*CheckChunk(EncodedChunk(), 2), std::nullopt);
  empty.Run();
  EXPECT_THAT(empty.values().floats(), ElementsAre(0, 0));
  EncodedChunk partial = Fp32({5}).encoded();
  partial.frames[0].first_element = 1;
  ReadResult read(*CheckChunk(partial, 3), std::nullopt);
  read.Run();
  EXPECT_THAT(read.values().floats(), ElementsAre(0, 5, 0));
}

TEST(ReadResultTest, AnOptimizerStepsTheParametersAlongTheResult) {
  AggregationConfig config = ConfigOf(AggregationOp::kMomentum);
  config.learning_rate = 0.5;
  config.momentum = 0.5;
  OptimizerState state(config.op, 2);
  const Buffer parameters = Buffer::CopyOf({10, 20});
  ReadResult first(Misaligned(Fp32({2, 4}, 2)), OptimizerStep{config, parameters, state.Slices(0, 2)});
  // The frame, the gradient made, read and written, parameters and velocities read and written, and what is hashed.
  EXPECT_EQ(first.size_bytes(), 8 * (1 + 3 + 4 + 1));
  first.Run();
  state.EndStep();
  EXPECT_THAT(parameters.floats(), ElementsAre(9, 18));
  EXPECT_EQ(first.hash(), XXH3_64bits(parameters.data(), parameters.size_bytes()));
  ReadResult second(Fp32({2, 4}), OptimizerStep{config, parameters, state.Slices(0, 2)});
  second.Run();
  EXPECT_THAT(second.values().floats(), ElementsAre(7.5, 15));
  EXPECT_THAT(parameters.floats(), ElementsAre(7.5, 15));
  EXPECT_EQ(second.hash(), XXH3_64bits(parameters.data(), parameters.size_bytes()));
  // What was handed out in the first round is still the first round's.
  EXPECT_THAT(first.values().floats(), ElementsAre(9, 18));
}

TEST(ReadResultTest, WeightDecayReadsTheParameters) {
  AggregationConfig config = ConfigOf(AggregationOp::kSgd);
  config.learning_rate = 1;
  config.weight_decay = 0.5;
  OptimizerState state(config.op, 2);
  ReadResult read(Fp32({1, 2}), OptimizerStep{config, Buffer::CopyOf({4, 8}), state.Slices(0, 2)});
  read.Run();
  EXPECT_THAT(read.values().floats(), ElementsAre(1, 2));
}

TEST(ReadResultTest, NotANumbersPassUnchanged) {
  const CheckedChunk result = Fp32({std::nanf("3"), 1});
  ReadResult read(Misaligned(result), std::nullopt);
  read.Run();
  EXPECT_EQ(read.values().bytes(), result.encoded().payload[0].bytes());
}

// What the processor does, counted.
class CountingDevice : public ChunkDevice {
 public:
  CheckedChunk Encode(const Encoding& encoding, const Buffer& values, uint32_t weight) const override {
    ++encoded;
    return ProcessorDevice().Encode(encoding, values, weight);
  }
  void Add(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum) const override {
    added += std::ssize(chunks);
    ProcessorDevice().Add(chunks, is_fresh, sum);
  }

  mutable int64_t encoded = 0;
  mutable int64_t added = 0;
};

TEST(ChunkComputationsTest, EncodeDecodeAndAddOnTheirDevice) {
  const CountingDevice device;
  AccumulateChunk sum(Buffer(), true, {Fp32({1, 2}), Fp32({3, 4}), Fp32({5, 6})}, 2, DataType::kFloat32, device);
  sum.Run();
  EXPECT_EQ(device.added, 3);
  CompressChunk compress(sum.accumulator(), 1, {.codec = CodecId::kTopK, .ratio = 0.5}, Buffer::Allocate(2), Buffer(),
                         device);
  compress.Run();
  EXPECT_EQ(device.encoded, 1);
  EXPECT_EQ(device.added, 4);  // for the residual
  CutRemainder remainder(compress.encoded(), 0, device);
  remainder.Run();
  EXPECT_EQ(device.added, 6);
  FinishChunk finish(Buffer::CopyOf({1, 2}), 1, AggregationOp::kSum,
                     {.encoding = {.codec = CodecId::kFp16}, .residual = Buffer::Allocate(2)}, device);
  finish.Run();
  EXPECT_EQ(device.encoded, 2);
  EXPECT_EQ(device.added, 7);
  ReadResult read(finish.result(), std::nullopt, DataType::kFloat32, device);
  read.Run();
  EXPECT_EQ(device.added, 8);
  EXPECT_THAT(read.values().floats(), ElementsAre(1, 2));
}

}  // namespace
}  // namespace banyan
