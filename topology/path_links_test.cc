#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/network_view.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

TEST(PathLinksTest, GivesPositionsInOrder) {
  // Links are in order of (from, to).
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {2, 3, 10}});
  EXPECT_THAT(LinksOfPath({NodeId(1), NodeId(2), NodeId(3)}, view), Optional(ElementsAre(0, 2)));
  EXPECT_THAT(LinksOfPath({NodeId(1)}, view), Optional(IsEmpty()));
}

TEST(PathLinksTest, NamesNoPathOverAMissingLink) {
  const NetworkView view = SampleNetwork(3, {{1, 2, 10}, {2, 1, 10}, {2, 3, 10}});
  EXPECT_FALSE(LinksOfPath({NodeId(1), NodeId(2), NodeId(1), NodeId(3)}, view).has_value());
  EXPECT_FALSE(LinksOfPath({NodeId(3), NodeId(2)}, view).has_value());
}

}  // namespace
}  // namespace banyan
