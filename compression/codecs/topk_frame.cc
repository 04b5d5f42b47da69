#include "compression/codecs/topk_frame.h"

#include "compression/codecs/sparse_values.h"
#include "compression/kernels/little_endian.h"

namespace banyan {

int64_t TopKFrameBytes(const TopKFields& fields) {
  return kTopKFieldBytes + int64_t{fields.index_bytes} + int64_t{fields.values} * SparseValueBytes(fields.value_codec);
}

TopKFields ReadTopKFields(const uint8_t* frame) {
  return {.value_codec = static_cast<CodecId>(frame[0]),
          .form = frame[1],
          .values = LoadLittleEndian<uint32_t>(frame + 2),
          .index_bytes = LoadLittleEndian<uint32_t>(frame + 6)};
}

void WriteTopKFields(const TopKFields& fields, uint8_t* frame) {
  frame[0] = static_cast<uint8_t>(fields.value_codec);
  frame[1] = fields.form;
  StoreLittleEndian(fields.values, frame + 2);
  StoreLittleEndian(fields.index_bytes, frame + 6);
}

}  // namespace banyan
