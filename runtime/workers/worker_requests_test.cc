#include "runtime/workers/worker_requests.h"

#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "protocol/event.h"

namespace banyan {
namespace {

class WorkerRequestsTest : public testing::Test {
 protected:
  // A barrier's request, as posted; its end goes to `ends_`.
  RequestId Call(Buffer result = Buffer(), WorkerId worker = WorkerId(0)) {
    const absl::Status started = requests_of_workers_->Call(
        worker, std::move(result),
        [worker](RequestId request) {
          return WorkerCalled{WorkerBarrier{request, worker}};
        },
        [this](const CompleteRequest& complete) { ends_.push_back(complete); });
    EXPECT_TRUE(started.ok());
    std::vector<Event> events = queue_->Take();
    return events.empty() ? RequestId() : std::get<WorkerBarrier>(std::get<WorkerCalled>(events.at(0)).call).request;
  }

  // The request of an attach, as posted; what the worker is told goes to `rounds_` and `job_ends_`.
  RequestId Attach(WorkerId worker) {
    requests_of_workers_->Attach(
        worker,
        {.round_complete = [this](KeyId key, Round round) { rounds_.emplace_back(key, round); },
         .job_ended = [this](const absl::Status& reason) { job_ends_.push_back(reason); }},
        [this](const CompleteRequest& complete) { ends_.push_back(complete); });
    std::vector<Event> events = queue_->Take();
    return events.empty() ? RequestId() : std::get<WorkerAttach>(std::get<WorkerCalled>(events.at(0)).call).request;
  }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerRequests> requests_of_workers_ = std::make_shared<WorkerRequests>(queue_, pool_);
  std::vector<CompleteRequest> ends_;
  std::vector<std::pair<KeyId, Round>> rounds_;
  std::vector<absl::Status> job_ends_;
};

TEST_F(WorkerRequestsTest, EachRequestHasItsOwnIdAndEndsOnce) {
  const RequestId first = Call();
  const RequestId second = Call();
  EXPECT_LT(first, second);
  requests_of_workers_->Complete({second, absl::OkStatus(), KeyId(1), Round(2)});
  requests_of_workers_->Complete({second, absl::InternalError("again"), KeyId(), Round()});
  requests_of_workers_->Complete({RequestId(99), absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].request, second);
  EXPECT_EQ(ends_[0].round, Round(2));
}

TEST_F(WorkerRequestsTest, WritesToNobodyAreDropped) {
  requests_of_workers_->Write({RequestId(99), 0, Buffer::Allocate(4)});
  const RequestId request = Call();
  requests_of_workers_->Write({request, 0, Buffer::Allocate(4)});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].status.ok());
}

TEST_F(WorkerRequestsTest, ASmallResultWaitsForNoOtherThread) {
  std::promise<void> go_on;
  pool_.Submit([wait = go_on.get_future().share()] { wait.wait(); });
  const Buffer result = Buffer::Allocate(4);
  const RequestId request = Call(result);
  requests_of_workers_->Write({request, 1, Buffer::CopyOf({7, 8})});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_TRUE(ends_[0].status.ok());
  EXPECT_EQ(result.floats(), (std::vector<float>{0, 7, 8, 0}));
  go_on.set_value();
}

TEST_F(WorkerRequestsTest, AResultThatIsStillBeingCopiedAtTheEndIsNoSuccess) {
  std::promise<void> go_on;
  pool_.Submit([wait = go_on.get_future().share()] { wait.wait(); });
  const RequestId request = Call(Buffer::Allocate(1 << 20));
  requests_of_workers_->Write({request, 0, Buffer::Allocate(1 << 20)});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_TRUE(ends_.empty());
  requests_of_workers_->Close(absl::UnavailableError("stopped"));
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_EQ(ends_[0].status, absl::UnavailableError("stopped"));
  go_on.set_value();
  EXPECT_EQ(Call(), RequestId());
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(WorkerRequestsTest, TellsAWorkerFromItsAttachToItsDetach) {
  const RequestId request = Attach(WorkerId(1));
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(1), KeyId(3), Round(4)});
  EXPECT_TRUE(rounds_.empty()) << "nobody knows yet whether it is attached";
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round(1)});
  ASSERT_EQ(ends_.size(), 1u);
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(1), KeyId(3), Round(5)});
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(2), KeyId(3), Round(5)});
  requests_of_workers_->Notify(NotifyJobEnded{absl::UnavailableError("node n3 was lost")});
  EXPECT_EQ(rounds_, (std::vector<std::pair<KeyId, Round>>{{KeyId(3), Round(5)}}));
  EXPECT_EQ(job_ends_, std::vector<absl::Status>{absl::UnavailableError("node n3 was lost")});
  requests_of_workers_->Detach(WorkerId(1), true);
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(1), KeyId(3), Round(6)});
  requests_of_workers_->Notify(NotifyJobEnded{absl::UnavailableError("node n4 was lost")});
  EXPECT_EQ(rounds_.size(), 1u);
  EXPECT_EQ(job_ends_.size(), 1u);
}

TEST_F(WorkerRequestsTest, ARefusedAttachTakesNobodysPlace) {
  requests_of_workers_->Complete({Attach(WorkerId(1)), absl::OkStatus(), KeyId(), Round(1)});
  const RequestId second = Attach(WorkerId(1));
  requests_of_workers_->Complete({second, absl::AlreadyExistsError("worker 1 is attached already"), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status.code(), absl::StatusCode::kAlreadyExists);
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(1), KeyId(3), Round(5)});
  EXPECT_EQ(rounds_.size(), 1u) << "the first one is told, and once";
}

TEST_F(WorkerRequestsTest, ItsEndIsTheEndOfTheJob) {
  requests_of_workers_->Complete({Attach(WorkerId(1)), absl::OkStatus(), KeyId(), Round(1)});
  requests_of_workers_->Close(absl::UnavailableError("stopped"));
  requests_of_workers_->Close(absl::UnavailableError("stopped again"));
  EXPECT_EQ(job_ends_, std::vector<absl::Status>{absl::UnavailableError("stopped")});
  Attach(WorkerId(2));
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status, absl::UnavailableError("stopped"));
}

TEST_F(WorkerRequestsTest, RequestsOfADetachedWorkerHoldNothingAndEndUnseen) {
  bool released = false;
  float values[2] = {};
  const RequestId request =
      Call(Buffer::Wrap(values, 2, DataType::kFloat32, MemoryKind::kHost, [&released] { released = true; }));
  const RequestId of_another = Call(Buffer(), WorkerId(1));
  requests_of_workers_->Detach(WorkerId(0), /*said_good_bye=*/false);
  EXPECT_TRUE(released);
  requests_of_workers_->Write({request, 0, Buffer::CopyOf({1.0f, 2.0f})});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_TRUE(ends_.empty());
  EXPECT_EQ(values[1], 0);
  requests_of_workers_->Complete({of_another, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(ends_.size(), 1u);
}

TEST_F(WorkerRequestsTest, ACopyUnderWayAtTheDetachEndsUnseen) {
  constexpr int64_t kElements = ComputePool::kBriefBytes;
  std::promise<void> released;
  std::vector<float> values(kElements);
  const RequestId request = Call(Buffer::Wrap(values.data(), kElements, DataType::kFloat32, MemoryKind::kHost,
                                              [&released] { released.set_value(); }));
  std::promise<void> go;
  pool_.Submit([future = go.get_future().share()] { future.wait(); });
  requests_of_workers_->Write({request, 0, Buffer::CopyOf(std::vector<float>(kElements, 1.0f))});
  requests_of_workers_->Detach(WorkerId(0), /*said_good_bye=*/false);
  go.set_value();
  released.get_future().wait();
  EXPECT_TRUE(ends_.empty());
}

TEST_F(WorkerRequestsTest, ASecondAttachOfAWorkerWaitsForTheEndOfTheFirst) {
  const RequestId first = Attach(WorkerId(0));
  EXPECT_EQ(Attach(WorkerId(0)), RequestId());
  const RequestId of_another = Attach(WorkerId(1));
  EXPECT_NE(of_another, RequestId());
  requests_of_workers_->Detach(WorkerId(0), /*said_good_bye=*/false);
  (void)queue_->Take();
  requests_of_workers_->Complete({first, absl::OkStatus(), KeyId(), Round()});
  ASSERT_EQ(ends_.size(), 1u);
  std::vector<Event> events = queue_->Take();
  ASSERT_EQ(events.size(), 1u);
  const auto second = std::get<WorkerAttach>(std::get<WorkerCalled>(events[0]).call);
  EXPECT_EQ(second.worker, WorkerId(0));
  requests_of_workers_->Complete({second.request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(ends_.size(), 2u);
  EXPECT_NE(Attach(WorkerId(0)), RequestId());
}

TEST_F(WorkerRequestsTest, ADetachIsCleanAfterAGoodByeWithNoCallWaiting) {
  const auto is_clean = [this](bool said_good_bye) {
    requests_of_workers_->Detach(WorkerId(0), said_good_bye);
    return std::get<WorkerDetach>(std::get<WorkerCalled>(queue_->Take().at(0)).call).clean;
  };
  const RequestId request = Call();
  EXPECT_FALSE(is_clean(true));
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
  EXPECT_FALSE(is_clean(false));
  // A question is none, nor is the call of another worker.
  EXPECT_TRUE(
      requests_of_workers_->Ask(WorkerDescribeWait{RequestId(), WorkerId(0), {}}, [](const CompleteRequest&) {}).ok());
  (void)queue_->Take();
  Call(Buffer(), WorkerId(1));
  EXPECT_TRUE(is_clean(true));
}

TEST_F(WorkerRequestsTest, AWorkerHasABoundedNumberOfQuestions) {
  std::vector<RequestId> asked;
  const auto ask = [&](WorkerId worker) {
    const absl::Status status =
        requests_of_workers_->Ask(WorkerDescribeWait{RequestId(), worker, {}}, [](const CompleteRequest&) {});
    for (const Event& event : queue_->Take()) {
      asked.push_back(std::get<WorkerDescribeWait>(std::get<WorkerCalled>(event).call).request);
    }
    return status.code();
  };
  for (int i = 0; i < kMostQuestions; ++i) ASSERT_EQ(ask(WorkerId(0)), absl::StatusCode::kOk);
  EXPECT_EQ(ask(WorkerId(0)), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(ask(WorkerId(1)), absl::StatusCode::kOk);
  requests_of_workers_->Complete({asked.at(0), absl::OkStatus(), KeyId(), Round()});
  EXPECT_EQ(ask(WorkerId(0)), absl::StatusCode::kOk);
}

TEST_F(WorkerRequestsTest, AResultsSlotIsFreeBeforeItsRequestEnds) {
  for (const int64_t elements : {int64_t{4}, ComputePool::kBriefBytes}) {
    std::vector<float> values(elements);
    bool is_free = false;
    std::promise<bool> was_free;
    Buffer slot =
        Buffer::Wrap(values.data(), elements, DataType::kFloat32, MemoryKind::kHost, [&is_free] { is_free = true; });
    const auto make = [](RequestId request) { return WorkerCalled{WorkerBarrier{request, WorkerId(0)}}; };
    ASSERT_TRUE(
        requests_of_workers_
            ->Call(WorkerId(0), std::move(slot), make, [&](const CompleteRequest&) { was_free.set_value(is_free); })
            .ok());
    const RequestId request = std::get<WorkerBarrier>(std::get<WorkerCalled>(queue_->Take().at(0)).call).request;
    requests_of_workers_->Write({request, 0, Buffer::Allocate(elements)});
    requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(), Round()});
    EXPECT_TRUE(was_free.get_future().get()) << elements;
  }
}

TEST_F(WorkerRequestsTest, CloseEndsAttachesThatWait) {
  Attach(WorkerId(0));
  Attach(WorkerId(0));
  requests_of_workers_->Close(absl::UnavailableError("stopped"));
  ASSERT_EQ(ends_.size(), 2u);
  EXPECT_EQ(ends_[1].status, absl::UnavailableError("stopped"));
}

}  // namespace
}  // namespace banyan
