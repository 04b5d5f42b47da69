#include "scheduler/scheduler_context.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

TEST(SchedulerContextTest, PersistsARecordThatCanBeReadBack) {
  SchedulerContext context;
  context.Persist(BarrierRecord{7, {}});
  Actions actions = context.outbox.Take();
  ASSERT_EQ(actions.size(), 1u);
  const absl::StatusOr<StateRecord> record = DecodeStateRecord(std::get<PersistRecord>(actions[0]).bytes);
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(std::get<BarrierRecord>(*record).barrier, 7u);
}

TEST(SchedulerContextTest, CountsAllRejectionsAndLogsSome) {
  SchedulerContext context;
  for (int i = 0; i < 2 * kMaxRejectionLines; ++i) context.Reject(absl::StrCat("nonsense ", i));
  EXPECT_EQ(context.rejections.count(), static_cast<uint64_t>(2 * kMaxRejectionLines));
  Actions actions = context.outbox.Take();
  EXPECT_EQ(actions.size(), static_cast<size_t>(kMaxRejectionLines));
  const auto& line = std::get<LogLine>(actions[0]);
  EXPECT_EQ(line.level, LogLevel::kWarning);
  EXPECT_THAT(line.text, HasSubstr("nonsense"));
}

TEST(SchedulerContextTest, CountsThings) {
  EXPECT_EQ(CountOf(1, "node"), "1 node");
  EXPECT_EQ(CountOf(2, "node"), "2 nodes");
  EXPECT_EQ(CountOf(0, "node"), "0 nodes");
}

}  // namespace
}  // namespace banyan
