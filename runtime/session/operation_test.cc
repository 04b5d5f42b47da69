#include "runtime/session/operation.h"

#include <memory>
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

TEST(OperationTest, ATimeoutSaysForWhomItWaited) {
  Operation operation("node n1, key w", {});
  int asked = 0;
  operation.AskBeforeTimeout([&] {
    ++asked;
    operation.SetWait("it waits for n3");
  });
  EXPECT_EQ(operation.Wait(absl::ZeroDuration()).message(), "node n1, key w: not done after 0; it goes on");
  EXPECT_EQ(asked, 0) << "there was no time";
  EXPECT_EQ(operation.Wait(absl::Milliseconds(1)).message(),
            "node n1, key w: not done after 1ms; it goes on: it waits for n3");
  operation.Finish(absl::OkStatus());
  EXPECT_TRUE(operation.Wait(absl::Seconds(60)).ok());
  EXPECT_EQ(asked, 1) << "it was done before";
}

TEST(OperationTest, ItsErrorNamesItAndTheFirstEndCounts) {
  Operation operation("node n1, key w", {});
  operation.Finish(absl::UnavailableError("node n3 was lost"));
  operation.Finish(absl::OkStatus());
  EXPECT_EQ(operation.Wait(absl::InfiniteDuration()), absl::UnavailableError("node n1, key w: node n3 was lost"));
}

TEST(OperationTest, CallsBackOnceWhenItsEndIsVisible) {
  std::vector<absl::Status> ends;
  std::shared_ptr<Operation> operation;
  operation = std::make_shared<Operation>("node n1, key w", absl::Span<float>(), [&](const absl::Status& status) {
    EXPECT_EQ(operation->Wait(absl::ZeroDuration()), status);
    ends.push_back(status);
  });
  operation->Abandon();
  EXPECT_TRUE(ends.empty());
  operation->Finish(absl::UnavailableError("node n3 was lost"));
  operation->Finish(absl::OkStatus());
  EXPECT_EQ(ends, std::vector<absl::Status>{absl::UnavailableError("node n1, key w: node n3 was lost")});
}

TEST(OperationTest, MemoryIsTheCallersOnceItIsAbandoned) {
  int uses = 0;
  Operation operation("x", {});
  operation.UseResult([&] { ++uses; });
  operation.Abandon();
  operation.UseResult([&] { ++uses; });
  EXPECT_EQ(uses, 1);
}

TEST(OperationTest, MemoryIsTheOperationsWhileACallbackIsToCome) {
  int uses = 0;
  Operation operation("x", {}, [](const absl::Status&) {});
  operation.Abandon();
  operation.UseResult([&] { ++uses; });
  EXPECT_EQ(uses, 1);
  operation.Finish(absl::OkStatus());
}

// A key with one result.
class SharedResult : public ::testing::Test {
 protected:
  SharedResult() {
    SessionKey& key = keys_->named.try_emplace("w", 4).first->second;
    key.Opened(TensorId(1), segment_);
    const auto init = key.Take(TensorCallKind::kInit, 1);
    key.Answered(TensorCallKind::kInit, *init, true, 0);
  }

  SlotLease Lend() {
    keys_->named.at("w").LendResult(0, SessionKey::Holder::kWorker);
    return SlotLease(keys_, "w", segment_, SlotLease::Row::kResults, 0);
  }
  bool IsLent() const { return keys_->named.at("w").AllResultsLent(); }

  const std::shared_ptr<SessionKeys> keys_ = std::make_shared<SessionKeys>();
  const std::shared_ptr<TensorSegment> segment_ = TensorSegment::Create({4, 1, 1}).value();
  Operation operation_{"x", {}};
};

TEST_F(SharedResult, StaysUntilTheOperationIsAbandoned) {
  operation_.KeepShared([this] { return Lend(); });
  EXPECT_TRUE(operation_.shared_result().empty());
  operation_.Finish(absl::OkStatus());
  EXPECT_EQ(operation_.shared_result().data(), segment_->result(0).data());
  EXPECT_TRUE(IsLent());
  operation_.Abandon();
  EXPECT_FALSE(IsLent());
  EXPECT_TRUE(operation_.shared_result().empty());
}

TEST_F(SharedResult, IsNotEvenLentWhenNobodyWaitsForIt) {
  operation_.Abandon();
  operation_.KeepShared([this] { return Lend(); });
  EXPECT_FALSE(IsLent());
}

}  // namespace
}  // namespace banyan
