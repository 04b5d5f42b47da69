#include "node/state/holder_link.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int64_t kChunk = 1000;

class HolderLinkTest : public testing::Test {
 protected:
  Timestamp After(absl::Duration time) { return Timestamp() + time; }
  HolderLink link_{{NodeId(1), NodeId(2)}, kChunk};
};

TEST_F(HolderLinkTest, OwesAFewChunksAtFirst) {
  EXPECT_EQ(link_.node(), NodeId(2));
  EXPECT_EQ(link_.Room(), HolderLink::kLeastChunks * kChunk);
  link_.OnAsked(After(absl::ZeroDuration()), ChunkIndex(7), kChunk);
  EXPECT_TRUE(link_.Owes(ChunkIndex(7)));
  EXPECT_EQ(link_.Room(), (HolderLink::kLeastChunks - 1) * kChunk);
  EXPECT_TRUE(link_.OnArrived(After(absl::Milliseconds(10)), ChunkIndex(7)));
  EXPECT_FALSE(link_.OnArrived(After(absl::Milliseconds(10)), ChunkIndex(7)));
  EXPECT_EQ(link_.owed_bytes(), 0);
}

TEST_F(HolderLinkTest, MayOweWhatItGivesInItsHorizon) {
  // A chunk a millisecond, 10 ms after it was asked for.
  for (int i = 0; i < 300; ++i) link_.OnAsked(After(absl::Milliseconds(i)), ChunkIndex(i), kChunk);
  for (int i = 0; i < 300; ++i) link_.OnArrived(After(absl::Milliseconds(i + 10)), ChunkIndex(i));
  EXPECT_NEAR(link_.bytes_per_second(), 1e6, 0.3e6);
  EXPECT_NEAR(static_cast<double>(link_.Room()), 0.25e6, 0.08e6);
}

TEST_F(HolderLinkTest, IsExpectedLaterTheLongerItGivesNothing) {
  link_.OnAsked(After(absl::ZeroDuration()), ChunkIndex(0), kChunk);
  link_.OnArrived(After(absl::Milliseconds(100)), ChunkIndex(0));
  link_.OnAsked(After(absl::Milliseconds(100)), ChunkIndex(1), kChunk);
  EXPECT_EQ(link_.ExpectedWait(After(absl::Milliseconds(150)), 0), absl::Milliseconds(100));
  EXPECT_EQ(link_.ExpectedWait(After(absl::Milliseconds(150)), kChunk), absl::Milliseconds(200));
  EXPECT_EQ(link_.ExpectedWait(After(absl::Milliseconds(500)), 0), absl::Milliseconds(400));
}

TEST_F(HolderLinkTest, GivesBackWhatItOwes) {
  link_.OnAsked(After(absl::ZeroDuration()), ChunkIndex(4), kChunk);
  link_.OnAsked(After(absl::ZeroDuration()), ChunkIndex(2), kChunk);
  EXPECT_EQ(link_.TakeOwed(), (std::vector<ChunkIndex>{ChunkIndex(2), ChunkIndex(4)}));
  EXPECT_FALSE(link_.OwesAny());
  link_.is_silent = true;
  EXPECT_FALSE(link_.OnArrived(After(absl::Seconds(1)), ChunkIndex(4)));
  EXPECT_FALSE(link_.is_silent) << "it lives";
}

}  // namespace
}  // namespace banyan
