#include "tests/tidy/layering_check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan {
namespace {

// A file at `path` that includes `header`.
SourceFile Includes(const std::string& path, const std::string& header) {
  return {path, "#include \"" + header + "\"\n"};
}

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

class FloorsTest : public testing::TestWithParam<std::vector<std::string>> {};

// The folders of each parameter, from the ground.
TEST_P(FloorsTest, HigherLooksDownAndNeverUp) {
  const std::vector<std::string>& folders = GetParam();
  for (size_t low = 0; low < folders.size(); ++low) {
    for (size_t high = low + 1; high < folders.size(); ++high) {
      EXPECT_TRUE(CheckLayering({Includes(folders[high] + "/a.h", folders[low] + "/b.h")}).empty())
          << folders[high] << " over " << folders[low];
      EXPECT_EQ(CheckLayering({Includes(folders[low] + "/a.h", folders[high] + "/b.h")}).size(), 1u)
          << folders[low] << " under " << folders[high];
    }
  }
}

using Stack = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(
    Root, FloorsTest,
    testing::Values(Stack{"core", "proto", "protocol", "topology", "node", "runtime", "wan", "tools"},
                    Stack{"core", "proto", "posix", "awareness", "scheduler", "sim", "wan", "examples"},
                    Stack{"core", "proto", "protocol", "compression", "node", "sim", "wan", "bench"},
                    Stack{"core", "proto", "protocol", "compression", "node", "sim", "wan", "tests"}));
INSTANTIATE_TEST_SUITE_P(
    Inside, FloorsTest,
    testing::Values(Stack{"node/link", "node/peers", "node/rounds", "node/workers"},
                    Stack{"topology/evaluation", "topology/planners", "topology/packing", "topology/fit"},
                    Stack{"compression/kernels", "compression/codecs", "compression/cuda"},
                    Stack{"scheduler/state", "scheduler/members", "scheduler/rounds", "scheduler/policy",
                          "scheduler/epochs"},
                    Stack{"runtime/transport", "runtime/workers", "runtime/session"},
                    Stack{"sim/network", "sim/processes", "sim/checkers", "sim/runs", "sim/figures", "sim/studies"},
                    Stack{"tools/reports", "tools/demo"}));

TEST(LayeringCheckTest, FlatFilesLieAboveAndBelowSubfolders) {
  EXPECT_TRUE(CheckLayering({Includes("node/node_core.cc", "node/workers/desk.h"),
                             Includes("node/link/peer_link.h", "node/step_context.h")})
                  .empty());
}

TEST(LayeringCheckTest, CirclesOnOneFloorAreFoundAtEachArrow) {
  const SourceFile first = Includes("tools/demo/a.h", "tools/metrics/b.h");
  const SourceFile second = Includes("tools/metrics/b.h", "tools/wan_benchmark/c.h");
  const SourceFile third = Includes("tools/wan_benchmark/c.h", "tools/demo/d.h");
  EXPECT_TRUE(CheckLayering({first, second}).empty());
  const std::vector<std::string> findings = CheckLayering({first, second, third});
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_TRUE(findings[0].ends_with("circle tools/demo -> tools/metrics -> tools/wan_benchmark -> tools/demo"))
      << findings[0];
}

TEST(LayeringCheckTest, CirclesInFoldersWithoutFloorsAreFound) {
  const SourceFile there = Includes("examples/mnist/a/b.h", "examples/mnist/c/d.h");
  const SourceFile back = Includes("examples/mnist/c/d.h", "examples/mnist/a/e.h");
  EXPECT_TRUE(CheckLayering({there}).empty());
  EXPECT_EQ(CheckLayering({there, back}).size(), 2u);
}

TEST(LayeringCheckTest, TestsMayLookUpInsideOfAFolderOnly) {
  EXPECT_TRUE(CheckLayering({Includes("node/link/a_test.cc", "node/peers/b.h"),
                             Includes("node/testing/a.h", "node/workers/b.h"),
                             Includes("node/link/c_test.cc", "node/testing/a.h")})
                  .empty());
  EXPECT_EQ(CheckLayering({Includes("node/a_test.cc", "runtime/b.h")}).size(), 1u);
  EXPECT_EQ(CheckLayering({Includes("node/testing/a.h", "runtime/b.h")}).size(), 1u);
}

TEST(LayeringCheckTest, CodeWithoutAFloorIsFound) {
  EXPECT_EQ(CheckLayering({{"elsewhere/a.h", ""}}).size(), 1u);
  EXPECT_EQ(CheckLayering({{"a.cc", ""}}).size(), 1u);
  EXPECT_EQ(CheckLayering({{"node/elsewhere/a.h", ""}}).size(), 1u);
  EXPECT_TRUE(CheckLayering({{"README.md", ""}, {"deploy/BUILD", "data = [\"//tools:banyan\"]"}}).empty());
  EXPECT_TRUE(CheckLayering({{"node/testing/a.h", ""}, {"examples/mnist/deeper/a.h", ""}}).empty());
}

}  // namespace
}  // namespace banyan
