#include "scheduler/rounds/lease_cutter.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/rounds/key_table.h"
#include "scheduler/rounds/route_source.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr KeyId kKey(1);
constexpr PolicyVersion kOld(1);
constexpr PolicyVersion kNew(2);
const NodeId kA(1);
const NodeId kB(2);

class LeaseCutterTest : public testing::Test {
 protected:
  LeaseCutterTest() : keys_(100), rounds_(&keys_, {"n1", "n2"}, absl::Minutes(2), 1) {
    EXPECT_TRUE(keys_.Register({"w", 10}).ok());
    mesh_.Start();
    rounds_.UsePolicy(kOld, 2);
    Ask(1, 1);
  }

  RoundOutcome Ask(uint32_t node, uint64_t round) {
    return rounds_.Request(Timestamp(), NodeId(node), {{{kKey, Round(round)}}});
  }
  // The policy comes into use.
  void Use(PolicyVersion policy) {
    rounds_.UsePolicy(policy, 2);
    cutter_.Review();
  }
  bool Answer(NodeId node, uint64_t begun, CutId cut = CutId(1)) {
    return cutter_.OnBound(node, {mesh_.job.term(), mesh_.job.epoch(), cut, {{kKey, Round(begun)}}});
  }
  CutSought Sought(CutId cut = CutId(1)) const { return {mesh_.job.term(), mesh_.job.epoch(), cut}; }
  static PolicyAnswer::Binding Lease(uint64_t first, uint64_t last, PolicyVersion policy) {
    return {kKey, Round(first), Round(last), policy, Attempt(0)};
  }

  struct OneRoute : RouteSource {
    KeyRoutes RouteOf(KeyId) const override { return route; }
    std::vector<int64_t> BordersOf(const std::string&, const TensorShape&) const override { return {}; }
    PrecisionRoute route = PrecisionRoute::kPlain;
  };

  MeshJob mesh_{2};
  OneRoute routes_;
  KeyTable keys_;
  JobRounds rounds_;
  LeaseCutter cutter_{&mesh_.job, &mesh_.members, &rounds_, &mesh_.context};
};

TEST_F(LeaseCutterTest, CutsBehindTheLastRoundThatAnybodyHasBegun) {
  Use(kNew);
  for (const int node : {1, 2}) EXPECT_THAT(mesh_.Sent<CutSought>(node), ElementsAre(Sought()));
  EXPECT_FALSE(Answer(kA, 4));
  EXPECT_THAT(cutter_.WaitsFor(), testing::HasSubstr("n2 has not said"));
  mesh_.persists = false;
  EXPECT_TRUE(Answer(kB, 7));
  EXPECT_EQ(std::get<CutRecord>(mesh_.Records().back()), (CutRecord{kNew, {{kKey, Round(7)}}}));
  EXPECT_THAT(mesh_.Sent<PolicyAnswer>(1), IsEmpty()) << "it is not durable yet";
  mesh_.persists = true;
  for (const int node : {1, 2}) {
    const std::vector<PolicyAnswer> told = mesh_.Sent<PolicyAnswer>(node);
    ASSERT_THAT(told, SizeIs(1));
    EXPECT_THAT(told[0].bindings, ElementsAre(Lease(1, 6, kOld), Lease(7, LeasePacer::kFirstLease, kNew)));
  }
  EXPECT_EQ(cutter_.WaitsFor(), "");
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), SizeIs(1)) << "it is settled";
}

TEST_F(LeaseCutterTest, WhatEndsSoonIsNotCut) {
  Ask(1, 0);
  for (uint64_t round = 0; round <= LeasePacer::kFirstLease - 4; ++round) {
    for (const NodeId node : {kA, kB}) rounds_.Report(Timestamp(), node, {{{kKey, Round(round), 7}}});
  }
  Use(kNew);
  EXPECT_THAT(mesh_.Sent<CutSought>(1), IsEmpty());
  EXPECT_THAT(Ask(2, LeasePacer::kFirstLease).answers, SizeIs(1));
}

TEST_F(LeaseCutterTest, MeanwhileNobodyHearsWhatEarlierPoliciesGovern) {
  Use(kNew);
  EXPECT_THAT(Ask(2, 3).answers, IsEmpty());
  EXPECT_EQ(rounds_.parked(), 0u) << "all hear of it at the end";
  const RoundOutcome beyond = Ask(2, LeasePacer::kFirstLease + 1);
  ASSERT_THAT(beyond.answers, SizeIs(1));
  EXPECT_EQ(beyond.answers[0].bindings[0].policy, kNew) << "nobody can have begun it";
}

TEST_F(LeaseCutterTest, NothingIsCutThatHasAllBegunButAllHearOfIt) {
  Use(kNew);
  Answer(kA, LeasePacer::kFirstLease + 1);
  EXPECT_TRUE(Answer(kB, 2));
  EXPECT_FALSE(std::holds_alternative<CutRecord>(mesh_.Records().back()));
  ASSERT_THAT(mesh_.Sent<PolicyAnswer>(2), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<PolicyAnswer>(2)[0].bindings, ElementsAre(Lease(1, LeasePacer::kFirstLease, kOld)));
}

TEST_F(LeaseCutterTest, AnswersOfThePastCountForNothing) {
  Use(kNew);
  EXPECT_FALSE(Answer(kA, 4, CutId(2)));
  EXPECT_FALSE(cutter_.OnBound(kA, {mesh_.job.term(), mesh_.job.epoch().Next(), CutId(1), {}}));
  EXPECT_FALSE(cutter_.OnBound(kA, {mesh_.job.term().Next(), mesh_.job.epoch(), CutId(1), {}}));
  EXPECT_FALSE(Answer(kB, 4));
  EXPECT_FALSE(Answer(kB, 9)) << "said twice";
  EXPECT_TRUE(Answer(kA, 2));
  EXPECT_FALSE(Answer(kA, 2));
  EXPECT_EQ(std::get<CutRecord>(mesh_.Records().back()), (CutRecord{kNew, {{kKey, Round(4)}}}));
}

TEST_F(LeaseCutterTest, ANewerPolicyHasACutOfItsOwn) {
  Use(kNew);
  Answer(kA, 4);
  Use(PolicyVersion(3));
  EXPECT_THAT(mesh_.Sent<CutSought>(1), ElementsAre(Sought(), Sought(CutId(2))));
  EXPECT_FALSE(Answer(kB, 4));
  EXPECT_FALSE(Answer(kB, 5, CutId(2))) << "n1 has promised nothing for it";
  EXPECT_TRUE(Answer(kA, 4, CutId(2)));
}

TEST_F(LeaseCutterTest, OtherRoutesHaveACutWithoutAnotherPolicy) {
  rounds_.UseRoutes(&routes_);
  rounds_.AdoptRoutes();
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), IsEmpty()) << "the same as before";
  routes_.route = PrecisionRoute::kLowBit;
  rounds_.AdoptRoutes();
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), ElementsAre(Sought()));
  EXPECT_THAT(Ask(2, 3).answers, IsEmpty());
  routes_.route = PrecisionRoute::kFallback;
  const RoundOutcome beyond = Ask(2, LeasePacer::kFirstLease + 1);
  ASSERT_THAT(beyond.answers, SizeIs(1));
  EXPECT_EQ(beyond.answers[0].bindings[0].route, KeyRoutes(PrecisionRoute::kLowBit)) << "as was adopted";
  Answer(kA, 4);
  EXPECT_TRUE(Answer(kB, 7));
  EXPECT_EQ(std::get<CutRecord>(mesh_.Records().back()),
            (CutRecord{kOld, {{kKey, Round(7), PrecisionRoute::kLowBit}}}));
  rounds_.AdoptRoutes();
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), ElementsAre(Sought(), Sought(CutId(2))));
}

TEST_F(LeaseCutterTest, WhoJoinsAgainIsAskedAgainUnlessItHasAnswered) {
  cutter_.OnRejoined(kA);
  EXPECT_THAT(mesh_.Sent<CutSought>(1), IsEmpty());
  Use(kNew);
  Answer(kB, 4);
  cutter_.OnRejoined(kA);
  cutter_.OnRejoined(kB);
  EXPECT_THAT(mesh_.Sent<CutSought>(1), SizeIs(2));
  EXPECT_THAT(mesh_.Sent<CutSought>(2), SizeIs(1));
}

TEST_F(LeaseCutterTest, AChangeOfMembershipDropsIt) {
  Use(kNew);
  Answer(kA, 4);
  rounds_.Freeze();
  cutter_.Review();
  EXPECT_FALSE(Answer(kB, 4));
  EXPECT_FALSE(std::holds_alternative<CutRecord>(mesh_.Records().back()));
  rounds_.Rebind(Timestamp(), {mesh_.job.epoch(), PolicyVersion(3), {}, {}}, {kA, kB});
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), SizeIs(1)) << "no earlier policy governs anything";
}

TEST_F(LeaseCutterTest, ADepartureLeavesTheLeasesAsTheyAreAndTellsThem) {
  Use(kNew);
  Answer(kA, 4);
  rounds_.SetDeparted();
  cutter_.Review();
  EXPECT_FALSE(Answer(kB, 4));
  EXPECT_FALSE(std::holds_alternative<CutRecord>(mesh_.Records().back()));
  ASSERT_THAT(mesh_.Sent<PolicyAnswer>(1), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<PolicyAnswer>(1)[0].bindings, ElementsAre(Lease(1, LeasePacer::kFirstLease, kOld)));
  cutter_.Review();
  EXPECT_THAT(mesh_.Sent<CutSought>(1), SizeIs(1)) << "not in this epoch";
}

}  // namespace
}  // namespace banyan
