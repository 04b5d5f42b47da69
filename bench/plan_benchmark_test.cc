#include "bench/plan_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace banyan {
namespace {

using ::testing::HasSubstr;

// Whether the goals are met is the benchmark's business: a test shares its machine.
TEST(PlanBenchmarkTest, ReportsEverySize) {
  for (const bool json : {false, true}) {
    std::ostringstream out;
    RunPlanBenchmark(out, json);
    for (const char* name :
         {"plan/9_nodes", "plan/100_nodes", "plan/100_nodes_full_mesh", "plan/1000_nodes", "plan/9_nodes_auxiliary",
          "plan/9_nodes_auxiliary_balanced", "plan/100_nodes_400_links_auxiliary",
          "plan/100_nodes_400_links_auxiliary_balanced", "plan/9_nodes_packed", "plan/9_nodes_full_mesh_packed",
          "plan/20_nodes_packed", "plan/100_nodes_400_links_packed", "plan/1000_nodes_packed"}) {
      EXPECT_THAT(out.str(), HasSubstr(name));
    }
    EXPECT_EQ(out.str().front() == '{', json);
  }
}

}  // namespace
}  // namespace banyan
