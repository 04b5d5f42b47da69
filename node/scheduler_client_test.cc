#include "node/scheduler_client.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/step_context.h"
#include "proto/message_parts.h"
#include "proto/wire.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Of the job: more than report anything here.
constexpr size_t kKeys = 1000;

class SchedulerClientTest : public ::testing::Test {
 protected:
  StepContext At(int64_t seconds) {
    return {Timestamp::FromNanoseconds(seconds * 1'000'000'000), actions_, rejections_};
  }
  // What was sent since the last call, of this kind.
  template <typename Kind>
  std::vector<Kind> Sent() {
    std::vector<Kind> sent;
    for (const Action& action : actions_) {
      const auto* send = std::get_if<Send>(&action);
      if (send != nullptr && std::holds_alternative<Kind>(send->message)) sent.push_back(std::get<Kind>(send->message));
    }
    return sent;
  }
  void JoinAt(int64_t seconds) {
    StepContext step = At(seconds);
    client_.OnConnectionUp(step, kSchedulerConnection);
    ASSERT_TRUE(client_.AcceptTerm(step, Term(3)));
    client_.OnJoinAccepted(step, {Term(3), NodeId(1), JobConfig(), StartId(1), false});
  }
  void Flush(int64_t seconds) {
    actions_.clear();
    StepContext step = At(seconds);
    client_.Collect(step);
    step.now = step.now + SchedulerClient::kCollectClosed;
    client_.OnDeadline(step);
  }

  Actions actions_;
  RejectionLog rejections_;
  SchedulerClient client_{Join{}, {"tcp://scheduler:1", "tcp://standby:1"}};
};

TEST_F(SchedulerClientTest, JoinsOnEveryConnection) {
  StepContext step = At(0);
  client_.Start(step);
  ASSERT_TRUE(std::holds_alternative<Connect>(actions_[0]));
  EXPECT_THAT(Sent<Join>(), IsEmpty());
  client_.OnConnectionUp(step, kSchedulerConnection);
  EXPECT_THAT(Sent<Join>(), SizeIs(1));
  client_.OnConnectionDown(step, kSchedulerConnection);
  client_.OnConnectionUp(step, kSchedulerConnection);
  EXPECT_THAT(Sent<Join>(), SizeIs(2));
}

TEST_F(SchedulerClientTest, SaysOnceWhyItDoesNotReachTheScheduler) {
  StepContext step = At(0);
  for (const char* reason : {"refused", "refused", "no route", "no route"}) {
    client_.OnConnectFailed(step, kSchedulerConnection, reason);
  }
  client_.OnConnectionUp(step, kSchedulerConnection);
  client_.OnConnectFailed(step, ConnectionId(kSchedulerConnection.value() + 1), "refused");
  std::vector<std::string> lines;
  for (const Action& action : actions_) {
    if (const auto* line = std::get_if<LogLine>(&action)) lines.push_back(line->text);
  }
  EXPECT_THAT(lines, ElementsAre("cannot reach the scheduler at tcp://scheduler:1: refused",
                                 "cannot reach the scheduler at tcp://scheduler:1: no route"));
}

TEST_F(SchedulerClientTest, SaysEachMinuteThatItStillWaits) {
  const auto lines_at = [this](int64_t second) {
    actions_.clear();
    StepContext step = At(second);
    client_.OnDeadline(step);
    std::vector<std::string> lines;
    for (const Action& action : actions_) {
      if (const auto* line = std::get_if<LogLine>(&action)) lines.push_back(line->text);
    }
    return lines;
  };
  StepContext start = At(0);
  client_.Start(start);
  client_.OnConnectFailed(start, kSchedulerConnection, "refused");
  EXPECT_THAT(lines_at(59), IsEmpty());
  EXPECT_EQ(client_.NextDeadline(), At(60).now);
  EXPECT_THAT(lines_at(60), ElementsAre(" still waits for the scheduler at tcp://scheduler:1, tcp://standby:1, for 1m "
                                        "(cannot reach the scheduler at tcp://scheduler:1: refused)"));
  EXPECT_THAT(lines_at(119), IsEmpty());
  StepContext up = At(119);
  client_.OnConnectionUp(up, kSchedulerConnection);
  EXPECT_THAT(lines_at(120), ElementsAre(" still waits for the scheduler at tcp://scheduler:1, for 2m (connected, and "
                                         "not let in yet)"));
  JoinAt(130);
  EXPECT_THAT(lines_at(300), IsEmpty());
  StepContext down = At(301);
  client_.OnConnectionDown(down, kSchedulerConnection);
  EXPECT_THAT(lines_at(360), IsEmpty());
  EXPECT_THAT(lines_at(361), SizeIs(1));
}

TEST_F(SchedulerClientTest, JoinsTheSchedulerThatBeginsToListen) {
  const ConnectionId standby(kSchedulerConnection.value() + 1);
  JoinAt(0);
  actions_.clear();
  StepContext step = At(1);
  client_.OnConnectionUp(step, standby);
  EXPECT_FALSE(client_.joined());
  ASSERT_THAT(Sent<Join>(), SizeIs(1));
  EXPECT_EQ(std::get<Send>(actions_[0]).connection, standby);
  EXPECT_TRUE(client_.ListensTo(standby));
  EXPECT_FALSE(client_.ListensTo(kSchedulerConnection));
  client_.OnConnectionDown(step, kSchedulerConnection);
  EXPECT_THAT(Sent<Join>(), SizeIs(1));
  EXPECT_TRUE(client_.ListensTo(standby));
}

TEST_F(SchedulerClientTest, TurnsToAnotherSchedulerWhenTheOneInUseEndsOrIsSilent) {
  const ConnectionId standby(kSchedulerConnection.value() + 1);
  StepContext step = At(0);
  client_.OnConnectionUp(step, standby);
  JoinAt(0);
  actions_.clear();
  for (int64_t second = 1; second <= 7; ++second) {
    StepContext later = At(second);
    client_.OnDeadline(later);
  }
  ASSERT_THAT(Sent<Join>(), SizeIs(1));
  EXPECT_TRUE(client_.ListensTo(standby));
  StepContext end = At(8);
  client_.OnConnectionDown(end, standby);
  EXPECT_THAT(Sent<Join>(), SizeIs(2));
  EXPECT_TRUE(client_.ListensTo(kSchedulerConnection));
}

// One stands still, and a NAT has forgotten the connection to the other.
TEST_F(SchedulerClientTest, OfTwoThatAreSilentByTurnsEachIsMadeAnew) {
  const ConnectionId standby(kSchedulerConnection.value() + 1);
  StepContext step = At(0);
  client_.OnConnectionUp(step, standby);
  JoinAt(0);
  actions_.clear();
  int64_t second = 1;
  for (; second < 60 && Sent<Join>().empty(); ++second) {
    StepContext later = At(second);
    client_.OnDeadline(later);
  }
  ASSERT_TRUE(client_.ListensTo(standby));
  actions_.clear();
  for (; second < 60 && !client_.ListensTo(kSchedulerConnection); ++second) {
    StepContext later = At(second);
    client_.OnDeadline(later);
  }
  ASSERT_TRUE(client_.ListensTo(kSchedulerConnection));
  const bool is_renewed = std::any_of(actions_.begin(), actions_.end(), [](const Action& action) {
    const auto* renew = std::get_if<Renew>(&action);
    return renew != nullptr && renew->connection == kSchedulerConnection;
  });
  EXPECT_TRUE(is_renewed);
}

TEST_F(SchedulerClientTest, OneThatBeginsToListenHasItsTimeHoweverLongTheOtherWasSilent) {
  const ConnectionId standby(kSchedulerConnection.value() + 1);
  JoinAt(0);
  StepContext late = At(9);
  client_.OnConnectionUp(late, standby);
  StepContext later = At(10);
  client_.OnDeadline(later);
  EXPECT_TRUE(client_.ListensTo(standby));
}

JoinAccepted Accepted(uint64_t term, uint64_t start, bool is_first_join = false) {
  JoinAccepted accepted;
  accepted.term = Term(term);
  accepted.start = StartId(start);
  accepted.is_first_join = is_first_join;
  return accepted;
}

// What the next leader has said before it accepts the join is no sign that it has forgotten.
TEST_F(SchedulerClientTest, TheNextLeaderIsNotForgetful) {
  StepContext step = At(0);
  client_.OnJoinAccepted(step, Accepted(1, 7));
  EXPECT_TRUE(client_.AcceptTerm(step, Term(2)));
  EXPECT_FALSE(client_.IsForgetful(Accepted(2, 8)));
  EXPECT_TRUE(client_.IsForgetful(Accepted(1, 8)));
  EXPECT_TRUE(client_.IsForgetful(Accepted(2, 8, true)));
}

TEST_F(SchedulerClientTest, AnOldLeaderThatIsHeardLateIsNotForgetful) {
  StepContext step = At(0);
  EXPECT_TRUE(client_.AcceptTerm(step, Term(2)));
  client_.OnJoinAccepted(step, Accepted(2, 8));
  EXPECT_FALSE(client_.IsForgetful(Accepted(1, 7, true)));
  EXPECT_FALSE(client_.AcceptTerm(step, Term(1)));
}

TEST_F(SchedulerClientTest, ALoneSchedulerOfALowerTermIsForgetful) {
  SchedulerClient client(Join{}, {"tcp://scheduler:1"});
  StepContext step = At(0);
  client.OnJoinAccepted(step, Accepted(2, 8));
  EXPECT_TRUE(client.IsForgetful(Accepted(1, 9)));
}

TEST_F(SchedulerClientTest, RequestsWaitForTheJoinAndAreSaidOnce) {
  client_.RegisterKey({"w", 10});
  client_.WantPolicy(KeyId(1), Round(0));
  client_.WantPolicy(KeyId(1), Round(1));
  client_.WantPolicy(KeyId(1), Round(1));
  client_.ReportClosed(KeyId(1), Round(0), 77, kKeys);
  client_.EnterBarrier(0);
  Flush(0);
  EXPECT_THAT(actions_, IsEmpty());
  JoinAt(0);
  Flush(0);
  ASSERT_THAT(Sent<RegisterKeys>(), SizeIs(1));
  ASSERT_THAT(Sent<PolicyRequest>(), SizeIs(1));
  ASSERT_THAT(Sent<PolicyRequest>()[0].entries, SizeIs(2));
  EXPECT_EQ(Sent<PolicyRequest>()[0].entries[0].round, Round(0));
  EXPECT_EQ(Sent<PolicyRequest>()[0].entries[1].round, Round(1));
  EXPECT_EQ(Sent<RoundsClosed>()[0].entries[0].hash, ResultDigest(KeyId(1), 77));
  EXPECT_THAT(Sent<BarrierEntered>(), SizeIs(1));
  Flush(0);
  EXPECT_THAT(actions_, IsEmpty());
}

TEST_F(SchedulerClientTest, LargeGroupsShareNoMessage) {
  JoinAt(0);
  actions_.clear();
  RegisterKeys::Key group{"g", 1, {}};
  const std::string name(TensorLayout::kMostNameBytes / TensorLayout::kMostParts, 'x');
  group.layout.parts.resize(TensorLayout::kMostParts, {name, 0});
  group.layout.parts[0].elements = 1;
  client_.RegisterKey({"a", 10});
  client_.RegisterKey(group);
  group.name = "h";
  client_.RegisterKey(group);
  client_.RegisterKey({"y", 10});
  Flush(0);
  std::vector<size_t> keys;
  for (const RegisterKeys& sent : Sent<RegisterKeys>()) {
    keys.push_back(sent.keys.size());
    EXPECT_TRUE(DecodeMessage(EncodeMessage(sent), {}).ok());
  }
  EXPECT_THAT(keys, ElementsAre(1, 1, 1, 1));
}

// Nobody refuses what is said after the scheduler was away, however much that is.
TEST_F(SchedulerClientTest, WhatIsSaidOfManyKeysFitsIntoMessages) {
  constexpr uint32_t kAllKeys = 65536;
  for (uint32_t key = 1; key <= kAllKeys; ++key) {
    client_.RegisterKey({absl::StrCat(std::string(250, 'w'), key), 10});
    // All keys in step, and then each in another round than its neighbours.
    for (const uint64_t round : {uint64_t{1}, uint64_t{2}, 3 + uint64_t{key % 7} * 1'000'000'000}) {
      client_.ReportClosed(KeyId(key), Round(round), key, kAllKeys);
      client_.WantPolicy(KeyId(key), Round(round));
      client_.ReportPushed(KeyId(key), Round(round));
    }
  }
  JoinAt(0);
  Flush(0);
  size_t registered = 0, closed = 0, wanted = 0, pushed = 0;
  for (const Action& action : actions_) {
    const auto* send = std::get_if<Send>(&action);
    if (send == nullptr) continue;
    const absl::StatusOr<Message> read = DecodeMessage(EncodeMessage(send->message), {});
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(*read == send->message);
    if (const auto* keys = std::get_if<RegisterKeys>(&*read)) registered += keys->keys.size();
    if (const auto* rounds = std::get_if<PolicyRequest>(&*read)) wanted += rounds->entries.size();
    if (const auto* rounds = std::get_if<RoundsClosed>(&*read)) {
      for (const RoundsClosed::Entry& entry : rounds->entries) closed += KeysOf(entry);
    }
    if (const auto* rounds = std::get_if<RoundsPushed>(&*read)) {
      for (const KeyProgressRun& run : rounds->runs) pushed += KeysOf(run);
    }
  }
  EXPECT_EQ(registered, kAllKeys);
  EXPECT_EQ(wanted, 3 * kAllKeys);
  EXPECT_EQ(closed, 3 * kAllKeys);
  EXPECT_EQ(pushed, kAllKeys);
}

TEST_F(SchedulerClientTest, WhatIsNotAnsweredIsSaidAgainAfterAReconnect) {
  JoinAt(0);
  for (const char* name : {"a", "b"}) client_.RegisterKey({name, 10});
  for (uint64_t round = 0; round < 4; ++round) client_.WantPolicy(KeyId(1), Round(round));
  for (uint64_t round : {0, 1}) client_.ReportClosed(KeyId(1), Round(round), 7, kKeys);
  for (uint64_t barrier : {0, 1}) client_.EnterBarrier(barrier);
  StepContext step = At(0);
  client_.Announce(step, WorkerLost{WorkerId(2), "its socket closed"});
  Flush(0);
  client_.OnKeyAnswered("a");
  client_.OnPolicyAnswered({KeyId(1), Round(1), Round(2), PolicyVersion(1), Attempt(0)});
  client_.OnClosedEverywhere(KeyId(1), Round(0));
  client_.OnBarrierReleased(0);
  client_.OnConnectionDown(step, kSchedulerConnection);
  client_.EnterBarrier(2);
  Flush(1);
  EXPECT_THAT(actions_, IsEmpty());
  JoinAt(1);
  EXPECT_THAT(Sent<WorkerLost>(), SizeIs(1));
  Flush(1);
  ASSERT_THAT(Sent<RegisterKeys>()[0].keys, SizeIs(1));
  EXPECT_EQ(Sent<RegisterKeys>()[0].keys[0].name, "b");
  ASSERT_THAT(Sent<PolicyRequest>()[0].entries, SizeIs(2));
  EXPECT_EQ(Sent<PolicyRequest>()[0].entries[0].round, Round(0));
  EXPECT_EQ(Sent<PolicyRequest>()[0].entries[1].round, Round(3));
  ASSERT_THAT(Sent<RoundsClosed>()[0].entries, SizeIs(1));
  EXPECT_EQ(Sent<RoundsClosed>()[0].entries[0].round, Round(1));
  EXPECT_THAT(Sent<BarrierEntered>(), SizeIs(2));
}

TEST_F(SchedulerClientTest, RequestsOfOneMomentLeaveTogether) {
  JoinAt(0);
  actions_.clear();
  StepContext step = At(0);
  for (uint32_t key = 1; key <= 100; ++key) {
    client_.WantPolicy(KeyId(key), Round(3));
    client_.ReportClosed(KeyId(key), Round(1), 7, kKeys);
    client_.Collect(step);
  }
  EXPECT_THAT(actions_, IsEmpty());
  EXPECT_EQ(client_.NextDeadline(), step.now) << "which is when all events of this moment have been handled";
  client_.OnDeadline(step);
  ASSERT_THAT(actions_, SizeIs(1));
  EXPECT_THAT(Sent<PolicyRequest>()[0].entries, SizeIs(100));
  EXPECT_EQ(client_.NextDeadline(), step.now + SchedulerClient::kCollectClosed) << "nobody waits for what is held here";
  step.now = client_.NextDeadline();
  client_.OnDeadline(step);
  ASSERT_THAT(Sent<RoundsClosed>(), SizeIs(1));
  uint64_t digest = 0;
  for (uint32_t key = 1; key <= 100; ++key) digest += ResultDigest(KeyId(key), 7);
  EXPECT_THAT(Sent<RoundsClosed>()[0].entries, ElementsAre(RoundsClosed::Entry{KeyId(1), Round(1), digest, 99}));
}

TEST_F(SchedulerClientTest, AReportIsAboutARoundOfAllKeysHoweverLongItTakes) {
  JoinAt(0);
  actions_.clear();
  StepContext step = At(0);
  const auto pass = [&](absl::Duration time) {
    step.now = step.now + time;
    if (client_.NextDeadline() <= step.now) client_.OnDeadline(step);
  };
  for (uint64_t round = 1; round <= 3; ++round) {
    for (uint32_t key = 1; key <= 10; ++key) {
      client_.ReportClosed(KeyId(key), Round(round), 7, kKeys);
      client_.Collect(step);
      pass(absl::Milliseconds(20));
    }
  }
  // The first result of the next round of a key sends what was collected.
  ASSERT_THAT(Sent<RoundsClosed>(), SizeIs(2));
  EXPECT_THAT(Sent<RoundsClosed>()[0].entries, SizeIs(2));
  EXPECT_EQ(Sent<RoundsClosed>()[0].entries[0].more_keys, 9u);
  pass(SchedulerClient::kCollectClosed);
  EXPECT_THAT(Sent<RoundsClosed>(), SizeIs(3));
  for (uint32_t key = 1; key <= 100; ++key) {
    client_.ReportClosed(KeyId(key), Round(9), 7, kKeys);
    client_.Collect(step);
    pass(absl::Milliseconds(20));
  }
  EXPECT_THAT(Sent<RoundsClosed>(), SizeIs(3 + 4)) << "none waits for long";
}

TEST_F(SchedulerClientTest, ResultsOfAllKeysGoAtOnce) {
  JoinAt(0);
  actions_.clear();
  StepContext step = At(0);
  for (uint32_t key = 1; key <= 2; ++key) {
    client_.ReportClosed(KeyId(key), Round(1), 7, 2);
    client_.Collect(step);
  }
  EXPECT_EQ(client_.NextDeadline(), step.now);
  client_.OnDeadline(step);
  EXPECT_THAT(Sent<RoundsClosed>(), SizeIs(1));
}

TEST_F(SchedulerClientTest, WhatIsSaidLaterGoesAfterWhatWasCollected) {
  JoinAt(0);
  StepContext step = At(0);
  client_.ReportClosed(KeyId(1), Round(1), 7, kKeys);
  client_.Collect(step);
  actions_.clear();
  client_.Announce(step, Leave{"it is done", true});
  ASSERT_THAT(actions_, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<RoundsClosed>(std::get<Send>(actions_[0]).message));
}

TEST_F(SchedulerClientTest, RefusesALowerTerm) {
  StepContext step = At(0);
  EXPECT_TRUE(client_.AcceptTerm(step, Term(5)));
  EXPECT_FALSE(client_.AcceptTerm(step, Term(4)));
  EXPECT_EQ(rejections_.total(), 1u);
  EXPECT_TRUE(client_.AcceptTerm(step, Term(6)));
  EXPECT_EQ(client_.term(), Term(6));
}

TEST_F(SchedulerClientTest, HeartbeatsAndSilence) {
  EXPECT_EQ(client_.NextDeadline(), kNever);
  EXPECT_EQ(client_.Silence(At(100).now), absl::ZeroDuration());
  JoinAt(10);
  EXPECT_EQ(client_.NextDeadline(), At(11).now);
  StepContext early = At(10);
  EXPECT_FALSE(client_.OnDeadline(early));
  StepContext step = At(11);
  EXPECT_TRUE(client_.OnDeadline(step));
  EXPECT_THAT(Sent<Heartbeat>(), SizeIs(1));
  client_.OnConnectionDown(step, kSchedulerConnection);
  StepContext later = At(12);
  EXPECT_FALSE(client_.OnDeadline(later));
  EXPECT_THAT(Sent<Heartbeat>(), SizeIs(1));
  EXPECT_EQ(client_.Silence(At(12).now), absl::Seconds(2));
}

TEST_F(SchedulerClientTest, AConnectionOnWhichJoinsAreNotAnsweredIsMadeAnew) {
  StepContext up = At(0);
  client_.OnConnectionUp(up, kSchedulerConnection);
  StepContext first = At(5);
  client_.OnDeadline(first);
  EXPECT_THAT(Sent<Join>(), SizeIs(2));
  StepContext second = At(10);
  client_.OnDeadline(second);
  EXPECT_THAT(Sent<Join>(), SizeIs(3));
  ASSERT_TRUE(std::holds_alternative<Renew>(actions_.back()));
  EXPECT_EQ(std::get<Renew>(actions_.back()).connection, kSchedulerConnection);
  client_.OnConnectionDown(second, kSchedulerConnection);
  EXPECT_EQ(client_.NextDeadline(), At(0).now + SchedulerClient::kSayWaitsEvery) << "nothing to do but to say so";
}

TEST_F(SchedulerClientTest, AConnectionOnWhichTheSchedulerIsSilentIsMadeAnew) {
  JoinAt(10);
  std::vector<int64_t> renewed;
  for (int64_t second = 11; second <= 18; ++second) {
    actions_.clear();
    StepContext step = At(second);
    client_.OnDeadline(step);
    for (const Action& action : actions_) {
      if (const auto* renew = std::get_if<Renew>(&action)) {
        EXPECT_EQ(renew->connection, kSchedulerConnection);
        EXPECT_FALSE(renew->unless_moving);
        renewed.push_back(second);
      }
    }
  }
  EXPECT_THAT(renewed, ElementsAre(13, 16));
}

TEST_F(SchedulerClientTest, ItsOwnPauseIsNotTheSchedulersSilence) {
  JoinAt(10);
  StepContext step = At(100);
  client_.OnDeadline(step);
  EXPECT_LE(client_.Silence(At(100).now), absl::Seconds(1));
  EXPECT_GE(client_.Silence(At(100).now), absl::ZeroDuration());
}

TEST_F(SchedulerClientTest, ANewEpochHasSaidAgainWhatItsPlanDoesNotAnswer) {
  JoinAt(1);
  for (uint64_t round = 1; round <= 3; ++round) {
    client_.WantPolicy(KeyId(1), Round(round));
    client_.ReportClosed(KeyId(1), Round(round), 10 + round, kKeys);
  }
  Flush(1);
  client_.OnFrontier(KeyId(1), Round(2));
  client_.OnBound(KeyId(1), Round(2), Round(2));
  client_.OnNewEpoch();
  Flush(2);
  ASSERT_THAT(Sent<PolicyRequest>(), SizeIs(1));
  EXPECT_EQ(Sent<PolicyRequest>()[0].entries, (std::vector<PolicyRequest::Entry>{{KeyId(1), Round(3)}}));
  ASSERT_THAT(Sent<RoundsClosed>(), SizeIs(1));
  EXPECT_EQ(Sent<RoundsClosed>()[0].entries,
            (std::vector<RoundsClosed::Entry>{{KeyId(1), Round(2), ResultDigest(KeyId(1), 12)},
                                              {KeyId(1), Round(3), ResultDigest(KeyId(1), 13)}}));
}

TEST_F(SchedulerClientTest, TheOneThatLeadsNamesTheOthers) {
  JoinAt(1);
  ASSERT_EQ(client_.addresses().size(), 2u);
  JoinAccepted again;
  again.config.schedulers = {"tcp://standby:1", "tcp://third:1"};
  actions_.clear();
  StepContext step = At(2);
  client_.OnJoinAccepted(step, again);
  ASSERT_EQ(client_.addresses().size(), 3u);
  EXPECT_EQ(client_.addresses()[2], "tcp://third:1");
  const ConnectionId third(kSchedulerConnection.value() + 2);
  EXPECT_TRUE(client_.Owns(third));
  actions_.clear();
  StepContext up = At(3);
  client_.OnConnectionUp(up, third);
  EXPECT_TRUE(client_.ListensTo(third));
  EXPECT_THAT(Sent<Join>(), SizeIs(1));
}

}  // namespace
}  // namespace banyan
