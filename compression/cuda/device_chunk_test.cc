// The kernels, run by the emulated device, against the host's codecs; and what is refused.
#include "compression/cuda/device_chunk.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "compression/cuda/device_codec.h"
#include "compression/cuda/emulated_device.h"
#include "compression/cuda/testing/testing_conformance.h"
#include "compression/testing/testing_samples.h"
#include "core/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class DeviceChunkTest : public testing::TestWithParam<int64_t> {};

// Long chunks take a third of the kinds of values, for time.
TEST_P(DeviceChunkTest, EveryCodecDoesWhatItDoesOnTheHost) {
  const int64_t count = GetParam();
  const size_t stride = count < 10000 ? 1 : 3;
  EmulatedDevice device(static_cast<uint64_t>(count));
  const std::vector<NamedValues> all = ConformanceValues(count, static_cast<uint64_t>(count));
  for (const Encoding& encoding : ConformanceEncodings()) {
    for (size_t i = 0; i < all.size(); i += stride) ExpectAsOnHost(encoding, all[i], device);
  }
}

// Around the sizes of groups, blocks, tiles and rows, and what is cut from rows.
INSTANTIATE_TEST_SUITE_P(Sizes, DeviceChunkTest,
                         testing::Values(1, 2, 7, 8, 31, 32, 33, 100, 255, 511, 512, 513, 1000, 1023, 1024, 1025, 1537,
                                         2048, 3000, 4095, 4096, 4097, 7168, 8191, 10000, 32767, 32768, 65536, 65537,
                                         131071));

TEST(DeviceChunkSeedsTest, EverySeedGivesTheHostsBytes) {
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

// The float32 values as the device's memory.
Buffer Values(int64_t count, Device& device) {
  const std::vector<float> values = GaussianSamples(count, 5);
  Buffer buffer = *device.Allocate(count, DataType::kFloat32);
  EXPECT_TRUE(device.CopyToDevice(values.data(), buffer.size_bytes(), buffer.mutable_data()).ok());
  return buffer;
}

std::vector<float> OnHost(const Buffer& values, Device& device) {
  std::vector<float> host(values.elements());
  EXPECT_TRUE(device.CopyToHost(values.data(), values.size_bytes(), host.data()).ok());
  return host;
}

TEST(DeviceChunkErrorsTest, NoValuesHaveNoFrames) {
  EmulatedDevice device(1);
  for (CodecId codec : DeviceCodecIds()) {
    absl::StatusOr<EncodedChunk> chunk = EncodeChunkOnDevice({.codec = codec}, Buffer(), 2, device);
    ASSERT_TRUE(chunk.ok());
    EXPECT_TRUE(chunk->empty());
    EXPECT_EQ(chunk->weight, 2u);
    Buffer none;
    EXPECT_TRUE(DecodeChunkOnDevice(*chunk, none, device).ok());
  }
}

TEST(DeviceChunkErrorsTest, NoFramesAreZeros) {
  EmulatedDevice device(1);
  Buffer values = Values(10, device);
  EXPECT_TRUE(DecodeChunkOnDevice({}, values, device).ok());
  EXPECT_EQ(OnHost(values, device), std::vector<float>(10, 0.0f));
}

TEST(DeviceChunkErrorsTest, OtherCodecsAreRefused) {
  EmulatedDevice device(1);
  Buffer values = Values(10, device);
  const absl::Status encoded = EncodeChunkOnDevice({.codec = CodecId::kInt8}, values, 1, device).status();
  EXPECT_EQ(encoded.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(encoded.message()), HasSubstr("got codec 5"));
  const EncodedChunk chunk = EncodeChunk({.codec = CodecId::kInt8}, Buffer::Allocate(10), 1).encoded();
  EXPECT_EQ(DecodeChunkOnDevice(chunk, values, device).code(), absl::StatusCode::kInvalidArgument);
}

TEST(DeviceChunkErrorsTest, ValuesOfTheHostAreRefused) {
  EmulatedDevice device(1);
  Buffer host = Buffer::Allocate(10);
  EXPECT_FALSE(EncodeChunkOnDevice({.codec = CodecId::kFp16}, host, 1, device).ok());
  EXPECT_FALSE(DecodeAddChunkOnDevice({}, host, device).ok());
  Buffer bytes = *device.Allocate(40, DataType::kByte);
  EXPECT_FALSE(EncodeChunkOnDevice({.codec = CodecId::kFp16}, bytes, 1, device).ok());
}

TEST(DeviceChunkErrorsTest, ValueCodecsThatTopKLacksAreRefused) {
  EmulatedDevice device(1);
  const Encoding encoding = {.codec = CodecId::kTopK, .ratio = 0.1, .value_codec = CodecId::kSign};
  const absl::Status status = EncodeChunkOnDevice(encoding, Values(10, device), 1, device).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
}

TEST(DeviceChunkErrorsTest, MoreElementsThanTopKHasAreRefused) {
  EmulatedDevice device(1);
  float one = 0;
  const Buffer huge = Buffer::Wrap(&one, int64_t{1} << 31, DataType::kFloat32, MemoryKind::kDevice, nullptr);
  EXPECT_FALSE(EncodeChunkOnDevice({.codec = CodecId::kTopK}, huge, 1, device).ok());
}

// A frame moved into a larger chunk, and several frames.
TEST(DeviceChunkErrorsTest, FramesAddToTheirOwnRange) {
  EmulatedDevice device(1);
  for (CodecId codec : DeviceCodecIds()) {
    EncodedChunk chunk =
        EncodeChunk({.codec = codec, .ratio = 0.5}, Buffer::CopyOf(GaussianSamples(700, 3)), 1).encoded();
    chunk.frames.push_back(chunk.frames[0]);
    chunk.payload.push_back(chunk.payload[0]);
    chunk.frames[0].first_element = 100;
    chunk.frames[1].first_element = 800;
    Buffer values = Values(1600, device);
    std::vector<float> expected(1600);
    DecodeChunk(*CheckChunk(chunk, 1600), absl::MakeSpan(expected));
    ASSERT_TRUE(DecodeChunkOnDevice(chunk, values, device).ok());
    EXPECT_EQ(OnHost(values, device), expected);
  }
}

TEST(DeviceChunkErrorsTest, FramesNeedNoAlignment) {
  EmulatedDevice device(1);
  const int64_t count = 3001;
  for (const Encoding& encoding : ConformanceEncodings()) {
    const CheckedChunk on_host = EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(count, 3)), 1);
    std::vector<float> expected(count);
    DecodeChunk(on_host, absl::MakeSpan(expected));
    EncodedChunk chunk = on_host.encoded();
    Buffer memory = *device.Allocate(chunk.payload[0].size_bytes() + 1, DataType::kByte);
    Buffer moved = memory.Slice(1, chunk.payload[0].size_bytes());
    ASSERT_TRUE(device.CopyToDevice(chunk.payload[0].data(), moved.size_bytes(), moved.mutable_data()).ok());
    chunk.payload[0] = moved;
    Buffer values = Values(count, device);
    ASSERT_TRUE(DecodeChunkOnDevice(chunk, values, device).ok());
    EXPECT_EQ(OnHost(values, device), expected);
  }
}

// What the host refuses the device refuses, and changes nothing; whatever else comes decodes to the same bits.
TEST(DeviceChunkErrorsTest, CorruptFramesAreRefusedAsOnTheHost) {
  EmulatedDevice device(1);
  Random random(2);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const CodecId codec = DeviceCodecIds()[i % DeviceCodecIds().size()];
    EncodedChunk chunk =
        EncodeChunk({.codec = codec, .ratio = 0.2}, Buffer::CopyOf(GaussianSamples(90, i)), 1).encoded();
    std::vector<uint8_t> bytes(chunk.payload[0].bytes().begin(), chunk.payload[0].bytes().end());
    bytes[random.Below(std::min<size_t>(bytes.size(), 20))] ^= static_cast<uint8_t>(1 << random.Below(8));
    if (random.Chance(0.2)) bytes.pop_back();
    chunk.payload[0] = Buffer::CopyOfBytes(bytes);
    chunk.frames[0].size_bytes = std::ssize(bytes);
    if (random.Chance(0.1)) chunk.frames[0].first_element = random.Between(-1, 20);
    Buffer values = Values(100, device);
    std::vector<float> expected = OnHost(values, device);
    const absl::StatusOr<CheckedChunk> checked = CheckChunk(chunk, 100);
    EXPECT_EQ(DecodeAddChunkOnDevice(chunk, values, device), checked.status());
    if (checked.ok()) DecodeAddChunk(*checked, absl::MakeSpan(expected));
    refused += !checked.ok();
    const std::vector<float> got = OnHost(values, device);
    ASSERT_EQ(std::memcmp(got.data(), expected.data(), 400), 0);
  }
  EXPECT_GT(refused, 1000);
}

// Runs out of memory at each allocation in turn.
TEST(DeviceChunkErrorsTest, MemoryThatDoesNotSufficeIsAnError) {
  for (CodecId codec : DeviceCodecIds()) {
    for (TopKSelection selection : {TopKSelection::kExact, TopKSelection::kSampled}) {
      const Encoding encoding = {.codec = codec, .ratio = 0.05, .selection = selection};
      const EncodedChunk received = EncodeChunk(encoding, Buffer::CopyOf(GaussianSamples(3000, 1)), 1).encoded();
      int64_t enough = 1;
      for (absl::Status status = absl::UnknownError(""); !status.ok(); ++enough) {
        ASSERT_LT(enough, 100);
        EmulatedDevice device(1, enough);
        Buffer values = Values(3000, device);
        status = EncodeChunkOnDevice(encoding, values, 1, device).status();
        if (status.ok()) status = DecodeAddChunkOnDevice(received, values, device);
        EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kResourceExhausted) << status;
      }
      EXPECT_GT(enough, 3);
    }
  }
}

}  // namespace
}  // namespace banyan
