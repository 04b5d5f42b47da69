// One element of each stratum of a range, as stratified_choice.h describes it, by position and hence in any order.
// Value; thread-compatible.
#ifndef BANYAN_COMPRESSION_KERNELS_STRATA_H_
#define BANYAN_COMPRESSION_KERNELS_STRATA_H_

#include <cstdint>

#include "compression/kernels/kernel_body.h"
#include "compression/kernels/random_bits.h"

namespace banyan {

// The first `longer` strata have one element more than `length`.
struct Strata {
  uint32_t range = 0;
  uint32_t length = 0;
  uint32_t longer = 0;
  uint32_t turn = 0;
  RandomKey key = {};

  // The element of the i-th stratum.
  BANYAN_KERNEL_BODY uint32_t Choice(uint32_t i) const {
    const uint32_t own_length = length + (i < longer);
    const uint32_t first = i * length + (i < longer ? i : longer);
    const uint32_t offset = static_cast<uint32_t>((uint64_t{RandomWord(key, i)} * own_length) >> 32);
    const uint32_t index = turn + first + offset;  // below twice the range
    return index >= range ? index - range : index;
  }
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_STRATA_H_
