// Rough jobs in which one core breaks a rule on purpose: the checkers must say so.
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "sim/faults/fault_scenario.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr NodeId kVillain(2);

void Tamper(ClusterOptions* options, TamperingProtocol::Tampering tampering) {
  options->wrap_core = [tampering](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (node != kVillain) return core;
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
}

// A job without faults whose results are means with a quorum.
std::string ViolationsOfMeans(const TamperingProtocol::Tampering& tampering) {
  std::string violations;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    FaultScenario scenario = MakeFaultScenario(seed, {}, /*may_have_optimizer=*/false);
    AddQuorum(seed, &scenario);
    AddMeans(&scenario);
    Tamper(&scenario.cluster, tampering);
    violations += RunFaultScenario(scenario, {}).violations;
  }
  return violations;
}

TEST(RoughBreachTest, ADivisorThatCountsWhoIsNotInTheSum) {
  EXPECT_THAT(ViolationsOfMeans({}), IsEmpty());
  TamperingProtocol::Tampering tampering;
  tampering.on_event = [](Event* event) {
    auto* received = std::get_if<MessageReceived>(event);
    auto* chunk = received == nullptr ? nullptr : std::get_if<ChunkMessage>(&received->message);
    if (chunk == nullptr || chunk->route.destination() != kVillain || chunk->id.half != Half::kReduce) return;
    if (chunk->kind == RoundKind::kAggregate && chunk->weight > 0) ++chunk->weight;
  };
  EXPECT_THAT(ViolationsOfMeans(tampering), HasSubstr("no whole number of means of ones"));
}

// What it takes for a sound gradient is in the sum.
TEST(RoughBreachTest, AGradientThatIsNotSkipped) {
  FaultScenario scenario = MakeFaultScenario(1, {}, /*may_have_optimizer=*/false);
  scenario.cluster.overlay.aggregation = {.op = AggregationOp::kMean, .not_finite = NotFiniteRule::kSkip};
  scenario.cluster.overlay.compression.rules.clear();
  scenario.cluster.plan.not_finite_share = 0.5;
  EXPECT_THAT(RunFaultScenario(scenario, {}).violations, IsEmpty());
  TamperingProtocol::Tampering tampering;
  tampering.on_event = [](Event* event) {
    auto* called = std::get_if<WorkerCalled>(event);
    auto* push = called == nullptr ? nullptr : std::get_if<WorkerPush>(&called->call);
    if (push == nullptr || push->not_finite == 0) return;
    push->not_finite = 0;
    push->gradient.mutable_floats().back() = push->gradient.floats().front();
  };
  Tamper(&scenario.cluster, tampering);
  EXPECT_THAT(RunFaultScenario(scenario, {}).violations, HasSubstr("exactly once"));
}

// It does not say what it holds in a new epoch.
TEST(RoughBreachTest, AMemberThatFallsOutThoughNothingHappens) {
  FaultScenario scenario = MakeFaultScenario(0, {}, /*may_have_optimizer=*/false);
  ClusterOptions& cluster = scenario.cluster;
  cluster.plan.rounds = 50;
  cluster.plan.compute_time = absl::Milliseconds(200);
  cluster.steady = {kVillain};
  Fault kill;
  kill.kind = FaultKind::kKillNode;
  kill.node = kill.other = NodeId(1);
  kill.at = absl::Seconds(2);
  kill.lasts = absl::Milliseconds(100);
  scenario.faults = {kill};
  scenario.recovery += absl::Seconds(60);
  EXPECT_THAT(RunFaultScenario(scenario, {}).violations, IsEmpty());
  TamperingProtocol::Tampering tampering;
  tampering.on_action = [](Action* action) {
    const auto* send = std::get_if<Send>(action);
    return send == nullptr || !std::holds_alternative<EpochReport>(send->message);
  };
  Tamper(&cluster, tampering);
  EXPECT_THAT(RunFaultScenario(scenario, {}).violations, HasSubstr("to which nothing has happened, fell out"));
}

// The file of this very job is refused by nobody.
TEST(RoughBreachTest, ASchedulerThatGoesOnWithTheFileOfAnotherJob) {
  ClusterOptions options = LinkedCluster(3, 2e6, 2e6);
  options.plan.rounds = 30;
  options.plan.compute_time = absl::Milliseconds(200);
  options.membership_changes = true;
  Cluster cluster(options);
  cluster.simulator()->RunUntil([&] { return cluster.rounds_done() >= 2; }, Timestamp() + absl::Seconds(60));
  cluster.processes()->KillScheduler(/*silently=*/false);
  cluster.processes()->StartSchedulerWithOtherFile(cluster.overlay());
  cluster.simulator()->RunUntil([] { return false; }, cluster.simulator()->now() + absl::Seconds(5));
  EXPECT_THAT(cluster.violations()->Report(), HasSubstr("whose records are of another overlay file"));
}

}  // namespace
}  // namespace banyan
