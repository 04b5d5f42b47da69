#include "compression/element_types.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

template <typename T>
Buffer BufferOf(const std::vector<T>& values) {
  Buffer buffer = Buffer::Allocate(static_cast<int64_t>(values.size()), kTypeOf<T>);
  std::memcpy(buffer.mutable_data(), values.data(), buffer.size_bytes());
  return buffer;
}

template <typename T>
std::vector<T> ValuesOf(const Buffer& buffer) {
  const absl::Span<const T> values = ConstTensorView(buffer.data(), buffer.elements(), buffer.type()).As<T>();
  return {values.begin(), values.end()};
}

Buffer HalvesOf(DataType type, const std::vector<float>& values) {
  Buffer halves = Buffer::Allocate(static_cast<int64_t>(values.size()), type);
  CopyRounded(Buffer::CopyOf(values), {halves.mutable_data(), halves.elements(), type});
  return halves;
}

// The chunk as a peer has sent it: in memory without alignment.
CheckedChunk Misaligned(const CheckedChunk& chunk) {
  EncodedChunk copy = chunk.encoded();
  for (Buffer& frame : copy.payload) {
    Buffer moved = Buffer::Allocate(frame.size_bytes() + 1, DataType::kByte);
    std::memcpy(static_cast<uint8_t*>(moved.mutable_data()) + 1, frame.data(), frame.size_bytes());
    frame = moved.Slice(1, frame.size_bytes());
  }
  return *CheckChunk(std::move(copy), chunk.elements());
}

template <typename T>
void ExpectExactSums(const std::vector<T>& one, const std::vector<T>& other, const std::vector<T>& sums) {
  const CheckedChunk first = PlainChunk(BufferOf(one), 1);
  EXPECT_TRUE(IsPlainArray(first, kTypeOf<T>));
  EXPECT_EQ(first.payload_bytes(), static_cast<int64_t>(one.size() * sizeof(T)));
  const CheckedChunk second = Misaligned(PlainChunk(BufferOf(other), 2));
  EXPECT_FALSE(IsPlainArray(second, kTypeOf<T>));
  Buffer sum = Buffer::Allocate(static_cast<int64_t>(one.size()), kTypeOf<T>);
  DecodeInto(first, sum);
  AddInto(second, sum);
  EXPECT_EQ(ValuesOf<T>(sum), sums);
  DecodeInto(second, sum);
  EXPECT_EQ(ValuesOf<T>(sum), other);
  DecodeInto(CheckedChunk(), sum);
  EXPECT_EQ(ValuesOf<T>(sum), std::vector<T>(one.size()));
}

TEST(ElementTypesTest, ExactTypesAreSummedInThemselves) {
  ExpectExactSums<double>({1e300, 0.1, 1}, {1e-300, 0.2, 1e-16}, {1e300, 0.1 + 0.2, 1 + 1e-16});
  ExpectExactSums<int32_t>({16777217, -5}, {2, 3}, {16777219, -2});
  ExpectExactSums<int64_t>({int64_t{1} << 60, 7}, {1, -9}, {(int64_t{1} << 60) + 1, -2});
}

// What a reduction makes of two tensors, whose second one comes in two frames.
template <typename T>
std::vector<T> Reduced(DataType type, const std::vector<T>& one, const std::vector<T>& other) {
  const auto of_type = [type](const std::vector<T>& values) { return BufferOf(values).As(type); };
  const auto half = static_cast<int64_t>(other.size()) / 2;
  const Buffer whole = of_type(other);
  EncodedChunk parts = {{}, {}, 1};
  for (const auto& [first, count] : {std::pair(int64_t{0}, half), std::pair(half, whole.elements() - half)}) {
    parts.frames.push_back({PlainCodecOf(type), first, count, count * SizeOf(type)});
    parts.payload.push_back(whole.Slice(first, count).AsBytes());
  }
  const CheckedChunk in_parts = *CheckChunk(std::move(parts), whole.elements());
  Buffer sum = Buffer::Allocate(whole.elements(), type);
  DecodeInto(in_parts, sum);
  EXPECT_EQ(ValuesOf<T>(sum), other) << "what lay there before counts for nothing";
  AddInto(PlainChunk(of_type(one), 1), sum);
  DivideExact(sum, 2);
  DecodeInto(CheckedChunk(), sum);
  AddInto(PlainChunk(of_type(one), 1), sum);
  EXPECT_EQ(ValuesOf<T>(sum), one) << "what says nothing changes nothing";
  AddInto(in_parts, sum);
  DivideExact(sum, 2);
  return ValuesOf<T>(sum);
}

TEST(ElementTypesTest, ReductionsAreTheGreatestTheLeastAndTheProduct) {
  EXPECT_EQ(Reduced<double>(DataType::kFloat64Max, {-1, -0.5, 3}, {-2, 7, 3}), (std::vector<double>{-1, 7, 3}));
  EXPECT_EQ(Reduced<double>(DataType::kFloat64Min, {1, -0.5, 3}, {2, 7, 3}), (std::vector<double>{1, -0.5, 3}));
  EXPECT_EQ(Reduced<double>(DataType::kFloat64Product, {1, -0.5, 3}, {2, 7, 3}), (std::vector<double>{2, -3.5, 9}));
  EXPECT_EQ(Reduced<double>(DataType::kFloat64Sum, {1, -0.5, 3}, {2, 7, 3}), (std::vector<double>{3, 6.5, 6}));
  EXPECT_EQ(Reduced<int32_t>(DataType::kInt32Max, {-5, 4}, {-6, 3}), (std::vector<int32_t>{-5, 4}));
  EXPECT_EQ(Reduced<int64_t>(DataType::kInt64Min, {5, 4}, {6, -3}), (std::vector<int64_t>{5, -3}));
  EXPECT_EQ(Reduced<int32_t>(DataType::kInt32Product, {1 << 30, 4}, {6, -3}),
            (std::vector<int32_t>{std::numeric_limits<int32_t>::min(), -12}));
}

TEST(ElementTypesTest, WhatIsNoNumberStaysNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DataType type : {DataType::kFloat64Max, DataType::kFloat64Min}) {
    for (const auto& [one, other] : {std::pair(nan, 1.0), std::pair(1.0, nan)}) {
      Buffer sum = BufferOf<double>({one}).As(type);
      AddInto(PlainChunk(BufferOf<double>({other}).As(type), 1), sum);
      EXPECT_TRUE(std::isnan(ValuesOf<double>(sum)[0]));
    }
  }
}

TEST(ElementTypesTest, IntegersWrapAround) {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  ExpectExactSums<int32_t>({kMost, kMost}, {1, kMost}, {-kMost - 1, -2});
  ExpectExactSums<int64_t>({kLeast, 1}, {-1, 1}, {std::numeric_limits<int64_t>::max(), 2});
}

TEST(ElementTypesTest, HalvesTravelInTwoBytesAndAreSummedInFloat32) {
  for (const DataType type : {DataType::kFloat16, DataType::kBFloat16}) {
    const Buffer values = HalvesOf(type, {1, -2.5, 256});
    const CheckedChunk chunk = Misaligned(PlainChunk(values, 1));
    EXPECT_EQ(chunk.payload_bytes(), 6);
    Buffer sum = WidenedCopy(values);
    EXPECT_EQ(sum.type(), DataType::kFloat32);
    // Neither type has these numbers.
    AddInto(PlainChunk(Buffer::CopyOf(std::vector<float>{0.0001f, 0, 0}), 1), sum);
    AddInto(chunk, sum);
    EXPECT_EQ(ValuesOf<float>(sum), (std::vector<float>{1.0001f + 1, -5, 512}));
    Buffer rounded = Buffer::Allocate(3, type);
    CopyRounded(sum, {rounded.mutable_data(), 3, type});
    EXPECT_EQ(ValuesOf<float>(WidenedCopy(rounded)), (std::vector<float>{2, -5, 512}));
  }
}

TEST(ElementTypesTest, ATypeHasItsOwnFramesAlone) {
  EXPECT_TRUE(CanHold(DataType::kInt64, CodecId::kInt64));
  EXPECT_FALSE(CanHold(DataType::kInt64, CodecId::kInt32));
  EXPECT_FALSE(CanHold(DataType::kFloat64, CodecId::kFp32));
  EXPECT_FALSE(CanHold(DataType::kFloat32, CodecId::kFloat64));
  EXPECT_FALSE(CanHold(DataType::kFloat16, CodecId::kInt32));
  EXPECT_TRUE(CanHold(DataType::kFloat16, CodecId::kFp32)) << "of a sum that overflows halves";
  EXPECT_TRUE(CanHold(DataType::kBFloat16, CodecId::kTopK));
}

TEST(ElementTypesTest, FramesOfAnotherSizeAreRefused) {
  for (const CodecId codec : {CodecId::kFloat64, CodecId::kInt32, CodecId::kInt64}) {
    const int64_t size = codec == CodecId::kInt32 ? 4 : 8;
    const auto check = [&](int64_t first, int64_t elements, int64_t bytes) {
      return CheckChunk({{{codec, first, elements, bytes}}, {Buffer::Allocate(bytes, DataType::kByte)}, 1}, 10).ok();
    };
    EXPECT_TRUE(check(0, 10, 10 * size));
    EXPECT_TRUE(check(4, 6, 6 * size));
    EXPECT_FALSE(check(0, 10, 10 * size - 1));
    EXPECT_FALSE(check(4, 7, 7 * size));
    EXPECT_FALSE(check(0, 10, 40 * size));
  }
}

TEST(ElementTypesTest, MeansAreOfFloat64Alone) {
  Buffer doubles = BufferOf<double>({3, 1});
  DivideExact(doubles, 2);
  EXPECT_EQ(ValuesOf<double>(doubles), (std::vector<double>{1.5, 0.5}));
  Buffer integers = BufferOf<int32_t>({3, 1});
  DivideExact(integers, 2);
  EXPECT_EQ(ValuesOf<int32_t>(integers), (std::vector<int32_t>{3, 1}));
}

TEST(ElementTypesTest, AnythingDecodesToFloats) {
  std::vector<float> values(2);
  DecodeChunk(PlainChunk(BufferOf<int64_t>({5, -6}), 1), absl::MakeSpan(values));
  DecodeAddChunk(PlainChunk(BufferOf<double>({0.5, 1}), 1), absl::MakeSpan(values));
  EXPECT_EQ(values, (std::vector<float>{5.5, -5}));
}

TEST(ElementTypesTest, NothingIsAChunkWithoutFrames) {
  const CheckedChunk chunk = PlainChunk(Buffer(), 3);
  EXPECT_TRUE(chunk.empty());
  EXPECT_EQ(chunk.weight(), 3u);
  EXPECT_TRUE(WidenedCopy(Buffer()).empty());
}

}  // namespace
}  // namespace banyan
