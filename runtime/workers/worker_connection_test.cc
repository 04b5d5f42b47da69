#include "runtime/workers/worker_connection.h"

#include <future>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "proto/session_codec.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"

namespace banyan {
namespace {

// Plays the core: takes posted calls and completes them through the requests.
class WorkerConnectionTest : public testing::Test {
 protected:
  using Reply = std::pair<WorkerReply, std::shared_ptr<TensorSegment>>;

  std::shared_ptr<WorkerConnection> Connect() {
    return std::make_shared<WorkerConnection>(requests_of_workers_, budget_, "n1",
                                              [this](WorkerReply reply, std::shared_ptr<TensorSegment> memory) {
                                                replies_.emplace_back(std::move(reply), std::move(memory));
                                              });
  }

  template <typename Kind>
  Kind TakeCall() {
    std::vector<Event> events = queue_->Take();
    EXPECT_EQ(events.size(), 1u);
    return std::get<Kind>(std::move(std::get<WorkerCalled>(events.at(0)).call));
  }
  template <typename Kind>
  Kind TakeReply() {
    EXPECT_EQ(replies_.size(), 1u);
    Kind kind = std::get<Kind>(std::move(replies_.at(0).first));
    memory_ = std::move(replies_.at(0).second);
    replies_.clear();
    return kind;
  }

  void Attach(WorkerConnection& connection, uint64_t rounds_in_flight = 1) {
    ASSERT_TRUE(connection.Receive(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}).ok());
    const JobTraits job = {AggregationOp::kAdam, true};
    requests_of_workers_->Complete(
        {TakeCall<WorkerAttach>().request, absl::OkStatus(), KeyId(), Round(rounds_in_flight), 0, job});
    const auto attached = TakeReply<WorkerAttached>();
    EXPECT_EQ(attached.rounds_in_flight, rounds_in_flight);
    EXPECT_EQ(attached.job, job);
  }
  // A tensor of three elements with Init done.
  TensorOpened OpenAndInit(WorkerConnection& connection, int64_t elements = 3) {
    EXPECT_TRUE(connection.Receive(OpenTensor{CallId(2), "w", elements}).ok());
    const TensorOpened opened = TakeReply<TensorOpened>();
    segment_ = memory_;
    EXPECT_TRUE(connection.Receive(TensorCall{CallId(3), opened.tensor, TensorCallKind::kInit, 0, 0, 0}).ok());
    WorkerInit init = TakeCall<WorkerInit>();
    EXPECT_EQ(init.name, "w");
    init.values = Buffer();
    EXPECT_EQ(TakeReply<SlotFreed>().gradient_slot, 0u);
    requests_of_workers_->Complete({init.request, absl::OkStatus(), KeyId(7), Round(0)});
    EXPECT_TRUE(TakeReply<CallCompleted>().status.ok());
    return opened;
  }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerRequests> requests_of_workers_ = std::make_shared<WorkerRequests>(queue_, pool_);
  std::shared_ptr<SegmentBudget> budget_ = std::make_shared<SegmentBudget>(1 << 20);
  std::vector<Reply> replies_;
  std::shared_ptr<TensorSegment> memory_;   // of the last reply
  std::shared_ptr<TensorSegment> segment_;  // of the opened tensor
};

TEST_F(WorkerConnectionTest, NothingBeforeAttachAndAttachOnlyOnce) {
  auto connection = Connect();
  EXPECT_FALSE(connection->Receive(OpenTensor{CallId(1), "w", 3}).ok());
  EXPECT_FALSE(connection->Receive(BarrierCall{CallId(1)}).ok());
  ASSERT_TRUE(connection->Receive(AttachWorker{kProtocolVersion + 1, WorkerId(0), CallId(1)}).ok());
  EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kFailedPrecondition);
  Attach(*connection);
  EXPECT_FALSE(connection->Receive(AttachWorker{kProtocolVersion, WorkerId(1), CallId(2)}).ok());
}

TEST_F(WorkerConnectionTest, ATensorWithoutElementsIsOnlyTold) {
  auto connection = Connect();
  Attach(*connection);
  ASSERT_TRUE(connection->Receive(OpenTensor{CallId(2), "w", 0}).ok());
  const WorkerInit init = TakeCall<WorkerInit>();
  EXPECT_EQ(init.name, "w");
  EXPECT_TRUE(init.values.empty());
  requests_of_workers_->Complete({init.request, absl::InvalidArgumentError("expected at least one"), KeyId(), Round()});
  EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(budget_->used_bytes(), 0);
}

TEST_F(WorkerConnectionTest, ARefusedWorkerIdIsFreeAgainAndNobodyDies) {
  auto first = Connect();
  Attach(*first);
  auto second = Connect();
  ASSERT_TRUE(second->Receive(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}).ok());
  requests_of_workers_->Complete(
      {TakeCall<WorkerAttach>().request, absl::AlreadyExistsError("attached already"), KeyId(), Round()});
  EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kAlreadyExists);
  second->Close();
  EXPECT_TRUE(queue_->Take().empty());
  first->Close();
  EXPECT_FALSE(TakeCall<WorkerDetach>().clean);
  auto third = Connect();
  Attach(*third);
  EXPECT_TRUE(third->Receive(WorkerGoodBye{}).ok());
  third->Close();
  EXPECT_TRUE(TakeCall<WorkerDetach>().clean);
}

TEST_F(WorkerConnectionTest, AWorkerThatGivesUpWhileItAttachesDiesOnlyIfItWasTaken) {
  for (const bool taken : {false, true}) {
    auto connection = Connect();
    ASSERT_TRUE(connection->Receive(AttachWorker{kProtocolVersion, WorkerId(0), CallId(1)}).ok());
    EXPECT_FALSE(connection->Receive(AttachWorker{kProtocolVersion, WorkerId(0), CallId(2)}).ok());
    const RequestId request = TakeCall<WorkerAttach>().request;
    connection->Close();
    connection.reset();
    EXPECT_TRUE(queue_->Take().empty()) << "it may be another's id";
    requests_of_workers_->Complete(
        {request, taken ? absl::OkStatus() : absl::AlreadyExistsError("taken"), KeyId(), Round(1)});
    EXPECT_TRUE(replies_.empty());
    if (taken) {
      EXPECT_FALSE(TakeCall<WorkerDetach>().clean);
    } else {
      EXPECT_TRUE(queue_->Take().empty());
    }
  }
}

TEST_F(WorkerConnectionTest, PassesOnWhatTheCoreTells) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(0), KeyId(8), Round(3)});
  EXPECT_TRUE(replies_.empty()) << "the worker has no such key";
  requests_of_workers_->Notify(NotifyRoundComplete{WorkerId(0), KeyId(7), Round(3)});
  EXPECT_EQ(TakeReply<RoundCompleted>(), (RoundCompleted{opened.tensor, Round(3)}));
  requests_of_workers_->Notify(NotifyJobEnded{absl::UnavailableError("node n3 was lost")});
  EXPECT_EQ(TakeReply<JobEnded>(), JobEnded{absl::UnavailableError("node n3 was lost")});
}

TEST_F(WorkerConnectionTest, AGradientSlotIsTheNodesUntilItsLastBufferGoes) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  segment_->gradient(1).floats()[0] = 5;
  ASSERT_TRUE(connection->Receive(TensorCall{CallId(4), opened.tensor, TensorCallKind::kPushPull, 1, 0, 9}).ok());
  WorkerPush push = TakeCall<WorkerPush>();
  EXPECT_EQ(push.key, KeyId(7));
  EXPECT_EQ(push.priority, 9);
  EXPECT_TRUE(push.wants_result);
  EXPECT_EQ(push.gradient.memory(), MemoryKind::kShared);
  EXPECT_EQ(push.gradient.floats()[0], 5);
  Buffer slice = push.gradient.Slice(1, 1);
  push.gradient = Buffer();
  EXPECT_TRUE(replies_.empty());
  EXPECT_FALSE(connection->Receive(TensorCall{CallId(5), opened.tensor, TensorCallKind::kPush, 1, 0, 0}).ok());
  EXPECT_FALSE(connection->Receive(TensorCall{CallId(5), opened.tensor, TensorCallKind::kPull, 0, 0, 0}).ok());
  slice = Buffer();
  EXPECT_EQ(TakeReply<SlotFreed>(), (SlotFreed{opened.tensor, 1}));
  EXPECT_TRUE(connection->Receive(TensorCall{CallId(5), opened.tensor, TensorCallKind::kPush, 1, 0, 0}).ok());
}

TEST_F(WorkerConnectionTest, WeightsComeInAGradientSlot) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  segment_->gradient(1).floats()[2] = 4;
  ASSERT_TRUE(
      connection->Receive(TensorCall{CallId(4), opened.tensor, TensorCallKind::kRegisterWeights, 1, 0, 0}).ok());
  WorkerRegisterWeights call = TakeCall<WorkerRegisterWeights>();
  EXPECT_EQ(call.key, KeyId(7));
  EXPECT_EQ(call.weights.floats()[2], 4);
  requests_of_workers_->Complete({call.request, absl::OkStatus(), KeyId(7), Round()});
  EXPECT_EQ(TakeReply<CallCompleted>(), (CallCompleted{CallId(4), absl::OkStatus(), Round()}));
  EXPECT_FALSE(connection->Receive(TensorCall{CallId(5), opened.tensor, TensorCallKind::kPush, 1, 0, 0}).ok())
      << "the node still holds the slot";
  call.weights = Buffer();
  EXPECT_EQ(TakeReply<SlotFreed>(), (SlotFreed{opened.tensor, 1}));
}

TEST_F(WorkerConnectionTest, CallsThatMakeNoSenseAreRefused) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  const auto refused = [&](TensorCall call) { return !connection->Receive(call).ok(); };
  EXPECT_TRUE(refused({CallId(9), TensorId(99), TensorCallKind::kPull, 0, 0, 0}));
  EXPECT_TRUE(refused({CallId(9), opened.tensor, TensorCallKind::kPush, 2, 0, 0}));
  EXPECT_TRUE(refused({CallId(9), opened.tensor, TensorCallKind::kPull, 0, 1, 0}));
  EXPECT_TRUE(refused({CallId(9), opened.tensor, TensorCallKind::kInit, 0, 0, 0}));
  EXPECT_TRUE(refused({CallId(9), opened.tensor, TensorCallKind::kRegisterWeights, 2, 0, 0}));
  EXPECT_TRUE(queue_->Take().empty());
}

TEST_F(WorkerConnectionTest, MemoryOutlivesTheConnectionWhileTheNodeUsesIt) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  ASSERT_TRUE(connection->Receive(TensorCall{CallId(4), opened.tensor, TensorCallKind::kPush, 0, 0, 0}).ok());
  WorkerPush push = TakeCall<WorkerPush>();
  EXPECT_EQ(budget_->used_bytes(), 3 * 64);
  segment_.reset();
  memory_.reset();
  connection->Close();
  connection.reset();
  push.gradient.mutable_floats()[2] = 1;
  EXPECT_EQ(budget_->used_bytes(), 3 * 64);
  push.gradient = Buffer();
  EXPECT_EQ(budget_->used_bytes(), 0);
}

TEST_F(WorkerConnectionTest, TheBudgetBoundsMemory) {
  auto connection = Connect();
  Attach(*connection);
  for (const int64_t elements : {int64_t{1} << 20, kMaxTensorElements}) {
    ASSERT_TRUE(connection->Receive(OpenTensor{CallId(2), "w", elements}).ok());
    // The core hears of it, and tells others.
    const WorkerInit refused = TakeCall<WorkerInit>();
    EXPECT_EQ(refused.name, "w");
    EXPECT_EQ(refused.refused.code(), absl::StatusCode::kResourceExhausted);
    requests_of_workers_->Complete({refused.request, refused.refused, KeyId(), Round()});
    EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kResourceExhausted);
  }
  EXPECT_EQ(budget_->used_bytes(), 0);
}

TEST_F(WorkerConnectionTest, AGroupComesWithTheTensorsThatWereNamed) {
  auto connection = Connect();
  Attach(*connection);
  const TensorLayout layout{{{"q", 1}, {"none", 0}, {"v", 2}}};
  ASSERT_TRUE(connection->Receive(DescribeGroup{{layout.parts[0], layout.parts[1]}}).ok());
  ASSERT_TRUE(connection->Receive(DescribeGroup{{layout.parts[2]}}).ok());
  ASSERT_TRUE(connection->Receive(OpenTensor{CallId(2), "g", 3}).ok());
  const TensorOpened opened = TakeReply<TensorOpened>();
  EXPECT_EQ(opened.elements, 3);
  ASSERT_TRUE(connection->Receive(TensorCall{CallId(3), opened.tensor, TensorCallKind::kInit, 0, 0, 0}).ok());
  EXPECT_EQ(TakeCall<WorkerInit>().layout, layout);
  ASSERT_TRUE(connection->Receive(DescribeGroup{{layout.parts[0]}}).ok());
  EXPECT_EQ(connection->Receive(OpenTensor{CallId(4), "h", 3}).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(connection->Receive(OpenTensor{CallId(5), "w", 3}).ok()) << "what was named before is forgotten";
}

TEST_F(WorkerConnectionTest, ACompletionComesAfterItsWrites) {
  constexpr int64_t kLarge = 400'000;  // more than is copied at once
  budget_ = std::make_shared<SegmentBudget>(16 << 20);
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection, kLarge + 1);
  ASSERT_TRUE(connection->Receive(TensorCall{CallId(4), opened.tensor, TensorCallKind::kPull, 0, 0, 0}).ok());
  const RequestId request = TakeCall<WorkerPull>().request;
  // The pool's one thread is busy, so the large copy waits.
  std::promise<void> go_on;
  std::promise<void> copied;
  pool_.Submit([wait = go_on.get_future().share()] { wait.wait(); });
  requests_of_workers_->Write({request, 0, Buffer::CopyOf(std::vector<float>(kLarge, 2))});
  requests_of_workers_->Write({request, kLarge, Buffer::CopyOf({3})});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(7), Round(4)});
  pool_.Submit([&copied] { copied.set_value(); });
  EXPECT_TRUE(replies_.empty());
  go_on.set_value();
  copied.get_future().wait();
  EXPECT_EQ(TakeReply<CallCompleted>(), (CallCompleted{CallId(4), absl::OkStatus(), Round(4)}));
  std::vector<float> expected(kLarge, 2);
  expected.push_back(3);
  EXPECT_EQ(segment_->result(0).floats(), expected);
}

TEST_F(WorkerConnectionTest, AResultThatDoesNotFitIsAnError) {
  auto connection = Connect();
  Attach(*connection);
  const TensorOpened opened = OpenAndInit(*connection);
  ASSERT_TRUE(connection->Receive(TensorCall{CallId(4), opened.tensor, TensorCallKind::kPull, 0, 0, 0}).ok());
  const RequestId request = TakeCall<WorkerPull>().request;
  requests_of_workers_->Write({request, 2, Buffer::CopyOf({1, 2})});
  requests_of_workers_->Complete({request, absl::OkStatus(), KeyId(7), Round(4)});
  EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kInternal);
}

TEST_F(WorkerConnectionTest, AClosedGateAnswersEverything) {
  auto connection = Connect();
  Attach(*connection);
  ASSERT_TRUE(connection->Receive(BarrierCall{CallId(4)}).ok());
  requests_of_workers_->Close(absl::UnavailableError("the node has stopped"));
  ASSERT_EQ(replies_.size(), 2u);
  EXPECT_EQ(std::get<JobEnded>(replies_[0].first), JobEnded{absl::UnavailableError("the node has stopped")});
  replies_.erase(replies_.begin());
  EXPECT_EQ(TakeReply<CallCompleted>(),
            (CallCompleted{CallId(4), absl::UnavailableError("the node has stopped"), Round()}));
  ASSERT_TRUE(connection->Receive(ReportLossCall{CallId(5), 1, 0.5}).ok());
  EXPECT_EQ(TakeReply<CallCompleted>().status.code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
