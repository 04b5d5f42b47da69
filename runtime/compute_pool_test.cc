#include "runtime/compute_pool.h"

#include <poll.h>

#include <atomic>
#include <future>
#include <memory>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "protocol/event.h"
#include "runtime/event_queue.h"

namespace banyan {
namespace {

class Doubling : public Computation {
 public:
  explicit Doubling(int value) : value(value) {}
  void Run() override { value *= 2; }
  int64_t size_bytes() const override { return sizeof(value); }

  int value;
};

TEST(ComputePoolTest, GivesTheSameObjectBackInAnEvent) {
  auto queue = std::make_shared<EventQueue>();
  ComputePool pool(2);
  auto computation = std::make_unique<Doubling>(21);
  Computation* address = computation.get();
  ASSERT_TRUE(queue->MayWait());
  pool.Compute(ComputationId(5), std::move(computation), queue);
  pollfd item{queue->fd(), POLLIN, 0};
  ASSERT_EQ(poll(&item, 1, 10000), 1);
  std::vector<Event> events = queue->Take();
  ASSERT_EQ(events.size(), 1u);
  auto& finished = std::get<ComputationFinished>(events[0]);
  EXPECT_EQ(finished.computation, ComputationId(5));
  EXPECT_EQ(finished.result.get(), address);
  EXPECT_EQ(static_cast<Doubling*>(finished.result.get())->value, 42);
}

TEST(ComputePoolTest, RunsTasksAtTheSameTime) {
  ComputePool pool(2);
  std::promise<void> first;
  std::promise<void> second;
  pool.Submit([&] {
    first.set_value();
    second.get_future().wait();
  });
  pool.Submit([&] {
    first.get_future().wait();
    second.set_value();
  });
  std::promise<void> last;
  pool.Submit([&] { last.set_value(); });
  EXPECT_EQ(last.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST(ComputePoolTest, StopDropsWhatHasNotStarted) {
  auto pool = std::make_unique<ComputePool>(1);
  std::promise<void> started;
  std::promise<void> go_on;
  std::atomic<int> ran = 0;
  pool->Submit([&] {
    started.set_value();
    go_on.get_future().wait();
    ++ran;
  });
  auto held = std::make_shared<int>(1);
  pool->Submit([&ran, held] { ++ran; });
  started.get_future().wait();
  std::thread stopper([&] { pool->Stop(); });
  while (held.use_count() > 1) std::this_thread::yield();
  go_on.set_value();
  stopper.join();
  EXPECT_EQ(ran, 1);
  pool->Submit([&ran] { ++ran; });
  pool.reset();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace banyan
