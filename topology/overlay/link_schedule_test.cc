#include "topology/overlay/link_schedule.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

NetworkView TwoNodes() {
  return *NetworkView::Create({{NodeId(1), "a", {}, {}}, {NodeId(2), "b", {}, {}}, {NodeId(3), "c", {}, {}}},
                              {{NodeId(1), NodeId(2), 1e6, {}, 0, LinkSource::kBelieved},
                               {NodeId(2), NodeId(1), 1e6, {}, 0, LinkSource::kBelieved}});
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseLinkChanges(text, "w.yaml", TwoNodes()).status().message());
}

TEST(LinkScheduleTest, AFileListsChangesInAnyOrder) {
  const auto changes = ParseLinkChanges(
      "changes:\n- {at_seconds: 9.5, from: b, to: a, mbps: 0.5}\n- {at_seconds: 3, from: a, to: b, mbps: 12}\n",
      "w.yaml", TwoNodes());
  ASSERT_TRUE(changes.ok()) << changes.status();
  const std::vector<LinkChange> expected = {{absl::Seconds(3), NodeId(1), NodeId(2), 12e6},
                                            {absl::Seconds(9.5), NodeId(2), NodeId(1), 5e5}};
  EXPECT_EQ(*changes, expected);
}

TEST(LinkScheduleTest, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT(ErrorOf("rounds: 3\n"), HasSubstr("changes"));
  EXPECT_THAT(ErrorOf("changes: 3\n"), HasSubstr("w.yaml:1:10: changes: expected a list"));
  EXPECT_THAT(ErrorOf("changes:\n- {at_seconds: 1, from: a, to: x, mbps: 1}\n"),
              HasSubstr("w.yaml:2:32: changes[0].to: expected a node of the overlay, got 'x'"));
  EXPECT_THAT(ErrorOf("changes:\n- {at_seconds: 1, from: a, to: c, mbps: 1}\n"), HasSubstr("no link from a to c"));
  EXPECT_THAT(ErrorOf("changes:\n- {at_seconds: 1, from: a, to: b, mbps: 0}\n"), HasSubstr("changes[0].mbps"));
  EXPECT_THAT(ErrorOf("changes:\n- {at_seconds: 1, from: a, to: b}\n"), HasSubstr("mbps"));
  EXPECT_EQ(LoadLinkChanges("no/such.yaml", TwoNodes()).status().code(), absl::StatusCode::kNotFound);
}

TEST(LinkScheduleTest, ARedrawIsAFunctionOfItsSeedAndIndex) {
  std::vector<std::pair<NodeId, NodeId>> links;
  for (uint32_t i = 1; i <= 10; ++i) links.emplace_back(NodeId(i), NodeId(i + 1));
  LinkRedraw redraw{absl::Seconds(180), 20e6, 155e6, 1, 1};
  const std::vector<LinkChange> first = DrawLinkChanges(redraw, 1, links);
  EXPECT_EQ(first.size(), 10u);
  EXPECT_EQ(first, DrawLinkChanges(redraw, 1, links));
  EXPECT_NE(first, DrawLinkChanges(redraw, 2, links));
  EXPECT_EQ(DrawLinkChanges(redraw, 2, links)[0].at, absl::Seconds(360));
  for (const LinkChange& change : first) {
    EXPECT_GE(change.rate_bps, 20e6);
    EXPECT_LE(change.rate_bps, 155e6);
  }
  redraw.seed = 2;
  EXPECT_NE(first, DrawLinkChanges(redraw, 1, links));
}

TEST(LinkScheduleTest, AFractionChangesThatManyDifferentLinks) {
  std::vector<std::pair<NodeId, NodeId>> links;
  for (uint32_t i = 1; i <= 10; ++i) links.emplace_back(NodeId(i), NodeId(i + 1));
  const std::vector<LinkChange> drawn = DrawLinkChanges({absl::Seconds(1), 1e6, 2e6, 0.3, 1}, 1, links);
  std::set<NodeId> changed;
  for (const LinkChange& change : drawn) changed.insert(change.from);
  EXPECT_EQ(drawn.size(), 3u);
  EXPECT_EQ(changed.size(), 3u);
}

}  // namespace
}  // namespace banyan
