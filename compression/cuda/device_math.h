// Arithmetic of kernels beyond C++'s own operators, the same as on a host. It has sums as a host's processor makes
// them, numbers in the bytes of frames, and additions of many threads to one number. Bodies of kernels.
#ifndef BANYAN_COMPRESSION_CUDA_DEVICE_MATH_H_
#define BANYAN_COMPRESSION_CUDA_DEVICE_MATH_H_

#include <bit>
#include <cstdint>
#include <cstring>

#include "compression/kernels/kernel_body.h"

namespace banyan {

BANYAN_KERNEL_BODY uint32_t BitsOf(float value) { return std::bit_cast<uint32_t>(value); }

BANYAN_KERNEL_BODY float FloatOfBits(uint32_t bits) { return std::bit_cast<float>(bits); }

BANYAN_KERNEL_BODY bool IsNotANumber(float value) { return (BitsOf(value) & ~kSignBit) > 0x7f800000; }

// A not-a-number as arithmetic on it leaves it.
BANYAN_KERNEL_BODY float Quiet(float not_a_number) { return FloatOfBits(BitsOf(not_a_number) | 0x00400000); }

// The not-a-number that the host's processor makes of numbers.
#if defined(__x86_64__)
inline constexpr uint32_t kOfInvalidOperation = 0xffc00000;
#else
inline constexpr uint32_t kOfInvalidOperation = 0x7fc00000;
#endif

// a + b with the not-a-number that the host makes where there is one, so that a training that diverged does so alike
// everywhere: the one of the operands made quiet, of two the second's, else its own. Of two a host takes either, as its
// compiler ordered the operands. A CUDA device has but one not-a-number for all cases.
BANYAN_KERNEL_BODY float AddAsHost(float a, float b) {
  const float sum = a + b;
  if (!IsNotANumber(sum)) return sum;
  if (IsNotANumber(b)) return Quiet(b);
  return IsNotANumber(a) ? Quiet(a) : FloatOfBits(kOfInvalidOperation);
}

// value * scale in the same way. REQUIRES: the value is finite and the scale not infinite.
BANYAN_KERNEL_BODY float ScaleAsHost(float value, float scale) {
  return IsNotANumber(scale) ? Quiet(scale) : value * scale;
}

BANYAN_KERNEL_BODY int CountOnes(uint32_t word) {
  word -= (word >> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >> 2) & 0x33333333);
  return static_cast<int>(((word + (word >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24);
}

// The place of the lowest one. REQUIRES: there is one.
BANYAN_KERNEL_BODY int LowestOne(uint32_t word) { return CountOnes((word & (~word + 1)) - 1); }

// Little-endian numbers at any address; at once where it is a multiple of their size.
template <typename Number>
BANYAN_KERNEL_BODY void StoreNumber(Number number, uint8_t* to) {
  if (reinterpret_cast<uintptr_t>(to) % sizeof(Number) == 0) {
    memcpy(__builtin_assume_aligned(to, sizeof(Number)), &number, sizeof(Number));
  } else {
    memcpy(to, &number, sizeof(Number));
  }
}

template <typename Number>
BANYAN_KERNEL_BODY Number LoadNumber(const uint8_t* from) {
  Number number;
  if (reinterpret_cast<uintptr_t>(from) % sizeof(Number) == 0) {
    memcpy(&number, __builtin_assume_aligned(from, sizeof(Number)), sizeof(Number));
  } else {
    memcpy(&number, from, sizeof(Number));
  }
  return number;
}

// Adds `term` to `*sum`, which several threads may change between two steps. Whatever the order, the result is the
// same.
BANYAN_KERNEL_BODY void AtomicAdd(uint32_t* sum, uint32_t term) {
#if defined(__CUDA_ARCH__)
  atomicAdd(sum, term);
#else
  *sum += term;
#endif
}

BANYAN_KERNEL_BODY void AtomicAdd(uint64_t* sum, uint64_t term) {
#if defined(__CUDA_ARCH__)
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(term));
#else
  *sum += term;
#endif
}

BANYAN_KERNEL_BODY void AtomicOr(uint32_t* word, uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(word, bits);
#else
  *word |= bits;
#endif
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CUDA_DEVICE_MATH_H_
