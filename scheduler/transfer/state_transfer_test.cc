#include "scheduler/transfer/state_transfer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr uint64_t kBoundary = 1200;
const std::vector<KeysPushed> kPushed = {{KeyId(1), KeyId(2), Round(7)}};

// Nodes 1 to 3 train, node 4 joins; all reach each other directly.
class StateTransferTest : public testing::Test {
 protected:
  using Outcome = StateTransfer::Outcome;
  using Phase = StateTransfer::Phase;

  StateTransferTest() { Do(transfer_.SetMembers(Nodes({1, 2, 3, 4}))); }

  static StateTransfer::Members Nodes(std::vector<uint32_t> ids) {
    StateTransfer::Members nodes;
    for (uint32_t id : ids) nodes[NodeId(id)] = Incarnation(id);
    return nodes;
  }
  void Do(Outcome outcome) { last_ = std::move(outcome); }
  void Want(uint32_t node, uint64_t fetch = 1) { Do(transfer_.OnWanted(NodeId(node), {fetch})); }
  void Hold(uint32_t node, uint64_t boundary = kBoundary) {
    Do(transfer_.OnHeld(now_, NodeId(node), {transfer_.transfer(), boundary, kPushed}));
  }
  void HaveNone(uint32_t node) { Do(transfer_.OnNoState(NodeId(node), {transfer_.transfer(), "none"})); }
  void End(uint32_t node, bool has_state, uint64_t fetch = 1) {
    Do(transfer_.OnFetchEnded(NodeId(node), {transfer_.transfer(), fetch, has_state, "why"}));
  }
  // Up to the time that node 4 fetches from 1, 2 and 3.
  void ServeNode4() {
    Want(4);
    for (uint32_t node : {1, 2, 3}) Hold(node);
    HaveNone(4);
  }
  // To whom the last outcome sends this kind.
  template <typename Kind>
  std::vector<std::pair<uint32_t, Kind>> Sent() const {
    std::vector<std::pair<uint32_t, Kind>> sent;
    for (const auto& [node, message] : last_.messages) {
      if (std::holds_alternative<Kind>(message)) sent.emplace_back(node.value(), std::get<Kind>(message));
    }
    return sent;
  }
  // The nodes to which the last outcome sends this kind, with this code if it is a release.
  template <typename Kind>
  std::vector<uint32_t> To(absl::StatusCode code = absl::StatusCode::kOk) const {
    std::vector<uint32_t> nodes;
    for (const auto& [node, message] : Sent<Kind>()) {
      if constexpr (std::is_same_v<Kind, StateReleased>) {
        if (message.code != code) continue;
      }
      nodes.push_back(node);
    }
    return nodes;
  }
  std::vector<std::vector<NodeId>> PathsTold() const { return Sent<StateHolders>().at(0).second.paths; }
  static std::map<NodeId, std::vector<NodeId>> Direct(NodeId from) {
    std::map<NodeId, std::vector<NodeId>> paths = {{from, {from}}};
    for (uint32_t id = 1; id <= 5; ++id) {
      if (NodeId(id) != from) paths[NodeId(id)] = {from, NodeId(id)};
    }
    return paths;
  }

  Timestamp now_;
  Outcome last_;
  std::string progress_;
  StateTransfer transfer_{{Term(3)},
                          {[](NodeId node) { return absl::StrCat("n", node.value()); }, &StateTransferTest::Direct,
                           [this] { return progress_; }}};
};

using Ids = std::vector<uint32_t>;

TEST_F(StateTransferTest, HoldsServesAndLetsGo) {
  Want(4);
  EXPECT_EQ(To<StateSought>(), (Ids{1, 2, 3, 4}));
  EXPECT_GT(transfer_.transfer().value(), uint64_t{3} << 32) << "numbers rise from term to term";
  EXPECT_EQ(transfer_.Describe(), "n4 waits for these to reach a boundary: n1, n2, n3, n4");
  HaveNone(4);
  Hold(1);
  Hold(2);
  EXPECT_TRUE(last_.messages.empty());
  Hold(3);
  EXPECT_EQ(transfer_.phase(), Phase::kServing);
  ASSERT_EQ(To<StateHolders>(), Ids{4});
  const StateHolders holders = Sent<StateHolders>()[0].second;
  EXPECT_EQ(holders.step, kBoundary);
  EXPECT_EQ(holders.fetch, 1u);
  EXPECT_EQ(holders.pushed, kPushed);
  EXPECT_EQ(holders.paths.size(), 3u);
  EXPECT_EQ(transfer_.Describe(), "n4 takes the state after step 1200 from n1, n2, n3");
  End(4, true);
  EXPECT_TRUE(last_.begins_epoch);
  EXPECT_TRUE(last_.messages.empty()) << "nobody goes on before the epoch";
  Do(transfer_.OnEpochPlanned());
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(transfer_.phase(), Phase::kIdle);
  EXPECT_EQ(transfer_.Describe(), "");
}

TEST_F(StateTransferTest, ANewStartOfAJoinerIsNotTheFormerOne) {
  ServeNode4();
  StateTransfer::Members members = Nodes({1, 2, 3, 4});
  members[NodeId(4)] = Incarnation(77);
  Do(transfer_.SetMembers(members));
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3, 4})) << "it may fetch nothing";
  EXPECT_EQ(transfer_.phase(), Phase::kIdle);
}

TEST_F(StateTransferTest, ANewStartOfAMemberAnswersNothing) {
  Want(4);
  for (uint32_t node : {2, 3, 4}) HaveNone(node);
  StateTransfer::Members members = Nodes({1, 2, 3, 4});
  members[NodeId(1)] = Incarnation(77);
  Do(transfer_.SetMembers(members));
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kNotFound), Ids{4});
}

TEST_F(StateTransferTest, WhoIsLetGoHearsWhichFetchEndedWell) {
  ServeNode4();
  End(4, true);
  Do(transfer_.OnEpochPlanned());
  for (const auto& [node, released] : Sent<StateReleased>()) EXPECT_EQ(released.fetch, node == 4 ? 1u : 0u);
  Do(transfer_.OnRejoined(NodeId(4)));
  EXPECT_EQ(Sent<StateReleased>().at(0).second.fetch, 1u);
}

TEST_F(StateTransferTest, WhoDoesNotAnswerIsNotWaitedForLong) {
  Want(4);
  Hold(1);
  EXPECT_NE(transfer_.NextDeadline(), kNever);
  now_ = transfer_.NextDeadline();
  Do(transfer_.OnDeadline(now_));
  EXPECT_EQ(PathsTold().size(), 1u);
  Hold(2);
  EXPECT_EQ(PathsTold().size(), 2u) << "one more that was slow";
  EXPECT_EQ(transfer_.NextDeadline(), kNever);
}

TEST_F(StateTransferTest, BeforeTheFirstBoundaryThereIsNoDeadline) {
  Want(4);
  for (uint32_t node : {1, 2, 4}) HaveNone(node);
  EXPECT_EQ(transfer_.phase(), Phase::kCollecting);
  EXPECT_EQ(transfer_.NextDeadline(), kNever);
  End(4, false);
  ASSERT_EQ(To<StateReleased>(absl::StatusCode::kUnavailable), Ids{4});
  EXPECT_EQ(Sent<StateReleased>()[0].second.reason, "the fetch waits for these to reach a boundary: n3");
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3, 4}));
}

TEST_F(StateTransferTest, NobodyHasAState) {
  Want(4);
  for (uint32_t node : {1, 2, 3, 4}) HaveNone(node);
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kNotFound), Ids{4});
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3, 4}));
  EXPECT_FALSE(last_.begins_epoch);
  EXPECT_EQ(transfer_.phase(), Phase::kIdle);
}

TEST_F(StateTransferTest, AStateThatIsGoneIsNoStateThatWasNeverThere) {
  progress_ = "the job is past round 72 of key 'w'";
  Want(4);
  for (uint32_t node : {1, 2, 3, 4}) HaveNone(node);
  ASSERT_EQ(To<StateReleased>(absl::StatusCode::kDataLoss), Ids{4});
  EXPECT_EQ(Sent<StateReleased>()[0].second.reason.find("the job is past round 72 of key 'w', and no worker"), 0u);
}

// What they said while they were held was lost with a connection.
TEST_F(StateTransferTest, WhoHasGoneOnWithItsStateIsAskedAgain) {
  Want(4);
  for (uint32_t node : {2, 3, 4}) HaveNone(node);
  Do(transfer_.OnNoState(NodeId(1), {transfer_.transfer(), "went on", /*had_state=*/true}));
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kUnavailable), Ids{4});
  Want(4, 2);
  HaveNone(1);
  for (uint32_t node : {2, 3, 4}) HaveNone(node);
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kNotFound), Ids{4}) << "another transfer";
}

TEST_F(StateTransferTest, AnotherBoundaryIsNoHolder) {
  Want(4);
  Hold(1);
  Hold(2, kBoundary + 1);
  EXPECT_EQ(last_.log.size(), 1u);
  Hold(3);
  HaveNone(4);
  EXPECT_EQ(PathsTold().size(), 2u);
}

TEST_F(StateTransferTest, JoinersOfTheSameTimeShareATransfer) {
  Want(4);
  Want(3);
  EXPECT_TRUE(last_.messages.empty());
  Hold(1);
  Hold(2);
  HaveNone(3);
  HaveNone(4);
  EXPECT_EQ(To<StateHolders>(), (Ids{3, 4}));
  Want(5);
  EXPECT_EQ(To<StateHolders>(), Ids{5}) << "in time, too";
  End(4, true);
  EXPECT_FALSE(last_.begins_epoch);
  End(3, true);
  End(5, true);
  EXPECT_TRUE(last_.begins_epoch);
}

TEST_F(StateTransferTest, WhoComesTooLateGetsTheNextTransfer) {
  Want(4);
  Want(3);
  Hold(1);
  Hold(2);
  HaveNone(3);
  HaveNone(4);
  End(4, true);
  Want(5);
  EXPECT_TRUE(last_.messages.empty());
  const TransferId first = transfer_.transfer();
  End(3, true);
  Do(transfer_.OnEpochPlanned());
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(To<StateSought>(), (Ids{1, 2, 3, 4}));
  EXPECT_EQ(transfer_.transfer(), first.Next());
}

TEST_F(StateTransferTest, AJoinerThatDiesLetsAllGo) {
  ServeNode4();
  Do(transfer_.SetMembers(Nodes({1, 2, 3})));
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 2, 3}));
  EXPECT_FALSE(last_.begins_epoch);
}

TEST_F(StateTransferTest, AJoinerThatDiesHoldsNoOtherUp) {
  Want(3);
  Want(4);
  Hold(1);
  Hold(2);
  HaveNone(3);
  HaveNone(4);
  End(3, true);
  Do(transfer_.SetMembers(Nodes({1, 2, 3})));
  EXPECT_TRUE(last_.begins_epoch);
}

TEST_F(StateTransferTest, AHolderThatDiesIsReplacedByTheOthers) {
  ServeNode4();
  Do(transfer_.SetMembers(Nodes({1, 3, 4})));
  EXPECT_EQ(PathsTold().size(), 2u);
  HaveNone(1);
  EXPECT_EQ(PathsTold().size(), 1u);
  Do(transfer_.SetMembers(Nodes({1, 4})));
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kUnavailable), Ids{4});
  EXPECT_EQ(To<StateReleased>(), (Ids{1, 4}));
}

TEST_F(StateTransferTest, AHolderThatDiesBeforeTheAnswerIsForgotten) {
  Want(4);
  Hold(1);
  HaveNone(4);
  Do(transfer_.SetMembers(Nodes({2, 3, 4})));
  EXPECT_EQ(transfer_.NextDeadline(), kNever) << "nobody is held";
  HaveNone(2);
  Hold(3, kBoundary + 5);
  EXPECT_EQ(Sent<StateHolders>().at(0).second.step, kBoundary + 5);
}

TEST_F(StateTransferTest, WhatALostConnectionSwallowedIsSaidAgain) {
  Do(transfer_.OnRejoined(NodeId(1)));
  EXPECT_TRUE(last_.messages.empty());
  ServeNode4();
  Do(transfer_.OnRejoined(NodeId(1)));
  EXPECT_EQ(To<StateSought>(), Ids{1});
  EXPECT_TRUE(To<StateHolders>().empty());
  Want(4);
  EXPECT_EQ(To<StateHolders>(), Ids{4});
  End(4, true);
  Do(transfer_.OnEpochPlanned());
  Do(transfer_.OnRejoined(NodeId(1)));
  EXPECT_EQ(To<StateReleased>(), Ids{1});
  End(4, true);
  EXPECT_EQ(To<StateReleased>(), Ids{4}) << "it has not heard that it may begin";
  Do(transfer_.OnHeld(now_, NodeId(2), {transfer_.transfer(), kBoundary, kPushed}));
  EXPECT_EQ(To<StateReleased>(), Ids{2}) << "it has not heard that it may go on";
}

TEST_F(StateTransferTest, ALaterCallOfAJoinerReplacesItsFormerOne) {
  ServeNode4();
  Want(4, 2);
  EXPECT_EQ(Sent<StateHolders>().at(0).second.fetch, 2u);
  End(4, true, 1);
  EXPECT_FALSE(last_.begins_epoch);
  End(4, true, 2);
  EXPECT_TRUE(last_.begins_epoch);
}

TEST_F(StateTransferTest, AQueuedFetchCanEnd) {
  ServeNode4();
  End(4, true);
  Want(3);
  End(3, false);
  EXPECT_EQ(To<StateReleased>(absl::StatusCode::kUnavailable), Ids{3});
  Do(transfer_.OnEpochPlanned());
  EXPECT_TRUE(To<StateSought>().empty());
}

TEST_F(StateTransferTest, AJoinerThatReachesNoHolderIsToldSo) {
  StateTransfer apart({Term(3)}, {[](NodeId node) { return absl::StrCat("n", node.value()); },
                                  [](NodeId from) {
                                    return std::map<NodeId, std::vector<NodeId>>{{from, {from}}};
                                  }});
  Do(apart.SetMembers(Nodes({1, 4})));
  Do(apart.OnWanted(NodeId(4), {1}));
  Do(apart.OnNoState(NodeId(4), {apart.transfer(), "none"}));
  Do(apart.OnHeld(now_, NodeId(1), {apart.transfer(), kBoundary, kPushed}));
  ASSERT_EQ(To<StateReleased>(absl::StatusCode::kUnavailable), Ids{4});
  EXPECT_EQ(Sent<StateReleased>()[0].second.reason, "no connection leads to the nodes that have the state: n1");
  EXPECT_EQ(apart.phase(), Phase::kIdle);
}

}  // namespace
}  // namespace banyan
