#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/reports/round_chart.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RoundChart Sample() {
  RoundChart chart;
  chart.missing = {{"n3", "it \"died\""}};
  chart.round = Round(7);
  chart.sentence = "round 7 took 2 s: n1 to n2 was full";
  chart.seconds = 2;
  chart.path = {{"n1", "n1", "n1 adds up", 0, 0.25}, {"n1", "n2", "n1 to n2 was full", 0.25, 2}};
  chart.links = {{"n1", "n2", 4000, 1.75, true, {0.25, 1, 1, 2}, {0.25, 0.5}}, {"n2", "n1", 5, 0, false}};
  chart.links_left_out = 3;
  return chart;
}

std::string Refusal(const std::string& json) {
  const absl::StatusOr<RoundChart> read = ReadRoundChart(json);
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << json;
  constexpr absl::string_view kExpected = "expected the trace of a round as JSON: ";
  EXPECT_TRUE(absl::StartsWith(read.status().message(), kExpected));
  return std::string(read.status().message().substr(kExpected.size()));
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
  EXPECT_THAT(read->links[0].carries, ElementsAre(0.25, 1, 1, 2));
  EXPECT_THAT(read->links[0].waits, ElementsAre(0.25, 0.5));
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
  EXPECT_EQ(Refusal("[]"), "expected an object with a member missing, got another");
  EXPECT_EQ(Refusal("{}"), "expected an object with a member missing, got another");
  EXPECT_EQ(with("\"round\":7", "\"round\":-7"), "expected a whole number from 0 on as round, got -7");
  EXPECT_EQ(with("\"round\":7", "\"round\":\"7\""), R"(expected a whole number from 0 on as round, got \"7\")");
  EXPECT_EQ(with("\"seconds\":2", "\"seconds\":true"), "expected a number as seconds, got true");
  EXPECT_EQ(with("\"seconds\":2", "\"seconds\":null"), "expected a number as seconds, got null");
  EXPECT_THAT(with("\"seconds\":2", "\"seconds\":-2"), HasSubstr("seconds: 0 to "));
  EXPECT_THAT(with("\"seconds\":2", "\"seconds\":1e999"), HasSubstr("number overflow"));
  EXPECT_EQ(with("\"sentence\":", "\"words\":"), "expected a member sentence, got none");
  EXPECT_EQ(with("\"text\":\"n1 adds up\"", "\"text\":5"), "expected a string as path[0].text, got 5");
  constexpr char kRising[] = "times of which none is before the one in front of it expected, ";
  EXPECT_THAT(with("\"end_s\":2", "\"end_s\":0.125"),
              HasSubstr(absl::StrCat("path[1].end_s: ", kRising, "0.125 came")));
  EXPECT_EQ(with("\"on_path\":false", "\"on_path\":0"), "expected true or false as links[1].on_path, got 0");
  EXPECT_THAT(with("\"waits\":[0.25,0.5]", "\"waits\":[0.25]"),
              HasSubstr("links[0].waits: an end for each beginning expected, 1 times came"));
  EXPECT_THAT(with("\"waits\":[0.25,0.5]", "\"waits\":[0.5,0.25]"),
              HasSubstr(absl::StrCat("links[0].waits: ", kRising, "0.25 came")));
  EXPECT_EQ(with("\"waits\":[0.25,0.5]", "\"waits\":{}"), "expected an array as links[0].waits, got {}");
  EXPECT_EQ(with("\"links_left_out\":3", "\"links_left_out\":0.5"),
            "expected a whole number from 0 on as links_left_out, got 0.5");
  EXPECT_THAT(Refusal("{\"missing\":["), HasSubstr("expected JSON, got text with a "));
}

}  // namespace
}  // namespace banyan
