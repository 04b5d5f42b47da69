#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_context.h"
#include "scheduler/scheduler_limits.h"

namespace banyan {
namespace {

TEST(RejectionCounterTest, CountsAllAndSaysAFew) {
  RejectionCounter counter;
  const Timestamp start;
  for (int i = 0; i < kMaxRejectionLines; ++i) {
    const std::string what = absl::StrCat("nonsense ", i);
    EXPECT_EQ(counter.Reject(start, what), "rejected: " + what);
  }
  for (int i = 0; i < 7; ++i) EXPECT_EQ(counter.Reject(start, absl::StrCat("other ", i)), std::nullopt);
  EXPECT_EQ(counter.Reject(start + kRejectionLineInterval, "again"),
            "rejected: again (and 7 more since the last such line)");
  EXPECT_EQ(counter.Reject(start + kRejectionLineInterval, "more"), "rejected: more");
  EXPECT_EQ(counter.count(), static_cast<uint64_t>(kMaxRejectionLines) + 9);
}

TEST(RejectionCounterTest, WhatComesAgainAndAgainIsSaidEverMoreRarely) {
  RejectionCounter counter;
  std::vector<std::string> lines;
  for (int i = 1; i <= 1000; ++i) {
    const auto line = counter.Reject(Timestamp() + i * absl::Milliseconds(250), "a stranger");
    if (line.has_value()) lines.push_back(*line);
  }
  EXPECT_EQ(lines.size(), 10u);
  EXPECT_EQ(lines.front(), "rejected: a stranger");
  EXPECT_EQ(lines.back(), "rejected: a stranger (512 times so far) (and 255 more since the last such line)");
  for (size_t i = 0; i < 3 * kMostRejectionsKept; ++i) counter.Reject(Timestamp(), absl::StrCat("stranger ", i));
  EXPECT_EQ(counter.count(), 1000 + 3 * kMostRejectionsKept);
}

}  // namespace
}  // namespace banyan
