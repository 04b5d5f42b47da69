// Small whole numbers, one per element, in planes of bits: plane k has bit k of every element's number, 64 elements in
// a word. So 64 numbers are added with a few instructions (carry-save adders), at any number of bits. Vectorised for
// the processor that it runs on. Pure functions; thread-safe on distinct outputs.
#ifndef BANYAN_COMPRESSION_COUNTS_COUNT_PLANES_H_
#define BANYAN_COMPRESSION_COUNTS_COUNT_PLANES_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

// Votes that one count may hold, so that a number has at most kMaxCountWidth bits.
inline constexpr int64_t kMaxVotes = (int64_t{1} << 20) - 1;
inline constexpr int kMaxCountWidth = 20;

// Returns the bits that a number of 0 to `most` takes: 1 for 1, 2 for 3, 3 for 4. REQUIRES: 0 <= most <= kMaxVotes.
int CountWidth(int64_t most);

// Returns the words of one plane of `elements`.
inline int64_t PlaneWords(int64_t elements) { return (elements + 63) / 64; }

// The planes of numbers, the lowest first and one after the other. Whoever owns the words keeps them.
struct CountView {
  const uint64_t* planes = nullptr;
  int width = 0;
};

// So many are added at once.
inline constexpr int kMostSummands = 16;

// sum = the sum of all `summands`, in `sum.size() / words` planes. Bits that those lack are lost. The sum may not
// overlap a summand. REQUIRES: at most kMostSummands.
void SumCounts(absl::Span<const CountView> summands, int64_t words, absl::Span<uint64_t> sum,
               KernelPath path = BestKernelPath());

// Writes the plane of where `left` > `right`. A view of fewer planes has zeros above.
void WhereGreater(CountView left, CountView right, int64_t words, uint64_t* greater,
                  KernelPath path = BestKernelPath());

// Writes the plane of where `numbers` > `bound`. REQUIRES: 0 <= bound.
void WhereAbove(CountView numbers, int64_t bound, int64_t words, uint64_t* above, KernelPath path = BestKernelPath());

// Writes the planes of the number that is `value` for every element.
void FillCounts(int64_t value, int width, int64_t words, uint64_t* planes);

// Clears the bits after the last of `elements` in the last word of a plane.
void ClearPlaneEnd(int64_t elements, uint64_t* plane);

// Returns whether those bits are zero.
bool IsPlaneEndClear(int64_t elements, const uint64_t* plane);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_COUNTS_COUNT_PLANES_H_
