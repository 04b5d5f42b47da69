#include "compression/element_types.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "compression/kernels/half_float.h"
#include "core/check.h"

namespace banyan {
namespace {

// Integers wrap around, which C++ allows of unsigned ones alone. What is no number stays none.
template <Reduction reduction, typename T>
T Reduce(T a, T b) {
  constexpr bool kIsProduct = reduction == Reduction::kProduct;
  if constexpr (reduction == Reduction::kMax) {
    return a > b || a != a ? a : b;
  } else if constexpr (reduction == Reduction::kMin) {
    return a < b || a != a ? a : b;
  } else if constexpr (std::is_integral_v<T>) {
    const auto left = static_cast<std::make_unsigned_t<T>>(a);
    const auto right = static_cast<std::make_unsigned_t<T>>(b);
    return static_cast<T>(kIsProduct ? left * right : left + right);
  } else {
    return kIsProduct ? a * b : a + b;
  }
}

// Frames need no alignment.
template <Reduction reduction, typename T>
void AddFrame(const uint8_t* frame, absl::Span<T> sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    T value;
    std::memcpy(&value, frame + i * sizeof(T), sizeof(T));
    sums[i] = Reduce<reduction>(sums[i], value);
  }
}

template <typename T>
void AddFrame(Reduction reduction, const uint8_t* frame, absl::Span<T> sums) {
  switch (reduction) {
    case Reduction::kOfJob:
    case Reduction::kSum:
      return AddFrame<Reduction::kSum>(frame, sums);
    case Reduction::kMax:
      return AddFrame<Reduction::kMax>(frame, sums);
    case Reduction::kMin:
      return AddFrame<Reduction::kMin>(frame, sums);
    case Reduction::kProduct:
      return AddFrame<Reduction::kProduct>(frame, sums);
  }
}

// What changes nothing that it is reduced with.
template <typename T>
T NeutralOf(Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  if (reduction == Reduction::kMax) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if (reduction == Reduction::kMin) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return reduction == Reduction::kProduct ? 1 : 0;
}

// Calls use(T()) with the C++ type of an exact one.
template <typename Use>
void WithExactType(DataType type, Use use) {
  BANYAN_CHECK(IsExact(type));
  if (NumberTypeOf(type) == DataType::kFloat64) return use(double());
  if (NumberTypeOf(type) == DataType::kInt32) return use(int32_t());
  use(int64_t());
}

template <typename T>
absl::Span<T> NumbersOf(Buffer& buffer) {
  return TensorView(buffer.mutable_data(), buffer.elements(), buffer.type()).As<T>();
}

void AddExact(const CheckedChunk& chunk, Buffer& sum) {
  WithExactType(sum.type(), [&](auto zero) {
    const EncodedChunk& encoded = chunk.encoded();
    for (size_t i = 0; i < encoded.frames.size(); ++i) {
      const FrameHeader& range = encoded.frames[i];
      BANYAN_CHECK(CanHold(sum.type(), range.codec));
      AddFrame(ReductionOf(sum.type()), encoded.payload[i].bytes().data(),
               NumbersOf<decltype(zero)>(sum).subspan(range.first_element, range.elements));
    }
  });
}

}  // namespace

CodecId PlainCodecOf(DataType type) {
  switch (NumberTypeOf(type)) {
    case DataType::kFloat16:
      return CodecId::kFp16;
    case DataType::kBFloat16:
      return CodecId::kBf16;
    case DataType::kFloat64:
      return CodecId::kFloat64;
    case DataType::kInt32:
      return CodecId::kInt32;
    case DataType::kInt64:
      return CodecId::kInt64;
    default:
      return CodecId::kFp32;
  }
}

CheckedChunk PlainChunk(const Buffer& values, uint32_t weight) {
  EncodedChunk chunk;
  chunk.weight = weight;
  if (!values.empty()) {
    chunk.frames.push_back({PlainCodecOf(values.type()), 0, values.elements(), values.size_bytes()});
    chunk.payload.push_back(values.AsBytes());
  }
  absl::StatusOr<CheckedChunk> checked = CheckChunk(std::move(chunk), values.elements());
  BANYAN_CHECK(checked.ok());
  return *std::move(checked);
}

bool IsPlainArray(const CheckedChunk& chunk, DataType type) {
  const std::vector<FrameHeader>& frames = chunk.encoded().frames;
  return frames.size() == 1 && frames[0].codec == PlainCodecOf(type) && frames[0].elements == chunk.elements() &&
         reinterpret_cast<uintptr_t>(chunk.encoded().payload[0].data()) % SizeOf(type) == 0;
}

bool CanHold(DataType type, CodecId codec) {
  if (IsExact(type)) return codec == PlainCodecOf(type);
  return codec != CodecId::kFloat64 && codec != CodecId::kInt32 && codec != CodecId::kInt64;
}

void DecodeInto(const CheckedChunk& chunk, Buffer& sum) {
  if (!IsExact(sum.type())) return DecodeChunk(chunk, sum.mutable_floats());
  if (IsPlainArray(chunk, sum.type())) {
    std::memcpy(sum.mutable_data(), chunk.encoded().payload[0].data(), sum.size_bytes());
    return;
  }
  WithExactType(sum.type(), [&sum](auto zero) {
    const absl::Span<decltype(zero)> numbers = NumbersOf<decltype(zero)>(sum);
    std::fill(numbers.begin(), numbers.end(), NeutralOf<decltype(zero)>(ReductionOf(sum.type())));
  });
  AddExact(chunk, sum);
}

void AddInto(const CheckedChunk& chunk, Buffer& sum) {
  IsExact(sum.type()) ? AddExact(chunk, sum) : DecodeAddChunk(chunk, sum.mutable_floats());
}

void DivideExact(Buffer& sum, uint32_t divisor) {
  if (!HasMean(sum.type())) return;
  for (double& value : NumbersOf<double>(sum)) value /= divisor;
}

void CopyRounded(const Buffer& values, TensorView to) {
  BANYAN_CHECK(values.elements() == to.elements());
  if (values.empty()) return;
  if (values.type() == to.type()) {
    std::memcpy(to.data(), values.data(), values.size_bytes());
  } else if (to.type() == DataType::kFloat16) {
    FloatsToHalves(values.floats(), to.bytes().data());
  } else {
    BANYAN_CHECK(to.type() == DataType::kBFloat16);
    FloatsToBrainFloats(values.floats(), to.bytes().data());
  }
}

Buffer WidenedCopy(const Buffer& values) {
  Buffer copy = Buffer::AllocateForOverwrite(values.elements(), SumTypeOf(values.type()));
  if (!values.empty()) DecodeInto(PlainChunk(values, 1), copy);
  return copy;
}

}  // namespace banyan
