#include "compression/hadamard.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compression/float_lanes.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr int64_t kGroup = 32 * kLanes;  // elements whose signs are the bits of sixteen random words

struct GroupSigns {
  BANYAN_KERNEL_BODY GroupSigns(RandomKey key, int64_t group) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      words[lane] = RandomWord(key, static_cast<uint32_t>(group * kLanes + lane));
    }
  }
  // The sign bit of element `i` of the group.
  BANYAN_KERNEL_BODY uint32_t Of(int64_t i) const { return words[i % kLanes] >> (i / kLanes) << 31; }

  uint32_t words[kLanes];
};

// Vectors that one register of a path holds, and their butterflies.
template <int kWidth>
struct Vectors {
  typedef float Floats __attribute__((vector_size(kWidth * 4)));
  typedef uint32_t Words __attribute__((vector_size(kWidth * 4)));
  typedef float FloatsInMemory __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));
  typedef uint32_t WordsInMemory __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));

  BANYAN_KERNEL_BODY static Floats Load(const float* from) { return *reinterpret_cast<const FloatsInMemory*>(from); }
  BANYAN_KERNEL_BODY static void Store(float* to, Floats values) { *reinterpret_cast<FloatsInMemory*>(to) = values; }

  // The elements from `from` on with the signs of the group's elements from `i` on.
  BANYAN_KERNEL_BODY static Floats LoadFlipped(const float* from, const GroupSigns& signs, int64_t i) {
    const Words words = *reinterpret_cast<const WordsInMemory*>(signs.words + i % kLanes);
    return (Floats)((Words)Load(from) ^ (words >> static_cast<uint32_t>(i / kLanes) << 31));
  }

  BANYAN_KERNEL_BODY static void Pair(Floats& a, Floats& b) {
    const Floats difference = a - b;
    a = a + b;
    b = difference;
  }

  template <int kStride, size_t... kLane>
  BANYAN_KERNEL_BODY static Floats Within(Floats v, std::index_sequence<kLane...>) {
    const Words minus = {((kLane & kStride) != 0 ? kSignBit : 0u)...};
    return __builtin_shufflevector(v, v, (kLane ^ kStride)...) + (Floats)((Words)v ^ minus);
  }

  // All strides inside one vector.
  template <int kStride = 1>
  BANYAN_KERNEL_BODY static Floats AllWithin(Floats v) {
    if constexpr (kStride == kWidth) {
      return v;
    } else {
      return AllWithin<2 * kStride>(Within<kStride>(v, std::make_index_sequence<kWidth>()));
    }
  }
};

template <int kWidth>
struct Transformation {
  using V = Vectors<kWidth>;
  using Floats = typename V::Floats;

  static constexpr int64_t kBlock = 8 * kWidth;

  BANYAN_KERNEL_BODY static void Butterfly4(Floats& a, Floats& b, Floats& c, Floats& d) {
    V::Pair(a, b);
    V::Pair(c, d);
    V::Pair(a, c);
    V::Pair(b, d);
  }

  BANYAN_KERNEL_BODY static void Butterfly8(Floats (&v)[8]) {
    Butterfly4(v[0], v[1], v[2], v[3]);
    Butterfly4(v[4], v[5], v[6], v[7]);
    V::Pair(v[0], v[4]);
    V::Pair(v[1], v[5]);
    V::Pair(v[2], v[6]);
    V::Pair(v[3], v[7]);
  }

  // Strides up to kBlock / 2 of one block.
  template <bool kFlip>
  BANYAN_KERNEL_BODY static void FirstStrides(const float* in, const GroupSigns& signs, int64_t i, float* out) {
    Floats v[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      v[j] = kFlip ? V::LoadFlipped(in + j * kWidth, signs, i + j * kWidth) : V::Load(in + j * kWidth);
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) v[j] = V::AllWithin(v[j]);
    Butterfly8(v);
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) V::Store(out + j * kWidth, v[j]);
  }

  template <bool kFlip>
  BANYAN_KERNEL_BODY static void FirstPass(const float* in, RandomKey key, float* row, int64_t size) {
    for (int64_t group = 0; group * kGroup < size; ++group) {
      const GroupSigns signs(key, group);
      const int64_t end = std::min(kGroup, size - group * kGroup);
      for (int64_t i = 0; i < end; i += kBlock) {
        FirstStrides<kFlip>(in + group * kGroup + i, signs, i, row + group * kGroup + i);
      }
    }
  }

  BANYAN_KERNEL_BODY static void Pass8(float* row, int64_t size, int64_t stride) {
    for (int64_t block = 0; block < size; block += 8 * stride) {
      for (int64_t i = block; i < block + stride; i += kWidth) {
        Floats v[8];
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) v[j] = V::Load(row + i + j * stride);
        Butterfly8(v);
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j) V::Store(row + i + j * stride, v[j]);
      }
    }
  }

  BANYAN_KERNEL_BODY static void Pass4(float* row, int64_t size, int64_t stride) {
    for (int64_t block = 0; block < size; block += 4 * stride) {
      for (int64_t i = block; i < block + stride; i += kWidth) {
        Floats a = V::Load(row + i), b = V::Load(row + i + stride);
        Floats c = V::Load(row + i + 2 * stride), d = V::Load(row + i + 3 * stride);
        Butterfly4(a, b, c, d);
        V::Store(row + i, a);
        V::Store(row + i + stride, b);
        V::Store(row + i + 2 * stride, c);
        V::Store(row + i + 3 * stride, d);
      }
    }
  }

  BANYAN_KERNEL_BODY static void Pass2(float* row, int64_t size, int64_t stride) {
    for (int64_t block = 0; block < size; block += 2 * stride) {
      for (int64_t i = block; i < block + stride; i += kWidth) {
        Floats a = V::Load(row + i), b = V::Load(row + i + stride);
        V::Pair(a, b);
        V::Store(row + i, a);
        V::Store(row + i + stride, b);
      }
    }
  }

  // REQUIRES: size is a power of two of kBlock at least. `in` may be `row`.
  BANYAN_KERNEL_BODY static void Run(const float* in, bool flip, RandomKey key, float* row, int64_t size) {
    if (flip) {
      FirstPass<true>(in, key, row, size);
    } else {
      FirstPass<false>(in, key, row, size);
    }
    int64_t stride = kBlock;
    for (; 8 * stride <= size; stride *= 8) Pass8(row, size, stride);
    if (4 * stride <= size) {
      Pass4(row, size, stride);
    } else if (2 * stride <= size) {
      Pass2(row, size, stride);
    }
  }
};

constexpr int64_t kLeastVectorRow = Transformation<16>::kBlock;

// The short rows, one butterfly at a time.
void TransformShort(absl::Span<float> row, bool flip, RandomKey key) {
  const GroupSigns signs(key, 0);
  for (size_t i = 0; flip && i < row.size(); ++i) {
    row[i] = std::bit_cast<float>(std::bit_cast<uint32_t>(row[i]) ^ signs.Of(static_cast<int64_t>(i)));
  }
  for (size_t stride = 1; stride < row.size(); stride *= 2) {
    for (size_t i = 0; i < row.size(); ++i) {
      if ((i & stride) != 0) continue;
      const float a = row[i], b = row[i + stride];
      row[i] = a + b;
      row[i + stride] = a - b;
    }
  }
}

void TransformLong(const float* in, bool flip, RandomKey key, absl::Span<float> row, KernelPath path) {
  const int64_t size = static_cast<int64_t>(row.size());
  switch (path) {
    case KernelPath::kPortable:
      return KernelVersions<Transformation<4>>::Portable(in, flip, key, row.data(), size);
    case KernelPath::kAvx2:
      return KernelVersions<Transformation<8>>::Avx2(in, flip, key, row.data(), size);
    case KernelPath::kAvx512:
      return KernelVersions<Transformation<16>>::Avx512(in, flip, key, row.data(), size);
  }
}

template <bool kAdd>
struct Flipping {
  BANYAN_KERNEL_BODY static void Run(const float* __restrict row, RandomKey key, float scale, float* __restrict out,
                                     int64_t count) {
    for (int64_t group = 0; group * kGroup < count; ++group) {
      const GroupSigns signs(key, group);
      WordLanes words = LoadWords(signs.words);
      const int64_t end = std::min(kGroup, count - group * kGroup);
      const float* from = row + group * kGroup;
      float* to = out + group * kGroup;
      int64_t i = 0;
      for (; i + kLanes <= end; i += kLanes) {
        const FloatLanes values = FloatsOf(BitsOf(LoadFloats(from + i) * scale) ^ (words << 31));
        StoreFloats(to + i, kAdd ? LoadFloats(to + i) + values : values);
        words >>= 1;
      }
      for (; i < end; ++i) {
        const float value = std::bit_cast<float>(std::bit_cast<uint32_t>(from[i] * scale) ^ signs.Of(i));
        to[i] = kAdd ? to[i] + value : value;
      }
    }
  }
};

}  // namespace

void FlipAndTransform(absl::Span<const float> values, RandomKey key, absl::Span<float> row, KernelPath path) {
  BANYAN_CHECK(std::has_single_bit(row.size()) && values.size() <= row.size());
  const bool is_long = static_cast<int64_t>(row.size()) >= kLeastVectorRow;
  if (is_long && values.size() == row.size()) return TransformLong(values.data(), true, key, row, path);
  std::fill(std::copy(values.begin(), values.end(), row.begin()), row.end(), 0.0f);
  if (is_long) return TransformLong(row.data(), true, key, row, path);
  TransformShort(row, true, key);
}

void Transform(absl::Span<float> row, KernelPath path) {
  BANYAN_CHECK(std::has_single_bit(row.size()));
  if (static_cast<int64_t>(row.size()) >= kLeastVectorRow) return TransformLong(row.data(), false, {}, row, path);
  TransformShort(row, false, {});
}

void FlipInto(absl::Span<const float> row, RandomKey key, float scale, absl::Span<float> values, KernelPath path) {
  BANYAN_CHECK(values.size() <= row.size());
  RunKernel<Flipping<false>>(path, row.data(), key, scale, values.data(), static_cast<int64_t>(values.size()));
}

void FlipAddInto(absl::Span<const float> row, RandomKey key, float scale, absl::Span<float> sums, KernelPath path) {
  BANYAN_CHECK(sums.size() <= row.size());
  RunKernel<Flipping<true>>(path, row.data(), key, scale, sums.data(), static_cast<int64_t>(sums.size()));
}

}  // namespace banyan
