#include "compression/error_feedback.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "compression/codec_registry.h"
#include "compression/testing/testing_samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr int kElements = 4096;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ErrorFeedbackTest, TheResidualIsWhatTheEncodingDropped) {
  const Buffer values = Buffer::CopyOf({1.0f, -8.0f, 2.0f, 0.5f});
  const CheckedChunk encoded = EncodeChunk({.codec = CodecId::kTopK, .ratio = 0.25}, values, 1);
  Buffer residual = Buffer::CopyOf({99, 99, 99, 99});
  KeepDropped(encoded, values.floats(), 1, residual);
  EXPECT_THAT(residual.floats(), ElementsAre(1.0f, 0.0f, 2.0f, 0.5f));
  KeepDropped(encoded, values.floats(), 3, residual);
  EXPECT_THAT(residual.floats(), ElementsAre(3.0f, 0.0f, 6.0f, 1.5f));
}

TEST(ErrorFeedbackTest, WhatIsNotFiniteIsForgotten) {
  const Buffer values = Buffer::CopyOf({1e30f, kInfinity, std::nanf(""), -kInfinity});
  const CheckedChunk encoded = EncodeChunk({.codec = CodecId::kFp16}, values, 1);
  Buffer residual = Buffer::CopyOf({99, 99, 99, 99});
  KeepDropped(encoded, values.floats(), 1, residual);
  EXPECT_THAT(residual.floats(), ElementsAre(0, 0, 0, 0));
}

// Over many rounds what was sent and what is kept is what there was, for every codec.
TEST(ErrorFeedbackTest, NothingIsLost) {
  for (CodecId codec : KnownCodecs()) {
    std::vector<double> pushed(kElements);
    std::vector<double> sent(kElements);
    Buffer residual = Buffer::Allocate(kElements);
    for (uint64_t round = 1; round <= 20; ++round) {
      Buffer values = Buffer::CopyOf(GaussianSamples(kElements, round));
      for (int i = 0; i < kElements; ++i) pushed[i] += values.floats()[i];
      AddResidual(residual.floats(), values.mutable_floats());
      const CheckedChunk encoded = EncodeChunk({.codec = codec, .ratio = 0.1, .seed = round}, values, 1);
      KeepDropped(encoded, values.floats(), 1, residual);
      std::vector<float> decoded(kElements);
      DecodeChunk(encoded, absl::MakeSpan(decoded));
      for (int i = 0; i < kElements; ++i) sent[i] += decoded[i];
    }
    for (int i = 0; i < kElements; ++i) {
      // Roundings are of the numbers' own size, and ternary's numbers grow.
      const double left = residual.floats()[i];
      const double size = std::max({1.0, std::abs(sent[i]), std::abs(left)});
      ASSERT_NEAR(sent[i] + left, pushed[i], 1e-4 * size) << "codec " << static_cast<int>(codec) << " at " << i;
    }
  }
}

}  // namespace
}  // namespace banyan
