#include "proto/compression/codec_traits.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

constexpr CodecTraits kCodecs[] = {
    {.id = CodecId::kFp32, .name = "fp32"},
    {.id = CodecId::kFp16, .name = "fp16"},
    {.id = CodecId::kBf16, .name = "bf16"},
    {.id = CodecId::kTopK, .name = "topk", .is_sparse = true, .is_biased = true},
    {.id = CodecId::kRandomK, .name = "randomk", .is_sparse = true, .is_biased = true},
    {.id = CodecId::kInt8, .name = "int8"},
    {.id = CodecId::kInt4, .name = "int4"},
    {.id = CodecId::kSign, .name = "sign", .is_biased = true},
    {.id = CodecId::kTernary, .name = "ternary"},
    {.id = CodecId::kOneBitRht, .name = "onebit_rht"},
    {.id = CodecId::kTrimSign, .name = "trim_sign", .is_trimmable = true},
    {.id = CodecId::kTrimSq, .name = "trim_sq", .is_trimmable = true},
    {.id = CodecId::kTrimSd, .name = "trim_sd", .is_trimmable = true},
    {.id = CodecId::kTrimRht, .name = "trim_rht", .is_trimmable = true},
    {.id = CodecId::kTrimRhtLevels, .name = "trim_rht_levels", .is_trimmable = true},
    {.id = CodecId::kTrimTopK, .name = "trim_topk", .is_sparse = true, .is_biased = true, .is_trimmable = true},
};

}  // namespace

const CodecTraits* TraitsOf(CodecId id) {
  for (const CodecTraits& codec : kCodecs) {
    if (codec.id == id) return &codec;
  }
  return nullptr;
}

std::vector<CodecId> AllCodecIds() {
  std::vector<CodecId> ids;
  for (const CodecTraits& codec : kCodecs) ids.push_back(codec.id);
  return ids;
}

absl::string_view CodecName(CodecId id) {
  const CodecTraits* codec = TraitsOf(id);
  return codec == nullptr ? "" : codec->name;
}

std::vector<std::string> CodecNames() {
  std::vector<std::string> names;
  for (const CodecTraits& codec : kCodecs) names.emplace_back(codec.name);
  return names;
}

absl::StatusOr<CodecId> ParseCodecName(absl::string_view name) {
  for (const CodecTraits& codec : kCodecs) {
    if (codec.name == name) return codec.id;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected a codec (", absl::StrJoin(CodecNames(), ", "), "), got '", name, "'"));
}

}  // namespace banyan
