// The kernels on a GPU against the host's codecs. Skipped where there is none.
#include "compression/cuda/cuda_device.h"

#include <memory>
#include <string>
#include <vector>

#include "compression/cuda/testing/testing_conformance.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(CudaDeviceErrorsTest, OpensNoGpuThatIsNotThere) {
  for (int number : {-1, 1000}) {
    const absl::Status status = CudaDevice::Open(number).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    if (!CudaDevice::Count().ok()) {
      EXPECT_THAT(std::string(status.message()), HasSubstr("expected a CUDA GPU, got none"));
    }
  }
}

class CudaDeviceTest : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    const absl::StatusOr<int> count = CudaDevice::Count();
    if (!count.ok()) GTEST_SKIP() << count.status().message();
    absl::StatusOr<std::unique_ptr<CudaDevice>> device = CudaDevice::Open(0);
    ASSERT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }

  std::unique_ptr<CudaDevice> device_;
};

TEST_P(CudaDeviceTest, EveryCodecDoesWhatItDoesOnTheHost) {
  const int64_t count = GetParam();
  const std::vector<NamedValues> all = ConformanceValues(count, static_cast<uint64_t>(count));
  for (const Encoding& encoding : ConformanceEncodings()) {
    for (const NamedValues& values : all) ExpectAsOnHost(encoding, values, *device_);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaDeviceTest,
                         testing::Values(1, 31, 32, 33, 511, 1000, 1023, 1024, 3000, 4097, 32768, 65536, 65537, 100003,
                                         1000001));

using CudaDeviceLimitsTest = CudaDeviceTest;

TEST_P(CudaDeviceLimitsTest, MemoryThatDoesNotSufficeIsAnError) {
  const absl::Status status = device_->Allocate(GetParam(), DataType::kByte).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_TRUE(device_->Allocate(1000, DataType::kByte).ok());
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaDeviceLimitsTest, testing::Values(int64_t{1} << 46));

}  // namespace
}  // namespace banyan
