#include "runtime/local_updates/local_actions.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// What is due at each step, as "STEP:ACTIONS" with S, F and M for the three kinds.
std::string DueOf(const LocalActions::Schedule& schedule, int64_t steps) {
  LocalActions actions(schedule);
  std::string text;
  for (int64_t step = 1; step <= steps; ++step) {
    actions.Add(step);
    if (!actions.due().empty()) absl::StrAppend(&text, text.empty() ? "" : " ", step, ":");
    for (; !actions.due().empty(); actions.PopFirst()) {
      const LocalAction& action = actions.due().front();
      if (action.kind == LocalAction::Kind::kSiteMean) {
        text += "M";
      } else {
        absl::StrAppend(&text, action.kind == LocalAction::Kind::kStart ? "S" : "F", action.fragment);
      }
    }
  }
  return text;
}

TEST(LocalActionsTest, AllAtOnceEverySoManySteps) { EXPECT_EQ(DueOf({.sync_every = 3}, 7), "3:S0F0 6:S0F0"); }

TEST(LocalActionsTest, FragmentsTakeTurns) {
  EXPECT_EQ(DueOf({.sync_every = 4, .fragments = 2}, 8), "2:S1F1 4:S0F0 6:S1F1 8:S0F0");
  EXPECT_EQ(DueOf({.sync_every = 5, .fragments = 3}, 8), "1:S1F1 3:S2F2 5:S0F0 6:S1F1 8:S2F2");
}

TEST(LocalActionsTest, FragmentsAreAwaitedLater) {
  EXPECT_EQ(DueOf({.sync_every = 4, .fragments = 2, .delay = 1}, 9), "2:S1 3:F1 4:S0 5:F0 6:S1 7:F1 8:S0 9:F0");
  // One is finished before it is sent again, and while another is under way.
  EXPECT_EQ(DueOf({.sync_every = 2, .fragments = 2, .delay = 1}, 4), "1:S1 2:S0F1 3:F0S1 4:S0F1");
}

TEST(LocalActionsTest, SitesFirst) {
  EXPECT_EQ(DueOf({.sync_every = 4, .site_every = 2}, 8), "2:M 4:MS0F0 6:M 8:MS0F0");
}

TEST(LocalActionsTest, WhatIsNotDoneIsDueFirst) {
  LocalActions actions({.sync_every = 1});
  actions.Add(1);
  actions.PopFirst();
  actions.Add(2);
  ASSERT_EQ(actions.due().size(), 3u);
  EXPECT_EQ(actions.due().front(), (LocalAction{LocalAction::Kind::kFinish, 0}));
}

}  // namespace
}  // namespace banyan
