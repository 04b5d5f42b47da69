#include "gtest/gtest.h"
#include "sim/reducer/reducer_replay.h"

namespace banyan {
namespace {

ReducerJob Job(int nodes, int workers) {
  ReducerJob job;
  job.nodes = nodes;
  job.workers = workers;
  job.buckets = {100'000, 1'000'001};
  return job;
}

TEST(PackedSignGatherTest, SendsEachWorkersBitsToEachOtherNode) {
  // A bit for each element, up to whole bytes in each message, and a scale in each of the 2 + 16 messages.
  const int64_t worker_bytes = 100'000 / 8 + (1'000'001 + 7) / 8 + 18 * 4;
  EXPECT_EQ(GatherPackedSigns(Job(2, 1)).sent_bytes, 2 * 1 * worker_bytes);
  EXPECT_EQ(GatherPackedSigns(Job(4, 8)).sent_bytes, 4 * 3 * 8 * worker_bytes);
  ReducerJob ternary = Job(2, 1);
  ternary.family = LowBitFamily::kTernary;
  EXPECT_EQ(GatherPackedSigns(ternary).sent_bytes, 2 * (2 * (worker_bytes - 18 * 4) + 18 * 4));
}

TEST(PackedSignGatherTest, TakesAsLongAsItsSlowestPart) {
  ReducerJob job = Job(4, 8);
  job.delay = absl::ZeroDuration();
  const double bits = 8.0 * static_cast<double>(GatherPackedSigns(job).sent_bytes) / job.nodes;
  job.node_bps = 1e6;
  const double sent_s = bits / job.node_bps;
  EXPECT_NEAR(absl::ToDoubleSeconds(GatherPackedSigns(job).round), sent_s, 0.01 * sent_s);
  job.node_bps = 1e12;
  job.vote_bytes_per_second = 1e6;
  // A worker casts its votes, and counts those of 32.
  const double counted_s = (8 * 1'100'001 + 2 * 32 * 1'100'001 / 8.0) / 1e6;
  EXPECT_NEAR(absl::ToDoubleSeconds(GatherPackedSigns(job).round), counted_s, 0.01 * counted_s);
}

}  // namespace
}  // namespace banyan
