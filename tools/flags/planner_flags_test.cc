#include <sstream>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/flags/shared_flags.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

class PlannerFlagsTest : public ::testing::Test {
 protected:
  PlannerFlagsTest() : line_("banyan try", "Tries.", "banyan try") {
    flags_.AddTo(line_);
    overlay_.nodes.resize(3);
  }

  // Reads the arguments and returns what Apply says.
  absl::Status Apply(std::vector<std::string> arguments) {
    EXPECT_EQ(line_.Parse(arguments, out_, err_), std::nullopt) << err_.str();
    return flags_.Apply(overlay_);
  }
  void ExpectRefusal(std::vector<std::string> arguments, const std::string& text) {
    EXPECT_THAT(std::string(Apply(std::move(arguments)).message()), HasSubstr(text));
  }

  PlannerFlags flags_;
  CommandLine line_;
  OverlayConfig overlay_;
  std::ostringstream out_, err_;
};

TEST_F(PlannerFlagsTest, StandInForTheFile) {
  ASSERT_TRUE(Apply({"--planner", "fapt", "--roots", "2", "--shares", "balanced"}).ok());
  EXPECT_EQ(overlay_.topology.planner, "fapt");
  EXPECT_EQ(overlay_.topology.roots, 2);
  EXPECT_EQ(overlay_.topology.shares, ShareRule::kBalanced);
}

TEST_F(PlannerFlagsTest, AllRootsAreNoNumber) {
  overlay_.topology.roots = 2;
  ASSERT_TRUE(Apply({"--roots=all"}).ok());
  EXPECT_EQ(overlay_.topology.roots, std::nullopt);
}

TEST_F(PlannerFlagsTest, RefusesMoreRootsThanNodes) { ExpectRefusal({"--roots=4"}, "has only 3 nodes"); }

TEST_F(PlannerFlagsTest, RefusesWhatThePlannerHasNoUseFor) {
  for (const char* planner : {"star", "bkt", "mst", "custom"}) {
    ExpectRefusal({"--planner", planner, "--roots", "2"}, "--roots: only the planners fapt, packed have it, not '");
  }
}

TEST_F(PlannerFlagsTest, RefusesSharesWhereTheyAreThePlannersOwn) {
  ExpectRefusal({"--shares", "balanced"},
                "--shares: only the planners fapt, custom have it, not 'packed'; add "
                "--planner fapt, or leave --shares out");
}

TEST_F(PlannerFlagsTest, RefusesWrongRoots) {
  for (const char* roots : {"0", "-1", "some", "1.5"}) {
    EXPECT_EQ(line_.Parse({"--roots", roots}, out_, err_), kExitUsage) << roots;
  }
}

TEST(PlannerUseTest, EveryFlagHasItsPlanners) {
  EXPECT_TRUE(CheckPlannerUse("k", "bkt").ok());
  EXPECT_THAT(std::string(CheckPlannerUse("k", "packed").message()), HasSubstr("only the planner bkt has it"));
  EXPECT_TRUE(CheckPlannerUse("root", "star").ok());
  EXPECT_FALSE(CheckPlannerUse("root", "custom").ok());
}

}  // namespace
}  // namespace banyan
