#include "wan/wan_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace banyan {
namespace {

using ::testing::HasSubstr;

WanStatus Sample() {
  WanStatus status;
  status.id = "00ff";
  status.overlay = "a.yaml";
  status.pid = 12;
  status.seed = 18446744073709551615u;
  status.uptime_seconds = 1.5;
  status.nodes = {{"n1", "10.99.0.1"}, {"n2", "10.99.0.2"}};
  status.links = {{"n1", "n2", 12.5, 15, 0.02, 1500000, 1000, 3, 4, 3000, 65536, false, 5},
                  {"n2", "n1", 1, 15, 0, 0, 0, 0, 0, 0, 0, true}};
  status.forwarder = {1, 2, 3, 4, 5, 0.25};
  return status;
}

TEST(WanStatusTest, JsonKeepsEverything) {
  const std::string json = WanStatusJson(Sample(), "running");
  EXPECT_THAT(json, HasSubstr("\"state\":\"running\""));
  const absl::StatusOr<WanStatus> read = ParseWanStatus(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(WanStatusJson(*read, "running"), json);
  EXPECT_EQ(read->seed, 18446744073709551615u);
  ASSERT_NE(read->FindLink("n1", "n2"), nullptr);
  EXPECT_EQ(read->FindLink("n1", "n2")->dropped_packets, 4);
  EXPECT_EQ(read->FindLink("n1", "n2")->trimmed_packets, 5);
  EXPECT_FALSE(read->FindLink("n1", "n2")->is_cut);
  EXPECT_TRUE(read->FindLink("n2", "n1")->is_cut);
  EXPECT_EQ(read->FindLink("n1", "n3"), nullptr);
  EXPECT_EQ(read->FindNode("n2")->address, "10.99.0.2");
  EXPECT_EQ(read->FindNode("n3"), nullptr);
}

TEST(WanStatusTest, RefusesAnythingElse) {
  for (const char* text : {"", "[]", "{}", "{\"id\": 3}", "{", "x"}) EXPECT_FALSE(ParseWanStatus(text).ok()) << text;
}

TEST(WanStatusTest, TextShowsLinks) {
  const std::string text = WanStatusText(Sample());
  EXPECT_THAT(text, HasSubstr("n1 to n2"));
  EXPECT_THAT(text, HasSubstr("0.0  cut\n"));
  EXPECT_THAT(text, HasSubstr("3.0  5 trimmed\n"));
  EXPECT_THAT(text, HasSubstr("a.yaml, 2 nodes, 2 directed links"));
}

}  // namespace
}  // namespace banyan
