#include <future>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/operation.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

TEST(CallbackThreadTest, RunsAllInOrderOnOneOtherThread) {
  std::vector<int> order;
  std::vector<std::thread::id> threads;
  CallbackThread callbacks;
  for (int i = 0; i < 3; ++i) {
    callbacks.Post([&, i] {
      order.push_back(i);
      threads.push_back(std::this_thread::get_id());
    });
  }
  callbacks.Stop();
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  ASSERT_EQ(threads.size(), 3u);
  EXPECT_EQ(threads[0], threads[2]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
}

TEST(CallbackThreadTest, StopRunsWhatWaitsAndWhatThatPosts) {
  std::promise<void> go_on;
  std::vector<int> order;
  CallbackThread callbacks;
  callbacks.Post([wait = go_on.get_future().share()] { wait.wait(); });
  callbacks.Post([&] {
    order.push_back(1);
    callbacks.Post([&] { order.push_back(2); });
  });
  std::thread stopping([&] { callbacks.Stop(); });
  go_on.set_value();
  stopping.join();
  EXPECT_THAT(order, ElementsAre(1, 2));
  callbacks.Stop();
}

TEST(CallbackThreadTest, WithoutCallbacksThereIsNothingToStop) {
  CallbackThread callbacks;
  callbacks.Stop();
  callbacks.Stop();
}

}  // namespace
}  // namespace banyan
