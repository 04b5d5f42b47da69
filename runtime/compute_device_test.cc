#include "runtime/compute_device.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compression/codec_registry.h"
#include "compression/cuda/emulated_device.h"
#include "compression/testing/testing_samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kBriefElements = ComputeDevice::kBriefBytes / 4;

Buffer Values(int64_t elements, uint64_t seed = 1) { return Buffer::CopyOf(GaussianSamples(elements, seed)); }

std::vector<uint8_t> BytesOf(const Buffer& buffer) {
  const absl::Span<const uint8_t> bytes = buffer.bytes();
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

std::vector<std::vector<uint8_t>> FramesOf(const CheckedChunk& chunk) {
  std::vector<std::vector<uint8_t>> frames;
  for (const Buffer& frame : chunk.encoded().payload) frames.push_back(BytesOf(frame));
  return frames;
}

class ComputeDeviceTest : public testing::Test {
 protected:
  // A device with memory for so many allocations.
  void Open(int64_t allocations = INT64_MAX) {
    auto emulated = std::make_unique<EmulatedDevice>(1, allocations);
    emulated_ = emulated.get();
    device_ = std::make_unique<ComputeDevice>("emulated", std::move(emulated), log());
  }

  ComputeDevice::Log log() {
    return [this](LogLevel, absl::string_view text) { lines_.emplace_back(text); };
  }
  int64_t copies() const { return emulated_->to_device().copies + emulated_->to_host().copies; }

  std::vector<std::string> lines_;
  EmulatedDevice* emulated_ = nullptr;
  std::unique_ptr<ComputeDevice> device_;
};

// Of those without kernels too, which a job may use beside the others.
TEST_F(ComputeDeviceTest, EveryCodecHasTheProcessorsBits) {
  Open();
  for (const int64_t elements : {kBriefElements, kBriefElements + 1}) {
    for (CodecId codec : KnownCodecs()) {
      SCOPED_TRACE(static_cast<int>(codec));
      const Encoding encoding = {.codec = codec, .ratio = 0.05, .seed = 3};
      const CheckedChunk expected = ProcessorDevice().Encode(encoding, Values(elements), 2);
      const CheckedChunk chunk = device_->Encode(encoding, Values(elements), 2);
      EXPECT_EQ(chunk.encoded().frames, expected.encoded().frames);
      EXPECT_EQ(FramesOf(chunk), FramesOf(expected));
      EXPECT_EQ(chunk.weight(), 2u);
      for (const bool is_fresh : {true, false}) {
        Buffer sum = Values(elements, 2);
        Buffer expected_sum = Values(elements, 2);
        const std::vector<CheckedChunk> both = {chunk, ProcessorDevice().Encode({}, Values(elements, 4), 1)};
        device_->Add(both, is_fresh, sum);
        ProcessorDevice().Add(both, is_fresh, expected_sum);
        EXPECT_EQ(BytesOf(sum), BytesOf(expected_sum));
      }
    }
  }
  EXPECT_GT(copies(), 0);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(ComputeDeviceTest, BriefWorkIsTheProcessors) {
  Open();
  const CheckedChunk chunk = device_->Encode({.codec = CodecId::kFp16}, Values(kBriefElements), 1);
  Buffer sum = Values(kBriefElements);
  device_->Add({chunk}, false, sum);
  EXPECT_EQ(copies(), 0);
}

TEST_F(ComputeDeviceTest, WhatTheDeviceHasNoMemoryForIsTheProcessorsAndToldOnce) {
  Open(0);
  const Encoding encoding = {.codec = CodecId::kFp16};
  const Buffer values = Values(kBriefElements + 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(FramesOf(device_->Encode(encoding, values, 1)), FramesOf(ProcessorDevice().Encode(encoding, values, 1)));
  }
  ASSERT_THAT(lines_, SizeIs(1));
  EXPECT_THAT(lines_[0], HasSubstr("device emulated: the emulated device has no memory left; the processor"));
  device_->LogWork();
  EXPECT_EQ(lines_[1], "device emulated: encoded 0 chunks, made 0 sums; had no memory for 3");
}

// Fails at the second copy back to the host, and would fail no more.
class FaultyDevice : public EmulatedDevice {
 public:
  FaultyDevice() : EmulatedDevice(1) {}
  absl::Status CopyToHost(const void* device, int64_t size_bytes, void* host) override {
    if (++copies_ == 2) return absl::InternalError("copying to the host on GPU 0: an illegal access");
    return EmulatedDevice::CopyToHost(device, size_bytes, host);
  }

 private:
  int copies_ = 0;
};

TEST_F(ComputeDeviceTest, AfterAFaultTheProcessorDoesEverything) {
  const ComputeDevice device("cuda:0", std::make_unique<FaultyDevice>(), log());
  const CheckedChunk chunk = ProcessorDevice().Encode({.codec = CodecId::kFp16}, Values(kBriefElements + 1), 1);
  Buffer sum = Values(kBriefElements + 1, 2);
  Buffer expected = Values(kBriefElements + 1, 2);
  for (int i = 0; i < 4; ++i) {
    device.Add({chunk}, false, sum);
    ProcessorDevice().Add({chunk}, false, expected);
  }
  EXPECT_EQ(BytesOf(sum), BytesOf(expected));
  device.LogWork();
  ASSERT_THAT(lines_, SizeIs(2));
  EXPECT_THAT(lines_[0], HasSubstr("an illegal access; the processor computes everything from now on"));
  EXPECT_EQ(lines_[1], "device cuda:0: encoded 0 chunks, made 1 sums; had no memory for 0");
}

TEST_F(ComputeDeviceTest, NamesAreChecked) {
  for (const char* name : {"cpu", "emulated", "cuda:0", "cuda:15"}) EXPECT_TRUE(ComputeDevice::CheckName(name).ok());
  for (const char* name : {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:x", "emulated:0"}) {
    EXPECT_THAT(std::string(ComputeDevice::CheckName(name).message()),
                HasSubstr(absl::StrCat("expected cpu, cuda:N such as cuda:0, or emulated, got '", name, "'")));
  }
}

TEST_F(ComputeDeviceTest, OpensTheProcessorAndTheEmulatedDevice) {
  EXPECT_EQ(ComputeDevice::Open("cpu", log()).value(), nullptr);
  EXPECT_NE(ComputeDevice::Open("emulated", log()).value(), nullptr);
}

// No machine has as many. A build without CUDA says that it is one.
TEST_F(ComputeDeviceTest, AGpuThatIsNotThereIsAnError) {
  const absl::Status status = ComputeDevice::Open("cuda:1000", log()).status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("--device cuda:1000: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("expected"));
  EXPECT_THAT(std::string(status.message()), testing::EndsWith("; or leave --device out"));
}

}  // namespace
}  // namespace banyan
