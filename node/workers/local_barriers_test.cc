#include "node/workers/local_barriers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr WorkerId kFirst(0);
constexpr WorkerId kSecond(1);

bool All(WorkerId) { return true; }
bool OnlyFirst(WorkerId worker) { return worker == kFirst; }

Timestamp At(int64_t seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(LocalBarriersTest, TheNodeEntersWhenAllThatAreAwaitedHaveCome) {
  LocalBarriers barriers(2);
  EXPECT_EQ(barriers.TakeEntered(All), std::nullopt) << "nobody waits";
  barriers.Enter(At(3), {kFirst, RequestId(1)});
  EXPECT_EQ(barriers.TakeEntered(All), std::nullopt);
  EXPECT_THAT(barriers.Missing(0, All), ElementsAre(kSecond));
  EXPECT_THAT(barriers.Missing(0, OnlyFirst), IsEmpty());
  barriers.Enter(At(5), {kSecond, RequestId(2)});
  EXPECT_EQ(barriers.waiting().at(0).since, At(3));
  EXPECT_EQ(barriers.TakeEntered(All), 0u);
  EXPECT_EQ(barriers.TakeEntered(All), std::nullopt) << "once";
  EXPECT_THAT(barriers.Missing(0, All), IsEmpty()) << "others are waited for now";
  EXPECT_THAT(barriers.TakeReleased(0),
              ElementsAre(WaitingCall{kFirst, RequestId(1)}, WaitingCall{kSecond, RequestId(2)}));
  EXPECT_THAT(barriers.TakeReleased(0), IsEmpty());
}

TEST(LocalBarriersTest, OneThatAttachesLaterBeginsWithTheNextBarrierOfTheNode) {
  LocalBarriers barriers(2);
  barriers.Enter(At(1), {kFirst, RequestId(1)});
  EXPECT_EQ(barriers.TakeEntered(OnlyFirst), 0u);
  barriers.OnAttached(kSecond);
  barriers.Enter(At(2), {kSecond, RequestId(2)});
  EXPECT_THAT(barriers.Missing(1, All), ElementsAre(kFirst));
}

TEST(LocalBarriersTest, NobodyWaitsForAWorkerThatFetches) {
  LocalBarriers barriers(2);
  barriers.Enter(At(1), {kFirst, RequestId(1)});
  barriers.OnFetching(kSecond);
  EXPECT_THAT(barriers.Missing(0, All), IsEmpty());
  EXPECT_EQ(barriers.TakeEntered(All), 0u);
  barriers.OnFetched(kSecond);
  barriers.OnFetched(kSecond);
  barriers.Enter(At(2), {kSecond, RequestId(2)});
  EXPECT_THAT(barriers.TakeReleased(0), ElementsAre(WaitingCall{kFirst, RequestId(1)}));
  EXPECT_THAT(barriers.Missing(1, All), ElementsAre(kFirst)) << "its first one is the node's second";
  barriers.OnFetching(kSecond);
  barriers.Drop(kSecond);
  EXPECT_THAT(barriers.Missing(2, All), ElementsAre(kFirst, kSecond)) << "the next start of it does not fetch";
}

TEST(LocalBarriersTest, NobodyWaitsForAWorkerThatHasGone) {
  LocalBarriers barriers(2);
  barriers.Enter(At(1), {kFirst, RequestId(1)});
  barriers.Enter(At(1), {kSecond, RequestId(2)});
  EXPECT_THAT(barriers.Drop(kSecond), ElementsAre(RequestId(2)));
  EXPECT_EQ(barriers.TakeAll().at(0).calls.size(), 1u);
  EXPECT_THAT(barriers.waiting(), IsEmpty());
}

}  // namespace
}  // namespace banyan
