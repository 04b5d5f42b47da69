// The elements that a sparse frame holds: gathered into bytes as float32 or halves, and scattered again. Bytes lie
// little-endian at any alignment. Pure functions.
#ifndef BANYAN_COMPRESSION_CODECS_SPARSE_VALUES_H_
#define BANYAN_COMPRESSION_CODECS_SPARSE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/chunk_message.h"

namespace banyan {

// Checks that `value_codec` is one in which values are written: kFp32 or kFp16. `codec` names the sparse codec for the
// error.
absl::Status CheckValueCodec(absl::string_view codec, CodecId value_codec);

// Returns the size of one value in bytes. REQUIRES, here and below: CheckValueCodec() passes.
int64_t SparseValueBytes(CodecId value_codec);

// Writes values[i] for each of the indices. REQUIRES: they lie in `values`, there is room for them in `bytes`.
void GatherValues(absl::Span<const float> values, absl::Span<const uint32_t> indices, CodecId value_codec,
                  uint8_t* bytes);
// The same, as floats.
std::vector<float> ValuesAt(absl::Span<const float> values, absl::Span<const uint32_t> indices);
// Writes all values.
void WriteValues(absl::Span<const float> values, CodecId value_codec, uint8_t* bytes);

// chunk[indices[i]] becomes the i-th value and all others zero; or it gets the value added and others stay. REQUIRES:
// the indices lie in `chunk` and differ, as many values are in `bytes`.
void ScatterValues(const uint8_t* bytes, CodecId value_codec, absl::Span<const uint32_t> indices,
                   absl::Span<float> chunk);
void ScatterAddValues(const uint8_t* bytes, CodecId value_codec, absl::Span<const uint32_t> indices,
                      absl::Span<float> chunk);
// The same for all elements of `chunk`.
void ReadValues(const uint8_t* bytes, CodecId value_codec, absl::Span<float> chunk);
void AddValues(const uint8_t* bytes, CodecId value_codec, absl::Span<float> chunk);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CODECS_SPARSE_VALUES_H_
