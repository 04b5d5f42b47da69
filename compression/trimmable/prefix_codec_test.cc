// What every prefix-decodable codec promises in prefix_codec.h and codec.h, checked for each that this program knows.
#include "compression/trimmable/prefix_codec.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "compression/testing/testing_samples.h"
#include "gtest/gtest.h"
#include "proto/compression/codec_traits.h"

namespace banyan {
namespace {

constexpr int64_t kElements = 65536;

class PrefixCodecTest : public testing::TestWithParam<CodecId> {
 protected:
  const Codec& codec() const { return *CodecFor(GetParam()); }
  bool is_sparse() const { return TraitsOf(GetParam())->is_sparse; }

  CheckedChunk Encode(const std::vector<float>& values, Encoding encoding = {}) const {
    encoding.codec = GetParam();
    encoding.seed = 9;
    return EncodeChunk(encoding, Buffer::CopyOf(values), 1);
  }
};

std::vector<float> Decoded(const CheckedChunk& chunk) {
  std::vector<float> values(chunk.elements(), 7.0f);
  DecodeChunk(chunk, absl::MakeSpan(values));
  return values;
}

int64_t Heads(const CheckedChunk& chunk) {
  const std::vector<FrameHeader>& frames = chunk.encoded().frames;
  return std::count_if(frames.begin(), frames.end(), [](const FrameHeader& frame) { return frame.level == 0; });
}

TEST_P(PrefixCodecTest, HeadsLieInFrontAndLevelsBehindEachOther) {
  for (int64_t length : {int64_t{1}, int64_t{1000}, int64_t{4097}, kElements, int64_t{999'999}}) {
    const CheckedChunk chunk = Encode(GaussianSamples(length, 1));
    const std::vector<FrameHeader>& frames = chunk.encoded().frames;
    ASSERT_LE(frames.size(), 256u);
    ASSERT_EQ(static_cast<int64_t>(frames.size()), codec().levels() * Heads(chunk));
    for (size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(frames[i].level, static_cast<int>(i) / Heads(chunk));
    EXPECT_TRUE(CheckChunk(chunk.encoded(), length).ok());
  }
}

// However many frames are cut, the rest decodes, and the more are left the better.
TEST_P(PrefixCodecTest, AnyCutDecodesAndMoreFramesAreBetter) {
  const std::vector<float> values = LaplaceSamples(kElements, 2);
  const CheckedChunk whole = Encode(values, {.ratio = 0.1});
  const auto frames = static_cast<int64_t>(whole.encoded().frames.size());
  double before = INFINITY;
  for (int64_t kept = Heads(whole); kept <= frames; ++kept) {
    const CheckedChunk cut = CutChunk(whole, kept);
    ASSERT_EQ(static_cast<int64_t>(cut.encoded().frames.size()), kept);
    ASSERT_TRUE(CheckChunk(cut.encoded(), kElements).ok());
    const double error = NormalizedError(values, Decoded(cut));
    EXPECT_LT(error, before + 1e-3) << kept << " of " << frames;
    before = error;
  }
  if (is_sparse()) return;
  EXPECT_LT(before, 1e-10);
}

// Half of the tails give half of the difference: ranges decode alone.
TEST_P(PrefixCodecTest, MixedRangesErrInProportion) {
  if (is_sparse()) GTEST_SKIP() << "one range";
  const std::vector<float> values = GaussianSamples(kElements, 3);
  const CheckedChunk whole = Encode(values);
  const int64_t heads = Heads(whole);
  const double least = NormalizedError(values, Decoded(CutChunk(whole, heads)));
  for (const int quarters : {1, 2, 3}) {
    const double error = NormalizedError(values, Decoded(CutChunk(whole, heads + heads * quarters / 4)));
    const double all = NormalizedError(values, Decoded(CutChunk(whole, 2 * heads)));
    EXPECT_NEAR(error, least + (all - least) * quarters / 4, 0.02 * least);
  }
}

TEST_P(PrefixCodecTest, HeadsAreNeverCut) {
  const CheckedChunk whole = Encode(GaussianSamples(kElements, 4));
  EXPECT_EQ(CutChunk(whole, 0).encoded().frames.size(), static_cast<size_t>(Heads(whole)));
  EXPECT_EQ(CutChunk(whole, 1 << 20).encoded().frames, whole.encoded().frames);
}

TEST_P(PrefixCodecTest, FewerLevelsAreSentWhereThatIsAsked) {
  const std::vector<float> values = GaussianSamples(kElements, 5);
  const CheckedChunk whole = Encode(values);
  for (int levels = 1; levels <= codec().levels(); ++levels) {
    const CheckedChunk fewer = Encode(values, {.levels = levels});
    EXPECT_EQ(Decoded(fewer), Decoded(CutChunk(whole, Heads(whole) * levels)));
  }
}

TEST_P(PrefixCodecTest, RangesAreAsLongAsAsked) {
  if (is_sparse()) GTEST_SKIP() << "one range";
  const CheckedChunk chunk = Encode(GaussianSamples(10'000, 6), {.range_elements = 365});
  const int64_t length = chunk.encoded().frames[0].elements;
  EXPECT_TRUE(length == 365 || length == 512) << length;
}

TEST_P(PrefixCodecTest, LevelsOutOfOrderAreRefused) {
  const CheckedChunk whole = Encode(GaussianSamples(100, 7));
  ASSERT_EQ(Heads(whole), 1);
  EncodedChunk missing = whole.encoded();
  missing.frames.erase(missing.frames.begin());
  missing.payload.erase(missing.payload.begin());
  EXPECT_FALSE(CheckChunk(missing, 100).ok());
  EncodedChunk doubled = whole.encoded();
  doubled.frames.push_back(doubled.frames.back());
  doubled.payload.push_back(doubled.payload.back());
  EXPECT_FALSE(CheckChunk(doubled, 100).ok());
  EncodedChunk swapped = whole.encoded();
  std::swap(swapped.frames[0], swapped.frames[1]);
  std::swap(swapped.payload[0], swapped.payload[1]);
  EXPECT_FALSE(CheckChunk(swapped, 100).ok());
}

TEST_P(PrefixCodecTest, WhatIsNotFiniteIsSeenAfterAnyCut) {
  if (is_sparse()) GTEST_SKIP() << "keeps some elements only";
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    std::vector<float> values = GaussianSamples(10'000, 8);
    values[5000] = bad;
    const CheckedChunk whole = Encode(values);
    for (size_t kept = 0; kept <= whole.encoded().frames.size(); ++kept) {
      EXPECT_FALSE(std::isfinite(Decoded(CutChunk(whole, kept))[5000])) << bad << " " << kept;
    }
  }
}

std::vector<CodecId> PrefixCodecs() {
  std::vector<CodecId> ids;
  for (const CodecId id : KnownCodecs()) {
    if (CodecFor(id)->levels() > 1) ids.push_back(id);
  }
  return ids;
}

INSTANTIATE_TEST_SUITE_P(All, PrefixCodecTest, testing::ValuesIn(PrefixCodecs()),
                         [](const auto& info) { return std::string(CodecName(info.param)); });

}  // namespace
}  // namespace banyan
