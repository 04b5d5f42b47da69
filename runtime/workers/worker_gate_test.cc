#include "runtime/workers/worker_gate.h"

#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/event.h"

namespace banyan {
namespace {

class WorkerGateTest : public testing::Test {
 protected:
  // A barrier's request, as posted; its end goes to `ends_`.
  RequestId Call(Buffer result = Buffer(), WorkerId worker = WorkerId(0)) {
    gate_->Call(
        worker, std::move(result),
        [worker](RequestId request) {
          return WorkerBarrier{request, worker};
        },
        [this](const CompleteRequest& complete) { ends_.push_back(complete); });
    std::vector<Event> events = queue_->Take();
    return events.empty() ? RequestId() : std::get<WorkerBarrier>(std::get<WorkerCalled>(events.at(0)).call).request;
  }

  // The request of an attach, as posted; what the worker is told goes to `rounds_` and `job_ends_`.
  RequestId Attach(WorkerId worker) {
    gate_->Attach(worker,
                  {.round_complete = [this](KeyId key, Round round) { rounds_.emplace_back(key, round); },
                   .job_ended = [this](const absl::Status& reason) { job_ends_.push_back(reason); }},
                  [this](const CompleteRequest& complete) { ends_.push_back(complete); });
    std::vector<Event> events = queue_->Take();
    return events.empty() ? RequestId() : std::get<WorkerAttach>(std::get<WorkerCalled>(events.at(0)).call).request;
  }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerGate> gate_ = std::make_shared<WorkerGate>(queue_, pool_);
  std::vector<CompleteRequest> ends_;
  std::vector<std::pair<KeyId, Round>> rounds_;
  std::vector<absl::Status> job_ends_;
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

TEST_F(WorkerGateTest, TellsAWorkerFromItsAttachToItsDetach) {
  const RequestId request = Attach(WorkerId(1));
  gate_->Tell(TellRoundComplete{WorkerId(1), KeyId(3), Round(4)});
  EXPECT_TRUE(rounds_.empty()) << "nobody knows yet whether it is attached";
  gate_->Complete({request, absl::OkStatus(), KeyId(), Round(1)});
  ASSERT_EQ(ends_.size(), 1u);
  gate_->Tell(TellRoundComplete{WorkerId(1), KeyId(3), Round(5)});
  gate_->Tell(TellRoundComplete{WorkerId(2), KeyId(3), Round(5)});
  gate_->Tell(TellJobEnded{absl::UnavailableError("node n3 was lost")});
  EXPECT_EQ(rounds_, (std::vector<std::pair<KeyId, Round>>{{KeyId(3), Round(5)}}));
  EXPECT_EQ(job_ends_, std::vector<absl::Status>{absl::UnavailableError("node n3 was lost")});
  gate_->Detach(WorkerId(1), true);
  gate_->Tell(TellRoundComplete{WorkerId(1), KeyId(3), Round(6)});
  gate_->Tell(TellJobEnded{absl::UnavailableError("node n4 was lost")});
  EXPECT_EQ(rounds_.size(), 1u);
  EXPECT_EQ(job_ends_.size(), 1u);
}

TEST_F(WorkerGateTest, ARefusedAttachTakesNobodysPlace) {
  gate_->Complete({Attach(WorkerId(1)), absl::OkStatus(), KeyId(), Round(1)});
  const RequestId second = Attach(WorkerId(1));
  gate_->Complete({second, absl::AlreadyExistsError("worker 1 is attached already"), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status.code(), absl::StatusCode::kAlreadyExists);
  gate_->Tell(TellRoundComplete{WorkerId(1), KeyId(3), Round(5)});
  EXPECT_EQ(rounds_.size(), 1u) << "the first one is told, and once";
}

TEST_F(WorkerGateTest, ItsEndIsTheEndOfTheJob) {
  gate_->Complete({Attach(WorkerId(1)), absl::OkStatus(), KeyId(), Round(1)});
  gate_->Close(absl::UnavailableError("stopped"));
  gate_->Close(absl::UnavailableError("stopped again"));
  EXPECT_EQ(job_ends_, std::vector<absl::Status>{absl::UnavailableError("stopped")});
  Attach(WorkerId(2));
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status, absl::UnavailableError("stopped"));
}

TEST_F(WorkerGateTest, RequestsOfADetachedWorkerHoldNothingAndEndUnseen) {
  bool released = false;
  float values[2] = {};
  const RequestId request =
      Call(Buffer::Wrap(values, 2, DataType::kFloat32, MemoryKind::kHost, [&released] { released = true; }));
  const RequestId of_another = Call(Buffer(), WorkerId(1));
  gate_->Detach(WorkerId(0), /*clean=*/false);
  EXPECT_TRUE(released);
  gate_->Write({request, 0, Buffer::CopyOf({1.0f, 2.0f})});
  gate_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(values[1], 0);
  gate_->Complete({of_another, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(WorkerGateTest, ACopyUnderWayAtTheDetachEndsUnseen) {
  constexpr int64_t kElements = ComputePool::kBriefBytes;
  std::promise<void> released;
  std::vector<float> values(kElements);
  const RequestId request = Call(Buffer::Wrap(values.data(), kElements, DataType::kFloat32, MemoryKind::kHost,
                                              [&released] { released.set_value(); }));
  std::promise<void> go;
  pool_.Submit([future = go.get_future().share()] { future.wait(); });
  gate_->Write({request, 0, Buffer::CopyOf(std::vector<float>(kElements, 1.0f))});
  gate_->Detach(WorkerId(0), /*clean=*/false);
  go.set_value();
  released.get_future().wait();
  EXPECT_TRUE(ends_.empty());
}

TEST_F(WorkerGateTest, ASecondAttachOfAWorkerWaitsForTheEndOfTheFirst) {
  const RequestId first = Attach(WorkerId(0));
  EXPECT_EQ(Attach(WorkerId(0)), RequestId());
  const RequestId of_another = Attach(WorkerId(1));
  EXPECT_NE(of_another, RequestId());
  gate_->Detach(WorkerId(0), /*clean=*/false);
  (void)queue_->Take();
  gate_->Complete({first, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  std::vector<Event> events = queue_->Take();
  ASSERT_EQ(events.size(), 1u);
  const auto second = std::get<WorkerAttach>(std::get<WorkerCalled>(events[0]).call);
  EXPECT_EQ(second.worker, WorkerId(0));
  gate_->Complete({second.request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(ends_.size(), 2u);
  EXPECT_NE(Attach(WorkerId(0)), RequestId());
}

TEST_F(WorkerGateTest, CloseEndsAttachesThatWait) {
  Attach(WorkerId(0));
  Attach(WorkerId(0));
  gate_->Close(absl::UnavailableError("stopped"));
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status, absl::UnavailableError("stopped"));
}

}  // namespace
}  // namespace banyan
