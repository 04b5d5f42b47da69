#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/reducer/reducer_replay.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kMebiFloats = int64_t{1} << 18;  // 1 MiB of them

TEST(BucketScheduleTest, FillsBucketsFromTheLastTensor) {
  const std::vector<NamedShape> tensors = {
      {"first", {kMebiFloats}}, {"large", {40 * kMebiFloats}}, {"middle", {20 * kMebiFloats}},
      {"small", {10}},          {"last", {kMebiFloats - 5}},
  };
  // The first has 1 MiB or more, the others 25.
  EXPECT_THAT(Buckets(tensors), ElementsAre(kMebiFloats + 5, 60 * kMebiFloats, kMebiFloats));
}

TEST(BucketScheduleTest, ATensorIsNotDivided) {
  EXPECT_THAT(Buckets({{"a", {3}}, {"b", {100 * kMebiFloats}}}), ElementsAre(100 * kMebiFloats, 3));
  EXPECT_TRUE(Buckets({}).empty());
}

TEST(BucketScheduleTest, ModelsAreWhole) {
  const std::vector<BucketSchedule> schedules = ModelSchedules();
  ASSERT_EQ(schedules.size(), 4);
  EXPECT_EQ(schedules[0].elements(), 11220132);
  EXPECT_EQ(schedules[1].elements(), 66955010);
  EXPECT_EQ(schedules[2].elements(), 109483778);
  EXPECT_EQ(schedules[3].elements(), 162322944);
  for (const BucketSchedule& schedule : schedules) EXPECT_GT(schedule.buckets.size(), 2) << schedule.model;
}

}  // namespace
}  // namespace banyan
