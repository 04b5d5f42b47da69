#include "node/rounds/next_residuals.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr ElementRange kFirst{0, 2};
constexpr ElementRange kSecond{2, 1};

class NextResidualsTest : public ::testing::Test {
 protected:
  NextResidualsTest() {
    next_.Keep(ChunkIndex(0), Epoch(1), kFirst, Buffer::CopyOf({1, 1}));
    next_.Keep(ChunkIndex(0), Epoch(2), kFirst, Buffer::CopyOf({2, 2}));
    next_.Keep(ChunkIndex(1), Epoch(2), kSecond, Buffer::CopyOf({3}));
  }

  TensorMemory memory_{AggregationConfig(), 3};
  NextResiduals next_;
};

TEST_F(NextResidualsTest, TheEpochThatMadeTheResultSaysWhichOneCounts) {
  EXPECT_EQ(next_.size_bytes(), 20);
  next_.OnResult(ChunkIndex(0), Epoch(1), memory_);
  EXPECT_THAT(memory_.Residual(kFirst).floats(), ElementsAre(1, 1));
  EXPECT_EQ(next_.size_bytes(), 4);
  next_.OnResult(ChunkIndex(1), Epoch(2), memory_);
  EXPECT_THAT(memory_.Residual(kSecond).floats(), ElementsAre(3));
  EXPECT_EQ(next_.size_bytes(), 0);
}

TEST_F(NextResidualsTest, AResultOfAnEpochInWhichThisNodeEncodedNothingCommitsNothing) {
  next_.OnResult(ChunkIndex(0), Epoch(3), memory_);
  EXPECT_THAT(memory_.Residual(kFirst).floats(), ElementsAre(0, 0));
  EXPECT_EQ(next_.size_bytes(), 4);
}

}  // namespace
}  // namespace banyan
