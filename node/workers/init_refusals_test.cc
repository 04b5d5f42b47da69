#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/workers/worker_reports.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(InitRefusalsTest, KeepsTheLastReasonUntilTheWorkerHasTheKeyOrIsGone) {
  InitRefusals refusals;
  refusals.Note(WorkerId(0), "w", "too large");
  refusals.Note(WorkerId(0), "w", "still too large");
  refusals.Note(WorkerId(1), "w", "likewise");
  EXPECT_THAT(refusals.rows(), ElementsAre(NodeReport::Refusal{"w", WorkerId(0), "still too large"},
                                           NodeReport::Refusal{"w", WorkerId(1), "likewise"}));
  refusals.Clear(WorkerId(0), "w");
  refusals.Clear(WorkerId(1), "other");
  EXPECT_THAT(refusals.rows(), SizeIs(1));
  refusals.Forget(WorkerId(1));
  EXPECT_THAT(refusals.rows(), IsEmpty());
}

TEST(InitRefusalsTest, IsBounded) {
  InitRefusals refusals;
  for (int i = 0; i < 100; ++i) refusals.Note(WorkerId(0), "w" + std::to_string(i), "too large");
  EXPECT_THAT(refusals.rows(), SizeIs(NodeReport::kMostRefusals));
}

}  // namespace
}  // namespace banyan
