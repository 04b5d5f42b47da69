#include "runtime/operation.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(OperationTest, ATimeoutNamesWhatItWaitedForAndLeavesItRunning) {
  Operation operation("node n1, key w", {});
  operation.SetRound(5);
  const absl::Status timeout = operation.Wait(absl::Milliseconds(1));
  EXPECT_EQ(timeout.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(timeout.message(), "node n1, key w, round 5: not done after 1ms; it goes on");
  EXPECT_FALSE(operation.done());
  operation.Finish(absl::OkStatus());
  EXPECT_TRUE(operation.Wait(absl::ZeroDuration()).ok());
}

TEST(OperationTest, ItsErrorNamesItAndTheFirstEndCounts) {
  Operation operation("node n1, key w", {});
  operation.Finish(absl::UnavailableError("node n3 was lost"));
  operation.Finish(absl::OkStatus());
  EXPECT_EQ(operation.Wait(absl::InfiniteDuration()), absl::UnavailableError("node n1, key w: node n3 was lost"));
}

TEST(OperationTest, OnlyAnOperationWithAResultHoldsMemory) {
  Operation without("x", {});
  without.WaitUntilResultIsFree();
  std::vector<float> result(3);
  Operation with("x", absl::MakeSpan(result));
  std::thread finisher([&] { with.Finish(absl::OkStatus()); });
  with.WaitUntilResultIsFree();
  EXPECT_TRUE(with.done());
  finisher.join();
}

}  // namespace
}  // namespace banyan
