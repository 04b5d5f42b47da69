// Tensors' element types on their way through rounds: how values of each become a chunk without loss, how chunks are
// summed, and how a result becomes the type that workers see. Halves travel as halves, are summed in float32 and
// rounded once. Float64 and integers are summed exactly in their own type, or reduced as it says; integers wrap around.
// Pure functions.
#ifndef BANYAN_COMPRESSION_ELEMENT_TYPES_H_
#define BANYAN_COMPRESSION_ELEMENT_TYPES_H_

#include <cstdint>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "core/data_type.h"
#include "core/tensor_view.h"
#include "proto/compression/codec_id.h"

namespace banyan {

// Returns the codec whose frames are the numbers of this type as they lie in memory. REQUIRES: an element type.
CodecId PlainCodecOf(DataType type);

// Returns `values` as one chunk that says exactly them, and shares their memory.
CheckedChunk PlainChunk(const Buffer& values, uint32_t weight);

// True if the chunk is one aligned frame of `type` whose own memory can serve as its values.
bool IsPlainArray(const CheckedChunk& chunk, DataType type);

// Returns whether a frame of this codec can be a part of a tensor of this type: exact types have their own alone.
bool CanHold(DataType type, CodecId codec);

// Replaces `sum` by what the chunk says, or adds that: reduces both, where `sum` is of a type with a reduction. It is
// of a sum type. REQUIRE: the chunk is empty or was
// checked for sum.elements() elements; with an exact type CanHold is true for each frame.
void DecodeInto(const CheckedChunk& chunk, Buffer& sum);
void AddInto(const CheckedChunk& chunk, Buffer& sum);

// Divides every element of a type that has a mean, and nothing else. REQUIRES: an exact type.
void DivideExact(Buffer& sum, uint32_t divisor);

// Writes `values` to `to`, halves rounded to nearest. REQUIRES: equal lengths; the same type, or float32 to halves.
void CopyRounded(const Buffer& values, TensorView to);

// Returns a copy of the values in their sum type.
Buffer WidenedCopy(const Buffer& values);

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_ELEMENT_TYPES_H_
