// Random bits by position: a hash of a key and an index instead of a sequence. So any number of lanes, and any device,
// draw the same bits in any order. For rounding and signs only: whoever sees bits can find the key.
//
// The hash is a multiply-xorshift mixer of 32 bits with the shifts and factors 16, 0x21f0aaad, 15, 0xd35a2d97, 15. They
// were found by search in Wellons' "hash-prospector" (2018 to 2022). Flipping an input bit flips each output bit with a
// probability that is off from 1/2 by about 0.1% in the mean. A second key, added between the rounds, keeps two blocks
// from being shifted pieces of one sequence. Pure functions.
#ifndef BANYAN_COMPRESSION_KERNELS_RANDOM_BITS_H_
#define BANYAN_COMPRESSION_KERNELS_RANDOM_BITS_H_

#include <cstdint>

#include "compression/kernels/kernel_body.h"

namespace banyan {

struct RandomKey {
  uint32_t first = 0;
  uint32_t second = 0;
};

// The key of one block of what `seed` stands for. The mixer is splitmix64's (Steele, Lea, Flood, "Fast Splittable
// Pseudorandom Number Generators", 2014).
BANYAN_KERNEL_BODY RandomKey KeyOfBlock(uint64_t seed, uint64_t block) {
  // The seed is mixed before the block is added, lest neighbouring seeds share their blocks' keys.
  uint64_t mixed = seed + 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed = (mixed ^ (mixed >> 31)) + (block + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  mixed ^= mixed >> 31;
  return {static_cast<uint32_t>(mixed), static_cast<uint32_t>(mixed >> 32)};
}

// 32 bits for the element `index` of the key's block.
BANYAN_KERNEL_BODY uint32_t RandomWord(RandomKey key, uint32_t index) {
  uint32_t word = index * 0x9e3779b9u + key.first;
  word = (word ^ (word >> 16)) * 0x21f0aaadu;
  word = (word ^ (word >> 15)) + key.second;
  word = word * 0xd35a2d97u;
  return word ^ (word >> 15);
}

// One element of each stratum of a range, as stratified_choice.h describes it, by position and hence in any order.
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

#endif  // BANYAN_COMPRESSION_KERNELS_RANDOM_BITS_H_
