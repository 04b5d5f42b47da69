// Jobs whose scheduler breaks a rule on purpose from one start to the next: the checkers must say so.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "protocol/tap.h"
#include "scheduler/state/state_record.h"
#include "sim/cluster.h"
#include "sim/faults/fault_scenario.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"

namespace banyan {
namespace {

constexpr uint64_t kSeeds = 16;

using WrapScheduler = std::function<std::unique_ptr<Protocol>(int starts, std::unique_ptr<Protocol> core)>;

std::function<std::unique_ptr<Protocol>(NodeId, std::unique_ptr<Protocol>)> Wrap(const WrapScheduler& wrap) {
  auto starts = std::make_shared<int>(0);
  return [wrap, starts](NodeId node, std::unique_ptr<Protocol> core) {
    return node == kSchedulerNode ? wrap(++*starts, std::move(core)) : std::move(core);
  };
}

void RunUntilRound(Cluster* cluster, uint64_t rounds_done) {
  ASSERT_TRUE(cluster->simulator()->RunUntil([&] { return cluster->rounds_done() >= rounds_done; },
                                             Timestamp() + absl::Seconds(100)));
}

// A node falls out, and then the scheduler is started again. Returns what the checkers say.
std::string RunWithTwoStarts(const WrapScheduler& wrap) {
  ClusterOptions options = LinkedCluster(4, 2e7, 2e7);
  options.plan.rounds = 20;
  options.wrap_core = Wrap(wrap);
  ChangingCluster cluster(std::move(options));
  RunUntilRound(cluster.get(), 1);
  cluster->processes()->KillNode(NodeId(4), /*silently=*/false);
  EXPECT_TRUE(cluster->simulator()->RunUntil([&] { return cluster->epoch() > Epoch(1); },
                                             cluster->simulator()->now() + absl::Seconds(20)));
  cluster->processes()->KillScheduler(/*silently=*/false);
  cluster->processes()->StartScheduler(/*with_records=*/true);
  cluster->RunUntilStayersTrained(cluster->simulator()->now(), {NodeId(4)}, absl::Seconds(60));
  return cluster->violations()->Report();
}

TEST(SchedulerBreachTest, AnHonestSchedulerGoesOn) {
  EXPECT_EQ(RunWithTwoStarts([](int, std::unique_ptr<Protocol> core) { return core; }), "");
}

TEST(SchedulerBreachTest, TwoSchedulersOfOneTerm) {
  const auto wrap = [](int starts, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (starts == 1) return core;
    TamperingProtocol::Tampering tampering;
    tampering.on_action = [](Action* action) {
      auto* send = std::get_if<Send>(action);
      if (send == nullptr) return true;
      const auto lower = [](auto& message) {
        if constexpr (requires { message.term; }) message.term = Term(message.term.value() - 1);
      };
      std::visit(lower, send->message);
      return true;
    };
    return std::make_unique<TamperingProtocol>(std::move(core), tampering);
  };
  EXPECT_NE(RunWithTwoStarts(wrap).find("one leader per term"), std::string::npos);
}

// Stands around a scheduler's core and tells it that records are durable which nobody keeps: a storage that forgets
// what it has promised. Thread-compatible; owns the core.
class ForgetfulProtocol : public Tap {
 public:
  // Asked of each record's bytes, in order.
  using IsKept = std::function<bool(const std::string& record)>;

  ForgetfulProtocol(std::unique_ptr<Protocol> core, IsKept is_kept)
      : Tap(std::move(core)), is_kept_(std::move(is_kept)) {}

 private:
  bool OnAction(Action& action) override {
    const auto* record = std::get_if<PersistRecord>(&action);
    if (record == nullptr || is_kept_(record->bytes)) return true;
    Tell(RecordPersisted{record->record});
    return false;
  }

  const IsKept is_kept_;
};

// Keeps the first `kept` records of a start.
ForgetfulProtocol::IsKept KeepFirst(int kept) {
  return [kept](const std::string&) mutable { return --kept >= 0; };
}

// Keeps all but what rounds are bound to, and which are closed.
bool IsNotOfRounds(const std::string& record) {
  const absl::StatusOr<StateRecord> decoded = DecodeStateRecord(record);
  return !decoded.ok() ||
         (!std::holds_alternative<BindingsRecord>(*decoded) && !std::holds_alternative<ClosedRecord>(*decoded));
}

// The change of members was said to all, and the next start has not heard of it.
TEST(SchedulerBreachTest, ASchedulerThatForgetsAnEpoch) {
  const auto wrap = [](int starts, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    if (starts > 1) return core;
    return std::make_unique<ForgetfulProtocol>(std::move(core), KeepFirst(12));
  };
  EXPECT_NE(RunWithTwoStarts(wrap).find("epochs rise"), std::string::npos);
}

// Returns how many seeds break the rule when each start of the scheduler keeps these records alone.
int Broken(const std::string& rule, const std::function<ForgetfulProtocol::IsKept()>& is_kept,
           uint64_t seeds = kSeeds) {
  int broken = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const std::vector<FaultKind> kinds = {FaultKind::kRestartScheduler, FaultKind::kSlowStorage};
    FaultScenario scenario = MakeFaultScenario(seed, kinds, /*may_have_optimizer=*/false);
    scenario.cluster.wrap_core = Wrap([&](int, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
      return std::make_unique<ForgetfulProtocol>(std::move(core), is_kept());
    });
    const std::string violations = RunFaultScenario(scenario, {}).violations;
    if (violations.find(rule) != std::string::npos) ++broken;
  }
  return broken;
}

TEST(SchedulerBreachTest, AStorageThatKeepsItsPromisesIsHonest) {
  EXPECT_EQ(Broken(": ", [] { return [](const std::string&) { return true; }; }), 0);
}

TEST(SchedulerBreachTest, ASchedulerThatForgetsWhichRoundsAreClosed) {
  EXPECT_GE(Broken("frontiers", [] { return KeepFirst(15); }), 2);
}

// It matters where the policy changes before the round is over, which few of these jobs do.
TEST(SchedulerBreachTest, ASchedulerThatForgetsWhatItHasAnswered) {
  EXPECT_GE(Broken(
                "retired policies", [] { return IsNotOfRounds; }, 200),
            2);
}

}  // namespace
}  // namespace banyan
