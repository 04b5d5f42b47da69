// Spoilt frames of the sparse codecs, whose fields say where to write: they are refused, or every index is inside.
#include <cstdlib>
#include <vector>

#include "compression/codec.h"
#include "compression/codec_registry.h"
#include "compression/encoded_chunk.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

int Mutations() { return std::getenv("BANYAN_LONG") == nullptr ? 200'000 : 2'000'000; }

struct Sample {
  FrameHeader header;
  std::vector<uint8_t> bytes;
};

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (CodecId codec : {CodecId::kTopK, CodecId::kRandomK}) {
    for (CodecId value_codec : {CodecId::kFp32, CodecId::kFp16}) {
      for (double ratio : {0.001, 0.02, 0.2, 0.6, 1.0}) {
        for (int length : {1, 5, 64, 300}) {
          const Encoding encoding = {.codec = codec, .ratio = ratio, .value_codec = value_codec, .seed = 1};
          const EncodedChunk chunk = EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(length, 1)), 1).encoded();
          const absl::Span<const uint8_t> bytes = chunk.payload[0].bytes();
          samples.push_back({chunk.frames[0], std::vector<uint8_t>(bytes.begin(), bytes.end())});
        }
      }
    }
  }
  return samples;
}

// True if the frame was accepted; then it decodes, and nothing beside its range changes.
bool Accepts(const Sample& sample) {
  constexpr int kGuard = 8;
  const Codec& codec = *CodecFor(sample.header.codec);
  const Buffer frame = Buffer::CopyOfBytes(sample.bytes);
  const int64_t elements = 400;
  if (!codec.Check(sample.header, frame, elements).ok()) return false;
  std::vector<float> chunk(elements + 2 * kGuard, 0.0f);
  const absl::Span<float> inside = absl::MakeSpan(chunk).subspan(kGuard, elements);
  codec.DecodeAdd(sample.header, frame, inside);
  codec.Decode(sample.header, frame, inside);
  for (int64_t i = 0; i < static_cast<int64_t>(chunk.size()); ++i) {
    const int64_t place = i - kGuard - sample.header.first_element;
    if (place < 0 || place >= sample.header.elements) {
      EXPECT_EQ(chunk[i], 0.0f) << i;
    }
  }
  return true;
}

void SpoilBytes(Random& random, std::vector<uint8_t>* bytes) {
  constexpr uint64_t kFieldBytes = 16;
  for (uint64_t times = random.Between(1, 3); times > 0 && !bytes->empty(); --times) {
    const uint64_t among = random.Chance(0.6) ? std::min<uint64_t>(kFieldBytes, bytes->size()) : bytes->size();
    uint8_t& byte = (*bytes)[random.Below(among)];
    byte = random.Chance(0.5) ? byte ^ (1 << random.Below(8)) : static_cast<uint8_t>(random.Next());
  }
}

Sample Mutated(Random& random, Sample sample) {
  if (random.Chance(0.8)) SpoilBytes(random, &sample.bytes);
  if (random.Chance(0.1)) sample.bytes.resize(random.Below(sample.bytes.size() + 10), 1);
  if (random.Chance(0.2)) sample.header.elements = random.Between(-1, 401);
  if (random.Chance(0.2)) sample.header.first_element = random.Between(-1, 401);
  sample.header.size_bytes = std::ssize(sample.bytes);
  return sample;
}

TEST(SparseFuzzTest, MutatedFramesAreRefusedOrStayInside) {
  Random random(17);
  const std::vector<Sample> samples = Samples();
  const int mutations = Mutations();
  int accepted = 0;
  for (int i = 0; i < mutations && !testing::Test::HasFailure(); ++i) {
    accepted += Accepts(Mutated(random, samples[random.Below(samples.size())]));
  }
  EXPECT_GT(accepted, mutations / 20);
  EXPECT_LT(accepted, mutations / 2);
}

TEST(SparseFuzzTest, EveryBitOfEverySampleMayFlip) {
  for (const Sample& sample : Samples()) {
    ASSERT_TRUE(Accepts(sample));
    for (size_t bit = 0; bit < 8 * sample.bytes.size(); ++bit) {
      Sample flipped = sample;
      flipped.bytes[bit / 8] ^= 1 << (bit % 8);
      Accepts(flipped);
    }
  }
}

}  // namespace
}  // namespace banyan
