// What a job costs in storage, however long it runs, and how a restart finds it.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
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

// A restart, or the takeover of a scheduler that stood by with another file.
TEST(SchedulerSettingsTest, ARunningJobKeepsItsSettings) {
  SchedulerHarness first(MeshOverlay(kNodes, "aggregation: {op: mean}\n"));
  first.StartJob(kNodes);
  SchedulerHarness other(MeshOverlay(kNodes, "aggregation: {op: sum}\n"), first.stored());
  ASSERT_TRUE(other.stopped().has_value());
  EXPECT_EQ(other.stopped()->code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(other.stopped()->message()),
              HasSubstr("aggregation.op is mean in the running job, and sum in test.yaml"));
  EXPECT_THAT(other.history(), SizeIs(0));
  SchedulerHarness same(MeshOverlay(kNodes, "aggregation: {op: mean}\ntopology: {planner: star}\n"), first.stored());
  EXPECT_FALSE(same.stopped().has_value());
  EXPECT_TRUE(same.HasLog("back with"));
}

// Nodes have room for chunks of the size with which they joined.
TEST(SchedulerSettingsTest, ARunningJobKeepsItsLargestChunkUntilItIsReconfigured) {
  const std::string large = "chunks: {max_elements: 100000}\n";
  SchedulerHarness first(MeshOverlay(kNodes));
  first.StartJob(kNodes);
  SchedulerHarness other(MeshOverlay(kNodes, large), first.stored());
  ASSERT_TRUE(other.stopped().has_value());
  EXPECT_THAT(std::string(other.stopped()->message()),
              HasSubstr("chunks.max_elements is 65536 in the running job, and 100000"));
  first.Receive(SchedulerHarness::ConnectionOf(90), Reconfigure{MeshYaml(kNodes, large), "large.yaml"});
  SchedulerHarness former(MeshOverlay(kNodes), first.stored());
  EXPECT_FALSE(former.stopped().has_value()) << "what it was reconfigured with counts";
}

TEST(SchedulerSettingsTest, ARunningJobOfAnEarlierReleaseHasThemFromNowOn) {
  SchedulerHarness first(MeshOverlay(kNodes));
  first.StartJob(kNodes);
  StoredRecords stored = first.stored();
  std::erase_if(stored.tail, [](const std::string& bytes) {
    return std::holds_alternative<SettingsRecord>(*DecodeStateRecord(bytes));
  });
  SchedulerHarness second(MeshOverlay(kNodes, "aggregation: {op: sum}\n"), stored);
  EXPECT_FALSE(second.stopped().has_value());
  SchedulerHarness third(MeshOverlay(kNodes), second.stored());
  EXPECT_TRUE(third.stopped().has_value());
}

TEST(SchedulerSettingsTest, BeforeTheStartTheFileMayChangeAndWhoHasJoinedStartsAgain) {
  SchedulerHarness first(MeshOverlay(kNodes, "aggregation: {op: mean}\n"));
  first.Receive(1, SchedulerHarness::JoinOf(1));
  for (const char* more : {"aggregation: {op: sum}\n", "aggregation: {op: mean}\n"}) {
    SCOPED_TRACE(more);
    SchedulerHarness second(MeshOverlay(kNodes, more), first.stored());
    ASSERT_FALSE(second.stopped().has_value());
    second.Receive(1, SchedulerHarness::JoinOf(1));
    const bool is_other = absl::StrContains(more, "sum");
    EXPECT_THAT(second.Sent<JoinAccepted>(1), SizeIs(is_other ? 0 : 1)) << "it has the former settings";
    second.Receive(1, SchedulerHarness::JoinOf(1, 2));
    second.Receive(2, SchedulerHarness::JoinOf(2));
    EXPECT_THAT(second.Sent<PolicyPublished>(2), SizeIs(1));
  }
}

TEST(SchedulerSettingsTest, AnotherJobMayHaveOtherSettingsAndOtherNodes) {
  SchedulerHarness first(MeshOverlay(3));
  first.StartJob(3);
  first.Receive(SchedulerHarness::ConnectionOf(90), StopJob{"enough"});
  SchedulerHarness second(MeshOverlay(2, "aggregation: {op: sum}\n"), first.stored());
  ASSERT_FALSE(second.stopped().has_value()) << *second.stopped();
  for (const int node : {1, 2}) second.Receive(node, SchedulerHarness::JoinOf(node, 2));
  EXPECT_THAT(second.Sent<PolicyPublished>(1), SizeIs(1));
  SchedulerHarness again(MeshOverlay(2, "aggregation: {op: sum}\n"), second.stored());
  EXPECT_FALSE(again.stopped().has_value()) << *again.stopped();
}

TEST(SchedulerSettingsTest, WhoHasLeftHasLeftAfterARestartToo) {
  SchedulerHarness first(MeshOverlay(kNodes));
  first.StartJob(kNodes);
  first.Receive(1, Leave{"its workers are done", false});
  SchedulerHarness second(MeshOverlay(kNodes), first.stored());
  second.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_THAT(second.Sent<MembershipUpdate>(2).back().waiting_for, SizeIs(0));
  second.Receive(2, Leave{"its workers are done", false});
  EXPECT_TRUE(second.HasLog("the job is done"));
  SchedulerHarness third(MeshOverlay(kNodes), SchedulerOptions{.stored = second.stored(), .begins_another = false});
  EXPECT_TRUE(third.HasLog("is over: all nodes have left"));
}

TEST(SchedulerSlowStorageTest, WhatWaitsForTheStorageIsBoundedInBytes) {
  SchedulerOptions options;
  options.most_held_bytes = 2'000'000;
  SchedulerHarness harness(MeshOverlay(kNodes), options);
  harness.StartJob(kNodes);
  RegisterKeys keys;
  for (int key = 0; key < 1000; ++key) keys.keys.push_back({absl::StrCat(std::string(250, 'w'), key), 10});
  harness.Receive(1, keys);
  harness.persists = false;
  harness.Receive(1, RegisterKeys{{{"one more", 10}}});
  for (int join = 0; join < 20; ++join) {
    harness.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
    harness.Receive(2, SchedulerHarness::JoinOf(2));
    EXPECT_LT(harness.core().TableSizes().at("held"), 60u);
  }
  EXPECT_TRUE(harness.HasLog("the storage of the state is too slow"));
  EXPECT_FALSE(harness.stopped().has_value());
}

}  // namespace
}  // namespace banyan
