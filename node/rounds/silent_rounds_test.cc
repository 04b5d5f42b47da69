#include "node/rounds/silent_rounds.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

AttemptId Of(uint64_t round) { return {KeyId(1), Round(round), Epoch(1), Attempt(0)}; }
Timestamp At(int64_t seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(SilentRoundsTest, EachInARowWaitsTwiceAsLong) {
  SilentRounds silent(absl::Seconds(1));
  int64_t now = 0;
  for (const int64_t wait : {1, 2, 4, 8, 8}) {
    const uint64_t round = now + 1;
    silent.Add(Of(round), ChunkIndex(0), At(now));
    silent.Add(Of(round), ChunkIndex(1), At(now));
    EXPECT_EQ(silent.NextDeadline(), At(now + wait));
    EXPECT_THAT(silent.TakeDue(At(now + wait) + absl::Milliseconds(-1)), IsEmpty());
    now += wait;
    EXPECT_THAT(silent.TakeDue(At(now)), SizeIs(2));
  }
  silent.OnSpoken(KeyId(1));
  silent.Add(Of(1000), ChunkIndex(0), At(now));
  EXPECT_EQ(silent.NextDeadline(), At(now + 1));
  silent.Clear();
  EXPECT_EQ(silent.NextDeadline(), kNever);
}

}  // namespace
}  // namespace banyan
