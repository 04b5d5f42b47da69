#include "bench/plan_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "topology/samples/sample_networks.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Whether the goals are met is the benchmark's business: a test shares its machine.
TEST(PlanBenchmarkTest, ReportsEverySize) {
  const absl::StatusOr<ResultTable> table = TimePlans();
  ASSERT_TRUE(table.ok()) << table.status();
  const std::string text = table->AsText();
  for (const char* name :
       {"9_nodes", "100_nodes", "100_nodes_full_mesh", "1000_nodes", "9_nodes_auxiliary", "9_nodes_auxiliary_balanced",
        "100_nodes_400_links_auxiliary", "100_nodes_400_links_auxiliary_balanced", "9_nodes_packed",
        "9_nodes_full_mesh_packed", "20_nodes_packed", "100_nodes_400_links_packed", "1000_nodes_packed"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("| ", name, " ")));
  }
}

// Rates that were computed independently of the planners.
TEST(PlannerTableTest, KnownRates) {
  const PlannedRates rates = *PlanRates(TriangleNetwork());
  EXPECT_NEAR(rates.fapt_bps, 10e6, 0.1e6);
  EXPECT_NEAR(rates.packed_bps, 12.45e6, 0.1e6);
  EXPECT_NEAR(rates.bound_bps, 12.45e6, 0.02e6);
  const PlannedRates internet2 = *PlanRates(Internet2Network());
  EXPECT_NEAR(internet2.fapt_bps, 58.8e6, 0.2e6);
  EXPECT_NEAR(internet2.auxiliary_bps, 66.25e6, 0.1e6);
  EXPECT_NEAR(internet2.bound_bps, 110e6, 0.2e6);
  EXPECT_GT(internet2.packed_bps, 0.97 * internet2.bound_bps);
  EXPECT_LE(internet2.star_bps, 19.6e6);
  EXPECT_GT(internet2.mst_bps, internet2.one_fapt_bps);
}

TEST(PlannerTableTest, ARowHasTheMeansAndTheLeastOfItsDraws) {
  const OverlayFamily family{"two", 2,
                             [](uint64_t draw) { return CompleteNetwork(4, 10.0 * static_cast<double>(draw)); }};
  const PlannerTableRow row = *MakeRow(family);
  EXPECT_EQ(row.overlay, "two");
  EXPECT_EQ(row.nodes, 4u);
  EXPECT_EQ(row.draws, 2u);
  EXPECT_NEAR(row.mean.fapt_bps, 30e6, 1);
  EXPECT_NEAR(row.mean.bound_bps, 30e6, 30e3);
  EXPECT_NEAR(row.least_ratio, 1, 6e-3);
  EXPECT_NEAR(row.least_gain, 1, 1e-6);
  EXPECT_THAT(Misses({row}), IsEmpty());
}

TEST(PlannerTableTest, APlannersErrorIsTold) {
  const OverlayFamily family{"apart", 1, [](uint64_t) { return SampleNetwork(3, {{1, 2, 1}, {2, 1, 1}}); }};
  EXPECT_EQ(MakeRow(family).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(PlannerTableTest, WhatMissesItsGoalIsNamed) {
  const auto row = [](const std::string& name, size_t nodes, double ratio, double gain) {
    PlannerTableRow made;
    made.overlay = name;
    made.nodes = nodes;
    made.least_ratio = ratio;
    made.least_gain = gain;
    return made;
  };
  EXPECT_THAT(Misses({row("good", 20, 0.971, 1), row("large", 21, 0.91, 1), row("small", 20, 0.96, 1),
                      row("poor", 100, 0.89, 1), row("slow", 9, 0.99, 0.99)}),
              ElementsAre(HasSubstr("small: a packed plan reaches 0.960 of the bound where 0.97 is the goal"),
                          HasSubstr("poor: a packed plan reaches 0.890 of the bound where 0.90 is the goal"),
                          HasSubstr("slow: a packed plan has 0.990 times the rate of FAPT's")));
}

TEST(PlannerTableTest, IsWrittenAsMarkdownAndAsJson) {
  PlannerTableRow row;
  row.overlay = "oak";
  row.nodes = 9;
  row.draws = 3;
  row.mean = {1e6, 2e6, 3e6, 4e6, 5e6, 9e6, 10e6};
  row.least_ratio = 0.8;
  EXPECT_EQ(
      PlannerTable({row}).AsText(),
      "| overlay | nodes | draws | star | mst | FAPT, one root | FAPT, all roots | with auxiliary paths | packed |"
      " bound | packed / bound | least |\n"
      "|---------|------:|------:|-----:|----:|---------------:|----------------:|---------------------:|-------:|"
      "------:|---------------:|------:|\n"
      "| oak     |     9 |     3 |  1.0 | 2.0 |            3.0 |             4.0 |                  5.0 |    9.0 |"
      "  10.0 |          0.900 | 0.800 |\n");
  JsonWriter json;
  PlannerTable({row}).WriteTo(json);
  EXPECT_EQ(json.text(),
            R"([{"overlay":"oak","nodes":9,"draws":3,"star_mbps":1,"mst_mbps":2,"one_fapt_mbps":3,"fapt_mbps":4,)"
            R"("fapt_auxiliary_mbps":5,"packed_mbps":9,"bound_mbps":10,"bound_ratio":0.9,"least_bound_ratio":0.8}])");
}

}  // namespace
}  // namespace banyan
