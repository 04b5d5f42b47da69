// Jobs whose leases are cut, in which somebody breaks the rules of that on purpose: the checkers must say so.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "sim/cluster.h"
#include "sim/overlays.h"
#include "sim/testing/linked_cluster.h"
#include "sim/testing/tampering_protocol.h"
#include "topology/overlay/overlay_keys.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using MakeTampering = std::function<TamperingProtocol::Tampering(NodeId node)>;

// An operator changes the policy twice under long leases. Returns what the checkers say.
std::string RunWithCuts(const MakeTampering& tampering) {
  ClusterOptions options = LinkedCluster(3, 1e6, 3e6);
  options.overlay.awareness.enabled = false;
  options.overlay.topology.planner = "star";
  options.overlay.topology.root = "n2";
  const absl::StatusOr<OverlayConfig> reread = ParseOverlay(WriteOverlay(ScaleOverlay(options.overlay, 1)), "job.yaml");
  EXPECT_TRUE(reread.ok()) << reread.status();
  options.overlay = *reread;
  OverlayConfig other = options.overlay;
  other.topology.root = "n3";
  options.orders = {{absl::Seconds(5), WriteOverlay(other)}, {absl::Seconds(8), WriteOverlay(options.overlay)}};
  options.plan.rounds = 40;
  options.wrap_core = [tampering](NodeId node, std::unique_ptr<Protocol> core) -> std::unique_ptr<Protocol> {
    return std::make_unique<TamperingProtocol>(std::move(core), tampering(node));
  };
  Cluster cluster(std::move(options));
  cluster.RunUntilTrained(Timestamp() + absl::Seconds(60));
  return cluster.violations()->Report();
}

TEST(LeaseBreachTest, WhoKeepsTheRulesIsHonest) {
  EXPECT_EQ(RunWithCuts([](NodeId) { return TamperingProtocol::Tampering(); }), "");
}

// A node goes on under the leases that it has promised to end: it hears of them once more.
TEST(LeaseBreachTest, ANodeThatBreaksItsPromise) {
  const auto tampering = [](NodeId node) {
    TamperingProtocol::Tampering made;
    // A leaf, which sends something in each round.
    if (node != NodeId(1)) return made;
    auto leases = std::make_shared<PolicyAnswer>();
    made.repeat = [leases](const Event& event, Event* second) {
      const auto* received = std::get_if<MessageReceived>(&event);
      if (received == nullptr) return false;
      if (const auto* answer = std::get_if<PolicyAnswer>(&received->message); answer != nullptr) {
        leases->term = answer->term;
        leases->epoch = answer->epoch;
        leases->bindings.insert(leases->bindings.end(), answer->bindings.begin(), answer->bindings.end());
      }
      if (!std::holds_alternative<CutSought>(received->message)) return false;
      *second = MessageReceived{received->connection, *leases, {}};
      return true;
    };
    // Nor does it say that some of these cannot be.
    made.on_action = [](Action* action) {
      const auto* send = std::get_if<Send>(action);
      return send == nullptr || !std::holds_alternative<CannotFollow>(send->message);
    };
    return made;
  };
  EXPECT_NE(RunWithCuts(tampering).find("one policy per round"), std::string::npos);
}

// A node says that it has begun less than it has.
TEST(LeaseBreachTest, ANodeThatHidesWhatItHasBegun) {
  const auto tampering = [](NodeId) {
    TamperingProtocol::Tampering made;
    made.on_action = [](Action* action) {
      auto* send = std::get_if<Send>(action);
      auto* bound = send == nullptr ? nullptr : std::get_if<CutBound>(&send->message);
      if (bound == nullptr) return true;
      for (CutBound::Entry& entry : bound->rounds) entry.round = Round(entry.round.value() - 1);
      return true;
    };
    return made;
  };
  EXPECT_NE(RunWithCuts(tampering).find("one policy per round"), std::string::npos);
}

// It tells one node of another first round than the others.
TEST(LeaseBreachTest, ASchedulerThatMakesTwoCuts) {
  const auto tampering = [](NodeId node) {
    TamperingProtocol::Tampering made;
    if (node != kSchedulerNode) return made;
    auto answers = std::make_shared<int>(0);
    made.on_action = [answers](Action* action) {
      auto* send = std::get_if<Send>(action);
      auto* answer = send == nullptr ? nullptr : std::get_if<PolicyAnswer>(&send->message);
      // It is the end of a cut if it has more policies than one; of three equal ones the last is another.
      const bool is_of_cut = answer != nullptr && answer->bindings.front().policy != answer->bindings.back().policy;
      if (!is_of_cut || ++*answers != 3) return true;
      const PolicyVersion before = answer->bindings.front().policy;
      for (PolicyAnswer::Binding& binding : answer->bindings) {
        if (binding.policy == before) {
          binding.last_round = binding.last_round.Next();
        } else if (binding.first_round < binding.last_round) {
          binding.first_round = binding.first_round.Next();
        }
      }
      return true;
    };
    return made;
  };
  EXPECT_NE(RunWithCuts(tampering).find("one policy per round"), std::string::npos);
}

}  // namespace
}  // namespace banyan
