#include "sim/reducer/reducer_replay.h"

#include "absl/strings/str_format.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

ReducerJob SmallJob() {
  ReducerJob job;
  job.nodes = 3;
  job.workers = 2;
  job.buckets = {60'000, 200'000};
  return job;
}

TEST(ReducerReplayTest, CountsAreSmallerThanFloatsAndAllResultsAreChecked) {
  const auto points = ReplayJobs({SmallJob()}, [](size_t) {});
  ASSERT_TRUE(points.ok()) << points.status();
  const ReducerPoint* point = &points->front();
  EXPECT_EQ(point->floats.low_bit_part, 0);
  EXPECT_EQ(point->forced.low_bit_part, 1);
  // Up and down, but at the root; headers come on top.
  const double float_bytes = 2 * 2 * 4 * 260'000;
  EXPECT_NEAR(static_cast<double>(point->floats.sent_bytes), float_bytes, 0.05 * float_bytes);
  // Two voters need 2 bits, four 3; a decision has 2.
  EXPECT_LT(point->forced.sent_bytes, point->floats.sent_bytes / 9);
  EXPECT_GE(point->forced.results, 11 * 2 * 6) << "rounds, buckets, workers";
}

TEST(ReducerReplayTest, IsTheSameEachTime) {
  const absl::StatusOr<ReducerTimes> one = ReplayReducer(SmallJob(), ReducerRoute::kGuarded);
  const absl::StatusOr<ReducerTimes> other = ReplayReducer(SmallJob(), ReducerRoute::kGuarded);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(one->round, other->round);
  EXPECT_EQ(one->sent_bytes, other->sent_bytes);
}

TEST(ReducerReplayTest, GuardedRoundsAreNoSlowerThanFloats) {
  ReducerGrid grid;
  grid.nodes = {2, 4};
  grid.workers = {1, 4};
  grid.threads = {1, 3};
  grid.node_bps = {100e6, 10e9};
  grid.vote_bytes_per_second = {10e9, 100e6};
  grid.families = {LowBitFamily::kBinary, LowBitFamily::kTernary};
  size_t told = 0;
  const auto points = ReplayJobs(grid.JobsOf(SmallJob()), [&told](size_t done) { told = done; });
  ASSERT_TRUE(points.ok()) << points.status();
  EXPECT_EQ(points->size(), size_t{2 * 2 * 2 * 2 * 2 * 2});
  EXPECT_EQ(told, points->size());
  for (const ReducerPoint& point : *points) {
    const std::string what =
        absl::StrFormat("%d nodes of %d, %d threads, %g Mbit/s, votes at %g MB/s", point.job.nodes, point.job.workers,
                        point.job.threads, point.job.node_bps / 1e6, point.job.vote_bytes_per_second / 1e6);
    EXPECT_LE(point.guarded_part(), 1.02) << what;
    const bool is_slow_link = point.job.node_bps < 1e9;
    const bool is_slow_endpoint = point.job.vote_bytes_per_second < 1e9;
    if (is_slow_link && !is_slow_endpoint) {
      EXPECT_EQ(point.guarded.low_bit_part, 1) << what;
      EXPECT_LT(point.guarded_part(), 0.2) << what;
    }
    if (!is_slow_link && is_slow_endpoint) {
      EXPECT_EQ(point.guarded.low_bit_part, 0) << what;
      EXPECT_GT(point.forced_part(), 10) << what;
    }
  }
}

}  // namespace
}  // namespace banyan
