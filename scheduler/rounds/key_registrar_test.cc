#include "scheduler/rounds/key_registrar.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const NodeId kA(1);
const NodeId kB(2);
constexpr int64_t kChunkElements = 100;

class KeyRegistrarTest : public testing::Test {
 protected:
  KeyRegistrarTest() : keys_(kChunkElements, &mesh_.job, &mesh_.members, &mesh_.context) { mesh_.Start(); }

  MeshJob mesh_{2};
  KeyRegistrar keys_;
  JobRounds rounds_{&keys_.table(), {"n1", "n2"}, absl::ZeroDuration(), 1};
};

TEST_F(KeyRegistrarTest, ANewKeyIsDurableAndThenToldToAll) {
  mesh_.persists = false;
  EXPECT_TRUE(keys_.Register(kA, {{"w", 10}, {"b", 2}}, rounds_));
  for (const int node : {1, 2}) EXPECT_THAT(mesh_.Sent<KeysAssigned>(node), IsEmpty());
  EXPECT_EQ(std::get<KeysRecord>(mesh_.Records().back()), (KeysRecord{KeyId(1), {{"w", 10}, {"b", 2}}}));
  mesh_.persists = true;
  for (const int node : {1, 2}) {
    ASSERT_THAT(mesh_.Sent<KeysAssigned>(node), SizeIs(1));
    EXPECT_THAT(mesh_.Sent<KeysAssigned>(node)[0].keys, SizeIs(2));
  }
  EXPECT_EQ(keys_.table().version(), KeyTableVersion(2));
}

TEST_F(KeyRegistrarTest, AKnownKeyIsToldToTheAskerAlone) {
  keys_.Register(kA, {{"w", 10}}, rounds_);
  mesh_.Forget();
  const size_t records = mesh_.Records().size();
  EXPECT_FALSE(keys_.Register(kB, {{"w", 10}}, rounds_));
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(2), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(1), IsEmpty());
  EXPECT_THAT(mesh_.Records(), SizeIs(records));
}

// Nodes may give the keys of a model in any order, a few at a time.
TEST_F(KeyRegistrarTest, WhoAsksForKnownKeysIsToldOfTheseAlone) {
  KeyRegistrar::Keys model;
  for (int key = 1; key <= 2065; ++key) model.push_back({absl::StrCat("w", key), 1});
  keys_.Register(kA, model, rounds_);
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"w2000", 1}, {"w3", 1}, {"w1", 1}}, rounds_));
  const std::vector<KeysAssigned> told = mesh_.Sent<KeysAssigned>(2);
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_THAT(told[0].keys, SizeIs(3)) << "the one between costs no message";
  EXPECT_THAT(told[1].keys, ElementsAre(KeySlice{KeyId(2000), "w2000", 1}));
}

TEST_F(KeyRegistrarTest, AnotherShapeIsToldToAllWhileTheyWaitForTheInit) {
  keys_.Register(kA, {{"w", 10}}, rounds_);
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"w", 11}}, rounds_));
  for (const int node : {1, 2}) {
    ASSERT_THAT(mesh_.Sent<KeyRefused>(node), SizeIs(1));
    EXPECT_EQ(mesh_.Sent<KeyRefused>(node)[0].name, "w");
    EXPECT_THAT(mesh_.Sent<KeyRefused>(node)[0].reason, HasSubstr("n2 gives it 11 elements, n1 gave it 10; all"));
  }
  EXPECT_TRUE(mesh_.HasLog("from n2: "));
}

TEST_F(KeyRegistrarTest, AnotherLayoutOfAGroupIsToldToAllByNameAndSize) {
  keys_.Register(kA, {{"g", 5, {{{"q", 2}, {"v", 3}}}}}, rounds_);
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"g", 5, {{{"q", 2}, {"k", 3}}}}}, rounds_));
  for (const int node : {1, 2}) {
    ASSERT_THAT(mesh_.Sent<KeyRefused>(node), SizeIs(1));
    EXPECT_THAT(mesh_.Sent<KeyRefused>(node)[0].reason,
                HasSubstr("n2 gives it 'k' with 3 elements as tensor 2, n1 gave it 'v' with 3 elements as tensor 2;"));
  }
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(2), IsEmpty());
}

TEST_F(KeyRegistrarTest, TwoWorkersOfOneNodeMayDifferToo) {
  keys_.Register(kA, {{"w", 10}}, rounds_);
  keys_.Register(kA, {{"w", 11}}, rounds_);
  ASSERT_THAT(mesh_.Sent<KeyRefused>(2), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<KeyRefused>(2)[0].reason,
              HasSubstr("a worker of n1 gives it 11 elements, another one gave it 10"));
}

TEST_F(KeyRegistrarTest, AKeyWithoutElementsIsToldToThoseThatHaveSome) {
  // Whoever comes first.
  keys_.Register(kA, {{"w", 10}}, rounds_);
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"w", 0}}, rounds_));
  for (const int node : {1, 2}) {
    ASSERT_THAT(mesh_.Sent<KeyRefused>(node), SizeIs(1));
    EXPECT_THAT(mesh_.Sent<KeyRefused>(node)[0].reason, HasSubstr("n2 gives it 0 elements, n1 gave it 10"));
  }
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"b", 0}}, rounds_));
  EXPECT_THAT(mesh_.Sent<KeyRefused>(1), IsEmpty()) << "it has not asked for the key";
  ASSERT_THAT(mesh_.Sent<KeyRefused>(2), SizeIs(1));
  EXPECT_FALSE(keys_.Register(kA, {{"b", 10}}, rounds_));
  ASSERT_THAT(mesh_.Sent<KeyRefused>(1), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<KeyRefused>(1)[0].reason, HasSubstr("n2 gives it 0 elements, n1 gives it 10; all"));
}

TEST_F(KeyRegistrarTest, WhoAsksAfterAQuarrelIsToldOnce) {
  MeshJob mesh(3);
  mesh.Start();
  KeyRegistrar keys(kChunkElements, &mesh.job, &mesh.members, &mesh.context);
  const JobRounds rounds(&keys.table(), {"n1", "n2", "n3"}, absl::ZeroDuration(), 1);
  const NodeId c(3);
  keys.Register(kA, {{"w", 10}}, rounds);
  keys.Register(kB, {{"w", 11}}, rounds);
  mesh.Forget();
  // It would wait for n2, which will not come.
  keys.Register(c, {{"w", 10}}, rounds);
  ASSERT_THAT(mesh.Sent<KeyRefused>(3), SizeIs(1));
  EXPECT_THAT(mesh.Sent<KeyRefused>(3)[0].reason, HasSubstr("n2 gives it 11 elements, n3 gives it 10; all"));
  mesh.Forget();
  for (const NodeId node : {kA, c, kB}) keys.Register(node, {{"w", 10}}, rounds);
  for (const int node : {1, 2, 3}) {
    EXPECT_THAT(mesh.Sent<KeyRefused>(node), IsEmpty());
    EXPECT_THAT(mesh.Sent<KeysAssigned>(node), SizeIs(1));
  }
}

TEST_F(KeyRegistrarTest, WhoDiffersFromMostIsNamedAlsoWhenItCameFirst) {
  MeshJob mesh(4);
  mesh.Start();
  KeyRegistrar keys(kChunkElements, &mesh.job, &mesh.members, &mesh.context);
  const JobRounds rounds(&keys.table(), {"n1", "n2", "n3", "n4"}, absl::ZeroDuration(), 1);
  keys.Register(kA, {{"w", 11}}, rounds);
  keys.Register(kB, {{"w", 10}}, rounds);
  ASSERT_THAT(mesh.Sent<KeyRefused>(1), SizeIs(1));
  EXPECT_THAT(mesh.Sent<KeyRefused>(1)[0].reason, Not(HasSubstr("from most")));
  mesh.Forget();
  keys.Register(NodeId(3), {{"w", 10}}, rounds);
  for (const int node : {1, 2, 3, 4}) {
    ASSERT_THAT(mesh.Sent<KeyRefused>(node), SizeIs(1));
    EXPECT_THAT(mesh.Sent<KeyRefused>(node)[0].reason,
                HasSubstr("n3 gives it 10 elements, n1 gave it 11; all workers of all nodes must give it the same "
                          "shape; n1 differs from most: n2, n3 agree; n1 came first, and the key keeps that shape"));
  }
  mesh.Forget();
  mesh.members.Expel(kA);
  keys.Register(NodeId(4), {{"w", 10}}, rounds);
  ASSERT_THAT(mesh.Sent<KeyRefused>(4), SizeIs(1));
  EXPECT_THAT(mesh.Sent<KeyRefused>(4)[0].reason, HasSubstr("n1, which has left, gave it 11"));
  EXPECT_THAT(mesh.Sent<KeyRefused>(4)[0].reason, HasSubstr("n1 differs from most: n2, n3, n4 agree"));
}

TEST_F(KeyRegistrarTest, WhoComesLastAndDiffersFromMostIsNamed) {
  MeshJob mesh(3);
  mesh.Start();
  KeyRegistrar keys(kChunkElements, &mesh.job, &mesh.members, &mesh.context);
  const JobRounds rounds(&keys.table(), {"n1", "n2", "n3"}, absl::ZeroDuration(), 1);
  for (const NodeId node : {kA, kB}) keys.Register(node, {{"w", 10}}, rounds);
  keys.Register(NodeId(3), {{"w", 11}}, rounds);
  ASSERT_THAT(mesh.Sent<KeyRefused>(1), SizeIs(1));
  const std::string reason = mesh.Sent<KeyRefused>(1)[0].reason;
  EXPECT_THAT(reason, HasSubstr("n3 differs from most: n1, n2 agree"));
  EXPECT_THAT(reason, Not(HasSubstr("came first")));
}

TEST_F(KeyRegistrarTest, AMistakeThatAllHaveHeardOfMayBeMended) {
  keys_.Register(kB, {{"b", 0}}, rounds_);
  keys_.Register(kA, {{"b", 10}}, rounds_);
  // Whichever starts again first.
  EXPECT_TRUE(keys_.Register(kA, {{"b", 10}}, rounds_));
  EXPECT_FALSE(keys_.Register(kB, {{"b", 10}}, rounds_));
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(2), SizeIs(2));
  keys_.Register(kB, {{"c", 0}}, rounds_);
  EXPECT_TRUE(keys_.Register(kB, {{"c", 10}}, rounds_));
}

TEST_F(KeyRegistrarTest, AnotherShapeOfAKeyInUseIsToldToTheAskerAlone) {
  keys_.Register(kA, {{"w", 10}}, rounds_);
  rounds_.Rebind(Timestamp(), {Epoch(1), PolicyVersion(1), {{KeyId(1), KeyId(1), Round(5)}}, {}}, {});
  mesh_.Forget();
  EXPECT_FALSE(keys_.Register(kB, {{"w", 11}}, rounds_));
  EXPECT_THAT(mesh_.Sent<KeyRefused>(2), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<KeyRefused>(1), IsEmpty()) << "its Init was done long ago";
}

TEST_F(KeyRegistrarTest, KeysWaitForTheStartInTheirOrder) {
  keys_.Wait(kA, {{"w", 10}});
  keys_.Wait(kB, {{"b", 2}, {"w", 10}});
  EXPECT_EQ(keys_.waiting(), 2u);
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(1), IsEmpty());
  keys_.Forget(kA);
  EXPECT_TRUE(keys_.RegisterWaiting(rounds_));
  EXPECT_EQ(keys_.table().NameOf(KeyId(1)), "w") << "another node has asked for it too";
  EXPECT_EQ(keys_.table().NameOf(KeyId(2)), "b");
  EXPECT_EQ(keys_.waiting(), 0u);
  EXPECT_FALSE(keys_.RegisterWaiting(rounds_));
}

// Which would be so many messages for each node as all nodes ask for keys.
TEST_F(KeyRegistrarTest, WhatWaitsForTheStartIsOneRecordAndOneMessageToEachNode) {
  constexpr int kNodes = 64;
  MeshJob mesh(kNodes);
  mesh.Start();
  KeyRegistrar keys(kChunkElements, &mesh.job, &mesh.members, &mesh.context);
  const JobRounds rounds(&keys.table(), std::vector<std::string>(kNodes, "n"), absl::ZeroDuration(), 1);
  KeyRegistrar::Keys model;
  for (int key = 0; key < 2065; ++key) model.push_back({absl::StrCat("w", key), 10});
  for (uint32_t node = 1; node <= kNodes; ++node) keys.Wait(NodeId(node), model);
  const size_t records = mesh.Records().size();
  mesh.persists = false;
  EXPECT_TRUE(keys.RegisterWaiting(rounds));
  EXPECT_EQ(mesh.context.outbox.held_messages(), size_t{kNodes});
  mesh.persists = true;
  EXPECT_EQ(mesh.Records().size(), records + 1);
  for (int node = 1; node <= kNodes; ++node) {
    ASSERT_THAT(mesh.Sent<KeysAssigned>(node), SizeIs(1));
    EXPECT_THAT(mesh.Sent<KeysAssigned>(node)[0].keys, SizeIs(2065));
  }
}

TEST_F(KeyRegistrarTest, ANodeThatJoinsHearsOfAllKeys) {
  keys_.SendAll(kA);
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(1), IsEmpty()) << "there are none";
  keys_.Register(kB, {{"w", 10}, {"b", 2}}, rounds_);
  mesh_.Forget();
  keys_.SendAll(kA);
  ASSERT_THAT(mesh_.Sent<KeysAssigned>(1), SizeIs(1));
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(1)[0].keys, SizeIs(2));
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(2), IsEmpty());
}

TEST_F(KeyRegistrarTest, RecordsGiveTheSameKeysAndNoMessage) {
  EXPECT_TRUE(keys_.Restore({{"w", 10}, {"b", 2}}).ok());
  EXPECT_EQ(keys_.table().ElementsOf(KeyId(2)), 2);
  EXPECT_THAT(mesh_.Sent<KeysAssigned>(1), IsEmpty());
  const absl::Status twice = keys_.Restore({{"b", 2}});
  EXPECT_EQ(twice.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(twice.message()), HasSubstr("an impossible key 'b'"));
}

}  // namespace
}  // namespace banyan
