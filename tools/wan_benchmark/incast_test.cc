// Skipped where the system lets nobody make namespaces or TUN devices.
#include "tools/wan_benchmark/incast.h"

#include <gtest/gtest.h>

#include "tools/wan_benchmark/gradient_packet.h"
#include "wan/testing/testing_wan.h"

namespace banyan {
namespace {

class IncastTest : public ::testing::Test {
 protected:
  void Start(uint32_t trim_bytes) {
    wan_.options.view = TestingView(2, {{1, 2, 8, 1}});
    wan_.options.trim_bytes = trim_bytes;
    const absl::Status status = wan_.Start();
    if (IsForbidden(status)) GTEST_SKIP() << status.message();
    ASSERT_TRUE(status.ok()) << status;
  }

  // Ten times as fast as the link: what its queue has no room for is much.
  static IncastOptions Options() {
    return {.senders = {"n1"}, .receiver = "n2", .rate_bps = 80e6, .rows = 2, .is_trimmable = true};
  }

  TestingWan wan_;
};

TEST_F(IncastTest, PacketsAreCutToTheirSignsAndStillDecode) {
  ASSERT_NO_FATAL_FAILURE(Start(28 + kSignsEnd));
  if (IsSkipped()) return;
  const absl::StatusOr<IncastResult> result = RunIncast(wan_.client(), Options());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT(result->cut, 0);
  EXPECT_GT(result->whole, 0);
  EXPECT_NEAR(result->whole + result->cut + result->lost, 1, 1e-9);
  // A cut number is off by 0.571 of its square, a lost one by all of it.
  EXPECT_NEAR(result->error, 0.571 * result->cut + result->lost, 0.05);
  EXPECT_GT(wan_.Status().FindLink("n1", "n2")->trimmed_packets, 0);
}

TEST_F(IncastTest, WithoutTrimmingTheyAreLost) {
  ASSERT_NO_FATAL_FAILURE(Start(0));
  if (IsSkipped()) return;
  const absl::StatusOr<IncastResult> result = RunIncast(wan_.client(), Options());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->cut, 0);
  EXPECT_GT(result->lost, 0);
}

TEST_F(IncastTest, OfTcpAllArrives) {
  ASSERT_NO_FATAL_FAILURE(Start(0));
  if (IsSkipped()) return;
  IncastOptions options = Options();
  options.is_tcp = true;
  options.is_trimmable = false;
  const absl::StatusOr<IncastResult> result = RunIncast(wan_.client(), options);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->whole, 1);
}

}  // namespace
}  // namespace banyan
