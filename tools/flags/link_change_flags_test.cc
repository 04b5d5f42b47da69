#include <gtest/gtest.h>

#include <sstream>

#include "tools/flags/shared_flags.h"
namespace banyan {
namespace {

std::optional<int> Parse(LinkChangeFlags& flags, const std::vector<std::string>& arguments) {
  CommandLine line("test", "Tests.", "test");
  flags.AddTo(line);
  std::ostringstream out, err;
  return line.Parse(arguments, out, err);
}

TEST(LinkChangeFlagsTest, NothingChangesByDefault) {
  LinkChangeFlags flags;
  EXPECT_EQ(Parse(flags, {}), std::nullopt);
  EXPECT_FALSE(flags.Redraw(1).has_value());
  EXPECT_TRUE(flags.LoadChanges(NetworkView())->empty());
}

TEST(LinkChangeFlagsTest, ReadsARedraw) {
  LinkChangeFlags flags;
  EXPECT_EQ(Parse(flags, {"--redraw-interval", "3", "--redraw-rates", "20-155", "--redraw-fraction", "0.5"}),
            std::nullopt);
  const std::optional<LinkRedraw> redraw = flags.Redraw(7);
  ASSERT_TRUE(redraw.has_value());
  EXPECT_EQ(redraw->period, absl::Seconds(3));
  EXPECT_EQ(redraw->low_bps, 20e6);
  EXPECT_EQ(redraw->high_bps, 155e6);
  EXPECT_EQ(redraw->fraction, 0.5);
  EXPECT_EQ(redraw->seed, 7u);
}

TEST(LinkChangeFlagsTest, HalfARedrawIsNone) {
  LinkChangeFlags seconds, mbps, wrong;
  EXPECT_EQ(Parse(seconds, {"--redraw-interval", "3"}), kExitUsage);
  EXPECT_EQ(Parse(mbps, {"--redraw-rates", "20-155"}), kExitUsage);
  EXPECT_EQ(Parse(wrong, {"--redraw-rates", "155-20"}), kExitUsage);
}

TEST(LinkChangeFlagsTest, AFileThatIsMissingIsNamed) {
  LinkChangeFlags flags;
  EXPECT_EQ(Parse(flags, {"--changes", "none.yaml"}), std::nullopt);
  EXPECT_EQ(flags.LoadChanges(NetworkView()).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace banyan
