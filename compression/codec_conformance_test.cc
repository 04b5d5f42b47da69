// What every codec promises in codec.h, checked for each that this program knows.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compression/codec.h"
#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Those that a number passes unchanged when it has passed before.
constexpr CodecId kRoundingCodecs[] = {CodecId::kFp32, CodecId::kFp16, CodecId::kBf16, CodecId::kTopK,
                                       CodecId::kRandomK};
constexpr int kLengths[] = {1, 2, 7, 64, 1000, 4097, 33001};

struct Encoded {
  std::vector<FrameHeader> headers;
  Payload frames;
};

class CodecConformanceTest : public testing::TestWithParam<Encoding> {
 protected:
  CodecId id() const { return GetParam().codec; }
  const Codec& codec() const { return *CodecFor(id()); }

  Encoded Encode(const std::vector<float>& values) const {
    Encoded encoded;
    encoded.frames = codec().Encode(Buffer::CopyOf(values), GetParam(), &encoded.headers);
    return encoded;
  }

  std::vector<float> RandomValues(int length) {
    std::vector<float> values(length);
    for (float& value : values) value = static_cast<float>(random_.Unit() - 0.5);
    return values;
  }

  // The sum of all ranges, added to `values`.
  std::vector<float> Add(const Encoded& encoded, std::vector<float> values) const {
    const absl::StatusOr<CheckedChunk> chunk =
        CheckChunk({.frames = encoded.headers, .payload = encoded.frames, .weight = 1}, values.size());
    EXPECT_TRUE(chunk.ok()) << chunk.status();
    if (chunk.ok()) DecodeAddChunk(*chunk, absl::MakeSpan(values));
    return values;
  }

  std::vector<float> Decode(const Encoded& encoded, int length) const {
    return Add(encoded, std::vector<float>(length, 0.0f));
  }

  Random random_{7};
};

// `frame` at an address that no number is aligned to.
Buffer Misaligned(const Buffer& frame) {
  std::vector<uint8_t> bytes(frame.size_bytes() + 1);
  std::memcpy(bytes.data() + 1, frame.data(), frame.size_bytes());
  return Buffer::CopyOfBytes(bytes).Slice(1, frame.size_bytes());
}

TEST_P(CodecConformanceTest, KnowsItsId) { EXPECT_EQ(codec().id(), id()); }

TEST_P(CodecConformanceTest, HeadersDescribeTheFrames) {
  for (int length : kLengths) {
    const Encoded encoded = Encode(RandomValues(length));
    ASSERT_EQ(encoded.headers.size(), encoded.frames.size());
    for (size_t i = 0; i < encoded.frames.size(); ++i) {
      EXPECT_EQ(encoded.headers[i].codec, id());
      EXPECT_EQ(encoded.headers[i].size_bytes, encoded.frames[i].size_bytes());
      EXPECT_TRUE(codec().Check(encoded.headers[i], encoded.frames[i], length).ok());
    }
  }
}

// What is decoded is encoded again to the same numbers: a resent or forwarded value drifts no further.
TEST_P(CodecConformanceTest, RoundTripIsStable) {
  if (std::count(std::begin(kRoundingCodecs), std::end(kRoundingCodecs), id()) == 0) {
    GTEST_SKIP() << "chooses anew at each encoding";
  }
  for (int length : kLengths) {
    const std::vector<float> once = Decode(Encode(RandomValues(length)), length);
    EXPECT_EQ(Decode(Encode(once), length), once) << length;
  }
}

TEST_P(CodecConformanceTest, ZerosStayZeros) {
  for (int length : kLengths) {
    const std::vector<float> zeros(length, 0.0f);
    EXPECT_EQ(Decode(Encode(zeros), length), zeros);
  }
}

TEST_P(CodecConformanceTest, EqualEncodingsGiveEqualBytes) {
  for (int length : kLengths) {
    const std::vector<float> values = RandomValues(length);
    const Encoded first = Encode(values);
    const Encoded second = Encode(values);
    ASSERT_EQ(first.headers, second.headers);
    for (size_t i = 0; i < first.frames.size(); ++i) EXPECT_EQ(first.frames[i].bytes(), second.frames[i].bytes());
  }
}

TEST_P(CodecConformanceTest, DecodeAddIsDecodePlusAdd) {
  for (int length : kLengths) {
    const Encoded encoded = Encode(RandomValues(length));
    for (size_t i = 0; i < encoded.frames.size() && encoded.headers[i].level == 0; ++i) {
      const std::vector<float> before = RandomValues(length);
      std::vector<float> expected(length, 0.0f);
      codec().Decode(encoded.headers[i], encoded.frames[i], absl::MakeSpan(expected));
      for (int j = 0; j < length; ++j) expected[j] = before[j] + expected[j];
      std::vector<float> sums = before;
      codec().DecodeAdd(encoded.headers[i], encoded.frames[i], absl::MakeSpan(sums));
      EXPECT_EQ(sums, expected) << length;
    }
  }
}

TEST_P(CodecConformanceTest, TouchesOnlyTheFramesRange) {
  const Encoded encoded = Encode(RandomValues(64));
  for (size_t i = 0; i < encoded.frames.size(); ++i) {
    FrameHeader moved = encoded.headers[i];
    moved.first_element += 10;
    ASSERT_TRUE(codec().Check(moved, encoded.frames[i], 84).ok());
    if (moved.level > 0) continue;
    std::vector<float> chunk(84, 5.0f);
    codec().Decode(moved, encoded.frames[i], absl::MakeSpan(chunk));
    codec().DecodeAdd(moved, encoded.frames[i], absl::MakeSpan(chunk));
    for (int64_t j = 0; j < 84; ++j) {
      const bool inside = j >= moved.first_element && j < moved.first_element + moved.elements;
      if (!inside) {
        EXPECT_EQ(chunk[j], 5.0f) << j;
      }
    }
  }
}

TEST_P(CodecConformanceTest, FramesNeedNoAlignment) {
  for (int length : kLengths) {
    const Encoded encoded = Encode(RandomValues(length));
    Encoded misaligned = encoded;
    for (Buffer& frame : misaligned.frames) frame = Misaligned(frame);
    EXPECT_EQ(Decode(misaligned, length), Decode(encoded, length)) << length;
  }
}

TEST_P(CodecConformanceTest, WrongSizesAreRefused) {
  const Encoded encoded = Encode(RandomValues(64));
  for (size_t i = 0; i < encoded.frames.size(); ++i) {
    const Buffer& frame = encoded.frames[i];
    std::vector<uint8_t> longer(frame.bytes().begin(), frame.bytes().end());
    longer.push_back(0);
    EXPECT_FALSE(codec().Check(encoded.headers[i], Buffer::CopyOfBytes(longer), 64).ok());
    EXPECT_FALSE(codec().Check(encoded.headers[i], frame.Slice(0, frame.elements() - 1), 64).ok());
    EXPECT_FALSE(codec().Check(encoded.headers[i], Buffer(), 64).ok());
  }
}

TEST_P(CodecConformanceTest, RangesOutsideTheChunkAreRefused) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  const Encoded encoded = Encode(RandomValues(64));
  const FrameHeader good = encoded.headers[0];
  for (const auto& [first, elements] : std::vector<std::pair<int64_t, int64_t>>{{64 - good.elements + 1, good.elements},
                                                                                {-1, good.elements},
                                                                                {0, -1},
                                                                                {kMax, good.elements},
                                                                                {1, kMax},
                                                                                {65, 0},
                                                                                {-kMax, kMax}}) {
    FrameHeader bad = good;
    bad.first_element = first;
    bad.elements = elements;
    EXPECT_FALSE(codec().Check(bad, encoded.frames[0], 64).ok()) << first << " " << elements;
  }
}

// Whatever bytes come, they are refused or they decode.
TEST_P(CodecConformanceTest, SurvivesRandomFrames) {
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint8_t> bytes(random_.Below(300));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_.Next());
    const Buffer frame = Buffer::CopyOfBytes(bytes);
    const FrameHeader header{.codec = id(),
                             .first_element = random_.Between(-2, 70),
                             .elements = random_.Chance(0.5) ? frame.size_bytes() / 4 : random_.Between(-2, 70),
                             .size_bytes = frame.size_bytes(),
                             .level = static_cast<int>(random_.Below(codec().levels()))};
    if (!codec().Check(header, frame, 64).ok() || header.level > 0) continue;
    std::vector<float> chunk(64, 0.0f);
    codec().Decode(header, frame, absl::MakeSpan(chunk));
    codec().DecodeAdd(header, frame, absl::MakeSpan(chunk));
  }
}

TEST_P(CodecConformanceTest, LevelsThatItLacksAreRefused) {
  const Encoded encoded = Encode(RandomValues(64));
  for (int level : {-1, codec().levels(), 1 << 20}) {
    FrameHeader bad = encoded.headers[0];
    bad.level = level;
    EXPECT_FALSE(codec().Check(bad, encoded.frames[0], 64).ok()) << level;
  }
}

TEST_P(CodecConformanceTest, NotANumbersPass) {
  const Encoded encoded = Encode(std::vector<float>(8, std::nanf("")));
  for (size_t i = 0; i < encoded.frames.size(); ++i) {
    EXPECT_TRUE(codec().Check(encoded.headers[i], encoded.frames[i], 8).ok());
  }
}

// Diverged training must be seen: what is not finite comes out as such, whatever else its block loses.
TEST_P(CodecConformanceTest, DenseCodecsHideNoDivergence) {
  if (id() == CodecId::kTopK || id() == CodecId::kRandomK) GTEST_SKIP() << "keeps some elements only";
  for (float bad : {std::nanf(""), -std::nanf(""), INFINITY, -INFINITY}) {
    for (int length : kLengths) {
      for (int where : {0, length / 2, length - 1}) {
        std::vector<float> values = RandomValues(length);
        values[where] = bad;
        EXPECT_FALSE(std::isfinite(Decode(Encode(values), length)[where])) << bad << " in " << length;
      }
    }
  }
}

TEST_P(CodecConformanceTest, ExtremeMagnitudesPass) {
  for (float extreme : {3.4028234e38f, 1e30f, 1e-30f, 1e-38f, 1e-45f}) {
    std::vector<float> values = RandomValues(1000);
    for (float& value : values) value = value < 0 ? -extreme : extreme;
    const Encoded encoded = Encode(values);
    EXPECT_EQ(Decode(encoded, 1000).size(), 1000u);
  }
}

TEST_P(CodecConformanceTest, AnEmptyChunkHasNoFrames) {
  const Encoded encoded = Encode({});
  EXPECT_TRUE(encoded.headers.empty());
  EXPECT_TRUE(encoded.frames.empty());
}

// Every codec; the sparse ones with few elements, many and all, and with both kinds of values.
std::vector<Encoding> AllEncodings() {
  std::vector<Encoding> encodings;
  for (CodecId codec : KnownCodecs()) {
    encodings.push_back({.codec = codec});
    if (codec != CodecId::kTopK && codec != CodecId::kRandomK) continue;
    encodings.push_back({.codec = codec, .value_codec = CodecId::kFp16});
    for (double ratio : {0.3, 0.01}) {
      for (CodecId value_codec : {CodecId::kFp32, CodecId::kFp16}) {
        encodings.push_back({.codec = codec, .ratio = ratio, .value_codec = value_codec, .seed = 3});
      }
    }
  }
  return encodings;
}

INSTANTIATE_TEST_SUITE_P(All, CodecConformanceTest, testing::ValuesIn(AllEncodings()));

TEST(CodecForTest, UnknownIdHasNone) { EXPECT_EQ(CodecFor(static_cast<CodecId>(200)), nullptr); }

}  // namespace
}  // namespace banyan
