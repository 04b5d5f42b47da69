#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/demo/demo_dashboard.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

void AddRound(DemoProgress& progress) {
  RoundProgress round;
  round.round = progress.finished_rounds() + 1;
  ASSERT_TRUE(progress.Add(round).ok());
}

TEST(DemoScreenTest, WritesALineNowAndThenWithoutATerminal) {
  std::ostringstream out;
  DemoScreen screen(out, 0);
  DemoProgress progress(1, 1, 10);
  const DemoNetworkState network;
  screen.Update(progress, network, "waiting for n1", absl::Seconds(0));
  screen.Update(progress, network, "waiting for n1", absl::Seconds(1));
  EXPECT_EQ(out.str(), "waiting for n1\n");
  AddRound(progress);
  screen.Update(progress, network, "", absl::Seconds(2));
  screen.Update(progress, network, "", absl::Seconds(3));
  screen.Update(progress, network, "", absl::Seconds(7));
  screen.Finish(progress, network, absl::Seconds(8));
  EXPECT_EQ(out.str(),
            "waiting for n1\n"
            "round 1/10  loss 0.000  sync 0.0 ms (median 0.0)  wire 0.0 MB  2 s\n"
            "round 1/10  loss 0.000  sync 0.0 ms (median 0.0)  wire 0.0 MB  7 s\n"
            "round 1/10  loss 0.000  sync 0.0 ms (median 0.0)  wire 0.0 MB  8 s\n");
}

TEST(DemoScreenTest, TellsOfEveryPolicyAndChangeOnceWithoutATerminal) {
  std::ostringstream out;
  DemoScreen screen(out, 0);
  const DemoProgress progress(1, 1, 10);
  DemoNetworkState network;
  JobStatus status;
  status.plan.emplace().planner = "packed";
  status.policy = 1;
  network.Add(status, absl::Seconds(1));
  WanStatus wan;
  wan.links.resize(1);
  network.Add(wan, absl::Seconds(1));
  screen.Update(progress, network, "", absl::Seconds(1));
  EXPECT_THAT(out.str(), StartsWith("policy 1: packed, "));
  out.str("");
  wan.links[0].mbps = 7;
  network.Add(wan, absl::Seconds(2));
  screen.Update(progress, network, "", absl::Seconds(2));
  screen.Update(progress, network, "", absl::Seconds(3));
  EXPECT_EQ(out.str(), "the WAN's rates change, 2 s\n");
}

TEST(DemoScreenTest, TellsOnceOfEveryEndAndEveryReturnWithoutATerminal) {
  std::ostringstream out;
  DemoScreen screen(out, 0);
  DemoProgress progress(1, 1, 10);
  const DemoNetworkState network;
  AddRound(progress);
  screen.Update(progress, network, "", absl::Seconds(1));
  out.str("");
  progress.SetProcesses({{"node n1", 1, false, "signal 9 (Killed)"}});
  screen.Update(progress, network, "", absl::Seconds(2));
  screen.Update(progress, network, "", absl::Seconds(2));
  progress.SetProcesses({{"node n1", 1, true, "signal 9 (Killed)"}});
  screen.Update(progress, network, "", absl::Seconds(3));
  screen.Update(progress, network, "", absl::Seconds(3));
  EXPECT_EQ(out.str(),
            "node n1 ended with signal 9 (Killed), 2 s\n"
            "node n1 runs again after it has died once, 3 s\n");
}

TEST(DemoScreenTest, DrawsInPlaceOnATerminal) {
  std::ostringstream out;
  DemoScreen screen(out, 80);
  DemoProgress progress(1, 1, 10);
  const DemoNetworkState network;
  AddRound(progress);
  screen.Update(progress, network, "", absl::Seconds(1));
  EXPECT_THAT(out.str(), Not(HasSubstr("A[")));
  out.str("");
  screen.Update(progress, network, "", absl::Seconds(2));
  EXPECT_THAT(out.str(), StartsWith("\x1b[2A["));
  out.str("");
  screen.Update(progress, network, "", absl::Milliseconds(2100));
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace banyan
