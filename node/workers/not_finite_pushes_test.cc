#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "node/workers/worker_reports.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class NotFinitePushesTest : public ::testing::Test {
 protected:
  // Notes a push into key k of so many values, and returns what was logged.
  std::string Note(NotFinitePushes& pushes, uint32_t key, uint64_t round, uint64_t values) {
    Actions actions;
    StepContext step{now_, actions, rejections_};
    pushes.Note(step, {WorkerId(1), KeyId(key), "k" + std::to_string(key), 4096, Round(round), values});
    return actions.empty() ? "" : std::get<LogLine>(actions.front()).text;
  }

  Timestamp now_ = Timestamp::FromNanoseconds(1);
  RejectionLog rejections_;
};

TEST_F(NotFinitePushesTest, NamesKeyRoundWorkerAndWhatBecomesOfIt) {
  NotFinitePushes keep(NotFiniteRule::kKeep);
  EXPECT_EQ(Note(keep, 7, 3, 2),
            "key 'k7' round 3: worker 1 pushed NaN or infinity in 2 of 4096 values, which goes into the sum "
            "(aggregation.not_finite is keep)");
  NotFinitePushes skip(NotFiniteRule::kSkip);
  EXPECT_THAT(Note(skip, 7, 3, 2), HasSubstr("has no part in the round"));
  NotFinitePushes fail(NotFiniteRule::kFail);
  EXPECT_THAT(Note(fail, 7, 3, 2), HasSubstr("ends the job"));
}

TEST_F(NotFinitePushesTest, LogsSeldomAndCountsAll) {
  NotFinitePushes pushes(NotFiniteRule::kKeep);
  EXPECT_NE(Note(pushes, 1, 1, 1), "");
  for (uint64_t round = 2; round <= 1000; ++round) EXPECT_EQ(Note(pushes, 1 + round % 2, round, 1), "");
  now_ = now_ + NotFinitePushes::kLogInterval;
  EXPECT_THAT(Note(pushes, 1, 1001, 5), HasSubstr("1001 such pushes so far"));
  using Row = NodeReport::NotFinite;
  EXPECT_THAT(pushes.Report(), ElementsAre(Row{KeyId(1), 506, Round(1001)}, Row{KeyId(2), 499, Round(999)}));
}

TEST_F(NotFinitePushesTest, ManyKeysShareARow) {
  NotFinitePushes pushes(NotFiniteRule::kSkip);
  for (uint32_t key = 1; key <= 20000; ++key) Note(pushes, key, key, 1);
  const std::vector<NodeReport::NotFinite> rows = pushes.Report();
  ASSERT_EQ(rows.size(), NodeReport::kMostNotFinite);
  EXPECT_EQ(rows[0], (NodeReport::NotFinite{KeyId(), 20000 - (NodeReport::kMostNotFinite - 1), Round(20000)}));
  EXPECT_EQ(rows[1], (NodeReport::NotFinite{KeyId(1), 1, Round(1)}));
}

}  // namespace
}  // namespace banyan
