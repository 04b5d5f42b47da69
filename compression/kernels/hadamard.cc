#include "compression/kernels/hadamard.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compression/kernels/vectors.h"
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

template <int kWidth>
struct Butterflies {
  using V = Vectors<kWidth>;
  using Floats = typename V::Floats;
  using Words = typename V::Words;

  // The elements from `from` on with the signs of the group's elements from `i` on.
  BANYAN_KERNEL_BODY static Floats LoadFlipped(const float* from, const GroupSigns& signs, int64_t i) {
    const Words words = V::LoadWords(signs.words + i % kLanes);
    return reinterpret_cast<Floats>(V::LoadWords(from) ^ (words >> static_cast<uint32_t>(i / kLanes) << 31));
  }

  BANYAN_KERNEL_BODY static void Pair(Floats& a, Floats& b) {
    const Floats difference = a - b;
    a = a + b;
    b = difference;
  }

  template <int kStride, size_t... kLane>
  BANYAN_KERNEL_BODY static Floats Within(Floats v, std::index_sequence<kLane...>) {
    const Words minus = {((kLane & kStride) != 0 ? kSignBit : 0u)...};
    return __builtin_shufflevector(v, v, (kLane ^ kStride)...) +
           reinterpret_cast<Floats>(reinterpret_cast<Words>(v) ^ minus);
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

  BANYAN_KERNEL_BODY static void Four(Floats& a, Floats& b, Floats& c, Floats& d) {
    Pair(a, b);
    Pair(c, d);
    Pair(a, c);
    Pair(b, d);
  }

  BANYAN_KERNEL_BODY static void Eight(Floats (&v)[8]) {
    Four(v[0], v[1], v[2], v[3]);
    Four(v[4], v[5], v[6], v[7]);
    Pair(v[0], v[4]);
    Pair(v[1], v[5]);
    Pair(v[2], v[6]);
    Pair(v[3], v[7]);
  }
};

template <int kWidth>
struct Transformation {
  using V = Vectors<kWidth>;
  using B = Butterflies<kWidth>;
  using Floats = typename V::Floats;

  static constexpr int64_t kBlock = 8 * kWidth;

  // Strides up to kBlock / 2 of one block.
  template <bool kFlip>
  BANYAN_KERNEL_BODY static void FirstStrides(const float* in, const GroupSigns& signs, int64_t i, float* out) {
    Floats v[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) {
      v[j] = kFlip ? B::LoadFlipped(in + j * kWidth, signs, i + j * kWidth) : V::Load(in + j * kWidth);
    }
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) v[j] = B::AllWithin(v[j]);
    B::Eight(v);
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
        B::Eight(v);
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
        B::Four(a, b, c, d);
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
        B::Pair(a, b);
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
  RunVectorKernel<Transformation>(path, in, flip, key, row.data(), size);
}

template <bool kAdd>
struct Flipping {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    // `count` elements of one group.
    BANYAN_KERNEL_BODY static void Group(const float* __restrict from, const GroupSigns& signs, float scale,
                                         float* __restrict to, int64_t count) {
      typename V::Words words[V::kParts];
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) words[part] = V::LoadWords(signs.words + part * kWidth);
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes) {
#pragma GCC unroll 4
        for (int part = 0; part < V::kParts; ++part) {
          const int64_t at = i + part * kWidth;
          const auto scaled = reinterpret_cast<typename V::Words>(V::Load(from + at) * scale);
          const auto values = reinterpret_cast<typename V::Floats>(scaled ^ (words[part] << 31));
          V::Store(to + at, kAdd ? V::Load(to + at) + values : values);
          words[part] >>= 1;
        }
      }
      for (; i < count; ++i) {
        const float value = std::bit_cast<float>(std::bit_cast<uint32_t>(from[i] * scale) ^ signs.Of(i));
        to[i] = kAdd ? to[i] + value : value;
      }
    }

    BANYAN_KERNEL_BODY static void Run(const float* row, RandomKey key, float scale, float* out, int64_t count) {
      for (int64_t group = 0; group * kGroup < count; ++group) {
        const GroupSigns signs(key, group);
        Group(row + group * kGroup, signs, scale, out + group * kGroup, std::min(kGroup, count - group * kGroup));
      }
    }
  };
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
  RunVectorKernel<Flipping<false>::Body>(path, row.data(), key, scale, values.data(),
                                         static_cast<int64_t>(values.size()));
}

void FlipAddInto(absl::Span<const float> row, RandomKey key, float scale, absl::Span<float> sums, KernelPath path) {
  BANYAN_CHECK(sums.size() <= row.size());
  RunVectorKernel<Flipping<true>::Body>(path, row.data(), key, scale, sums.data(), static_cast<int64_t>(sums.size()));
}

}  // namespace banyan
