#include "compression/cuda/device_codec_registry.h"

#include "absl/types/span.h"
#include "compression/cuda/device_fp16_codec.h"
#include "compression/cuda/device_onebit_rht_codec.h"
#include "compression/cuda/device_sign_codec.h"
#include "compression/cuda/device_topk_codec.h"

namespace banyan {
namespace {

absl::Span<const DeviceCodec* const> DeviceCodecs() {
  static const DeviceFp16Codec fp16;
  static const DeviceTopKCodec topk;
  static const DeviceSignCodec sign;
  static const DeviceOneBitRhtCodec onebit_rht;
  static const DeviceCodec* const codecs[] = {&fp16, &topk, &sign, &onebit_rht};
  return codecs;
}

}  // namespace

const DeviceCodec* DeviceCodecFor(CodecId id) {
  for (const DeviceCodec* codec : DeviceCodecs()) {
    if (codec->id() == id) return codec;
  }
  return nullptr;
}

std::vector<CodecId> DeviceCodecIds() {
  std::vector<CodecId> ids;
  for (const DeviceCodec* codec : DeviceCodecs()) ids.push_back(codec->id());
  return ids;
}

}  // namespace banyan
