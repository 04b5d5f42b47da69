#include <initializer_list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/workers/worker_reports.h"

namespace banyan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr KeyId kA = KeyId(1);
constexpr KeyId kB = KeyId(2);
constexpr KeyId kC = KeyId(3);

class PushPatternTest : public testing::Test {
 protected:
  void Push(std::initializer_list<KeyId> keys, WorkerId worker = WorkerId(0)) {
    for (const KeyId key : keys) patterns_.OnPush(worker, key, rounds_[{worker, key}] = Next(worker, key));
  }
  void Steps(int count, std::initializer_list<KeyId> keys, WorkerId worker = WorkerId(0)) {
    for (int step = 0; step < count; ++step) Push(keys, worker);
  }
  Round Next(WorkerId worker, KeyId key) { return rounds_[{worker, key}].Next(); }
  // Of the key; 99 when it is not reported.
  uint64_t LagOf(KeyId key) const {
    for (const NodeReport::Lag& row : patterns_.Report()) {
      if (row.key == key) return row.lag;
    }
    return 99;
  }

  std::map<std::pair<WorkerId, KeyId>, Round> rounds_;
  PushPatterns patterns_;
};

TEST_F(PushPatternTest, CountsTheKeysThatAreBehindInALoop) {
  EXPECT_THAT(patterns_.Report(), IsEmpty());
  Steps(PushPattern::kSteady, {kA, kB, kC});
  EXPECT_THAT(patterns_.Report(), SizeIs(1)) << "the first push of a key differs, but for the last key";
  Steps(1, {kA, kB, kC});
  EXPECT_EQ(LagOf(kA), 2u);
  EXPECT_EQ(LagOf(kB), 1u);
  EXPECT_EQ(LagOf(kC), 0u);
  EXPECT_EQ(patterns_.Report()[0].since, Round(2));
  EXPECT_EQ(patterns_.Report()[0].pushed, Round(PushPattern::kSteady + 1));
}

TEST_F(PushPatternTest, AKeyThatWasPushedTwiceIsAheadFromThenOn) {
  Steps(20, {kA, kB, kC});
  Push({kA, kB, kC, kC});
  Steps(PushPattern::kSteady, {kA, kB, kC});
  EXPECT_EQ(LagOf(kA), 1u);
  EXPECT_EQ(LagOf(kB), 0u);
  EXPECT_EQ(LagOf(kC), 2u) << "the last one of a step";
  Push({kA, kA, kB, kC});
  Steps(PushPattern::kSteady, {kA, kB, kC});
  EXPECT_EQ(LagOf(kA), 3u) << "B is two rounds behind, C one";
  Push({kA, kA, kB, kC});
  Steps(PushPattern::kSteady, {kA, kB, kC});
  EXPECT_EQ(LagOf(kA), 4u) << "three rounds count as two";
}

TEST_F(PushPatternTest, KeysThatArePushedInAnyOrderSaySoNothing) {
  for (int step = 0; step < 40; ++step) {
    Push({kA, kB, kC});
    Push({kC, kB, kA});
  }
  EXPECT_EQ(LagOf(kA), 99u);
  EXPECT_EQ(LagOf(kC), 99u);
}

TEST_F(PushPatternTest, TellsOfTheWorkerThatIsAhead) {
  Steps(20, {kA, kB});
  Push({kB, kB}, WorkerId(1));
  Push({kA}, WorkerId(1));
  Steps(20, {kA, kB}, WorkerId(1));
  for (const NodeReport::Lag& row : patterns_.Report()) EXPECT_EQ(row.worker, WorkerId(row.key == kB ? 1 : 0));
  patterns_.Forget(WorkerId(1));
  for (const NodeReport::Lag& row : patterns_.Report()) EXPECT_EQ(row.worker, WorkerId(0));
}

TEST_F(PushPatternTest, ReportsManyKeysInTurns) {
  std::set<KeyId> told;
  const auto keys = static_cast<uint32_t>(3 * NodeReport::kMostLags);
  for (int step = 0; step < 40; ++step) {
    for (uint32_t key = 1; key <= keys; ++key) Push({KeyId(key)});
    const std::vector<NodeReport::Lag> report = patterns_.Report();
    EXPECT_LE(report.size(), NodeReport::kMostLags);
    EXPECT_EQ(patterns_.Report(), report) << "without a push nothing is new";
    for (const NodeReport::Lag& row : report) told.insert(row.key);
  }
  EXPECT_EQ(told.size(), keys);
}

}  // namespace
}  // namespace banyan
