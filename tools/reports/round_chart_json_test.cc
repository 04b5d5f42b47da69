#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/reports/round_chart.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

RoundChart Sample() {
  RoundChart chart;
  chart.missing = {{"n3", "it \"died\""}};
  chart.round = Round(7);
  chart.sentence = "round 7 took 2 s: n1 to n2 was full";
  chart.seconds = 2;
  chart.path = {{"n1", "n1", "n1 adds up", 0, 0.25}, {"n1", "n2", "n1 to n2 was full", 0.25, 2}};
  chart.links = {{"n1", "n2", 4000, 1.75, true, {{0.25, 1}, {1, 2}}, {{0.25, 0.5}}}, {"n2", "n1", 5, 0, false}};
  chart.links_left_out = 3;
  return chart;
}

std::string Refusal(const std::string& json) {
  const absl::StatusOr<RoundChart> read = ReadRoundChart(json);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << json;
  return std::string(read.status().message());
}

TEST(RoundChartJsonTest, ReadsWhatIsWritten) {
  const std::string json = RoundChartJson(Sample());
  const absl::StatusOr<RoundChart> read = ReadRoundChart(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(RoundChartJson(*read), json);
  EXPECT_EQ(read->missing, Sample().missing);
  EXPECT_EQ(read->round, Round(7));
  EXPECT_EQ(read->sentence, Sample().sentence);
  ASSERT_EQ(read->path.size(), 2u);
  EXPECT_EQ(read->path[1].text, "n1 to n2 was full");
  EXPECT_EQ(read->path[1].begin_s, 0.25);
  ASSERT_EQ(read->links.size(), 2u);
  EXPECT_TRUE(read->links[0].is_on_path);
  EXPECT_EQ(read->links[0].size_bytes, 4000u);
  EXPECT_THAT(read->links[0].carries, ElementsAre(Pair(0.25, 1), Pair(1, 2)));
  EXPECT_THAT(read->links[0].waits, ElementsAre(Pair(0.25, 0.5)));
  EXPECT_EQ(read->links_left_out, 3u);
}

TEST(RoundChartJsonTest, WithoutARoundThereAreOnlyThoseMissing) {
  RoundChart chart;
  chart.missing = {{"n3", "it died"}};
  const std::string json = RoundChartJson(chart);
  EXPECT_EQ(json, R"({"missing":[{"node":"n3","reason":"it died"}],"round":null})");
  const absl::StatusOr<RoundChart> read = ReadRoundChart(json);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->missing, chart.missing);
  EXPECT_FALSE(read->round.has_value());
}

TEST(RoundChartJsonTest, SaysWhichMemberIsWrong) {
  const std::string json = RoundChartJson(Sample());
  const auto with = [&json](const char* from, const char* to) {
    const std::string changed = absl::StrReplaceAll(json, {{from, to}});
    EXPECT_NE(changed, json) << from;
    return Refusal(changed);
  };
  EXPECT_EQ(Refusal("[]"), "expected an object as the trace");
  EXPECT_EQ(Refusal("{}"), "expected a member missing, got none");
  EXPECT_EQ(with("\"round\":7", "\"round\":-7"), "expected a whole number from 0 on as round");
  EXPECT_EQ(with("\"round\":7", "\"round\":\"7\""), "expected a whole number from 0 on as round");
  EXPECT_EQ(with("\"seconds\":2", "\"seconds\":true"), "expected a finite number from 0 on as seconds");
  EXPECT_EQ(with("\"seconds\":2", "\"seconds\":1e999"), "expected a finite number from 0 on as seconds");
  EXPECT_EQ(with("\"sentence\":", "\"words\":"), "expected a member sentence, got none");
  EXPECT_EQ(with("\"text\":\"n1 adds up\"", "\"text\":5"), "expected a string as path[0].text");
  EXPECT_EQ(with("\"end_s\":2", "\"end_s\":0.125"), "expected a time not before begin_s as path[1].end_s");
  EXPECT_EQ(with("\"on_path\":false", "\"on_path\":0"), "expected true or false as links[1].on_path");
  EXPECT_EQ(with("\"waits\":[0.25,0.5]", "\"waits\":[0.25]"), "expected an end for each beginning as links[0].waits");
  EXPECT_EQ(with("\"waits\":[0.25,0.5]", "\"waits\":[0.5,0.25]"),
            "expected a time not before the one in front of it as links[0].waits[1]");
  EXPECT_EQ(with("\"waits\":[0.25,0.5]", "\"waits\":{}"), "expected a list as links[0].waits");
  EXPECT_EQ(with("\"links_left_out\":3", "\"links_left_out\":0.5"),
            "expected a whole number from 0 on as links_left_out");
  EXPECT_THAT(Refusal("{\"missing\":["), HasSubstr("expected the trace of a round as JSON: "));
}

}  // namespace
}  // namespace banyan
