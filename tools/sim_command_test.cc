#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <sstream>
#include <vector>

#include "tools/commands.h"
#include "tools/reports/round_chart.h"
#include "tools/reports/status_text.h"
#include "tools/view/recording.h"
#include "tools/view/simulation_recorder.h"
#include "tracing/testing/trace_schema.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kInternet2[] = "deploy/topologies/internet2.yaml";

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Sim(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = SimCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(SimCommandTest, ShowsTimesLoadsAndTheRatioToTheBound) {
  const Outcome sim = Sim({kInternet2, "--model-size", "20M", "--rounds", "2"});
  EXPECT_EQ(sim.code, 0) << sim.err;
  EXPECT_EQ(sim.err, "");
  EXPECT_THAT(sim.out, HasSubstr("median of 2 rounds, 20.0 MB each"));
  EXPECT_THAT(sim.out, HasSubstr("upper bound         110.0 Mbit/s, reached to "));
  EXPECT_THAT(sim.out, HasSubstr("replicas            identical"));
  EXPECT_THAT(sim.out, HasSubstr("from  to"));
}

// JSON is YAML, so the parser of overlays reads it.
TEST(SimCommandTest, JsonIsStable) {
  const Outcome sim = Sim({kInternet2, "--tensors", "8M,4M,400", "--rounds", "3", "--planner", "fapt", "--json"});
  EXPECT_EQ(sim.code, 0) << sim.err;
  const YAML::Node json = YAML::Load(sim.out);
  ASSERT_EQ(json["rounds"].size(), 3u);
  EXPECT_EQ(json["rounds"][2]["round"].as<int>(), 3);
  EXPECT_EQ(json["rounds"][2]["policy"].as<int>(), 1);
  const double seconds = json["rounds"][1]["sync_seconds"].as<double>();
  EXPECT_NEAR(json["sync_seconds_p50"].as<double>(), seconds, 0.5 * seconds);
  EXPECT_NEAR(json["rate_mbps"].as<double>(), 96.0032 / json["sync_seconds_p50"].as<double>(), 0.01);
  EXPECT_NEAR(json["bound_mbps"].as<double>(), 110, 0.2);
  EXPECT_NEAR(json["bound_ratio"].as<double>(), json["rate_mbps"].as<double>() / json["bound_mbps"].as<double>(), 1e-6);
  ASSERT_EQ(json["links"].size(), 26u);
  EXPECT_EQ(json["links"][0]["from"].as<std::string>(), "n1");
  EXPECT_GT(json["links"][0]["bytes"].as<int64_t>(), 0);
  EXPECT_TRUE(json["replicas_identical"].as<bool>());
}

TEST(SimCommandTest, TheSameSeedGivesTheSameOutput) {
  const std::vector<std::string> arguments = {kInternet2, "--model-size", "4M", "--faults", "--seed", "7", "--json"};
  const Outcome first = Sim(arguments);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, Sim(arguments).out);
}

TEST(SimCommandTest, PlannerAndRootsReplaceTheFiles) {
  const Outcome star = Sim({kInternet2, "--model-size", "4M", "--planner", "star", "--json"});
  const Outcome one = Sim({kInternet2, "--model-size", "4M", "--roots", "1", "--json"});
  EXPECT_EQ(star.code, 0) << star.err;
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_NE(star.out, one.out);
}

TEST(SimCommandTest, LinksChangeAsAFileOrASeedSays) {
  const std::string file = TemporaryFile("changes.yaml", "changes:\n- {at_seconds: 2, from: n1, to: n2, mbps: 7.5}\n");
  const Outcome listed = Sim({kInternet2, "--model-size", "20M", "--changes", file, "--json", "--compute", "500ms"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  const std::vector<std::string> drawn = {kInternet2, "--model-size",   "20M",    "--redraw-interval",
                                          "1",        "--redraw-rates", "20-155", "--drift-ppm",
                                          "200",      "--json"};
  const Outcome first = Sim(drawn);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, Sim(drawn).out);
  EXPECT_NE(first.out, listed.out);
  const YAML::Node json = YAML::Load(first.out);
  EXPECT_GE(json["policies"].as<int>(), 1);
  EXPECT_GE(json["auxiliary_share"].as<double>(), 0);
}

TEST(SimCommandTest, OptionsReplaceTheFiles) {
  const std::vector<std::string> base = {kInternet2, "--model-size", "20M", "--planner", "fapt", "--json"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    const Outcome sim = Sim(more);
    EXPECT_EQ(sim.code, 0) << sim.err;
    return YAML::Load(sim.out);
  };
  EXPECT_EQ(with({"--multipath", "off"})["auxiliary_share"].as<double>(), 0);
  EXPECT_GT(with({"--multipath", "on"})["auxiliary_share"].as<double>(), 0);
  EXPECT_GT(with({"--shares", "balanced"})["plan_rate_mbps"].as<double>(),
            with({"--shares", "quality"})["plan_rate_mbps"].as<double>());
  EXPECT_EQ(with({"--awareness", "off", "--update-interval", "1"})["policies"].as<int>(), 1);
  // Without auxiliary paths, which differ as well.
  EXPECT_LT(with({"--multipath", "off", "--headers"})["rate_mbps"].as<double>(),
            0.98 * with({"--multipath", "off"})["rate_mbps"].as<double>());
}

TEST(SimCommandTest, WhatCannotBeSimulatedFails) {
  const Outcome missing = Sim({"no/such/file.yaml"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("no/such/file.yaml"));
  EXPECT_EQ(Sim({TemporaryFile("one.yaml", "nodes:\n  - {name: n1}\n")}).code, 1);
}

TEST(SimCommandTest, WritesATraceAndSaysWhatRoundsWaitedFor) {
  const std::string path = ::testing::TempDir() + "/trace.json";
  const Outcome sim = Sim({kInternet2, "--model-size", "2M", "--rounds", "2", "--trace", path});
  EXPECT_EQ(sim.code, 0) << sim.err;
  for (const char* text : {"\nround 1 took ", "\nround 2 took ", " was full from "})
    EXPECT_THAT(sim.out, HasSubstr(text));
  std::stringstream json;
  json << std::ifstream(path).rdbuf();
  EXPECT_THAT(TraceFaults(json.str()), ::testing::IsEmpty());
  EXPECT_THAT(json.str(), HasSubstr("{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":9,"));
  // Nothing that happens depends on being traced.
  const std::vector<std::string> as_json = {kInternet2, "--model-size", "2M", "--rounds", "2", "--json"};
  std::vector<std::string> traced = as_json;
  traced.insert(traced.end(), {"--trace", path});
  EXPECT_EQ(Sim(traced).out, Sim(as_json).out);
  const Outcome unwritable =
      Sim({kInternet2, "--model-size", "2M", "--rounds", "1", "--trace", "no/such/folder/a.json"});
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot write no/such/folder/a.json: No such file or directory"));
}

TEST(SimCommandTest, RecordsTheJobAtFullSize) {
  const std::string path = ::testing::TempDir() + "/sim_recording";
  const std::vector<std::string> plain = {kInternet2, "--model-size", "40M", "--rounds", "2"};
  std::vector<std::string> recorded = plain;
  recorded.insert(recorded.end(), {"--record", path});
  const Outcome sim = Sim(recorded);
  EXPECT_EQ(sim.code, 0) << sim.err;
  // The questions are events, but change nothing else.
  const auto rounds = [](const std::string& out) { return out.substr(out.find("\nround  policy")); };
  EXPECT_EQ(rounds(sim.out), rounds(Sim(plain).out));
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  EXPECT_EQ(recording->from_s(), 0);
  EXPECT_GE(recording->size(), 5u);  // two rounds of 40 MB at no more than 110 Mbit/s
  const absl::StatusOr<JobStatus> last = ParseStatus(*recording->Read(recording->size() - 1));
  ASSERT_TRUE(last.ok()) << last.status();
  ASSERT_TRUE(last->plan.has_value());
  EXPECT_NEAR(last->plan->bound_mbps, 110, 1);
  EXPECT_EQ(last->nodes.size(), 9u);
  recorded.back() = "no/such/folder/a.rec";
  const Outcome unwritable = Sim(recorded);
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("cannot write no/such/folder/a.rec: No such file or directory"));
}

// Returns the sentences of the recorded traces.
std::vector<std::string> RecordedSentences(const std::string& path) {
  std::vector<std::string> sentences;
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  EXPECT_TRUE(recording.ok()) << recording.status();
  for (size_t i = 0; recording.ok() && i < recording->traces(); ++i) {
    const absl::StatusOr<RoundChart> chart = ReadRoundChart(*recording->ReadTrace(i));
    EXPECT_TRUE(chart.ok()) << chart.status();
    EXPECT_FALSE(chart->links.empty());
    EXPECT_TRUE(chart->missing.empty());
    sentences.push_back(chart->sentence);
  }
  return sentences;
}

TEST(SimCommandTest, RecordsWhatItsFirstRoundsAndSomeOthersWaitedFor) {
  const std::string path = ::testing::TempDir() + "/sim_traces";
  std::vector<std::string> arguments = {kInternet2, "--model-size", "400k", "--rounds", "80", "--record", path};
  EXPECT_EQ(Sim(arguments).code, 0);
  const std::vector<std::string> sentences = RecordedSentences(path);
  ASSERT_EQ(sentences.size(), SimulatedTraces::kMost);
  for (size_t i = 0; i < SimulatedTraces::kFirst; ++i) {
    EXPECT_THAT(sentences[i], ::testing::StartsWith("round " + std::to_string(i + 1) + " took "));
  }
  EXPECT_THAT(sentences.back(), ::testing::StartsWith("round 80 took "));
  // The trace for Perfetto goes its own way, and takes nothing from the recording.
  arguments.insert(arguments.end(), {"--trace", ::testing::TempDir() + "/both.json"});
  const Outcome both = Sim(arguments);
  EXPECT_EQ(both.err, "");
  EXPECT_EQ(RecordedSentences(path), sentences);
  for (const char* round : {"\nround 1 took ", "\nround 9 took ", "\nround 80 took "}) {
    EXPECT_THAT(both.out, HasSubstr(round));
  }
}

TEST(SimCommandTest, ComparesAJobThatIsToldLessWithOneThatKnows) {
  const Outcome sim = Sim({kInternet2, "--model-size", "20M", "--rounds", "8", "--prior", "wrong:1", "--json"});
  EXPECT_EQ(sim.code, 0) << sim.err;
  const YAML::Node json = YAML::Load(sim.out);
  EXPECT_GT(json["informed_seconds_p50"].as<double>(), 1);
  EXPECT_GT(json["first_rounds_ratio"].as<double>(), 1);
  EXPECT_GE(json["near_from_round"].as<int>(), 2);
  EXPECT_THAT(Sim({kInternet2, "--model-size", "2M", "--rounds", "1", "--prior", "none"}).out,
              HasSubstr("told all rates      "));
}

}  // namespace
}  // namespace banyan
