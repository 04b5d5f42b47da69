// The codecs' numbers, as frames and configurations have them.
#ifndef BANYAN_PROTO_COMPRESSION_CODEC_ID_H_
#define BANYAN_PROTO_COMPRESSION_CODEC_ID_H_

#include <cstdint>

namespace banyan {

// The codec in which a frame's numbers are written; compression/codec_registry.h has the codecs.
enum class CodecId : uint8_t {
  kFp32,
  kFp16,
  kBf16,
  kTopK,       // the largest elements and where they are
  kRandomK,    // elements that a seed chooses
  kInt8,       // stochastic quantization, a scale per block
  kInt4,       // as kInt8, with 4 bits
  kSign,       // 1 bit, the mean magnitude of a block
  kTernary,    // -1, 0 or 1 times the scale of a block
  kOneBitRht,  // signs after a randomized Hadamard transform
  // Prefix-decodable: last levels may be cut.
  kTrimSign,       // signs, then magnitudes
  kTrimSq,         // a bit by chance, then numbers
  kTrimSd,         // the same with a dither that is taken off again
  kTrimRht,        // as kTrimSign, after a randomized Hadamard transform
  kTrimRhtLevels,  // the same in six levels
  kTrimTopK,       // as kTopK, in tiers by magnitude
  // Of low-bit rounds; no configuration names them.
  kVoteCount,     // votes of workers on each element, counted exactly
  kVoteDecision,  // what the root makes of them
  // Of tensors of these types, whatever the configuration names.
  kFloat64,
  kInt32,
  kInt64,
};

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_CODEC_ID_H_
