#include "compression/codec.h"

#include "compression/fp32_codec.h"

namespace banyan {

const Codec* CodecFor(CodecId id) {
  static const Fp32Codec fp32;
  switch (id) {
    case CodecId::kFp32:
      return &fp32;
    default:
      return nullptr;
  }
}

}  // namespace banyan
