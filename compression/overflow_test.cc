#include <cmath>
#include <limits>
#include <vector>

#include "compression/encoded_chunk.h"
#include "core/buffer.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr CodecId kAll[] = {CodecId::kFp32, CodecId::kFp16,    CodecId::kBf16, CodecId::kInt8,    CodecId::kInt4,
                            CodecId::kSign, CodecId::kTernary, CodecId::kTopK, CodecId::kRandomK, CodecId::kOneBitRht};

std::vector<float> ThroughTheWire(const Encoding& encoding, const std::vector<float>& values) {
  const CheckedChunk chunk = EncodeChunk(WithoutOverflow(encoding, values), Buffer::CopyOf(values), 1);
  std::vector<float> decoded(values.size());
  DecodeChunk(chunk, absl::MakeSpan(decoded));
  return decoded;
}

TEST(OverflowTest, OnlyNumbersBeyondTheFormatChangeTheEncoding) {
  const std::vector<float> fits = {65504, -65519, std::numeric_limits<float>::infinity(), std::nanf("")};
  const std::vector<float> beyond = {1, -65520};
  EXPECT_EQ(WithoutOverflow({.codec = CodecId::kFp16}, fits).codec, CodecId::kFp16);
  EXPECT_EQ(WithoutOverflow({.codec = CodecId::kFp16}, beyond).codec, CodecId::kFp32);
  EXPECT_EQ(WithoutOverflow({.codec = CodecId::kBf16}, beyond).codec, CodecId::kBf16);
  EXPECT_EQ(WithoutOverflow({.codec = CodecId::kBf16}, {std::numeric_limits<float>::max()}).codec, CodecId::kFp32);
}

TEST(OverflowTest, NoCodecMakesAnInfinityOfAFiniteNumber) {
  for (const CodecId codec : kAll) {
    for (const float scale : {1.0f, 70000.0f, 1e10f, 1e20f, 1e30f}) {
      std::vector<float> values(5000);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = scale * ((static_cast<float>(i % 100) - 50) / 50);
      }
      for (const float value : ThroughTheWire({.codec = codec, .ratio = 0.1, .seed = 5}, values)) {
        ASSERT_TRUE(std::isfinite(value)) << "codec " << static_cast<int>(codec) << " at " << scale;
      }
    }
  }
}

}  // namespace
}  // namespace banyan
