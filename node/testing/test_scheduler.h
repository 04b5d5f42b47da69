// The scheduler of tests: says at once what a real one would say after its planning and its disk, from a plan that the
// test has written. It changes members when a test says so. Thread-compatible; owned by TestCluster.
#ifndef BANYAN_NODE_TESTING_TEST_SCHEDULER_H_
#define BANYAN_NODE_TESTING_TEST_SCHEDULER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "proto/message.h"

namespace banyan {

// The trees of a policy, as child -> parent.
struct TestTree {
  uint32_t root = 1;
  std::map<uint32_t, uint32_t> reduce;
  std::map<uint32_t, uint32_t> broadcast;
};

struct TestPlan {
  uint32_t nodes = 1;
  std::vector<TestTree> trees;  // with equal shares
  std::vector<std::vector<uint32_t>> routes;

  // One tree in which everybody hangs on node 1.
  static TestPlan Star(uint32_t nodes);
  // One tree rooted at node 1: 1 <- 2 <- 3 ...
  static TestPlan Chain(uint32_t nodes);
  // Node k's slice.
  PolicySlice Slice(uint32_t node, const JobConfig& config) const;
};

std::string TestAddress(uint32_t node);
Incarnation TestIncarnation(uint32_t node);

class TestScheduler {
 public:
  struct Answer {
    uint32_t node = 0;
    Message message;
  };

  TestScheduler(JobConfig config, TestPlan plan);

  void OnMessage(uint32_t node, Message message);
  std::vector<Answer> TakeAnswers() { return std::exchange(answers_, {}); }

  // Rounds that are asked for from now on run under this plan, in chunks of so many elements.
  void UsePlan(TestPlan plan, int64_t chunk_max_elements);
  // Members are these from now on, who have said this incarnation in their last join. They are told that the epoch is
  // over, and follow `plan` when all of them have reported.
  void ChangeMembers(const std::set<uint32_t>& members, TestPlan plan);
  // To every member.
  void SayToAll(const Message& message);
  void Say(uint32_t node, Message message) { answers_.push_back({node, std::move(message)}); }
  // What was held back is said, and from now on at once.
  void ReleasePolicies();
  void ReleaseClosed();

  // Everything that `node` has said of this kind, in order.
  template <typename Kind>
  std::vector<Kind> Said(uint32_t node) const {
    std::vector<Kind> all;
    for (const auto& [from, message] : said_) {
      if (from == node && std::holds_alternative<Kind>(message)) all.push_back(std::get<Kind>(message));
    }
    return all;
  }

  std::set<uint32_t> hold_policies;  // nodes whose requests wait
  bool hold_closed = false;
  bool silent = false;        // says nothing at all
  bool ends_broken = true;    // fails the job when a round is broken
  bool hold_plans = false;    // of epochs; the next report ends that
  NodeId source = NodeId(1);  // of broadcasts
  Term term = Term(7);
  StartId start = StartId(1);
  bool remembers = true;  // the nodes that it has accepted before
  PolicyVersion version = PolicyVersion(3);
  std::vector<std::string> unequal_hashes;
  Epoch epoch = Epoch(1);
  // Of rounds that are asked for from now on, by the first round with it; plain before.
  std::map<Round, KeyRoutes> routes;
  std::vector<int64_t> borders = {};  // of the slices of every key

 private:
  struct Bound {
    Attempt attempt;
    int64_t chunk_max_elements = 0;
    KeyRoutes route = {};
  };
  KeyRoutes RouteOf(Round round) const;
  void On(uint32_t node, const Join& join);
  void On(uint32_t node, const Heartbeat& heartbeat);
  void On(uint32_t node, const RegisterKeys& keys);
  void On(uint32_t node, const PolicyRequest& request);
  void On(uint32_t node, const RoundsClosed& closed);
  // The entry says that the node holds the round's result of this key.
  void TakeHeld(uint32_t node, KeyId key, const RoundsClosed::Entry& entry);
  void On(uint32_t node, const BarrierEntered& barrier);
  void On(uint32_t node, const EpochReport& report);
  void On(uint32_t node, const RoundBroken& broken);
  void Publish(uint32_t node);
  // Binds the open rounds anew once every member has reported.
  void GoOn();
  Round FirstOpen(KeyId key) const;
  // Tells all members which rounds are closed after an open one: no plan opens them again.
  void SayClosedBeyond();

  JobConfig config_;
  TestPlan plan_;
  std::vector<Answer> answers_;
  std::vector<std::pair<uint32_t, Message>> said_;
  std::vector<KeySlice> keys_;
  std::set<uint32_t> published_;
  std::vector<std::pair<uint32_t, PolicyRequest>> held_policies_;
  std::set<uint32_t> members_;
  std::map<uint32_t, Incarnation> incarnations_;  // of the last joins
  std::set<uint32_t> survivors_;                  // members that were there in the epoch before
  std::map<uint32_t, EpochReport> reports_;
  std::map<KeyId, std::map<Round, Bound>> bound_;
  std::map<KeyId, Round> next_closed_;
  std::set<std::pair<KeyId, Round>> closed_;  // perhaps before an earlier one
  std::optional<EpochPlan> epoch_plan_;       // the last one
  bool changes_ = false;
  std::map<std::pair<KeyId, Round>, std::map<uint32_t, RoundsClosed::Entry>> held_;  // by node
  std::vector<ClosedEverywhere> held_closed_;
  std::map<uint64_t, std::set<uint32_t>> barriers_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TESTING_TEST_SCHEDULER_H_
