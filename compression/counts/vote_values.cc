#include "compression/counts/vote_values.h"

#include <algorithm>
#include <bit>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/sign_layout.h"
#include "compression/kernels/vectors.h"
#include "core/check.h"

namespace banyan {
namespace {

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

constexpr int64_t kVectorsPerGroup = kSignGroup / kLanes;
constexpr int64_t kGroupBytes = kSignGroup / 8;
constexpr uint32_t kExponentBits = 0x7f800000;

// The bit of an element after the last whole group.
BANYAN_KERNEL_BODY uint32_t BitOf(const uint8_t* bits, int64_t element) {
  return static_cast<uint32_t>(bits[element / 8]) >> (element % 8) & 1;
}

// A number of an element after the last whole group.
BANYAN_KERNEL_BODY int32_t NumberOf(const PlaneBytes& planes, int64_t element) {
  uint32_t number = 0;
  for (int plane = 0; plane < planes.width; ++plane) {
    number |= BitOf(planes.first + plane * planes.stride_bytes, element) << plane;
  }
  return static_cast<int32_t>(number);
}

template <int kWidth>
struct WritingLeads {
  using V = Vectors<kWidth>;
  typedef int32_t Ints __attribute__((vector_size(kWidth * 4)));

  // The planes' words of the same elements, which give up their lowest bits one after the other.
  template <int kPlanes>
  struct Numbers {
    typename V::Words words[kPlanes];
    int width;

    // With kMaxCountWidth planes `width` says how many there are.
    BANYAN_KERNEL_BODY Numbers(const PlaneBytes& planes, int64_t offset)
        : width(kPlanes == kMaxCountWidth ? planes.width : kPlanes) {
      for (int plane = 0; plane < width; ++plane) {
        words[plane] = V::LoadWords(planes.first + plane * planes.stride_bytes + offset);
      }
    }

    BANYAN_KERNEL_BODY Ints Next() {
      typename V::Words number = words[0] & 1;
      words[0] >>= 1;
      for (int plane = 1; plane < width; ++plane) {
        number |= (words[plane] & 1) << plane;
        words[plane] >>= 1;
      }
      return reinterpret_cast<Ints>(number);
    }
  };

  template <int kPlanes>
  BANYAN_KERNEL_BODY static void Groups(const VoteLeads& leads, float step, float* out, int64_t groups) {
    for (int64_t part = 0; part < groups * V::kParts; ++part) {
      const int64_t group = part / V::kParts;
      const int64_t lane = part % V::kParts * kWidth;
      const int64_t offset = group * kGroupBytes + lane * 4;
      Numbers<kPlanes> votes_for(leads.votes_for, offset);
      float* to = out + group * kSignGroup + lane;
      if (leads.has_zero_votes) {
        Numbers<kPlanes> votes_against(leads.votes_against, offset);
        for (int64_t k = 0; k < kVectorsPerGroup; ++k, to += kLanes) {
          V::Store(to, __builtin_convertvector(votes_for.Next() - votes_against.Next(), typename V::Floats) * step);
        }
      } else {
        const auto weight = static_cast<int32_t>(leads.weight);
        for (int64_t k = 0; k < kVectorsPerGroup; ++k, to += kLanes) {
          V::Store(to, __builtin_convertvector(2 * votes_for.Next() - weight, typename V::Floats) * step);
        }
      }
    }
  }

  BANYAN_KERNEL_BODY static void Run(const VoteLeads* leads, float step, float* out, int64_t count) {
    const int64_t groups = count / kSignGroup;
    switch (leads->votes_for.width) {
      case 1:
        Groups<1>(*leads, step, out, groups);
        break;
      case 2:
        Groups<2>(*leads, step, out, groups);
        break;
      case 3:
        Groups<3>(*leads, step, out, groups);
        break;
      case 4:
        Groups<4>(*leads, step, out, groups);
        break;
      default:
        Groups<kMaxCountWidth>(*leads, step, out, groups);
    }
    for (int64_t i = groups * kSignGroup; i < count; ++i) {
      const int32_t votes_for = NumberOf(leads->votes_for, i);
      const int32_t lead = leads->has_zero_votes ? votes_for - NumberOf(leads->votes_against, i)
                                                 : 2 * votes_for - static_cast<int32_t>(leads->weight);
      out[i] = static_cast<float>(lead) * step;
    }
  }
};

// Votes as signs of one magnitude.
template <int kWidth, bool kHasBelow>
struct Directions {
  using V = Vectors<kWidth>;

  // The bits of a direction from the lowest bits of the planes' words.
  template <typename Word>
  BANYAN_KERNEL_BODY static Word Of(Word above, Word below, uint32_t scale) {
    if (kHasBelow) return ((-(above & 1)) & scale) | ((-(below & 1)) & (scale ^ kSignBit));
    return scale ^ ((~above & 1) << 31);
  }

  // Calls use(first element, directions) for each vector of the whole groups.
  template <typename Use>
  BANYAN_KERNEL_BODY static void ForEach(const uint8_t* above, const uint8_t* below, uint32_t scale, int64_t groups,
                                         Use use) {
    for (int64_t part = 0; part < groups * V::kParts; ++part) {
      const int64_t group = part / V::kParts;
      const int64_t lane = part % V::kParts * kWidth;
      typename V::Words above_words = V::LoadWords(above + group * kGroupBytes + lane * 4);
      typename V::Words below_words = {};
      if (kHasBelow) below_words = V::LoadWords(below + group * kGroupBytes + lane * 4);
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
        use(group * kSignGroup + k * kLanes + lane,
            reinterpret_cast<typename V::Floats>(Of(above_words, below_words, scale)));
        above_words >>= 1;
        below_words >>= 1;
      }
    }
  }

  BANYAN_KERNEL_BODY static float At(const uint8_t* above, const uint8_t* below, uint32_t scale, int64_t element) {
    const uint32_t below_bit = kHasBelow ? BitOf(below, element) : 0;
    return std::bit_cast<float>(Of(BitOf(above, element), below_bit, scale));
  }
};

template <bool kHasBelow>
struct WritingDirections {
  template <int kWidth>
  struct Body {
    BANYAN_KERNEL_BODY static void Run(const uint8_t* above, const uint8_t* below, float scale, float* out,
                                       int64_t count) {
      using D = Directions<kWidth, kHasBelow>;
      const auto bits = std::bit_cast<uint32_t>(scale);
      // A scale that is not finite shows in zeros as well.
      const float zero = kHasBelow ? scale * 0 : -0.0f;
      D::ForEach(above, below, bits, count / kSignGroup,
                 [=](int64_t i, auto direction) { Vectors<kWidth>::Store(out + i, direction + zero); });
      for (int64_t i = count / kSignGroup * kSignGroup; i < count; ++i) out[i] = D::At(above, below, bits, i) + zero;
    }
  };
};

template <bool kHasBelow, bool kHasResidual>
struct Leaving {
  template <int kWidth>
  struct Body {
    BANYAN_KERNEL_BODY static void Run(const uint8_t* above, const uint8_t* below, float scale, const float* gradient,
                                       const float* residual, float* left, int64_t count) {
      using V = Vectors<kWidth>;
      using D = Directions<kWidth, kHasBelow>;
      const auto bits = std::bit_cast<uint32_t>(scale);
      D::ForEach(above, below, bits, count / kSignGroup, [=](int64_t i, typename V::Floats direction) {
        typename V::Floats offered = V::Load(gradient + i);
        if (kHasResidual) offered += V::Load(residual + i);
        const auto rest = reinterpret_cast<typename V::Words>(offered - direction);
        const auto is_finite = reinterpret_cast<typename V::Words>((rest & kExponentBits) != kExponentBits);
        V::StoreWords(left + i, rest & is_finite);
      });
      for (int64_t i = count / kSignGroup * kSignGroup; i < count; ++i) {
        float offered = gradient[i];
        if (kHasResidual) offered += residual[i];
        const float rest = offered - D::At(above, below, bits, i);
        const bool is_finite = (std::bit_cast<uint32_t>(rest) & kExponentBits) != kExponentBits;
        left[i] = is_finite ? rest : 0.0f;
      }
    }
  };
};

template <bool kHasBelow>
void Leave(KernelPath path, const uint8_t* above, const uint8_t* below, float scale, const Offered& offered,
           absl::Span<float> left) {
  const float* const gradient = offered.gradient.data();
  const auto count = static_cast<int64_t>(left.size());
  if (offered.residual.empty()) {
    const float* const none = nullptr;
    RunVectorKernel<Leaving<kHasBelow, false>::template Body>(path, above, below, scale, gradient, none, left.data(),
                                                              count);
  } else {
    RunVectorKernel<Leaving<kHasBelow, true>::template Body>(path, above, below, scale, gradient,
                                                             offered.residual.data(), left.data(), count);
  }
}

static_assert(std::endian::native == std::endian::little, "words are written as the machine has them");

// Bits of values above a threshold, or of negated values above it.
template <bool kNegated>
struct Thresholds {
  template <int kWidth>
  struct Body {
    using V = Vectors<kWidth>;

    BANYAN_KERNEL_BODY static void Group(const float* __restrict values, float threshold, uint8_t* __restrict bits) {
      typename V::Words words[V::kParts] = {};
      for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
#pragma GCC unroll 4
        for (int part = 0; part < V::kParts; ++part) {
          const typename V::Floats loaded = V::Load(values + k * kLanes + part * kWidth);
          const auto above = (kNegated ? -loaded : loaded) > threshold;
          words[part] = (words[part] >> 1) | (reinterpret_cast<typename V::Words>(above) & kSignBit);
        }
      }
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) V::StoreWords(bits + part * kWidth * 4, words[part]);
    }

    BANYAN_KERNEL_BODY static void Run(const float* __restrict values, int64_t count, float threshold,
                                       uint8_t* __restrict bits, int64_t bytes) {
      int64_t i = 0;
      for (; i + kSignGroup <= count; i += kSignGroup) Group(values + i, threshold, bits + i / 8);
      for (int64_t byte = i / 8; byte < bytes; ++byte) {
        uint32_t packed = 0;
        for (int64_t k = byte * 8; k < byte * 8 + 8 && k < count; ++k) {
          const bool above = (kNegated ? -values[k] : values[k]) > threshold;
          packed |= static_cast<uint32_t>(above) << (k % 8);
        }
        bits[byte] = static_cast<uint8_t>(packed);
      }
    }
  };
};

template <int kWidth>
struct Adding {
  using V = Vectors<kWidth>;

  BANYAN_KERNEL_BODY static void Group(const uint8_t* __restrict bits, uint32_t addend, float* __restrict out) {
    typename V::Words words[V::kParts];
#pragma GCC unroll 4
    for (int part = 0; part < V::kParts; ++part) words[part] = V::LoadWords(bits + part * kWidth * 4);
    for (int64_t k = 0; k < kVectorsPerGroup; ++k) {
#pragma GCC unroll 4
      for (int part = 0; part < V::kParts; ++part) {
        float* const to = out + k * kLanes + part * kWidth;
        const auto values = reinterpret_cast<typename V::Floats>((-(words[part] & 1)) & addend);
        V::Store(to, V::Load(to) + values);
        words[part] >>= 1;
      }
    }
  }

  BANYAN_KERNEL_BODY static void Run(const uint8_t* __restrict bits, float addend, float* __restrict out,
                                     int64_t count) {
    int64_t i = 0;
    for (; i + kSignGroup <= count; i += kSignGroup) Group(bits + i / 8, std::bit_cast<uint32_t>(addend), out + i);
    for (; i < count; ++i) out[i] += (bits[i / 8] >> (i % 8) & 1) != 0 ? addend : 0.0f;
  }
};

template <bool kNegated>
void Pack(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  const int64_t count = static_cast<int64_t>(values.size());
  const int64_t bytes = PlaneWords(count) * static_cast<int64_t>(sizeof(uint64_t));
  RunVectorKernel<Thresholds<kNegated>::template Body>(path, values.data(), count, threshold,
                                                       reinterpret_cast<uint8_t*>(plane), bytes);
}

}  // namespace

void PackAbove(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  Pack<false>(values, threshold, plane, path);
}

void PackBelow(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path) {
  Pack<true>(values, threshold, plane, path);
}

void AddWhereSet(const uint64_t* plane, float addend, absl::Span<float> values, KernelPath path) {
  RunVectorKernel<Adding>(path, reinterpret_cast<const uint8_t*>(plane), addend, values.data(),
                          static_cast<int64_t>(values.size()));
}

void WriteLeads(const VoteLeads& leads, float step, absl::Span<float> values, KernelPath path) {
  BANYAN_CHECK(leads.weight >= 0 && leads.weight <= kMaxVotes);
  if (leads.weight == 0) {
    std::fill(values.begin(), values.end(), (leads.has_zero_votes ? 0.0f : -0.0f) * step);
    return;
  }
  RunVectorKernel<WritingLeads>(path, &leads, step, values.data(), static_cast<int64_t>(values.size()));
}

void WriteDirections(const uint8_t* above, const uint8_t* below, float scale, absl::Span<float> values,
                     KernelPath path) {
  const auto count = static_cast<int64_t>(values.size());
  if (below == nullptr) {
    RunVectorKernel<WritingDirections<false>::Body>(path, above, below, scale, values.data(), count);
  } else {
    RunVectorKernel<WritingDirections<true>::Body>(path, above, below, scale, values.data(), count);
  }
}

void LeaveAfterDirections(const uint8_t* above, const uint8_t* below, float scale, const Offered& offered,
                          absl::Span<float> left, KernelPath path) {
  BANYAN_CHECK(offered.gradient.size() == left.size());
  BANYAN_CHECK(offered.residual.empty() || offered.residual.size() == left.size());
  if (below == nullptr) {
    Leave<false>(path, above, below, scale, offered, left);
  } else {
    Leave<true>(path, above, below, scale, offered, left);
  }
}

}  // namespace banyan
