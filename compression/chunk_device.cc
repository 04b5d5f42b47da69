#include "compression/chunk_device.h"

#include <cstddef>

#include "compression/element_types.h"
#include "compression/kernels/vector_math.h"

namespace banyan {
namespace {

// Stateless, hence thread-safe.
class Processor : public ChunkDevice {
 public:
  CheckedChunk Encode(const Encoding& encoding, const Buffer& values, uint32_t weight) const override {
    return EncodeChunk(encoding, values, weight);
  }

  void Add(absl::Span<const CheckedChunk> chunks, bool is_fresh, Buffer& sum) const override {
    size_t next = 0;
    if (AddsTwoAtOnce(chunks, is_fresh)) {
      AddBytes(sum.mutable_floats(), chunks[0].encoded().payload[0].bytes(), chunks[1].encoded().payload[0].bytes());
      next = 2;
    } else if (is_fresh) {
      DecodeInto(chunks[next++], sum);
    }
    for (; next < chunks.size(); ++next) AddInto(chunks[next], sum);
  }
};

}  // namespace

const ChunkDevice& ProcessorDevice() {
  static const Processor processor;
  return processor;
}

bool AddsTwoAtOnce(absl::Span<const CheckedChunk> chunks, bool is_fresh) {
  return is_fresh && chunks.size() > 1 && IsPlainArray(chunks[0], DataType::kFloat32) &&
         IsPlainArray(chunks[1], DataType::kFloat32);
}

}  // namespace banyan
