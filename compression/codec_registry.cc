#include "compression/codec_registry.h"

#include "absl/types/span.h"
#include "compression/codecs/codecs.h"
#include "compression/counts/vote_codecs.h"
#include "compression/trimmable/trim_codecs.h"

namespace banyan {
namespace {

absl::Span<const Codec* const> Codecs() {
  static const Codec* const codecs[] = {&Fp32Codec(),    &Fp16Codec(),      &Bf16Codec(),          &TopKCodec(),
                                        &RandomKCodec(), &Int8Codec(),      &Int4Codec(),          &SignCodec(),
                                        &TernaryCodec(), &OneBitRhtCodec(), &TrimSignCodec(),      &TrimSqCodec(),
                                        &TrimSdCodec(),  &TrimRhtCodec(),   &TrimRhtLevelsCodec(), &TrimTopKCodec()};
  return codecs;
}

}  // namespace

const Codec* CodecFor(CodecId id) {
  static const Codec* const others[] = {&Float64Codec(), &Int32Codec(), &Int64Codec(), &VoteCountCodec(),
                                        &VoteDecisionCodec()};
  for (const absl::Span<const Codec* const> codecs : {Codecs(), absl::MakeConstSpan(others)}) {
    for (const Codec* codec : codecs) {
      if (codec->id() == id) return codec;
    }
  }
  return nullptr;
}

std::vector<CodecId> KnownCodecs() {
  std::vector<CodecId> ids;
  for (const Codec* codec : Codecs()) ids.push_back(codec->id());
  return ids;
}

}  // namespace banyan
