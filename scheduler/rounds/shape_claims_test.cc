#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/rounds/key_registrar.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ShapeClaimsTest, NamesWhoDiffersFromMost) {
  ShapeClaims claims;
  claims.Note(NodeId(1), {11, {}});
  claims.Note(NodeId(2), {10, {}});
  EXPECT_THAT(claims.Judge().outliers, IsEmpty()) << "of two nobody knows";
  claims.Note(NodeId(3), {10, {}});
  EXPECT_THAT(claims.Judge().outliers, ElementsAre(NodeId(1)));
  EXPECT_THAT(claims.Judge().most, ElementsAre(NodeId(2), NodeId(3)));
  claims.Note(NodeId(4), {12, {}});
  EXPECT_THAT(claims.Judge().most, IsEmpty()) << "half of them is not most";
  claims.Note(NodeId(4), {10, {}});
  claims.Note(NodeId(1), {10, {}});
  EXPECT_THAT(claims.Judge().most, IsEmpty()) << "all agree";
}

TEST(ShapeClaimsTest, LayoutsOfOneSizeDiffer) {
  ShapeClaims claims;
  claims.Note(NodeId(1), {5, {{{"q", 2}, {"v", 3}}}});
  claims.Note(NodeId(2), {5, {{{"q", 2}, {"v", 3}}}});
  claims.Note(NodeId(3), {5, {{{"q", 2}, {"k", 3}}}});
  EXPECT_THAT(claims.Judge().outliers, ElementsAre(NodeId(3)));
}

}  // namespace
}  // namespace banyan
