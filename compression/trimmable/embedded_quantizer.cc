#include <algorithm>
#include <cstring>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/vectors.h"
#include "compression/trimmable/level_bits.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr int kCells = 8;
constexpr int kCodeBits = 32;
constexpr int kCoarseBits = 4;  // the sign and the cell
constexpr int kFineBits = kCodeBits - kCoarseBits;

// The last cell has no end of its own.
constexpr float kBounds[kCells] = {0, 0.2582f, 0.5224f, 0.7996f, 1.0993f, 1.4371f, 1.8435f, 2.4008f};
constexpr float kLeastEnd = 2.5f;

// The means of a normal number's magnitude in 8, 4, 2 and 1 neighbouring cells.
constexpr float kMeans1[] = {0.7978846f};
constexpr float kMeans2[] = {0.4967919f, 1.6052287f};
constexpr float kMeans3[] = {0.2553155f, 0.7886890f, 1.4059885f, 2.2353530f};
constexpr float kMeans4[] = {0.1283844f, 0.3880354f, 0.6567806f, 0.9423741f,
                             1.2562227f, 1.6180108f, 2.0689948f, 2.7325865f};

// The cell widths of a row with that greatest magnitude.
struct Widths {
  explicit Widths(float greatest) {
    for (int cell = 0; cell + 1 < kCells; ++cell) of[cell] = kBounds[cell + 1] - kBounds[cell];
    of[kCells - 1] = std::max(greatest, kLeastEnd) - kBounds[kCells - 1];
  }
  float of[kCells];
};

// The loops are written in vectors because the compiler makes branches of a chain of comparisons, which no processor
// foresees.
template <int kWidth>
struct Cells {
  using V = Vectors<kWidth>;
  using Floats = typename V::Floats;
  using Words = typename V::Words;
  typedef int32_t Integers __attribute__((vector_size(kWidth * 4)));

  static constexpr uint32_t kFineMask = (uint32_t{1} << kFineBits) - 1;

  BANYAN_KERNEL_BODY static Floats WithSign(Floats magnitudes, Words codes) {
    return reinterpret_cast<Floats>(reinterpret_cast<Words>(magnitudes) | (codes & kSignBit));
  }

  BANYAN_KERNEL_BODY static Words CodesOf(Floats values, float unit, const float* widths) {
    const Words words = reinterpret_cast<Words>(values);
    const Floats magnitudes = reinterpret_cast<Floats>(words & ~kSignBit) / unit;
    Integers cell = {};
    Floats bound = {};
    Floats width = Floats{} + widths[0];
#pragma GCC unroll 8
    for (int c = 1; c < kCells; ++c) {
      const Integers is_above = magnitudes >= kBounds[c];  // -1 where it is
      cell -= is_above;
      bound = is_above ? Floats{} + kBounds[c] : bound;
      width = is_above ? Floats{} + widths[c] : width;
    }
    constexpr float kFineSteps = 0x1p28f;
    constexpr float kLastFine = 0x1.fffffep27f;
    const Floats fine = (magnitudes - bound) / width * kFineSteps;
    const Floats bounded = fine < kLastFine ? fine : Floats{} + kLastFine;
    const Words place = reinterpret_cast<Words>(__builtin_convertvector(bounded, Integers));
    return (words & kSignBit) | (reinterpret_cast<Words>(cell) << kFineBits) | place;
  }

  // Of codes cut to so many bits that no place in the cell is left. `means` are of 1 << (bits - 1) cells.
  template <int kBits>
  BANYAN_KERNEL_BODY static Floats CoarseOf(Words codes, const float* means) {
    const Words magnitudes = codes & ~kSignBit;
    Floats value = Floats{} + means[0];
#pragma GCC unroll 8
    for (int c = 1; c < 1 << (kBits - 1); ++c) {
      const Integers is_above = reinterpret_cast<Integers>(magnitudes) >= c << (kCodeBits - kBits);
      value = is_above ? Floats{} + means[c] : value;
    }
    return WithSign(value, codes);
  }

  BANYAN_KERNEL_BODY static Floats FineOf(Words codes, int bits, const float* widths) {
    const Words magnitudes = codes & ~kSignBit;
    Floats bound = {};
    Floats width = Floats{} + widths[0];
#pragma GCC unroll 8
    for (int c = 1; c < kCells; ++c) {
      const Integers is_above = reinterpret_cast<Integers>(magnitudes) >= c << kFineBits;
      bound = is_above ? Floats{} + kBounds[c] : bound;
      width = is_above ? Floats{} + widths[c] : width;
    }
    const float step = 1.0f / static_cast<float>(uint32_t{1} << (bits - kCoarseBits));
    const Words place = (codes & kFineMask) >> static_cast<uint32_t>(kCodeBits - bits);
    const Floats steps = __builtin_convertvector(reinterpret_cast<Integers>(place), Floats);
    return WithSign(bound + (steps + 0.5f) * step * width, codes);
  }
};

template <int kWidth>
struct Quantizing {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Run(const float* row, float unit, const float* widths, uint32_t* codes,
                                     int64_t count) {
    int64_t i = 0;
    for (; i + kWidth <= count; i += kWidth) {
      V::StoreWords(codes + i, Cells<kWidth>::CodesOf(V::Load(row + i), unit, widths));
    }
    if (i == count) return;
    float rest[kWidth] = {};
    uint32_t rest_codes[kWidth];
    std::memcpy(rest, row + i, (count - i) * sizeof(float));
    V::StoreWords(rest_codes, Cells<kWidth>::CodesOf(V::Load(rest), unit, widths));
    std::memcpy(codes + i, rest_codes, (count - i) * sizeof(uint32_t));
  }
};

// What codes stand for when cut to kBits; 5 stands for all that are more than 4.
template <int kBits>
struct Meaning {
  const float* table;  // means, or widths
  int bits;

  template <int kWidth>
  BANYAN_KERNEL_BODY typename Vectors<kWidth>::Floats Of(typename Vectors<kWidth>::Words codes) const {
    if constexpr (kBits <= kCoarseBits) return Cells<kWidth>::template CoarseOf<kBits>(codes, table);
    return Cells<kWidth>::FineOf(codes, bits, table);
  }
};

template <typename Meaning>
struct Dequantizing {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Run(const uint32_t* codes, Meaning meaning, float* row, int64_t count) {
      int64_t i = 0;
      for (; i + kWidth <= count; i += kWidth) {
        V::Store(row + i, meaning.template Of<kWidth>(V::LoadWords(codes + i)));
      }
      if (i == count) return;
      uint32_t rest[kWidth] = {};
      float values[kWidth];
      std::memcpy(rest, codes + i, (count - i) * sizeof(uint32_t));
      V::Store(values, meaning.template Of<kWidth>(V::LoadWords(rest)));
      std::memcpy(row + i, values, (count - i) * sizeof(float));
    }
  };
};

// The lanes are those of vector_math.h.
template <typename Meaning>
struct Correlating {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void AddLanes(const uint32_t* codes, const float* row, const Meaning& meaning,
                                            typename V::Doubles* lanes) {
#pragma GCC unroll 8
      for (int part = 0; part < V::kParts; ++part) {
        float values[kWidth];
        V::Store(values, meaning.template Of<kWidth>(V::LoadWords(codes + part * kWidth)));
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          const auto of = [half](const float* from) __attribute__((always_inline)) {
            return __builtin_convertvector(V::LoadHalf(from + half * kWidth / 2), typename V::Doubles);
          };
          lanes[part * 2 + half] += of(row + part * kWidth) * of(values);
        }
      }
    }

    BANYAN_KERNEL_BODY static void Run(const uint32_t* codes, const float* row, Meaning meaning, int64_t count,
                                       double* sum) {
      typename V::Doubles lanes[V::kParts * 2] = {};
      int64_t i = 0;
      for (; i + kLanes <= count; i += kLanes) AddLanes(codes + i, row + i, meaning, lanes);
      if (i < count) {
        uint32_t rest_codes[kLanes] = {};
        float rest[kLanes] = {};
        std::memcpy(rest_codes, codes + i, (count - i) * sizeof(uint32_t));
        std::memcpy(rest, row + i, (count - i) * sizeof(float));
        AddLanes(rest_codes, rest, meaning, lanes);
      }
      double all[kLanes];
      std::memcpy(all, lanes, sizeof(all));
      *sum = TotalOfLanes(all);
    }
  };
};

// Calls `use` with what codes cut to `bits` stand for.
template <typename Use>
void WithMeaning(int bits, float greatest, const Use& use) {
  BANYAN_CHECK(bits >= 1 && bits <= kCodeBits);
  if (bits == 1) return use(Meaning<1>{kMeans1, bits});
  if (bits == 2) return use(Meaning<2>{kMeans2, bits});
  if (bits == 3) return use(Meaning<3>{kMeans3, bits});
  if (bits == 4) return use(Meaning<4>{kMeans4, bits});
  const Widths widths(greatest);
  use(Meaning<kCoarseBits + 1>{widths.of, bits});
}

}  // namespace

void QuantizeEmbedded(absl::Span<const float> row, const QuantizerScale& scale, absl::Span<uint32_t> codes,
                      KernelPath path) {
  BANYAN_CHECK(row.size() == codes.size() && scale.unit > 0);
  const Widths widths(scale.greatest);
  const float* const of_cells = widths.of;
  RunVectorKernel<Quantizing>(path, row.data(), scale.unit, of_cells, codes.data(), static_cast<int64_t>(row.size()));
}

void DequantizeEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<float> row,
                        KernelPath path) {
  BANYAN_CHECK(row.size() == codes.size());
  WithMeaning(bits, greatest, [&](auto meaning) {
    RunVectorKernel<Dequantizing<decltype(meaning)>::template Body>(path, codes.data(), meaning, row.data(),
                                                                    static_cast<int64_t>(row.size()));
  });
}

double CorrelateEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<const float> row,
                         KernelPath path) {
  BANYAN_CHECK(row.size() == codes.size());
  double sum = 0;
  WithMeaning(bits, greatest, [&](auto meaning) {
    RunVectorKernel<Correlating<decltype(meaning)>::template Body>(path, codes.data(), row.data(), meaning,
                                                                   static_cast<int64_t>(row.size()), &sum);
  });
  return sum;
}

}  // namespace banyan
