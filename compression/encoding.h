// The settings with which a chunk is to be encoded. A ratio controller and a node's configuration decide them, and an
// encoder needs them beside the numbers. Nothing of them is needed to decode: frames say for themselves what they are.
// Value; thread-compatible.
#ifndef BANYAN_COMPRESSION_ENCODING_H_
#define BANYAN_COMPRESSION_ENCODING_H_

#include <cstdint>
#include <limits>

#include "proto/chunk_message.h"
#include "proto/compression/compression_config.h"

namespace banyan {

// The steps of NetSenseML's Algorithm 2 that come before top-k and depend on values: see netsense_encoding.h.
struct NetSenseSteps {
  double quantize_rms = std::numeric_limits<double>::infinity();
  double prune_factor = 0;
};

struct Encoding {
  CodecId codec = CodecId::kFp32;
  // The share of elements that a sparse codec keeps, in (0, 1]; at least one element. Others ignore it.
  double ratio = 1;
  TopKSelection selection = TopKSelection::kExact;
  // The codec in which a sparse codec writes the elements that it keeps: kFp32 or kFp16.
  CodecId value_codec = CodecId::kFp32;
  // The seed of every random choice: stochastic rounding, the elements of random-k, the signs of a randomized
  // transform. Equal encodings of equal values give equal bytes. Whoever encodes takes another seed for each chunk and
  // round.
  uint64_t seed = 0;
  // Not the codec's business: whoever encodes cuts the last levels, such that this share of the bytes is sent at all.
  double share = 1;
  // Of a prefix-decodable codec: how many levels are written, 0 for all.
  int levels = 0;
  // Of a prefix-decodable codec: elements that are cut together, 0 for as many as suit a chunk
  // (trimmable/prefix_codec.h).
  int64_t range_elements = 0;
  // Not the codec's business: whoever encodes takes them first.
  NetSenseSteps netsense = {};
};

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ENCODING_H_
