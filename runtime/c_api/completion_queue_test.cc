#include <poll.h>

#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "runtime/c_api/session_handle.h"

namespace banyan {
namespace {

bool IsReadable(const CompletionQueue& queue) {
  pollfd polled = {.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
  return poll(&polled, 1, 0) == 1;
}

TEST(CompletionQueueTest, TellsEndsInTheirOrder) {
  CompletionQueue queue;
  EXPECT_FALSE(IsReadable(queue));
  for (uint64_t tag = 1; tag <= 3; ++tag) queue.Add({.tag = tag, .code = static_cast<int>(tag * 10)});
  EXPECT_TRUE(IsReadable(queue));
  const auto first = queue.Take(2, absl::ZeroDuration());
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->size(), 2u);
  EXPECT_EQ((*first)[1].tag, 2u);
  EXPECT_EQ((*first)[1].code, 20);
  EXPECT_TRUE(IsReadable(queue));
  const auto second = queue.Take(2, absl::ZeroDuration());
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ(second->size(), 1u);
  EXPECT_EQ((*second)[0].tag, 3u);
  EXPECT_FALSE(IsReadable(queue));
  EXPECT_TRUE(absl::IsDeadlineExceeded(queue.Take(2, absl::ZeroDuration()).status()));
}

TEST(CompletionQueueTest, IsTakenEmptyAfterItsEnd) {
  CompletionQueue queue;
  queue.Add({.tag = 7});
  queue.Close();
  EXPECT_TRUE(IsReadable(queue));
  const auto last = queue.Take(8, absl::InfiniteDuration());
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ((*last)[0].tag, 7u);
  EXPECT_TRUE(absl::IsCancelled(queue.Take(8, absl::InfiniteDuration()).status()));
  EXPECT_TRUE(IsReadable(queue));
}

}  // namespace
}  // namespace banyan
