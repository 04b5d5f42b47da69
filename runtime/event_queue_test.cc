#include "runtime/event_queue.h"

#include <poll.h>

#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

bool Readable(const EventQueue& queue, int timeout_ms) {
  pollfd item{queue.fd(), POLLIN, 0};
  return poll(&item, 1, timeout_ms) == 1;
}

TEST(EventQueueTest, KeepsTheOrderOfEachThread) {
  constexpr uint64_t kEvents = 2000;
  EventQueue queue;
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&queue, thread] {
      for (uint64_t i = 0; i < kEvents; ++i) queue.Post(RecordPersisted{RecordId(thread * kEvents + i)});
    });
  }
  std::vector<uint64_t> next = {0, 0, 0};
  for (uint64_t taken = 0; taken < 3 * kEvents;) {
    if (queue.MayWait()) {
      ASSERT_TRUE(Readable(queue, 10000));
      queue.ClearWakeup();
    }
    for (Event& event : queue.Take()) {
      const uint64_t record = std::get<RecordPersisted>(event).record.value();
      EXPECT_EQ(record % kEvents, next[record / kEvents]++);
      ++taken;
    }
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(EventQueueTest, OnlyAReaderThatWaitsIsWoken) {
  EventQueue queue;
  queue.Post(RecordPersisted{RecordId(1)});
  EXPECT_FALSE(Readable(queue, 0)) << "it looks before it waits";
  EXPECT_FALSE(queue.MayWait());
  EXPECT_EQ(queue.Take().size(), 1u);
  EXPECT_TRUE(queue.MayWait());
  queue.Post(RecordPersisted{RecordId(2)});
  EXPECT_TRUE(Readable(queue, 0));
  queue.ClearWakeup();
  queue.Post(RecordPersisted{RecordId(3)});
  EXPECT_FALSE(Readable(queue, 0)) << "it is awake";
  EXPECT_EQ(queue.Take().size(), 2u);
}

TEST(EventQueueTest, StopAndFailureWakeTheReader) {
  EventQueue queue;
  EXPECT_FALSE(Readable(queue, 0));
  EXPECT_FALSE(queue.stop_requested());
  queue.RequestStop();
  EXPECT_TRUE(Readable(queue, 0));
  EXPECT_TRUE(queue.stop_requested());
  queue.ClearWakeup();
  EXPECT_FALSE(Readable(queue, 0));
  queue.Fail(absl::DataLossError("disk full"));
  queue.Fail(absl::InternalError("later"));
  EXPECT_TRUE(Readable(queue, 0));
  EXPECT_EQ(queue.failure(), absl::DataLossError("disk full"));
}

}  // namespace
}  // namespace banyan
