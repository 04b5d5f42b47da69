#include "compression/cuda/testing/testing_conformance.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/types/span.h"
#include "compression/cuda/device_chunk.h"
#include "compression/cuda/device_codec.h"
#include "compression/encoded_chunk.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<uint32_t> BitsOfAll(const std::vector<float>& values) {
  std::vector<uint32_t> bits(values.size());
  if (!values.empty()) std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

std::vector<float> FloatsOf(const Buffer& values) {
  return std::vector<float>(values.floats().begin(), values.floats().end());
}

// Says where they differ first, not all that they are.
template <typename Number>
void ExpectEqual(const std::vector<Number>& got, const std::vector<Number>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(+got[i], +expected[i]) << what << ", at " << i;
}

// Two not-a-numbers make either of both, as the host's compiler chose; their sum becomes the one that was expected.
std::vector<uint32_t> WithoutChoice(std::vector<uint32_t> got, const std::vector<uint32_t>& expected,
                                    const std::vector<float>& before, const std::vector<float>& added) {
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_choice = std::isnan(before[i]) && std::isnan(added[i]);
    if (is_choice && std::isnan(std::bit_cast<float>(got[i]))) got[i] = expected[i];
  }
  return got;
}

std::vector<uint8_t> BytesOf(const Buffer& frame) {
  const absl::Span<const uint8_t> bytes = frame.bytes();
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

void ExpectSameFrames(const EncodedChunk& got, const EncodedChunk& expected, const std::string& what) {
  ASSERT_EQ(got.frames, expected.frames) << what;
  EXPECT_EQ(got.weight, expected.weight);
  for (size_t i = 0; i < got.payload.size(); ++i) {
    ExpectEqual(BytesOf(got.payload[i]), BytesOf(expected.payload[i]), what + ", encoded bytes");
  }
}

// What is in a sum before something is added: of every kind, like what is added.
std::vector<float> Sums(int64_t count) {
  std::vector<float> sums = GaussianSamples(count, 77);
  for (int64_t i = 0; i < count; i += 97) sums[i] = kInfinity;
  for (int64_t i = 5; i < count; i += 101) sums[i] = -kInfinity;
  for (int64_t i = 7; i < count; i += 103) sums[i] = std::bit_cast<float>(0x7f800001u + static_cast<uint32_t>(i));
  return sums;
}

std::vector<float> AnyBits(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<uint32_t>(random.Next()));
  return values;
}

// Gaussian values, each `period`-th of them replaced in turn by one of these.
std::vector<float> With(const std::vector<float>& specials, int64_t period, int64_t count, uint64_t seed) {
  std::vector<float> values = GaussianSamples(count, seed);
  size_t next = 0;
  for (int64_t i = period / 2; i < count; i += period) values[i] = specials[next++ % specials.size()];
  return values;
}

std::vector<float> Times(std::vector<float> values, float factor) {
  for (float& value : values) value *= factor;
  return values;
}

std::vector<float> FewLevels(int64_t count, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.Between(-3, 3));
  return values;
}

}  // namespace

std::vector<Encoding> ConformanceEncodings() {
  std::vector<Encoding> encodings;
  for (CodecId codec : DeviceCodecIds()) {
    if (codec != CodecId::kTopK) {
      encodings.push_back({.codec = codec, .seed = 11});
      continue;
    }
    for (double ratio : {0.0001, 0.01, 0.1, 0.6, 1.0}) {
      for (TopKSelection selection : {TopKSelection::kExact, TopKSelection::kSampled}) {
        const CodecId value_codec = ratio == 0.1 ? CodecId::kFp16 : CodecId::kFp32;
        encodings.push_back(
            {.codec = codec, .ratio = ratio, .selection = selection, .value_codec = value_codec, .seed = 11});
      }
    }
  }
  return encodings;
}

std::vector<NamedValues> ConformanceValues(int64_t count, uint64_t seed) {
  const std::vector<float> not_finite = {kInfinity, -kInfinity, std::nanf(""), -std::nanf("")};
  std::vector<float> one(count, 0.0f);
  one[count / 2] = -3;
  std::vector<float> negative_zeros(count, -0.0f);
  return {{"gaussian", GaussianSamples(count, seed)},
          {"laplace", LaplaceSamples(count, seed + 1)},
          {"large and small", Times(GaussianSamples(count, seed + 2), 3e4f)},
          {"subnormal", Times(GaussianSamples(count, seed + 3), 1e-39f)},
          {"subnormal halves", Times(GaussianSamples(count, seed + 4), 1e-6f)},
          {"largest", std::vector<float>(count, std::numeric_limits<float>::max())},
          {"equal", std::vector<float>(count, -0.5f)},
          {"few levels", FewLevels(count, seed + 5)},
          {"zeros", std::vector<float>(count, 0.0f)},
          {"negative zeros", negative_zeros},
          {"one", one},
          {"some not finite", With(not_finite, 1500, count, seed + 6)},
          {"many not finite", With(not_finite, 3, count, seed + 7)},
          {"any bits", AnyBits(count, seed + 8)}};
}

void ExpectAsOnHost(const Encoding& encoding, const NamedValues& values, Device& device) {
  const int64_t count = std::ssize(values.values);
  const std::string what = values.name + ", codec " + std::to_string(static_cast<int>(encoding.codec)) + ", ratio " +
                           std::to_string(encoding.ratio) + ", elements " + std::to_string(count);
  const Buffer host_values = Buffer::CopyOf(values.values);
  const CheckedChunk expected = EncodeChunk(encoding, host_values, 3);
  const absl::StatusOr<CheckedChunk> chunk = EncodeOnDevice(encoding, host_values, 3, device);
  ASSERT_TRUE(chunk.ok()) << what << ": " << chunk.status();
  ExpectSameFrames(chunk->encoded(), expected.encoded(), what);
  ASSERT_TRUE(CheckChunk(chunk->encoded(), count).ok());

  std::vector<float> decoded(count, 9.0f);
  Buffer got = Buffer::CopyOf(decoded);
  DecodeChunk(expected, absl::MakeSpan(decoded));
  ASSERT_TRUE(AddOnDevice({expected}, true, got, device).ok()) << what;
  ExpectEqual(BitsOfAll(FloatsOf(got)), BitsOfAll(decoded), what + ", decoded");

  const std::vector<float> before = Sums(count);
  got = Buffer::CopyOf(before);
  std::vector<float> sums = before;
  DecodeAddChunk(expected, absl::MakeSpan(sums));
  ASSERT_TRUE(AddOnDevice({*chunk}, false, got, device).ok()) << what;
  const std::vector<uint32_t> expected_sums = BitsOfAll(sums);
  ExpectEqual(WithoutChoice(BitsOfAll(FloatsOf(got)), expected_sums, before, decoded), expected_sums, what + ", added");
}

}  // namespace banyan
