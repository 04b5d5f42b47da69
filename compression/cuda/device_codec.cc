#include "compression/cuda/device_codec.h"

#include "absl/types/span.h"

namespace banyan {
namespace {

absl::Span<const DeviceCodec* const> DeviceCodecs() {
  static const DeviceCodec* const codecs[] = {&DeviceFp32Codec(), &DeviceFp16Codec(), &DeviceTopKCodec(),
                                              &DeviceSignCodec(), &DeviceOneBitRhtCodec()};
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
