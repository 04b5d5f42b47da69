#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/scheduler_client.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(UnansweredRequestsTest, EachIsSaidOnceOnAConnection) {
  UnansweredRequests<int, std::string> requests;
  EXPECT_FALSE(requests.has_unsaid());
  EXPECT_TRUE(requests.Add(2, "two"));
  EXPECT_TRUE(requests.Add(1, "one"));
  EXPECT_FALSE(requests.Add(2, "again"));
  EXPECT_TRUE(requests.has_unsaid());
  EXPECT_THAT(requests.TakeUnsaid(), ElementsAre(Pair(1, "one"), Pair(2, "two")));
  EXPECT_THAT(requests.TakeUnsaid(), IsEmpty());
  requests.Add(3, "three");
  EXPECT_THAT(requests.TakeUnsaid(), ElementsAre(Pair(3, "three")));
  requests.SayAgain();
  EXPECT_THAT(requests.TakeUnsaid(), ElementsAre(Pair(1, "one"), Pair(2, "two"), Pair(3, "three")));
}

TEST(UnansweredRequestsTest, WhatIsAnsweredIsNotSaidAgain) {
  UnansweredRequests<int, bool> requests;
  for (int id = 0; id < 6; ++id) requests.Add(id, true);
  requests.OnAnswered(0);
  requests.OnAnswered(2, 4);
  EXPECT_THAT(requests.TakeUnsaid(), ElementsAre(Pair(1, true), Pair(5, true)));
  requests.OnAnswered(5);
  requests.SayAgain();
  EXPECT_THAT(requests.TakeUnsaid(), ElementsAre(Pair(1, true)));
}

}  // namespace
}  // namespace banyan
