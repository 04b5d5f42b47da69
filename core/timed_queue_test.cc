#include "core/timed_queue.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

Timestamp At(int64_t nanoseconds) { return Timestamp::FromNanoseconds(nanoseconds); }

TEST(TimedQueueTest, EqualTimesComeOutInTheOrderOfInsertion) {
  TimedQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.Push(At(7), i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.Pop().value, i);
  EXPECT_TRUE(queue.empty());
}

TEST(TimedQueueTest, RandomPushesAndPopsComeOutInOrder) {
  Random random(5);
  TimedQueue<std::pair<int64_t, int>> queue;
  int inserted = 0;
  std::pair<int64_t, int> last = {-1, -1};
  for (int step = 0; step < 20000; ++step) {
    if (queue.empty() || random.Chance(0.52)) {
      // Never before what has come out: a simulation schedules nothing into its past.
      const int64_t time = std::max<int64_t>(last.first, 0) + random.Between(0, 50);
      queue.Push(At(time), {time, inserted++});
      continue;
    }
    auto item = queue.Pop();
    EXPECT_EQ(item.time, At(item.value.first));
    EXPECT_LT(last, item.value);
    last = item.value;
  }
}

TEST(TimedQueueTest, HoldsValuesThatOnlyMove) {
  TimedQueue<std::unique_ptr<int>> queue;
  queue.Push(At(2), std::make_unique<int>(2));
  queue.Push(At(1), std::make_unique<int>(1));
  EXPECT_EQ(queue.NextTime(), At(1));
  EXPECT_EQ(*queue.Pop().value, 1);
  queue.Push(At(3), std::make_unique<int>(3));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(*queue.Pop().value, 2);
  EXPECT_EQ(*queue.Pop().value, 3);
}

}  // namespace
}  // namespace banyan
