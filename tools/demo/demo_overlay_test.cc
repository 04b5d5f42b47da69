#include "tools/demo/demo_overlay.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/overlay/overlay_network.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kScheduler[] = "tcp://127.0.0.1:7700";

std::vector<std::string> Addresses(int count) {
  std::vector<std::string> addresses;
  for (int i = 0; i < count; ++i) addresses.push_back(absl::StrCat("tcp://127.0.0.1:", 7701 + i));
  return addresses;
}

OverlayConfig Fill(absl::string_view text, int nodes) {
  const std::string filled = FillAddresses(text, kScheduler, Addresses(nodes));
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(filled, "filled.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status() << "\n" << filled;
  EXPECT_TRUE(ValidateForJob(*overlay).ok());
  return *std::move(overlay);
}

TEST(DemoOverlayTest, TheDefaultHasNineNodes) {
  const absl::StatusOr<std::vector<DemoNode>> nodes = ReadDemoNodes(DefaultDemoOverlay(), "internet2.yaml");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 9u);
  EXPECT_EQ(nodes->front().name, "n1");
  EXPECT_EQ(nodes->front().workers, 1);
}

TEST(DemoOverlayTest, FillsInWhatAJobNeeds) {
  const OverlayConfig overlay = Fill(DefaultDemoOverlay(), 9);
  EXPECT_EQ(overlay.job, "fashion-mnist");
  EXPECT_EQ(overlay.scheduler.address, kScheduler);
  EXPECT_EQ(overlay.membership.lost_after, absl::Seconds(30));
  EXPECT_EQ(overlay.nodes[8].address, "tcp://127.0.0.1:7709");
  ASSERT_TRUE(overlay.links.has_value());
  EXPECT_EQ(overlay.links->size(), 13u);
  EXPECT_DOUBLE_EQ(overlay.links->front().a_to_b_bps, 38e6);
}

TEST(DemoOverlayTest, KeepsWhatTheFileSays) {
  const OverlayConfig overlay = Fill(
      "job: mine\nscheduler: {address: tcp://10.0.0.1:1}\nchunks: {max_elements: 1000}\ntopology: {planner: star}\n"
      "nodes:\n  - {name: a, address: tcp://10.0.0.2:1, listen: tcp://*:1, workers: 2}\n  - {name: b}\n",
      2);
  EXPECT_EQ(overlay.job, "mine");
  EXPECT_EQ(overlay.chunks.max_elements, 1000);
  EXPECT_EQ(overlay.topology.planner, "star");
  EXPECT_EQ(overlay.nodes[0].address, "tcp://127.0.0.1:7701");
  EXPECT_EQ(overlay.nodes[0].listen, "");
  EXPECT_EQ(overlay.nodes[0].workers, 2);
}

TEST(DemoOverlayTest, RefusesWhatTheDemoCannotRun) {
  EXPECT_THAT(std::string(ReadDemoNodes("nodes: [{name: a}, {nam: b}]", "x.yaml").status().message()),
              HasSubstr("x.yaml:1"));
  EXPECT_THAT(
      std::string(
          ReadDemoNodes("nodes: [{name: a}, {name: b}]\naggregation: {op: sum}\n", "x.yaml").status().message()),
      HasSubstr("op: mean"));
}

TEST(DemoOverlayTest, PatienceWithSilentNodesCanBeChosen) {
  EXPECT_EQ(LostAfterOf(DefaultDemoOverlay()), absl::Seconds(30));
  EXPECT_EQ(LostAfterOf("nodes: [{name: a}, {name: b}]\nmembership: {lost_after_seconds: 7}\n"), absl::Seconds(7));
  const std::string text = FillLostAfter("nodes: [{name: a}, {name: b}]\nmembership: {least: 2}\n", absl::Seconds(2));
  EXPECT_EQ(LostAfterOf(text), absl::Seconds(2));
  const OverlayConfig overlay = Fill(text, 2);
  EXPECT_EQ(overlay.membership.lost_after, absl::Seconds(2));
  EXPECT_EQ(overlay.membership.heartbeat, absl::Milliseconds(500));
  EXPECT_EQ(overlay.membership.least, 2);
  EXPECT_EQ(Fill(FillLostAfter(DefaultDemoOverlay(), absl::Seconds(20)), 9).membership.heartbeat, absl::Seconds(1));
}

// Writing the file anew may not take the quotes from patterns.
TEST(DemoOverlayTest, CompressionIsKept) {
  const OverlayConfig overlay = Fill(
      "nodes: [{name: a}, {name: b}]\n"
      "compression: {rules: [{keys: '*.weight', codec: topk, ratio: 0.25}, {keys: \"*\", codec: fp16}]}\n",
      2);
  ASSERT_EQ(overlay.compression.rules.size(), 2u);
  EXPECT_EQ(overlay.compression.rules[0].keys, "*.weight");
  EXPECT_EQ(overlay.compression.rules[0].numbers[0].value, 0.25);
  EXPECT_EQ(overlay.compression.rules[1].keys, "*");
}

}  // namespace
}  // namespace banyan
