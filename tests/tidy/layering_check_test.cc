#include "tests/tidy/layering_check.h"

#include <gtest/gtest.h>

namespace banyan {
namespace {

TEST(LayeringCheckTest, DownwardsPasses) {
  EXPECT_TRUE(CheckLayering({{"node/a.cc", "#include \"core/ids.h\"\n#include \"topology/plan.h\"\n#include <map>\n"},
                             {"tools/BUILD", "deps = [\"//runtime:x\", \"//deploy:internet2.yaml\"]"}})
                  .empty());
}

TEST(LayeringCheckTest, UpwardsIncludeIsFound) {
  std::vector<std::string> findings = CheckLayering({{"core/a.h", "\n#include \"node/node_core.h\"\n"}});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].starts_with("core/a.h:2: core/ may not depend on node/")) << findings[0];
}

TEST(LayeringCheckTest, UpwardsLabelIsFound) {
  EXPECT_EQ(CheckLayering({{"topology/BUILD", "deps = [\"//sim\"]"}}).size(), 1u);
  EXPECT_EQ(CheckLayering({{"topology/BUILD", "deps = [\"//sim:x\", \"//node/deeper:y\"]"}}).size(), 2u);
}

TEST(LayeringCheckTest, VisibilityIsNoDependency) {
  EXPECT_TRUE(CheckLayering({{"core/BUILD", "visibility = [\"//node:__pkg__\", \"//sim:__subpackages__\"]"}}).empty());
}

TEST(LayeringCheckTest, NeighboursPointOneWayOnly) {
  SourceFile there = {"scheduler/a.h", "#include \"node/b.h\"\n"};
  SourceFile back = {"node/a.h", "#include \"scheduler/b.h\"\n"};
  EXPECT_TRUE(CheckLayering({there}).empty());
  EXPECT_EQ(CheckLayering({there, back}).size(), 2u);
}

TEST(LayeringCheckTest, CoreAndProtoMayPointAtEachOther) {
  EXPECT_TRUE(
      CheckLayering({{"core/a.h", "#include \"proto/b.h\"\n"}, {"proto/b.h", "#include \"core/c.h\"\n"}}).empty());
}

TEST(LayeringCheckTest, TheEmulatorHasALevelOfItsOwn) {
  SourceFile use = {"tools/a.cc", "#include \"deploy/wan/b.h\"\n"};
  SourceFile packing = {"deploy/install/BUILD", "data = [\"//tools:banyan\"]"};
  EXPECT_TRUE(CheckLayering({use, packing, {"deploy/wan/b.cc", "#include \"sim/c.h\"\n"}}).empty());
  EXPECT_EQ(CheckLayering({{"runtime/BUILD", "deps = [\"//deploy/wan:b\"]"}}).size(), 1u);
  EXPECT_EQ(CheckLayering({use, {"deploy/wan/BUILD", "deps = [\"//tools:a\"]"}}).size(), 2u);
  EXPECT_EQ(CheckLayering({{"deploy/install/b.cc", ""}}).size(), 1u);
}

TEST(LayeringCheckTest, CodeWithoutALevelIsFound) {
  EXPECT_EQ(CheckLayering({{"elsewhere/a.h", ""}}).size(), 1u);
  EXPECT_EQ(CheckLayering({{"a.cc", ""}}).size(), 1u);
  EXPECT_TRUE(CheckLayering({{"README.md", ""}}).empty());
}

}  // namespace
}  // namespace banyan
