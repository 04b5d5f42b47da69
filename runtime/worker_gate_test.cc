#include "runtime/worker_gate.h"

#include <future>
#include <memory>
#include <variant>
#include <vector>

#include "core/event.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

class WorkerGateTest : public testing::Test {
 protected:
  // A barrier's request, as posted; its end goes to `ends_`.
  RequestId Call(Buffer result = Buffer()) {
    gate_->Call(
        std::move(result),
        [](RequestId request) {
          return WorkerBarrier{request, WorkerId(0)};
        },
        [this](const CompleteRequest& complete) { ends_.push_back(complete); });
    std::vector<Event> events = queue_->Take();
    return events.empty() ? RequestId() : std::get<WorkerBarrier>(std::get<WorkerCalled>(events.at(0)).call).request;
  }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerGate> gate_ = std::make_shared<WorkerGate>(queue_, pool_);
  std::vector<CompleteRequest> ends_;
};

TEST_F(WorkerGateTest, EachRequestHasItsOwnIdAndEndsOnce) {
  const RequestId first = Call();
  const RequestId second = Call();
  EXPECT_LT(first, second);
  gate_->Complete({second, absl::OkStatus(), KeyId(1), Round(2)});
  gate_->Complete({second, absl::InternalError("again"), KeyId(), Round()});
  gate_->Complete({RequestId(99), absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].request, second);
  EXPECT_EQ(ends_[0].round, Round(2));
}

TEST_F(WorkerGateTest, WritesToNobodyAreDropped) {
  gate_->Write({RequestId(99), 0, Buffer::Allocate(4)});
  const RequestId request = Call();
  gate_->Write({request, 0, Buffer::Allocate(4)});
  gate_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].status.ok());
}

TEST_F(WorkerGateTest, ASmallResultWaitsForNoOtherThread) {
  std::promise<void> go_on;
  pool_.Submit([wait = go_on.get_future().share()] { wait.wait(); });
  const Buffer result = Buffer::Allocate(4);
  const RequestId request = Call(result);
  gate_->Write({request, 1, Buffer::CopyOf({7, 8})});
  gate_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].status.ok());
  EXPECT_EQ(result.floats(), (std::vector<float>{0, 7, 8, 0}));
  go_on.set_value();
}

TEST_F(WorkerGateTest, AResultThatIsStillBeingCopiedAtTheEndIsNoSuccess) {
  std::promise<void> go_on;
  pool_.Submit([wait = go_on.get_future().share()] { wait.wait(); });
  const RequestId request = Call(Buffer::Allocate(1 << 20));
  gate_->Write({request, 0, Buffer::Allocate(1 << 20)});
  gate_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_TRUE(ends_.empty());
  gate_->Close(absl::UnavailableError("stopped"));
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].status, absl::UnavailableError("stopped"));
  go_on.set_value();
  EXPECT_EQ(Call(), RequestId());
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(WorkerGateTest, AWorkerIdIsReservedOnce) {
  EXPECT_TRUE(gate_->Reserve(WorkerId(1)).ok());
  EXPECT_EQ(gate_->Reserve(WorkerId(1)).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(gate_->Reserve(WorkerId(2)).ok());
  gate_->Release(WorkerId(1));
  EXPECT_TRUE(gate_->Reserve(WorkerId(1)).ok());
  gate_->Close(absl::UnavailableError("stopped"));
  EXPECT_EQ(gate_->Reserve(WorkerId(3)), absl::UnavailableError("stopped"));
}

}  // namespace
}  // namespace banyan
