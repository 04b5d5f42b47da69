#include "runtime/workers/worker_state.h"

#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/compute_pool.h"
#include "runtime/event_queue.h"

namespace banyan {
namespace {

constexpr WorkerId kWorker(3);

// Plays the worker and the core.
class WorkerStateTest : public testing::Test {
 protected:
  void Open(int64_t size_bytes) {
    ASSERT_TRUE(state_.Describe({{{"w", size_bytes}}}).ok());
    ASSERT_TRUE(state_.Open().ok());
  }
  template <typename Kind>
  std::vector<Kind> TakeReplies() {
    std::vector<Kind> kinds;
    for (const WorkerReply& reply : std::exchange(replies_, {})) kinds.push_back(std::get<Kind>(reply));
    return kinds;
  }
  template <typename Kind>
  Kind TakeCall() {
    std::vector<Event> events = queue_->Take();
    EXPECT_EQ(events.size(), 1u);
    return std::get<Kind>(std::get<StateCalled>(events.at(0)).call);
  }
  uint8_t* SlotForNode(uint32_t slot) { return state_.segment()->gradient(slot).bytes().data(); }
  uint8_t* SlotForWorker(uint32_t slot) { return state_.segment()->result(slot).bytes().data(); }

  std::shared_ptr<EventQueue> queue_ = std::make_shared<EventQueue>();
  ComputePool pool_{1};
  std::shared_ptr<WorkerRequests> requests_of_workers_ = std::make_shared<WorkerRequests>(queue_, pool_);
  std::shared_ptr<SegmentBudget> budget_ = std::make_shared<SegmentBudget>(1 << 20);
  std::vector<WorkerReply> replies_;
  WorkerState state_{requests_of_workers_, budget_,
                     [this](WorkerReply reply) { replies_.push_back(std::move(reply)); }};
};

TEST_F(WorkerStateTest, ReadsChunksThroughSlots) {
  Open(1500);
  EXPECT_EQ(state_.Opened(CallId(1)), (StateOpened{CallId(1), 1024, WorkerState::kSlots}));
  state_.OnTask(ReadState{kWorker, ChunkIndex(1)});
  EXPECT_EQ(TakeReplies<StateRead>(), (std::vector<StateRead>{{0, ChunkIndex(1)}}));
  SlotForNode(0)[475] = 7;
  ASSERT_TRUE(state_.OnFilled(kWorker, {0, true}).ok());
  const auto read = TakeCall<WorkerStateRead>();
  EXPECT_EQ(read.worker, kWorker);
  EXPECT_EQ(read.chunk, ChunkIndex(1));
  ASSERT_EQ(read.bytes.size_bytes(), 476) << "the last chunk is shorter";
  SlotForNode(0)[475] = 8;
  EXPECT_EQ(read.bytes.AsBytes().bytes()[475], 7) << "the slot is free again";
  state_.OnTask(ReadState{kWorker, std::nullopt});
  EXPECT_EQ(TakeReplies<StateHashesRead>().size(), 1u);
  ASSERT_TRUE(state_.OnFilled(kWorker, {0, true}).ok());
  EXPECT_EQ(TakeCall<WorkerStateRead>().bytes.size_bytes(), 16);
}

TEST_F(WorkerStateTest, WhatIsNotFilledIsEmpty) {
  Open(1500);
  state_.OnTask(ReadState{kWorker, ChunkIndex(0)});
  ASSERT_TRUE(state_.OnFilled(kWorker, {0, false}).ok());
  EXPECT_TRUE(TakeCall<WorkerStateRead>().bytes.empty());
}

TEST_F(WorkerStateTest, WritesChunksThroughSlots) {
  Open(3000);
  const Buffer bytes = Buffer::CopyOfBytes(std::vector<uint8_t>(952, 5));
  state_.OnTask(WriteState{kWorker, ChunkIndex(2), bytes.AsBytes()});
  EXPECT_EQ(TakeReplies<StateWrite>(), (std::vector<StateWrite>{{0, ChunkIndex(2)}}));
  EXPECT_EQ(SlotForWorker(0)[951], 5);
  ASSERT_TRUE(state_.OnTaken(kWorker, {0, true}).ok());
  EXPECT_EQ(TakeCall<WorkerStateWritten>().chunk, ChunkIndex(2));
}

TEST_F(WorkerStateTest, MoreThanTheSlotsWait) {
  Open(100 * 1024);
  for (uint32_t chunk = 0; chunk < 20; ++chunk) state_.OnTask(ReadState{kWorker, ChunkIndex(chunk)});
  EXPECT_EQ(TakeReplies<StateRead>().size(), WorkerState::kSlots);
  ASSERT_TRUE(state_.OnFilled(kWorker, {5, true}).ok());
  EXPECT_EQ(TakeReplies<StateRead>(), (std::vector<StateRead>{{5, ChunkIndex(8)}}));
}

TEST_F(WorkerStateTest, AnswersThatNobodyAskedForAreRefused) {
  EXPECT_FALSE(state_.OnFilled(kWorker, {0, true}).ok());
  EXPECT_FALSE(state_.OnTaken(kWorker, {0, true}).ok());
  Open(1500);
  EXPECT_FALSE(state_.OnFilled(kWorker, {0, true}).ok());
  state_.OnTask(ReadState{kWorker, ChunkIndex(0)});
  EXPECT_FALSE(state_.OnTaken(kWorker, {0, true}).ok());
  EXPECT_TRUE(state_.OnFilled(kWorker, {0, true}).ok());
  EXPECT_FALSE(state_.OnFilled(kWorker, {0, true}).ok()) << "twice";
}

TEST_F(WorkerStateTest, AWorkerThatDiesTakesItsMemoryWithIt) {
  Open(1500);
  EXPECT_GT(budget_->used_bytes(), 0);
  state_.OnTask(ReadState{kWorker, ChunkIndex(0)});
  replies_.clear();
  state_.Close();
  EXPECT_EQ(budget_->used_bytes(), 0);
  state_.OnTask(ReadState{kWorker, ChunkIndex(1)});
  state_.OnTask(WriteState{kWorker, ChunkIndex(1), Buffer::Allocate(10)});
  EXPECT_TRUE(replies_.empty());
  EXPECT_FALSE(state_.OnFilled(kWorker, {0, true}).ok());
}

TEST_F(WorkerStateTest, ShapesHaveLimits) {
  EXPECT_TRUE(state_.Describe({{{"b", 5}}}).ok());
  EXPECT_EQ(state_.Describe({{{"a", 5}}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(state_.Describe({{{"b", 5}}}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(state_.Describe({{{"c", StateLayout::kMostBytes}}}).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(state_.Describe({{{"c", int64_t{1} << 30}}}).ok());
  EXPECT_EQ(state_.Open().status().code(), absl::StatusCode::kResourceExhausted) << "slots above the budget";
  EXPECT_EQ(budget_->used_bytes(), 0);
}

TEST_F(WorkerStateTest, TheGateHandsEachTaskToItsWorker) {
  std::map<uint32_t, std::vector<StateTask>> tasks;
  const auto attach = [&](uint32_t worker) {
    requests_of_workers_->Attach(
        WorkerId(worker),
        {.round_complete = {},
         .job_ended = {},
         .state_task = [&tasks, worker](const StateTask& task) { tasks[worker].push_back(task); }},
        [](const CompleteRequest&) {});
    std::vector<Event> events = queue_->Take();
    const auto call = std::get<WorkerAttach>(std::get<WorkerCalled>(events.at(0)).call);
    requests_of_workers_->Complete({call.request, absl::OkStatus(), KeyId(), Round(1)});
  };
  attach(0);
  attach(1);
  requests_of_workers_->Ask(ReadState{WorkerId(1), ChunkIndex(4)});
  requests_of_workers_->Ask(HoldWorkers{true});
  EXPECT_EQ(tasks[0].size(), 1u);
  ASSERT_EQ(tasks[1].size(), 2u);
  EXPECT_EQ(std::get<ReadState>(tasks[1][0]).chunk, ChunkIndex(4));
  attach(2);
  ASSERT_EQ(tasks[2].size(), 1u);
  EXPECT_TRUE(std::get<HoldWorkers>(tasks[2][0]).is_held);
  requests_of_workers_->Ask(HoldWorkers{false});
  attach(3);
  EXPECT_TRUE(tasks[3].empty());
}

TEST_F(WorkerStateTest, TheMemoryIsMadeOnce) {
  Open(1500);
  EXPECT_EQ(state_.Open().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(state_.Describe({{{"x", 5}}}).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace banyan
