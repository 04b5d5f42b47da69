// Floats to votes in planes of bits, and votes and counts in planes to floats, in one pass over memory, vectorised for
// the processor that it runs on; every path gives the same bits. Elements lie in a plane in the order of sign_bits.h,
// so that a vector packs its own; counting does not mind. Planes that are read as bytes may have any alignment, so that
// they are read where a frame lies. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_COUNTS_VOTE_VALUES_H_
#define BANYAN_COMPRESSION_COUNTS_VOTE_VALUES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/counts/count_planes.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Sets the bit of each value above `threshold`, in PlaneWords(values.size()) words. A not-a-number is above nothing.
void PackAbove(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path = BestKernelPath());

// Sets the bit of each value below -threshold.
void PackBelow(absl::Span<const float> values, float threshold, uint64_t* plane, KernelPath path = BestKernelPath());

// values[i] += addend where the bit is set. Elsewhere it adds zero.
void AddWhereSet(const uint64_t* plane, float addend, absl::Span<float> values, KernelPath path = BestKernelPath());

// The planes of numbers, the lowest first and `stride_bytes` apart. Whoever owns the bytes keeps them.
struct PlaneBytes {
  const uint8_t* first = nullptr;
  int64_t stride_bytes = 0;
  int width = 0;

  static PlaneBytes Of(const CountView& counts, int64_t words) {
    return {reinterpret_cast<const uint8_t*>(counts.planes), words * static_cast<int64_t>(sizeof(uint64_t)),
            counts.width};
  }
};

// What counts say of each element: the votes for it, less those against it. Without planes of these all others of
// `weight` are against it.
struct VoteLeads {
  PlaneBytes votes_for;
  PlaneBytes votes_against;
  bool has_zero_votes = false;
  int64_t weight = 0;
};

// values[i] = step times the lead of element i. REQUIRES: at most kMaxVotes votes.
void WriteLeads(const VoteLeads& leads, float step, absl::Span<float> values, KernelPath path = BestKernelPath());

// values[i] = scale where the bit of `above` is set, else -scale; with a plane `below`, -scale where its bit is set,
// and zero elsewhere.
void WriteDirections(const uint8_t* above, const uint8_t* below, float scale, absl::Span<float> values,
                     KernelPath path = BestKernelPath());

// What a voter has voted on: the sums of two arrays, or one alone where `residual` is empty.
struct Offered {
  absl::Span<const float> gradient;
  absl::Span<const float> residual;
};

// left[i] = what was offered, less the direction of WriteDirections; 0 where that is no finite number. `left` may be
// one of the two arrays. REQUIRES: as many elements.
void LeaveAfterDirections(const uint8_t* above, const uint8_t* below, float scale, const Offered& offered,
                          absl::Span<float> left, KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_VOTE_VALUES_H_
