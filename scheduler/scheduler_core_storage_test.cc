// What a job costs in storage, however long it runs, and how a restart finds it.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::SizeIs;

constexpr int kNodes = 2;

class SchedulerStorageTest : public testing::Test {
 protected:
  void AddKeys(uint32_t count) {
    RegisterKeys keys;
    for (uint32_t key = 1; key <= count; ++key) keys.keys.push_back({absl::StrCat("layer", key, ".weight"), 10});
    harness_.StartJob(kNodes);
    harness_.Receive(1, keys);
  }
  // All keys run a round, from the first request to the last report.
  void RunRound(uint32_t keys, uint64_t round) {
    PolicyRequest request;
    RoundsClosed report;
    for (uint32_t key = 1; key <= keys; ++key) {
      request.entries.push_back({KeyId(key), Round(round)});
      report.entries.push_back({KeyId(key), Round(round), 7});
    }
    harness_.Receive(1, request);
    for (int node = 1; node <= kNodes; ++node) harness_.Receive(node, report);
    harness_.ForgetSent();
    most_bytes_ = std::max(most_bytes_, harness_.stored_bytes());
    if (harness_.records().empty()) ++snapshots_;
  }
  // Another scheduler goes on where this one is.
  void ExpectRestartAt(KeyId key, uint64_t next_round) {
    SchedulerHarness after(MeshOverlay(kNodes), harness_.stored());
    ASSERT_FALSE(after.stopped().has_value()) << *after.stopped();
    after.JoinAll(kNodes);
    after.Receive(1, RoundsClosed{{{key, Round(next_round - 1), 7}}});
    EXPECT_THAT(after.Sent<ClosedEverywhere>(1), SizeIs(1)) << "the last round is closed";
    after.Receive(1, PolicyRequest{{{key, Round(next_round)}}});
    ASSERT_THAT(after.Sent<PolicyAnswer>(1), SizeIs(1)) << "and the next one can run";
    EXPECT_EQ(after.Sent<PolicyAnswer>(1)[0].bindings[0].first_round, Round(next_round));
  }

  SchedulerHarness harness_{MeshOverlay(kNodes)};
  size_t most_bytes_ = 0;
  int snapshots_ = 0;
};

TEST_F(SchedulerStorageTest, ClosedRoundsOfAKeyCostNothingForEver) {
  AddKeys(1);
  for (uint64_t round = 0; round < 10000; ++round) RunRound(1, round);
  EXPECT_LE(most_bytes_, StateLog::kLeastTailBytes + 4096);
  EXPECT_LE(harness_.stored().snapshot.size(), 4096u);
  ExpectRestartAt(KeyId(1), 10000);
}

TEST_F(SchedulerStorageTest, AMillionRoundsOfKeysStaySmall) {
  constexpr uint32_t kKeys = 1000;
  constexpr uint64_t kRounds = 1000;
  AddKeys(kKeys);
  for (uint64_t round = 0; round < kRounds; ++round) RunRound(kKeys, round);
  EXPECT_LE(most_bytes_, size_t{10} << 20);
  EXPECT_LE(harness_.stored().snapshot.size(), kKeys * 100u);
  EXPECT_GE(snapshots_, 3) << "a restart has to read few rounds of keys";
  ExpectRestartAt(KeyId(kKeys), kRounds);
}

TEST_F(SchedulerStorageTest, ASnapshotIsDurableBeforeWhatComesAfterItIsTold) {
  SchedulerHarness harness(MeshOverlay(kNodes), {}, /*least_tail_bytes=*/0);
  harness.StartJob(kNodes);
  const KeyId key = harness.AddKey("w", 10);
  harness.persists = false;
  harness.Receive(1, PolicyRequest{{{key, Round(1)}}});
  harness.Receive(2, PolicyRequest{{{key, Round(1)}}});
  EXPECT_THAT(harness.Sent<PolicyAnswer>(2), SizeIs(0));
  harness.PersistWaiting();
  EXPECT_THAT(harness.Sent<PolicyAnswer>(2), SizeIs(1));
}

TEST_F(SchedulerStorageTest, ALongTailOfEarlierStartsIsReplacedAtOnce) {
  AddKeys(1);
  for (uint64_t round = 0; round < 100; ++round) RunRound(1, round);
  ASSERT_TRUE(harness_.stored().snapshot.empty());
  SchedulerHarness after(MeshOverlay(kNodes), harness_.stored(), /*least_tail_bytes=*/100);
  EXPECT_FALSE(after.stored().snapshot.empty());
  EXPECT_THAT(after.records(), SizeIs(0));
}

}  // namespace
}  // namespace banyan
