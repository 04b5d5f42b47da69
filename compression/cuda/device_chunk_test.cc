// The kernels, run by the emulated device, against the host's codecs.
#include "compression/cuda/device_chunk.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "compression/chunk_device.h"
#include "compression/cuda/device_codec.h"
#include "compression/cuda/emulated_device.h"
#include "compression/cuda/testing/testing_conformance.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::Each;

class DeviceConformanceTest : public testing::TestWithParam<int64_t> {};

// Long chunks take a third of the kinds of values, for time.
TEST_P(DeviceConformanceTest, EveryCodecDoesWhatItDoesOnTheHost) {
  const int64_t count = GetParam();
  const size_t stride = count < 10000 ? 1 : 3;
  EmulatedDevice device(static_cast<uint64_t>(count));
  const std::vector<NamedValues> all = ConformanceValues(count, static_cast<uint64_t>(count));
  for (const Encoding& encoding : ConformanceEncodings()) {
    for (size_t i = 0; i < all.size(); i += stride) ExpectAsOnHost(encoding, all[i], device);
  }
}

// Around the sizes of groups, blocks, tiles and rows, and what is cut from rows.
INSTANTIATE_TEST_SUITE_P(Sizes, DeviceConformanceTest,
                         testing::Values(1, 2, 7, 8, 31, 32, 33, 100, 255, 511, 512, 513, 1000, 1023, 1024, 1025, 1537,
                                         2048, 3000, 4095, 4096, 4097, 7168, 8191, 10000, 32767, 32768, 65536, 65537,
                                         131071));

TEST(DeviceConformanceSeedsTest, EverySeedGivesTheHostsBytes) {
  Random random(1);
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EmulatedDevice device(seed);
    const int64_t count = random.Between(1, 5000);
    const NamedValues values = {"laplace", LaplaceSamples(count, seed)};
    for (CodecId codec : DeviceCodecIds()) {
      const Encoding encoding = {.codec = codec,
                                 .ratio = random.Unit(),
                                 .selection = random.Chance(0.5) ? TopKSelection::kExact : TopKSelection::kSampled,
                                 .value_codec = random.Chance(0.5) ? CodecId::kFp32 : CodecId::kFp16,
                                 .seed = random.Next()};
      ExpectAsOnHost(encoding, values, device);
    }
  }
}

TEST(DeviceChunkTest, HasKernelsOfSomeCodecs) {
  EXPECT_TRUE(HasKernels(CodecId::kFp16));
  EXPECT_FALSE(HasKernels(CodecId::kInt8));
  EXPECT_TRUE(HasKernels(CheckedChunk()));
  EXPECT_FALSE(HasKernels(EncodeChunk({.codec = CodecId::kInt8}, Buffer::Allocate(10), 1)));
}

TEST(DeviceChunkTest, NoValuesHaveNoFrames) {
  EmulatedDevice device(1);
  for (CodecId codec : DeviceCodecIds()) {
    const absl::StatusOr<CheckedChunk> chunk = EncodeOnDevice({.codec = codec}, Buffer(), 2, device);
    ASSERT_TRUE(chunk.ok());
    EXPECT_TRUE(chunk->empty());
    EXPECT_EQ(chunk->weight(), 2u);
  }
}

TEST(DeviceChunkTest, NoFramesAreZeros) {
  EmulatedDevice device(1);
  Buffer values = Buffer::CopyOf(GaussianSamples(10, 5));
  EXPECT_TRUE(AddOnDevice({CheckedChunk()}, true, values, device).ok());
  EXPECT_THAT(values.floats(), Each(0));
}

TEST(DeviceChunkTest, AddsChunksOfSeveralCodecsInOrder) {
  EmulatedDevice device(1);
  std::vector<CheckedChunk> chunks;
  for (CodecId codec : DeviceCodecIds()) {
    chunks.push_back(EncodeChunk({.codec = codec, .ratio = 0.1}, Buffer::CopyOf(GaussianSamples(3000, 7)), 1));
  }
  for (const bool is_fresh : {true, false}) {
    Buffer expected = Buffer::CopyOf(GaussianSamples(3000, 8));
    Buffer got = Buffer::CopyOf(GaussianSamples(3000, 8));
    ProcessorDevice().Add(chunks, is_fresh, expected);
    const EmulatedDevice::Copies before = device.to_device();
    ASSERT_TRUE(AddOnDevice(chunks, is_fresh, got, device).ok());
    EXPECT_EQ(got.floats(), expected.floats());
    EXPECT_EQ(device.to_device().copies - before.copies, std::ssize(chunks) + (is_fresh ? 0 : 1));
  }
  EXPECT_EQ(device.to_host().copies, 2);
}

// Frames moved into a larger chunk: with gaps between them, or one behind the other.
TEST(DeviceChunkTest, FramesStandForTheirOwnRange) {
  EmulatedDevice device(1);
  for (CodecId codec : DeviceCodecIds()) {
    for (const int64_t gap : {100, 0}) {
      std::vector<float> negative = GaussianSamples(700, 3);
      negative[5] = -0.0f;
      EncodedChunk chunk = EncodeChunk({.codec = codec, .ratio = 1}, Buffer::CopyOf(negative), 1).encoded();
      chunk.frames.push_back(chunk.frames[0]);
      chunk.payload.push_back(chunk.payload[0]);
      chunk.frames[0].first_element = gap;
      chunk.frames[1].first_element = 700 + 2 * gap;
      const int64_t elements = 1400 + 2 * gap;
      const CheckedChunk checked = *CheckChunk(chunk, elements);
      Buffer got = Buffer::CopyOf(GaussianSamples(elements, 5));
      std::vector<float> expected(elements);
      DecodeChunk(checked, absl::MakeSpan(expected));
      ASSERT_TRUE(AddOnDevice({checked}, true, got, device).ok());
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0) << static_cast<int>(codec);
    }
  }
}

// What came from a peer and passed CheckChunk() decodes to the same bits.
TEST(DeviceChunkTest, DamagedFramesThatPassTheCheckGiveTheHostsBits) {
  EmulatedDevice device(1);
  Random random(2);
  int passed = 0;
  for (int i = 0; i < 4000; ++i) {
    const CodecId codec = DeviceCodecIds()[i % DeviceCodecIds().size()];
    EncodedChunk chunk =
        EncodeChunk({.codec = codec, .ratio = 0.2}, Buffer::CopyOf(GaussianSamples(90, i)), 1).encoded();
    std::vector<uint8_t> bytes(chunk.payload[0].bytes().begin(), chunk.payload[0].bytes().end());
    bytes[random.Below(std::min<size_t>(bytes.size(), 20))] ^= static_cast<uint8_t>(1 << random.Below(8));
    chunk.payload[0] = Buffer::CopyOfBytes(bytes);
    if (random.Chance(0.1)) chunk.frames[0].first_element = random.Between(0, 10);
    const absl::StatusOr<CheckedChunk> checked = CheckChunk(chunk, 100);
    if (!checked.ok()) continue;
    ++passed;
    Buffer got = Buffer::CopyOf(GaussianSamples(100, 5));
    std::vector<float> expected = GaussianSamples(100, 5);
    DecodeAddChunk(*checked, absl::MakeSpan(expected));
    ASSERT_TRUE(AddOnDevice({*checked}, false, got, device).ok());
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), got.size_bytes()), 0);
  }
  EXPECT_GT(passed, 1000);
}

// Runs out of memory at each allocation in turn; what was in the sum stays.
TEST(DeviceChunkTest, MemoryThatDoesNotSufficeIsAnError) {
  const Buffer values = Buffer::CopyOf(GaussianSamples(3000, 5));
  for (CodecId codec : DeviceCodecIds()) {
    for (TopKSelection selection : {TopKSelection::kExact, TopKSelection::kSampled}) {
      const Encoding encoding = {.codec = codec, .ratio = 0.05, .selection = selection};
      const CheckedChunk received = EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(3000, 1)), 1);
      int64_t enough = 1;
      for (absl::Status status = absl::UnknownError(""); !status.ok(); ++enough) {
        ASSERT_LT(enough, 100);
        EmulatedDevice device(1, enough);
        Buffer sum = values;
        status = EncodeOnDevice(encoding, values, 1, device).status();
        if (status.ok()) status = AddOnDevice({received}, false, sum, device);
        EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kResourceExhausted) << status;
        EXPECT_EQ(sum.data() == values.data(), !status.ok());
      }
      EXPECT_GT(enough, 3);
      EXPECT_EQ(values.floats(), Buffer::CopyOf(GaussianSamples(3000, 5)).floats());
    }
  }
}

}  // namespace
}  // namespace banyan
