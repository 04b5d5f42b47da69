#include "compression/codec_registry.h"

#include "absl/types/span.h"
#include "compression/codecs/bf16_codec.h"
#include "compression/codecs/exact_codec.h"
#include "compression/codecs/fp16_codec.h"
#include "compression/codecs/fp32_codec.h"
#include "compression/codecs/int4_codec.h"
#include "compression/codecs/int8_codec.h"
#include "compression/codecs/onebit_rht_codec.h"
#include "compression/codecs/randomk_codec.h"
#include "compression/codecs/sign_codec.h"
#include "compression/codecs/ternary_codec.h"
#include "compression/codecs/topk_codec.h"
#include "compression/counts/vote_codecs.h"
#include "compression/trimmable/trim_dither_codec.h"
#include "compression/trimmable/trim_rht_codec.h"
#include "compression/trimmable/trim_rht_levels_codec.h"
#include "compression/trimmable/trim_sign_codec.h"
#include "compression/trimmable/trim_topk_codec.h"

namespace banyan {
namespace {

absl::Span<const Codec* const> Codecs() {
  static const Fp32Codec fp32;
  static const Fp16Codec fp16;
  static const Bf16Codec bf16;
  static const TopKCodec topk;
  static const RandomKCodec randomk;
  static const Int8Codec int8;
  static const Int4Codec int4;
  static const SignCodec sign;
  static const TernaryCodec ternary;
  static const OneBitRhtCodec onebit_rht;
  static const TrimSignCodec trim_sign;
  static const TrimSqCodec trim_sq;
  static const TrimSdCodec trim_sd;
  static const TrimRhtCodec trim_rht;
  static const TrimRhtLevelsCodec trim_rht_levels;
  static const TrimTopKCodec trim_topk;
  static const Codec* const codecs[] = {
      &fp32,      &fp16,    &bf16,    &topk,     &randomk,         &int8,     &int4, &sign, &ternary, &onebit_rht,
      &trim_sign, &trim_sq, &trim_sd, &trim_rht, &trim_rht_levels, &trim_topk};
  return codecs;
}

}  // namespace

const Codec* CodecFor(CodecId id) {
  static const VoteCountCodec vote_count;
  static const VoteDecisionCodec vote_decision;
  if (id == CodecId::kVoteCount) return &vote_count;
  if (id == CodecId::kVoteDecision) return &vote_decision;
  static const ExactCodec exact[] = {ExactCodec(CodecId::kFloat64, DataType::kFloat64),
                                     ExactCodec(CodecId::kInt32, DataType::kInt32),
                                     ExactCodec(CodecId::kInt64, DataType::kInt64)};
  for (const ExactCodec& codec : exact) {
    if (codec.id() == id) return &codec;
  }
  for (const Codec* codec : Codecs()) {
    if (codec->id() == id) return codec;
  }
  return nullptr;
}

std::vector<CodecId> KnownCodecs() {
  std::vector<CodecId> ids;
  for (const Codec* codec : Codecs()) ids.push_back(codec->id());
  return ids;
}

}  // namespace banyan
