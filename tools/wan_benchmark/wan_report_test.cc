#include "tools/wan_benchmark/wan_report.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

ContenderResult Result(const std::string& name, ContenderSystem system, double seconds) {
  ContenderResult result;
  result.contender.name = name;
  result.contender.description = "The " + name;
  result.contender.system = system;
  result.rounds = {{3, 2, seconds}, {4, 2, seconds}};
  result.links = {{"a", "b", 20'000'000}};
  return result;
}

WanReport Report() {
  WanReport report;
  report.overlay = "two.yaml";
  report.model_bits = 80e6;
  report.bound_bps = 20e6;
  report.congestion = "bbr";
  report.results = {Result("star", ContenderSystem::kBanyan, 16), Result("packed", ContenderSystem::kBanyan, 5),
                    Result("gloo-ring", ContenderSystem::kGloo, 40)};
  ContenderResult failed = Result("openmpi", ContenderSystem::kOpenMpi, 1);
  failed.rounds.clear();
  failed.status = absl::InternalError("mpirun ended too early:\n    no such host");
  report.results.push_back(failed);
  report.left_out = {"install it"};
  return report;
}

TEST(WanReportTest, TheTableComparesAllWithBanyan) {
  const std::string text = WanReportText(Report());
  EXPECT_THAT(text, HasSubstr("all-reduce of 10.0 MB"));
  EXPECT_THAT(text, HasSubstr("| The packed    |    5.00 |    5.00 |    5.00 |   16.0 |  0.80 |   1.00 |     10.0 |"));
  EXPECT_THAT(text, HasSubstr("|    2.0 |  0.10 |   8.00 |"));
  EXPECT_THAT(text, HasSubstr("| failed: mpirun ended too early: |\n"));
  EXPECT_THAT(text, HasSubstr("no such host"));
  EXPECT_THAT(text, HasSubstr("install it"));
}

TEST(WanReportTest, JsonHasTheStableKeysOfTheFavourite) {
  const YAML::Node json = YAML::Load(WanReportJson(Report()));
  EXPECT_EQ(json["rounds"].size(), 2u);
  EXPECT_EQ(json["rounds"][0]["round"].as<int>(), 3);
  EXPECT_EQ(json["rounds"][0]["policy"].as<int>(), 2);
  EXPECT_DOUBLE_EQ(json["rounds"][0]["sync_seconds"].as<double>(), 5);
  EXPECT_DOUBLE_EQ(json["sync_seconds_p50"].as<double>(), 5);
  EXPECT_DOUBLE_EQ(json["rate_mbps"].as<double>(), 16);
  EXPECT_DOUBLE_EQ(json["bound_mbps"].as<double>(), 20);
  EXPECT_DOUBLE_EQ(json["bound_ratio"].as<double>(), 0.8);
  EXPECT_EQ(json["links"][0]["from"].as<std::string>(), "a");
  EXPECT_EQ(json["links"][0]["bytes"].as<int64_t>(), 20'000'000);
  EXPECT_TRUE(json["replicas_identical"].as<bool>());
  EXPECT_EQ(json["contenders"].size(), 4u);
  EXPECT_DOUBLE_EQ(json["contenders"][2]["slower_than_favourite"].as<double>(), 8);
  EXPECT_THAT(json["contenders"][3]["failure"].as<std::string>(), HasSubstr("no such host"));
}

TEST(WanReportTest, TheSimulatedSecondsAreAColumnWhereThereAreAny) {
  WanReport report = Report();
  EXPECT_THAT(WanReportText(report), Not(HasSubstr("simulated")));
  report.results[1].simulated_seconds = 4.5;
  EXPECT_THAT(WanReportText(report), HasSubstr("| cores | simulated | note"));
  EXPECT_THAT(WanReportText(report), HasSubstr("|  0.00 |      4.50 |"));
  EXPECT_DOUBLE_EQ(YAML::Load(WanReportJson(report))["simulated_seconds"].as<double>(), 4.5);
}

TEST(WanReportTest, WithoutBanyanThereIsNoFavourite) {
  WanReport report = Report();
  report.results.erase(report.results.begin(), report.results.begin() + 2);
  EXPECT_EQ(Favourite(report), nullptr);
  EXPECT_FALSE(YAML::Load(WanReportJson(report))["rounds"]);
  EXPECT_THAT(WanReportText(report), HasSubstr("gloo-ring"));
}

TEST(WanReportTest, BarsAreRates) {
  const std::string script = WanReportGnuplot(Report(), "/tmp/it's.png");
  EXPECT_THAT(script, HasSubstr("set output '/tmp/it''s.png'"));
  EXPECT_THAT(script, HasSubstr("1 \"packed\" 16.000\n"));
  EXPECT_THAT(script, HasSubstr("3 \"openmpi\" 0.000\n"));
  EXPECT_THAT(script, HasSubstr("20.000 with lines linewidth 2 title 'bound'"));
}

TEST(WanReportTest, SaysWhenThoseThatAreToldLessHaveFoundOut) {
  WanReport report = Report();
  ContenderResult blind = Result("packed-blind", ContenderSystem::kBanyan, 9);
  blind.contender.told = {ToldLinks::Kind::kNone};
  blind.rounds = {{1, 1, 9, 0}, {2, 2, 6, 9.5}, {3, 3, 5.2, 16.25}, {4, 3, 5, 22}};
  report.results.insert(report.results.begin() + 1, blind);
  EXPECT_THAT(WanReportText(report), HasSubstr("packed-blind: within 10 % of packed from round 3 on, after 16.2 s"));
  YAML::Node json = YAML::Load(WanReportJson(report));
  EXPECT_EQ(json["contenders"][1]["near_from_round"].as<int>(), 3);
  EXPECT_DOUBLE_EQ(json["contenders"][1]["near_after_seconds"].as<double>(), 16.25);
  EXPECT_FALSE(json["contenders"][0]["near_from_round"].IsDefined());
  report.results[1].rounds = {{1, 1, 9, 0}, {2, 2, 6, 9.5}};
  EXPECT_THAT(WanReportText(report), HasSubstr("packed-blind: never within 10 % of packed"));
  EXPECT_THAT(WanReportText(Report()), Not(HasSubstr("within 10 %")));
}

TEST(ContenderResultTest, SumsUpRounds) {
  ContenderResult result;
  EXPECT_FALSE(result.ok());
  result.rounds = {{3, 1, 4.0}, {4, 1, 1.0}, {5, 1, 2.0}, {6, 1, 9.0}};
  result.links = {{"a", "b", 100}, {"b", "a", 300}};
  EXPECT_TRUE(result.ok());
  EXPECT_DOUBLE_EQ(MedianSeconds(result), 3);
  EXPECT_DOUBLE_EQ(FastestSeconds(result), 1);
  EXPECT_DOUBLE_EQ(SlowestSeconds(result), 9);
  EXPECT_DOUBLE_EQ(BytesPerRound(result), 100);
  result.rounds.pop_back();
  EXPECT_DOUBLE_EQ(MedianSeconds(result), 2);
}

TEST(ContenderResultTest, CountsWhatLinksCarriedMeanwhile) {
  WanStatus before;
  before.links.push_back({.from = "a", .to = "b", .bytes = 1000});
  WanStatus after = before;
  after.links[0].bytes = 1700;
  after.links.push_back({.from = "b", .to = "a", .bytes = 5});
  const std::vector<ContenderResult::Link> links = LinkBytesBetween(before, after);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].bytes, 700);
  EXPECT_EQ(links[1].bytes, 5);
}

WanReport BurstReport() {
  ContenderResult good;
  good.contender.name = "trimmed";
  good.contender.description = "trim_rht, queues cut";
  for (const double seconds : {2.0, 1.0, 3.0}) good.quiet_rounds.push_back({.seconds = seconds});
  for (int i = 0; i < 101; ++i) good.rounds.push_back({.seconds = 1 + i * 0.02});
  good.loaded = {{"a", "b", 5}, {"b", "c", 4}};
  ContenderResult bad;
  bad.contender.name = "whole";
  bad.contender.description = "trim_rht, nothing is cut";
  bad.status = absl::DataLossError("expected identical replicas");
  WanReport report;
  report.overlay = "x.yaml";
  report.model_bits = 46e6 * 8;
  report.results = {good, bad};
  return report;
}

TEST(BurstReportTest, SaysTimesOverTheUndisturbedMedian) {
  const std::string text = BurstReportText(BurstReport());
  EXPECT_THAT(text, HasSubstr("all-reduce of 46.0 MB"));
  EXPECT_THAT(text, HasSubstr("|  2.00 |      2.00 | 1.00    | 2.98 |    1.49 |    101 | a-b, b-c          |"));
  EXPECT_THAT(text, ContainsRegex("trim_rht, nothing is cut .*failed: expected identical replicas"));
}

TEST(BurstReportTest, JsonHasTheSame) {
  const std::string json = BurstReportJson(BurstReport());
  EXPECT_THAT(json,
              HasSubstr("\"quiet_seconds_p50\":2,\"seconds_p50\":2,\"seconds_p99\":2.98,\"p99_over_quiet\":1.49"));
  EXPECT_THAT(json, HasSubstr("\"failure\":\"expected identical replicas\""));
}

}  // namespace
}  // namespace banyan
