#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <sstream>

#include "tools/commands.h"
#include "tools/reports/plan_reports.h"

namespace banyan {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kInternet2[] = "deploy/topologies/internet2.yaml";

struct Outcome {
  int code = 0;
  std::string out;
  std::string err;
};

Outcome Plan(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = PlanCommand(arguments, out, err);
  return {code, out.str(), err.str()};
}

std::string TemporaryFile(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(PlanCommandTest, ShowsRateBoundAndTrees) {
  const Outcome plan = Plan({kInternet2, "--planner", "fapt"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_EQ(plan.err, "");
  EXPECT_THAT(plan.out, HasSubstr("planner         fapt\nnetwork         9 nodes, 26 directed links\n"));
  EXPECT_THAT(plan.out, HasSubstr("predicted rate  58.9 Mbit/s"));
  EXPECT_THAT(plan.out, HasSubstr("with auxiliary paths    66.3 Mbit/s"));
  EXPECT_THAT(plan.out, HasSubstr("auxiliary paths\n  n1 to n3 over n2\n"));
  EXPECT_THAT(plan.out, HasSubstr("upper bound     110.0 Mbit/s"));
  EXPECT_THAT(plan.out, HasSubstr("tree on n9\n  reduce     n9 <- "));
}

TEST(PlanCommandTest, PacksTreesUnlessToldOtherwise) {
  const YAML::Node json = YAML::Load(Plan({kInternet2, "--json"}).out);
  EXPECT_EQ(json["planner"].as<std::string>(), "packed");
  EXPECT_GT(json["bound_ratio"].as<double>(), 0.97);
}

TEST(PlanCommandTest, AdvisesUpgrades) {
  const Outcome advice = Plan({kInternet2, "--advise", "--model-size", "46M"});
  EXPECT_EQ(advice.code, 0) << advice.err;
  EXPECT_THAT(advice.out, StartsWith("rate  110.0 Mbit/s at best"));
  EXPECT_THAT(advice.out, HasSubstr("one Mbit/s more is worth  a round\n"));
  EXPECT_THAT(advice.out, HasSubstr("twice of one, planned again\n"));
  EXPECT_THAT(advice.out, HasSubstr("half as fast without loss\n"));
  const YAML::Node json = YAML::Load(Plan({kInternet2, "--advise", "--json"}).out);
  EXPECT_GT(json["upgrades"][0]["worth"].as<double>(), 0);
  EXPECT_FALSE(json["upgrades"][0]["doubled_seconds"]) << "of no model";
  EXPECT_EQ(Plan({kInternet2, "--advise", "--planner", "fapt"}).code, 2);
}

// The cheapest way is from a once, and on to b, c and d: 0.13 for 10^9 bytes. Others are faster.
constexpr char kPriced[] = R"(
nodes: [{name: a, price_per_gb: 0.1}, {name: b}, {name: c}, {name: d}]
links:
  - {between: [a, b], mbps: 100}
  - {between: [a, c], mbps: 100}
  - {between: [a, d], mbps: 100}
  - {between: [b, c], mbps: 20, price_per_gb: 0.01}
  - {between: [c, d], mbps: 30, price_per_gb: 0.02}
)";

TEST(PlanCommandTest, SaysWhatRoundsCost) {
  const std::vector<std::string> arguments = {"deploy/topologies/cloud9.yaml", "--model-size", "1GB", "--rounds", "9"};
  const Outcome plan = Plan(arguments);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, ContainsRegex("price +[0-9.]+ for 10\\^9 bytes of the model, [0-9.]+ a round, [0-9.]+ for 9"));
  std::vector<std::string> as_json = arguments;
  as_json.push_back("--json");
  const YAML::Node json = YAML::Load(Plan(as_json).out);
  const auto a_round = json["round_price"].as<double>();
  EXPECT_NEAR(json["training_price"].as<double>(), 9 * a_round, 1e-6);
  EXPECT_NEAR(json["price_per_gb"].as<double>(), a_round, 0.02) << "of 10^9 bytes";
  // Sixteen links of a tree carry each byte, of hosts that ask between these prices.
  EXPECT_GT(a_round, 16 * 0.087);
  EXPECT_LT(a_round, 16 * 0.15);
  EXPECT_FALSE(YAML::Load(Plan({kInternet2, "--model-size", "1MB", "--json"}).out)["round_price"]);
}

TEST(PlanCommandTest, KeepsABudget) {
  const std::string overlay = TemporaryFile("priced.yaml", kPriced);
  const auto json = [&overlay](const std::string& budget) {
    const Outcome plan = Plan({overlay, "--model-size", "100MB", "--budget", budget, "--json"});
    EXPECT_EQ(plan.code, 0) << plan.err;
    return YAML::Load(plan.out);
  };
  const YAML::Node small = json("0.016");
  EXPECT_LE(small["round_price"].as<double>(), 0.016);
  EXPECT_GT(small["round_price"].as<double>(), 0.0155) << "what may be spent makes rounds shorter";
  EXPECT_LT(json("0.02")["round_seconds"].as<double>(), small["round_seconds"].as<double>());
  const Outcome too_small = Plan({overlay, "--model-size", "100MB", "--budget", "0.0129"});
  EXPECT_EQ(too_small.code, 1);
  EXPECT_THAT(too_small.err, HasSubstr("costs at least 0.013, over the cheapest trees; the budget is 0.0129: raise"));
  EXPECT_EQ(json("0.013")["round_price"].as<double>(), 0.013);
  EXPECT_EQ(Plan({overlay, "--budget", "2"}).code, 2) << "without a model";
  EXPECT_THAT(Plan({kInternet2, "--model-size", "1MB", "--budget", "2"}).err, HasSubstr("no link has a price"));
  EXPECT_EQ(Plan({overlay, "--model-size", "1MB", "--budget", "-2"}).code, 2);
  EXPECT_EQ(Plan({overlay, "--model-size", "1MB", "--budget", "2", "--planner", "fapt"}).code, 2);
}

TEST(PlanCommandTest, ShowsTheFrontier) {
  const std::string overlay = TemporaryFile("priced.yaml", kPriced);
  const YAML::Node json = YAML::Load(Plan({overlay, "--model-size", "10MB", "--frontier", "--json"}).out);
  ASSERT_GE(json.size(), 5u);
  for (size_t i = 1; i < json.size(); ++i) {
    EXPECT_GT(json[i]["round_price"].as<double>(), json[i - 1]["round_price"].as<double>());
    EXPECT_LT(json[i]["round_seconds"].as<double>(), json[i - 1]["round_seconds"].as<double>());
  }
  EXPECT_NEAR(json[0]["round_price"].as<double>(), 0.0013, 1e-9);
  const Outcome no_price = Plan({kInternet2, "--model-size", "1GB", "--frontier"});
  EXPECT_EQ(no_price.code, 1);
  EXPECT_THAT(no_price.err, HasSubstr("no link has a price; set price_per_gb"));
}

TEST(PlanCommandTest, DrawsTheFrontier) {
  const std::vector<FrontierPoint> points = {{0.5, absl::Seconds(40), 2e6}, {0.75, absl::Seconds(20), 4e6}};
  EXPECT_EQ(FrontierText(points, 0),
            "price a round  seconds a round   Mbit/s\n"
            "          0.5               40      2.0\n"
            "         0.75               20      4.0\n");
  EXPECT_THAT(FrontierText(points, 2160), HasSubstr("                 1080       1\n")) << "price and days";
  EXPECT_THAT(FrontierGnuplot(points, "it's.svg"), HasSubstr("set output 'it''s.svg'"));
  EXPECT_THAT(FrontierGnuplot(points, "a.svg"), HasSubstr("0.5 40\n0.75 20\nEND\nplot"));
}

TEST(PlanCommandTest, PlansFromMeasurements) {
  const std::string table = TemporaryFile("table.csv", "from,to,mbps,rtt_ms\na,b,80,20\nb,a,40,20\n");
  const Outcome plan = Plan({"--from-measurements", table});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("upper bound     40.0 Mbit/s"));
  const Outcome overlay = Plan({"--from-measurements", table, "--yaml"});
  EXPECT_EQ(Plan({TemporaryFile("made.yaml", overlay.out)}).out, plan.out);
  EXPECT_THAT(Plan({"--from-measurements", TemporaryFile("bad.csv", "a,b,x\n")}).err,
              HasSubstr("bad.csv:1: expected a rate"));
  EXPECT_EQ(Plan({}).code, 2);
  EXPECT_EQ(Plan({kInternet2, "--from-measurements", table}).code, 2);
  EXPECT_THAT(Plan({kInternet2, "--from-measurements", table}).err, HasSubstr("exclude each other"));
}

// JSON is YAML, so the parser of overlays reads it.
TEST(PlanCommandTest, JsonIsStable) {
  const Outcome plan = Plan({kInternet2, "--planner", "fapt", "--json"});
  EXPECT_EQ(plan.code, 0);
  const YAML::Node json = YAML::Load(plan.out);
  EXPECT_EQ(json["planner"].as<std::string>(), "fapt");
  EXPECT_NEAR(json["rate_mbps"].as<double>(), 58.93, 0.01);
  EXPECT_NEAR(json["auxiliary_rate_mbps"].as<double>(), 66.25, 0.01);
  EXPECT_NEAR(json["bound_mbps"].as<double>(), 110, 0.2);
  EXPECT_NEAR(json["bound_ratio"].as<double>(), 66.25 / 110, 0.002);
  ASSERT_EQ(json["trees"].size(), 9u);
  double shares = 0;
  for (const YAML::Node& tree : json["trees"]) {
    shares += tree["share"].as<double>();
    EXPECT_EQ(tree["reduce"].size(), 8u);
    EXPECT_EQ(tree["broadcast"].size(), 8u);
    EXPECT_FALSE(tree["reduce"][tree["root"].as<std::string>()].IsDefined());
  }
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_TRUE(json["routes"].IsSequence());
  ASSERT_EQ(json["auxiliary"].size(), 31u);
  const YAML::Node auxiliary_path = json["auxiliary"][0];
  EXPECT_EQ(auxiliary_path["from"].as<std::string>(), "n1");
  EXPECT_EQ(auxiliary_path["to"].as<std::string>(), "n3");
  EXPECT_EQ(auxiliary_path["path"].as<std::vector<std::string>>(), (std::vector<std::string>{"n1", "n2", "n3"}));
  EXPECT_TRUE(json["shared"].IsSequence());
  EXPECT_EQ(json.size(), 10u);
}

TEST(PlanCommandTest, AuxiliaryPathsAreOptional) {
  const YAML::Node off = YAML::Load(Plan({kInternet2, "--planner", "fapt", "--multipath", "off", "--json"}).out);
  EXPECT_EQ(off["auxiliary"].size(), 0u);
  EXPECT_EQ(off["auxiliary_rate_mbps"].as<double>(), off["rate_mbps"].as<double>());
  const Outcome text = Plan({kInternet2, "--planner", "fapt", "--multipath", "off"});
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("auxiliary_paths")));
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("auxiliary")));
  YAML::Node overlay = YAML::LoadFile(kInternet2);
  overlay["multipath"]["enabled"] = false;
  YAML::Emitter file;
  file << overlay;
  const std::string path = TemporaryFile("single_path.yaml", file.c_str());
  EXPECT_EQ(YAML::Load(Plan({path, "--json"}).out)["auxiliary"].size(), 0u);
  EXPECT_EQ(YAML::Load(Plan({path, "--planner", "fapt", "--json", "--multipath", "on"}).out)["auxiliary"].size(), 31u);
}

TEST(PlanCommandTest, SharesMayBeBalanced) {
  const YAML::Node with = YAML::Load(Plan({kInternet2, "--planner", "fapt", "--shares", "balanced", "--json"}).out);
  EXPECT_NEAR(with["auxiliary_rate_mbps"].as<double>(), 83.0, 0.05);
  const YAML::Node without =
      YAML::Load(Plan({kInternet2, "--planner", "fapt", "--shares", "balanced", "--multipath", "off", "--json"}).out);
  EXPECT_NEAR(without["rate_mbps"].as<double>(), 76.0, 0.05);
}

TEST(PlanCommandTest, PackedTreesComeCloseToTheBound) {
  const YAML::Node json = YAML::Load(Plan({kInternet2, "--planner", "packed", "--json"}).out);
  EXPECT_EQ(json["planner"].as<std::string>(), "packed");
  EXPECT_NEAR(json["rate_mbps"].as<double>(), 110, 1.1);
  EXPECT_GE(json["rate_mbps"].as<double>(), 0.97 * json["bound_mbps"].as<double>());
  double shares = 0;
  for (const YAML::Node& tree : json["trees"]) shares += tree["share"].as<double>();
  EXPECT_NEAR(shares, 1, 1e-6);
  EXPECT_THAT(Plan({kInternet2, "--planner", "packed"}).out, HasSubstr("ratio           0.99"));
  EXPECT_THAT(Plan({kInternet2, "--planner", "packed", "--dot"}).out, HasSubstr("label=\"tree on n"));
}

TEST(PlanCommandTest, JsonSaysRoutes) {
  const YAML::Node json = YAML::Load(Plan({kInternet2, "--planner", "star", "--root=n4", "--json"}).out);
  ASSERT_EQ(json["routes"].size(), 10u);
  const YAML::Node route = json["routes"][0];
  EXPECT_EQ(route["from"].as<std::string>(), "n1");
  EXPECT_EQ(route["to"].as<std::string>(), "n4");
  EXPECT_EQ(route["path"].as<std::vector<std::string>>(), (std::vector<std::string>{"n1", "n3", "n4"}));
}

TEST(PlanCommandTest, DotHasAClusterForEachTree) {
  const Outcome plan = Plan({kInternet2, "--planner", "fapt", "--dot", "--roots", "2"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.out, StartsWith("digraph plan {"));
  EXPECT_THAT(plan.out, HasSubstr("subgraph cluster_1"));
  EXPECT_THAT(plan.out, ::testing::Not(HasSubstr("subgraph cluster_2")));
  EXPECT_THAT(plan.out, HasSubstr("shape=doublecircle"));
  EXPECT_THAT(plan.out, HasSubstr("[style=dashed]"));
  EXPECT_THAT(plan.out, HasSubstr("subgraph cluster_auxiliary"));
  EXPECT_THAT(plan.out, HasSubstr("a_1 -> a_2 -> a_3 [style=dotted];"));
}

TEST(PlanCommandTest, EveryPlannerPlans) {
  for (const std::string planner : {"fapt", "star", "bkt", "mst"}) {
    const Outcome plan = Plan({kInternet2, "--planner", planner});
    EXPECT_EQ(plan.code, 0) << plan.err;
    EXPECT_THAT(plan.out, HasSubstr("planner         " + planner));
  }
}

TEST(PlanCommandTest, CustomTreesMayBeAnEarlierPlan) {
  const YAML::Node json = YAML::Load(Plan({kInternet2, "--roots=2", "--json"}).out);
  YAML::Node overlay = YAML::LoadFile(kInternet2);
  overlay["topology"]["planner"] = "custom";
  overlay["topology"]["trees"] = json["trees"];
  YAML::Emitter text;
  text << overlay;
  const Outcome plan = Plan({TemporaryFile("custom.yaml", text.c_str()), "--json"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_NEAR(YAML::Load(plan.out)["rate_mbps"].as<double>(), json["rate_mbps"].as<double>(), 1e-6);
}

TEST(PlanCommandTest, ARootMeansOneTree) {
  const Outcome plan = Plan({kInternet2, "--root", "n5"});
  EXPECT_EQ(plan.code, 0);
  EXPECT_THAT(plan.out, HasSubstr("tree on n5"));
  EXPECT_THAT(plan.out, ::testing::Not(HasSubstr("tree on n4")));
}

TEST(PlanCommandTest, UsageErrors) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "missing argument OVERLAY.yaml"},
      {{kInternet2, "--planer", "fapt"}, "did you mean '--planner'?"},
      {{kInternet2, "--planner", "fatp"}, "did you mean 'fapt'?"},
      {{kInternet2, "--shares", "balance"}, "did you mean 'balanced'?"},
      {{kInternet2, "--multipath", "yes"}, "--multipath"},
      {{kInternet2, "--roots", "0"}, "--roots: expected all or a whole number"},
      {{kInternet2, "--roots", "10"}, "the overlay has only 9 nodes"},
      {{kInternet2, "--roots", "3", "--root", "n1"}, "--root plans one tree"},
      {{kInternet2, "--root", "n10"}, "--root: unknown node 'n10'; did you mean 'n1'?"},
      {{kInternet2, "--planner", "star", "--shares", "balanced"}, "--shares: only the planners fapt, custom have it"},
      {{kInternet2, "--root", "n77"}, "--root: unknown node 'n77'; did you mean 'n7'?"},
      {{kInternet2, "--json", "--dot"}, "exclude each other"}};
  for (const auto& [arguments, message] : cases) {
    const Outcome plan = Plan(arguments);
    EXPECT_EQ(plan.code, 2) << message;
    EXPECT_THAT(plan.err, HasSubstr(message));
    EXPECT_EQ(plan.out, "");
  }
}

TEST(PlanCommandTest, FailuresNameFileAndLine) {
  const Outcome missing = Plan({"/no/such.yaml"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("/no/such.yaml: there is no such file"));
  const Outcome directory = Plan({::testing::TempDir()});
  EXPECT_EQ(directory.code, 1);
  EXPECT_THAT(directory.err, HasSubstr("is a directory"));
  const std::string path = TemporaryFile("bad.yaml", "nodes: [{name: a}, {name: b}]\nlnks: []\n");
  const Outcome bad = Plan({path});
  EXPECT_EQ(bad.code, 1);
  EXPECT_THAT(bad.err, HasSubstr(path + ":2:1: unknown key 'lnks'; did you mean 'links'?"));
}

TEST(PlanCommandTest, ShowsCapsAndWhatLinksShare) {
  const std::string path = TemporaryFile("shared.yaml",
                                         "nodes: [{name: n1, up_mbps: 40}, {name: n2}, {name: n3}]\n"
                                         "shared: [{links: [[n1, n3], [n2, n3]], mbps: 50}]\n");
  EXPECT_THAT(Plan({path}).out,
              HasSubstr("caps\n  n1 sends at most 40.0 Mbit/s\n  n1 > n3, n2 > n3 carry at most 50.0 Mbit/s\n"));
  const YAML::Node json = YAML::Load(Plan({path, "--json"}).out);
  ASSERT_EQ(json["shared"].size(), 1u);
  EXPECT_EQ(json["shared"][0]["mbps"].as<double>(), 50);
  EXPECT_EQ(json["shared"][0]["links"][1][0].as<std::string>(), "n2");
}

TEST(PlanCommandTest, SaysHowRarelySitesHaveToSynchronise) {
  const std::vector<std::string> training = {kInternet2, "--model-size",   "46MB", "--steps-per-sync",
                                             "auto",     "--step-seconds", "300ms"};
  const Outcome text = Plan(training);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, StartsWith("Utilisation: the part of the time in which steps of 0.3 s are computed\n"));
  EXPECT_THAT(text.out, ContainsRegex("codec .* attach .* DiLoCo 1 .* DiLoCo 128 .* hidden from .* Streaming 128 "));
  EXPECT_THAT(text.out, HasSubstr("| topk 1 %"));
  EXPECT_THAT(text.out, ::testing::Not(HasSubstr("price"))) << "there is none";

  std::vector<std::string> arguments = training;
  arguments.emplace_back("--json");
  const YAML::Node json = YAML::Load(Plan(arguments).out);
  EXPECT_EQ(json["step_seconds"].as<double>(), 0.3);
  const YAML::Node fp32 = json["codecs"][0];
  EXPECT_EQ(fp32["codec"].as<std::string>(), "fp32");
  const double round_s = fp32["round_seconds"].as<double>();
  EXPECT_NEAR(fp32["diloco_8"].as<double>(), 2.4 / (2.4 + round_s), 0.02);
  EXPECT_NEAR(fp32["diloco_fewest_steps"].as<double>(), 19 * round_s / 0.3, 10);
  EXPECT_LT(fp32["streaming_fewest_steps"].as<double>(), fp32["diloco_fewest_steps"].as<double>() / 5);
  for (const YAML::Node& codec : json["codecs"]) {
    EXPECT_GE(codec["attach"].as<double>(), codec["diloco_1"].as<double>()) << codec["codec"];
    EXPECT_LE(codec["diloco_fewest_steps"].as<double>(), fp32["diloco_fewest_steps"].as<double>()) << codec["codec"];
  }
}

TEST(PlanCommandTest, SaysWhatOneWayToSynchroniseComesTo) {
  const std::string overlay = TemporaryFile("priced_training.yaml", kPriced);
  const YAML::Node json = YAML::Load(Plan({overlay, "--model-size", "100MB", "--steps-per-sync", "50", "--step-seconds",
                                           "1", "--utilisation", "0.9", "--json"})
                                         .out);
  const YAML::Node round = YAML::Load(Plan({overlay, "--model-size", "100MB", "--json"}).out);
  const YAML::Node fp16 = json["codecs"][1];
  EXPECT_EQ(fp16["codec"].as<std::string>(), "fp16");
  EXPECT_GT(fp16["streaming_50"].as<double>(), fp16["diloco_50"].as<double>());
  EXPECT_FALSE(fp16["diloco_fewest_steps"]) << "not asked";
  EXPECT_NEAR(fp16["diloco_price"].as<double>(), 1000.0 / 50 / 2 * round["round_price"].as<double>(), 1e-6);
  EXPECT_NEAR(fp16["attach_price"].as<double>(), 50 * fp16["diloco_price"].as<double>(), 1e-6);
  EXPECT_EQ(Plan({overlay, "--steps-per-sync", "auto", "--step-seconds", "1"}).code, 2) << "of which model?";
  EXPECT_EQ(Plan({overlay, "--model-size", "100MB", "--steps-per-sync", "0", "--step-seconds", "1"}).code, 2);
}

}  // namespace
}  // namespace banyan
