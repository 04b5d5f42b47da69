// Jobs of as many keys as there may be, which are out of step. The harness refuses what no node could read.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/scheduler_harness.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kKeys = static_cast<uint32_t>(kMaxKeys);

// The rounds of a key that are bound: others than those of the key beside it.
Round First(uint32_t key, uint64_t more = 0) { return Round(2 + key % 7 + more); }

template <typename Kind>
size_t EntriesOf(const std::vector<Kind>& sent) {
  size_t entries = 0;
  for (const Kind& message : sent) {
    if constexpr (requires { message.entries; }) entries += message.entries.size();
    if constexpr (requires { message.keys; }) entries += message.keys.size();
    if constexpr (requires { message.bindings; }) entries += message.bindings.size();
  }
  return entries;
}

class ManyKeysTest : public testing::Test {
 protected:
  ManyKeysTest() : harness_(MeshOverlay(3)) {
    harness_.StartJob(3);
    RegisterKeys keys;
    for (uint32_t key = 1; key <= kKeys; ++key) keys.keys.push_back({absl::StrCat(std::string(240, 'w'), key), 10});
    harness_.Receive(1, keys);
    EXPECT_EQ(EntriesOf(harness_.Sent<KeysAssigned>(2)), kKeys);
    PolicyRequest asked;
    for (uint32_t key = 1; key <= kKeys; ++key) {
      for (const uint64_t more : {0, 2, 4, 6}) asked.entries.push_back({KeyId(key), First(key, more)});
    }
    harness_.Receive(1, asked);
    EXPECT_EQ(EntriesOf(harness_.Sent<PolicyAnswer>(1)), 4 * kKeys);
    RoundsClosed closed;
    for (uint32_t key = 1; key <= kKeys; ++key) {
      for (const uint64_t more : {0, 4}) closed.entries.push_back({KeyId(key), First(key, more), key});
    }
    for (const int node : {1, 2, 3}) harness_.Receive(node, closed);
    EXPECT_EQ(EntriesOf(harness_.Sent<ClosedEverywhere>(1)), 2 * kKeys);
    harness_.ForgetSent();
  }

  SchedulerHarness harness_;
};

TEST_F(ManyKeysTest, MembersCanReadWhatTheyAreTold) {
  // n3 dies.
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(3)});
  harness_.Advance(absl::Milliseconds(2200), {1, 2});
  for (const int node : {1, 2}) {
    ASSERT_THAT(harness_.Sent<EpochBegin>(node), SizeIs(1));
    EpochReport report = {Epoch(2), {}};
    for (uint32_t key = 1; key <= kKeys; ++key) report.progress.push_back({KeyId(key), KeyId(key), Round(key % 2)});
    harness_.Receive(node, report);
  }
  size_t frontiers = 0, bindings = 0;
  uint32_t parts = 0;
  for (const EpochPlan& part : harness_.Sent<EpochPlan>(1)) {
    EXPECT_EQ(part.part, parts++);
    frontiers += part.frontiers.size();
    bindings += part.bindings.size();
    EXPECT_EQ(part.has_more, bindings < 2 * kKeys);
  }
  EXPECT_EQ(frontiers, kKeys);
  EXPECT_EQ(bindings, 2 * kKeys);
  EXPECT_EQ(EntriesOf(harness_.Sent<ClosedEverywhere>(1)), 2 * kKeys);
  // n2 joins again.
  harness_.ForgetSent();
  harness_.Step(ConnectionDown{SchedulerHarness::ConnectionOf(2)});
  harness_.Receive(2, SchedulerHarness::JoinOf(2));
  EXPECT_EQ(EntriesOf(harness_.Sent<KeysAssigned>(2)), kKeys);
  EXPECT_EQ(EntriesOf(harness_.Sent<EpochPlan>(2)), 2 * kKeys);
  EXPECT_EQ(EntriesOf(harness_.Sent<ClosedEverywhere>(2)), 2 * kKeys);
  // It asks, and reports, once more.
  PolicyRequest asked;
  RoundsClosed closed;
  for (uint32_t key = 1; key <= kKeys; ++key) {
    for (const uint64_t more : {2, 6}) asked.entries.push_back({KeyId(key), First(key, more)});
    for (const uint64_t more : {0, 4}) closed.entries.push_back({KeyId(key), First(key, more), key});
  }
  harness_.Receive(2, asked);
  EXPECT_EQ(EntriesOf(harness_.Sent<PolicyAnswer>(2)), 2 * kKeys);
  harness_.Receive(2, closed);
  EXPECT_EQ(EntriesOf(harness_.Sent<ClosedEverywhere>(2)), 4 * kKeys);
  EXPECT_THAT(harness_.Sent<JobFailed>(1), IsEmpty());
}

// All nodes of a job ask for all keys of a model, some at a time.
class ManyNodesTest : public testing::Test {
 protected:
  static constexpr int kNodes = 64;
  static constexpr uint32_t kModelKeys = 2065;
  static constexpr uint32_t kAtATime = 59;  // as a worker's calls reach its node
  static constexpr uint32_t kTimes = kModelKeys / kAtATime;

  ManyNodesTest() : harness_(MeshOverlay(kNodes)) {}

  void Ask(int node, uint32_t time) {
    RegisterKeys keys;
    // Each node has an order of its own.
    for (uint32_t i = 0; i < kAtATime; ++i) {
      const uint32_t key = (time * kAtATime + i + 7 * static_cast<uint32_t>(node)) * 2 % kModelKeys;
      keys.keys.push_back({absl::StrCat("layers.", key, ".weight"), 10});
    }
    harness_.Receive(node, keys);
  }

  SchedulerHarness harness_;
};

TEST_F(ManyNodesTest, AskBeforeTheStartAndAreToldOnce) {
  for (int node = 1; node <= kNodes; ++node) {
    harness_.Receive(node, SchedulerHarness::JoinOf(node));
    // The last one begins the job, which the others have waited for with all their keys.
    for (uint32_t time = 0; time < kTimes && node < kNodes; ++time) Ask(node, time);
  }
  for (int node = 1; node <= kNodes; ++node) {
    ASSERT_THAT(harness_.Sent<KeysAssigned>(node), SizeIs(1));
    EXPECT_THAT(harness_.Sent<KeysAssigned>(node)[0].keys, SizeIs(kModelKeys));
  }
  harness_.ForgetSent();
  for (uint32_t time = 0; time < kTimes; ++time) Ask(kNodes, time);
  EXPECT_EQ(EntriesOf(harness_.Sent<KeysAssigned>(kNodes)), kModelKeys);
  EXPECT_THAT(harness_.Sent<KeysAssigned>(1), IsEmpty());
}

TEST_F(ManyNodesTest, AskAfterTheStartAndAreToldTwiceAtMost) {
  harness_.StartJob(kNodes);
  for (uint32_t time = 0; time < kTimes; ++time) {
    for (int node = 1; node <= kNodes; ++node) Ask(node, time);
  }
  for (int node = 1; node <= kNodes; ++node) {
    // When it is registered, and as the answer to what the node has asked.
    EXPECT_LE(EntriesOf(harness_.Sent<KeysAssigned>(node)), 2 * kModelKeys);
    EXPECT_GT(EntriesOf(harness_.Sent<KeysAssigned>(node)), kModelKeys);
  }
}

}  // namespace
}  // namespace banyan
