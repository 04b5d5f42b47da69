#include "compression/codec_name.h"

namespace banyan {

absl::string_view CodecName(CodecId id) {
  switch (id) {
    case CodecId::kFp32:
      return "fp32";
    case CodecId::kFp16:
      return "fp16";
    case CodecId::kBf16:
      return "bf16";
    case CodecId::kTopK:
      return "topk";
    case CodecId::kRandomK:
      return "randomk";
    case CodecId::kInt8:
      return "int8";
    case CodecId::kInt4:
      return "int4";
    case CodecId::kSign:
      return "sign";
    case CodecId::kTernary:
      return "ternary";
    case CodecId::kOneBitRht:
      return "onebit_rht";
  }
  return "";
}

}  // namespace banyan
