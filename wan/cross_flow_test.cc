// Skipped where the system lets nobody make namespaces or TUN devices.
#include "wan/cross_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "wan/testing/testing_wan.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr double kRateBps = 8e6;

class CrossFlowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    wan_.options.view = TestingView(2, {{1, 2, 100, 1}});
    const absl::Status status = wan_.Start();
    if (IsForbidden(status)) GTEST_SKIP() << status.message();
    ASSERT_TRUE(status.ok()) << status;
  }
  static CrossFlowOptions Flow(bool is_tcp) {
    return {.from = "n1",
            .to = "n2",
            .is_tcp = is_tcp,
            .rate_bps = kRateBps,
            .on = absl::Milliseconds(100),
            .off = absl::Milliseconds(100),
            .length = absl::Milliseconds(600)};
  }

  TestingWan wan_;
};

// Three bursts of 100 ms at 1 MB/s. A machine that is slow sends less, none sends more.
TEST_F(CrossFlowTest, SendsItsRateInBurstsThroughTheQueues) {
  for (const bool is_tcp : {false, true}) {
    const int64_t before = wan_.Status().FindLink("n1", "n2")->bytes;
    absl::StatusOr<CrossFlow> flow = CrossFlow::Open(wan_.client(), Flow(is_tcp));
    ASSERT_TRUE(flow.ok()) << flow.status();
    ASSERT_TRUE(flow->Run(-1).ok());
    EXPECT_GT(flow->sent_bytes(), 0);
    EXPECT_LE(flow->sent_bytes(), 300'000);
    EXPECT_GT(flow->received_bytes(), 0);
    EXPECT_LE(flow->received_bytes(), flow->sent_bytes());
    EXPECT_GE(wan_.Status().FindLink("n1", "n2")->bytes - before, flow->received_bytes());
  }
}

TEST_F(CrossFlowTest, EndsWhenItIsTold) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  CrossFlowOptions options = Flow(/*is_tcp=*/false);
  options.length = absl::Hours(1);
  absl::StatusOr<CrossFlow> flow = CrossFlow::Open(wan_.client(), options);
  ASSERT_TRUE(flow.ok()) << flow.status();
  EXPECT_TRUE(flow->Run(ends[0]).ok());
  close(ends[0]);
  close(ends[1]);
}

TEST_F(CrossFlowTest, NamesTheNodeThatIsNotThere) {
  CrossFlowOptions options = Flow(/*is_tcp=*/false);
  options.to = "n9";
  EXPECT_THAT(std::string(CrossFlow::Open(wan_.client(), options).status().message()), HasSubstr("no node 'n9'"));
}

}  // namespace
}  // namespace banyan
