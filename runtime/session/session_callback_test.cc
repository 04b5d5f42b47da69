// The callbacks of operations: when they run, on which thread, and what they may do.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/testing_session.h"

namespace banyan {
namespace {

// Statuses in the order in which callbacks bring them.
class Ends {
 public:
  DoneCallback Add() {
    return [this](const absl::Status& status) {
      std::lock_guard<std::mutex> lock(mutex_);
      statuses_.push_back(status);
      threads_.push_back(std::this_thread::get_id());
      changed_.notify_all();
    };
  }
  // All of them, once there are `count`.
  std::vector<absl::Status> Wait(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return statuses_.size() >= count; });
    return statuses_;
  }
  std::vector<std::thread::id> threads() {
    std::lock_guard<std::mutex> lock(mutex_);
    return threads_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<absl::Status> statuses_;    // guarded by mutex_
  std::vector<std::thread::id> threads_;  // guarded by mutex_
};

class SessionCallbackTest : public SessionTest {
 protected:
  // A session of worker 0 with an initialised key "w" of two elements; `second_` is that of worker 1, if there is one.
  void Start(const TestingNodeOptions& options) {
    StartNode(options);
    first_ = Open(0);
    Ticket init = first_->Init("w", values_);
    if (options.workers == 2) {
      second_ = Open(1);
      EXPECT_TRUE(second_->Init("w", values_).Wait(kLong).ok());
    }
    EXPECT_TRUE(init.Wait(kLong).ok());
  }

  const std::vector<float> values_ = {1, 2};
  std::vector<float> result_ = std::vector<float>(2);
  Ends ends_;
  std::unique_ptr<Session> first_;
  std::unique_ptr<Session> second_;
};

INSTANTIATE_TEST_SUITE_P(BothPorts, SessionCallbackTest, testing::Values(PortKind::kUnix, PortKind::kLocal), PortName);

TEST_P(SessionCallbackTest, EveryKindOfCallCallsBackOnceOnTheSessionsThread) {
  Start({});
  const absl::Span<float> result = absl::MakeSpan(result_);
  int calls = 0;
  const auto done = [&](Ticket ticket) {
    EXPECT_TRUE(ticket.Wait(kLong).ok());
    ++calls;
  };
  const std::vector<float> others = {3, 4};
  done(first_->Init("v", others, {}, {.on_done = ends_.Add()}));
  done(first_->Push("w", values_, {.on_done = ends_.Add()}));
  done(first_->Pull("w", result, {.on_done = ends_.Add()}));
  done(first_->PushPull("w", values_, result, {.priority = 1, .on_done = ends_.Add()}));
  done(first_->Flush("w", values_, result, {.on_done = ends_.Add()}));
  done(first_->Broadcast("w", values_, result, {.on_done = ends_.Add()}));
  done(first_->Pull("w", {.on_done = ends_.Add()}));
  done(first_->RegisterWeights("w", values_, {.on_done = ends_.Add()}));
  done(first_->Barrier({.on_done = ends_.Add()}));
  done(first_->ReportLoss(1, 0.5, {.on_done = ends_.Add()}));
  EXPECT_EQ(ends_.Wait(calls), std::vector<absl::Status>(calls));
  first_.reset();
  EXPECT_EQ(ends_.Wait(calls).size(), static_cast<size_t>(calls)) << "none a second time";
  for (std::thread::id thread : ends_.threads()) {
    EXPECT_EQ(thread, ends_.threads().front());
    EXPECT_NE(thread, std::this_thread::get_id());
  }
}

TEST_P(SessionCallbackTest, TheResultIsThereAndTheTicketNeedNotBe) {
  Start({});
  std::promise<std::vector<float>> seen;
  first_->PushPull("w", values_, absl::MakeSpan(result_), {.on_done = [&](const absl::Status& status) {
                     EXPECT_TRUE(status.ok()) << status;
                     seen.set_value(result_);
                   }});
  EXPECT_EQ(seen.get_future().get(), values_);
  first_->Push("w", values_, {.on_done = ends_.Add()});
  EXPECT_EQ(ends_.Wait(1), std::vector<absl::Status>{absl::OkStatus()});
}

TEST_P(SessionCallbackTest, WrongUseIsCalledBackToo) {
  Start({});
  const std::vector<float> three(3);
  Ticket refused = first_->Push("w", three, {.on_done = ends_.Add()});
  ASSERT_EQ(ends_.Wait(1).size(), 1u);
  EXPECT_EQ(ends_.Wait(1)[0].code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.Wait(kLong), ends_.Wait(1)[0]);
  EXPECT_NE(ends_.threads()[0], std::this_thread::get_id());
}

TEST_P(SessionCallbackTest, StartsTheNextRound) {
  Start({.rounds_in_flight = 1});
  constexpr int kRounds = 30;
  std::promise<void> finished;
  int rounds = 0;
  // Each push waits for room, which the replies of the round before make.
  std::function<void(const absl::Status&)> next = [&](const absl::Status& status) {
    EXPECT_TRUE(status.ok()) << status;
    if (++rounds == kRounds) return finished.set_value();
    first_->Push("w", values_, {.on_done = next});
  };
  first_->Push("w", values_, {.on_done = next});
  finished.get_future().wait();
  EXPECT_TRUE(first_->Pull("w", absl::MakeSpan(result_)).Wait(kLong).ok());
  EXPECT_EQ(rounds, kRounds);
}

TEST_P(SessionCallbackTest, MayWaitForAnotherOperation) {
  Start({});
  std::promise<absl::Status> inner;
  first_->Push("w", values_, {.on_done = [&](const absl::Status&) {
                 std::vector<float> other(2);
                 inner.set_value(first_->Pull("w", absl::MakeSpan(other)).Wait(kLong));
               }});
  EXPECT_TRUE(inner.get_future().get().ok());
}

TEST_P(SessionCallbackTest, TheEndOfTheJobIsAFailure) {
  Start({.workers = 2, .fail_at = 1});
  first_->Barrier({.on_done = ends_.Add()});
  Ticket push = first_->PushPull("w", values_, absl::MakeSpan(result_));
  EXPECT_EQ(ends_.Wait(1),
            std::vector<absl::Status>{absl::UnavailableError("node n1, barrier: the job failed: node n3 was lost")});
}

TEST_P(SessionCallbackTest, TheEndOfTheNodeIsAFailure) {
  Start({.hold_from = 1});
  first_->Push("w", values_);
  first_->Pull("w", {.on_done = ends_.Add()});
  EXPECT_TRUE(host_->Stop().ok());
  EXPECT_EQ(ends_.Wait(1),
            std::vector<absl::Status>{absl::UnavailableError("node n1, key w, round 1: the node has stopped")});
}

TEST_P(SessionCallbackTest, DestroyingTheSessionRunsThemAllBeforeItReturns) {
  Start({.hold_from = 1});
  std::vector<absl::Status> ends;  // of the callbacks' thread until the session is gone
  Session* const session = first_.get();
  const auto last = [&](const absl::Status& status) { ends.push_back(status); };
  const auto first = [&, session](const absl::Status& status) {
    ends.push_back(status);
    session->Barrier({.on_done = last});
  };
  Ticket push = first_->PushPull("w", values_, absl::MakeSpan(result_), {.on_done = first});
  first_.reset();
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(ends[0].code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(ends[1].code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(push.Wait(kLong).code(), absl::StatusCode::kCancelled);
}

TEST_P(SessionCallbackTest, DestroyingTheSessionEndsACallbackThatWaitsForRoom) {
  Start({.rounds_in_flight = 1, .hold_from = 1});
  std::promise<void> waits;
  absl::Status ended;  // of the callbacks' thread until the session is gone
  Session* const session = first_.get();
  first_->Push("w", values_, {.on_done = [&, session](const absl::Status& status) {
                 EXPECT_TRUE(status.ok()) << status;
                 waits.set_value();
                 ended = session->Push("w", values_).Wait();
               }});
  waits.get_future().wait();
  first_.reset();
  EXPECT_EQ(ended.code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace banyan
