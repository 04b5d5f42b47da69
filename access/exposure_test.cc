#include "access/exposure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(ExposureTest, ThisMachineAloneNeedsNoKeys) {
  EXPECT_TRUE(CheckExposure({"tcp://127.0.0.1:7700", "", "tcp://[::1]:0", "tcp://localhost:1"}, false, false).ok());
}

TEST(ExposureTest, BeyondItKeysOrTheWishToDoWithoutAreNeeded) {
  for (const char* address : {"tcp://10.0.0.1:7700", "tcp://*:7700", "tcp://[::]:7700", "tcp://site.example:7700"}) {
    const absl::Status status = CheckExposure({"tcp://127.0.0.1:1", address}, false, false);
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << address;
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr("banyan keygen --all"));
    EXPECT_TRUE(CheckExposure({address}, true, false).ok());
    EXPECT_TRUE(CheckExposure({address}, false, true).ok());
  }
}

}  // namespace
}  // namespace banyan
