// Numbers in the bytes of frames, at any alignment.
#ifndef BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_
#define BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_

#include <bit>
#include <cstdint>
#include <cstring>

namespace banyan {

static_assert(std::endian::native == std::endian::little, "frames hold the machine's own numbers");

// REQUIRES: sizeof(Number) bytes.
template <typename Number>
Number LoadLittleEndian(const uint8_t* bytes) {
  Number number;
  std::memcpy(&number, bytes, sizeof(number));
  return number;
}

// Writes sizeof(Number) bytes.
template <typename Number>
void StoreLittleEndian(Number number, uint8_t* bytes) {
  std::memcpy(bytes, &number, sizeof(number));
}

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_KERNELS_LITTLE_ENDIAN_H_
