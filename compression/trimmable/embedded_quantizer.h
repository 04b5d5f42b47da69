// A quantizer of normal numbers whose codes can be cut: the first b bits of a code are the code of a coarser quantizer.
// The same bits everywhere. Pure functions; thread-safe on distinct outputs.
//
// A code has 32 bits: the sign; 3 bits of the cell in which the magnitude, in units of `unit`, lies; 28 bits of where
// in the cell it lies. The bounds of cells are those of the best quantizer with 16 levels (Max, "Quantizing for Minimum
// Distortion", 1960; Lloyd, 1982). The last cell ends at the greatest magnitude of a row. Cut to 1, 2, 3 or 4 bits a
// code stands for the mean of a normal number in the cells that are left. That is within a few percent of the best
// quantizer of so many bits, although the bounds serve all of them. With more bits it stands for a middle.
#ifndef BANYAN_COMPRESSION_TRIMMABLE_EMBEDDED_QUANTIZER_H_
#define BANYAN_COMPRESSION_TRIMMABLE_EMBEDDED_QUANTIZER_H_

#include <cstdint>

#include "absl/types/span.h"
#include "compression/kernels/kernel_path.h"

namespace banyan {

struct QuantizerScale {
  float unit = 0;      // the root mean square of the row; above 0 and finite
  float greatest = 0;  // magnitude in the row, in units; finite
};

// codes[i] = the code of row[i]. REQUIRES: equal lengths, all of `row` finite.
void QuantizeEmbedded(absl::Span<const float> row, const QuantizerScale& scale, absl::Span<uint32_t> codes,
                      KernelPath path = BestKernelPath());

// row[i] = what codes[i] stands for in units when cut to its first `bits`: 1, 2, 3, 4, or up to 32. REQUIRES: equal
// lengths.
void DequantizeEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<float> row,
                        KernelPath path = BestKernelPath());

// Returns the sum of row[i] times what codes[i] stands for, as DequantizeEmbedded has it, in the order of lane_sums.h.
double CorrelateEmbedded(absl::Span<const uint32_t> codes, int bits, float greatest, absl::Span<const float> row,
                         KernelPath path = BestKernelPath());

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_TRIMMABLE_EMBEDDED_QUANTIZER_H_
