#include "tools/scheduler_probe.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ConnectionId kConnection = ConnectionId(1);

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1000000000); }

class SchedulerProbeTest : public ::testing::Test {
 protected:
  SchedulerProbe Make(std::optional<absl::Duration> interval = std::nullopt,
                      std::vector<std::string> schedulers = {"tcp://127.0.0.1:7700"}) {
    return SchedulerProbe({.schedulers = std::move(schedulers),
                           .question = StatusRequest{},
                           .patience = absl::Seconds(5),
                           .interval = interval,
                           .on_answer = [this](const Message& message) {
                             const auto* reply = std::get_if<StatusReply>(&message);
                             if (reply != nullptr) answers_.push_back(reply->status->job);
                             return reply != nullptr;
                           }});
  }
  static Event Answer(const std::string& job) {
    StatusReply reply;
    reply.status->job = job;
    return MessageReceived{kConnection, std::move(reply), {}};
  }
  static bool Asks(const Actions& actions) {
    return actions.size() == 1 && std::holds_alternative<Send>(actions[0]) &&
           std::holds_alternative<StatusRequest>(std::get<Send>(actions[0]).message);
  }
  static absl::Status StopStatus(const Actions& actions) {
    if (actions.size() != 1 || !std::holds_alternative<Stop>(actions[0])) return absl::UnknownError("no stop");
    return std::get<Stop>(actions[0]).status;
  }

  std::vector<std::string> answers_;
};

TEST_F(SchedulerProbeTest, AsksOnceAndStops) {
  SchedulerProbe probe = Make();
  const Actions first = probe.Step(At(0), Started{});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(std::get<Connect>(first[0]).address, "tcp://127.0.0.1:7700");
  EXPECT_TRUE(Asks(probe.Step(At(1), ConnectionUp{kConnection})));
  EXPECT_TRUE(StopStatus(probe.Step(At(2), Answer("{}"))).ok());
  EXPECT_THAT(answers_, ElementsAre("{}"));
}

TEST_F(SchedulerProbeTest, AWatchOutlivesTheSchedulersRestart) {
  std::vector<std::string> silences;
  SchedulerProbe probe(
      {.schedulers = {"tcp://127.0.0.1:7700"},
       .question = StatusRequest{},
       .patience = absl::Seconds(5),
       .interval = absl::Seconds(1),
       .on_silence = [&](const absl::Status& why) { silences.emplace_back(why.message()); },
       .on_answer = [](const Message& message) { return std::holds_alternative<StatusReply>(message); }});
  probe.Step(At(0), Started{});
  EXPECT_TRUE(Asks(probe.Step(At(0), ConnectionUp{kConnection})));
  probe.Step(At(1), Answer("{}"));
  probe.Step(At(1), ConnectionDown{kConnection});
  for (int64_t now = 2; now <= 40; ++now) {
    if (probe.NextDeadline() > At(now)) continue;
    EXPECT_THAT(probe.Step(At(now), DeadlineReached{}), ::testing::IsEmpty());
  }
  EXPECT_THAT(silences, ElementsAre(HasSubstr("got none; does it run there?")));
  EXPECT_TRUE(Asks(probe.Step(At(41), ConnectionUp{kConnection})));
  EXPECT_THAT(probe.Step(At(42), Answer("{}")), ::testing::IsEmpty());
  EXPECT_TRUE(Asks(probe.Step(At(43), DeadlineReached{})));
  // A scheduler that is there and silent is asked again.
  EXPECT_TRUE(Asks(probe.Step(At(48), DeadlineReached{})));
  EXPECT_EQ(silences.size(), 2u);
}

TEST_F(SchedulerProbeTest, GivesUpWithoutAConnection) {
  SchedulerProbe probe = Make();
  probe.Step(At(0), Started{});
  EXPECT_EQ(probe.NextDeadline(), At(5));
  const absl::Status status = StopStatus(probe.Step(At(5), DeadlineReached{}));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("tcp://127.0.0.1:7700 within 5s"));
}

TEST_F(SchedulerProbeTest, WaitsLessForAConnectionThanForAnAnswer) {
  SchedulerProbeOptions options;
  options.schedulers = {"tcp://127.0.0.1:7700"};
  options.patience = absl::Minutes(2);
  options.connect_patience = absl::Seconds(3);
  options.on_answer = [](const Message&) { return true; };
  SchedulerProbe alone(options);
  alone.Step(At(0), Started{});
  EXPECT_EQ(alone.NextDeadline(), At(3));
  EXPECT_THAT(std::string(StopStatus(alone.Step(At(3), DeadlineReached{})).message()), HasSubstr("within 3s"));
  SchedulerProbe heard(options);
  heard.Step(At(0), Started{});
  heard.Step(At(1), ConnectionUp{kConnection});
  EXPECT_EQ(heard.NextDeadline(), At(121));
}

TEST_F(SchedulerProbeTest, GivesUpWithoutAnAnswer) {
  SchedulerProbe probe = Make();
  probe.Step(At(0), Started{});
  probe.Step(At(4), ConnectionUp{kConnection});
  EXPECT_TRUE(probe.Step(At(5), DeadlineReached{}).empty());
  EXPECT_THAT(std::string(StopStatus(probe.Step(At(9), DeadlineReached{})).message()),
              HasSubstr("is it a Banyan scheduler?"));
}

TEST_F(SchedulerProbeTest, TellsWhatHasThePortInsteadOfAScheduler) {
  SchedulerProbe probe = Make();
  probe.Step(At(0), Started{});
  probe.Step(At(0), ConnectionUp{kConnection});
  EXPECT_TRUE(probe.Step(At(1), MessageReceived{kConnection, OperatorReply{true, "of another"}, {}}).empty());
  const absl::Status status = StopStatus(
      probe.Step(At(1), MessageReceived{kConnection, OperatorReply{false, "this is the port of node n1"}, {}}));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "tcp://127.0.0.1:7700: this is the port of node n1");
}

TEST_F(SchedulerProbeTest, AsksAgainAfterTheInterval) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  probe.Step(At(0), ConnectionUp{kConnection});
  EXPECT_TRUE(probe.Step(At(1), Answer("1")).empty());
  EXPECT_EQ(probe.NextDeadline(), At(2));
  EXPECT_TRUE(Asks(probe.Step(At(2), DeadlineReached{})));
  EXPECT_TRUE(probe.Step(At(3), Answer("2")).empty());
  EXPECT_THAT(answers_, ElementsAre("1", "2"));
}

TEST_F(SchedulerProbeTest, AsksAgainAfterALostConnection) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  EXPECT_TRUE(Asks(probe.Step(At(1), ConnectionUp{kConnection})));
  probe.Step(At(2), ConnectionDown{kConnection});
  EXPECT_TRUE(Asks(probe.Step(At(3), ConnectionUp{kConnection})));
}

TEST_F(SchedulerProbeTest, ItsPatienceEndsThoughConnectionsComeAndGo) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  probe.Step(At(1), ConnectionUp{kConnection});
  probe.Step(At(2), ConnectionDown{kConnection});
  probe.Step(At(3), ConnectionUp{kConnection});
  EXPECT_EQ(probe.NextDeadline(), At(6));
  EXPECT_EQ(StopStatus(probe.Step(At(6), DeadlineReached{})).code(), absl::StatusCode::kUnavailable);
}

TEST_F(SchedulerProbeTest, GivesUpWhenEachQuestionEndsTheConnection) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  absl::Status status = absl::UnknownError("no stop");
  for (int i = 0; i < SchedulerProbe::kMostLost; ++i) {
    EXPECT_TRUE(Asks(probe.Step(At(0), ConnectionUp{kConnection})));
    status = StopStatus(probe.Step(At(0), ConnectionDown{kConnection}));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("larger than a message may be"));
}

TEST_F(SchedulerProbeTest, TakesNoAnswerItHasNotAskedFor) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  probe.Step(At(0), ConnectionUp{kConnection});
  probe.Step(At(1), Answer("1"));
  EXPECT_TRUE(probe.Step(At(1), Answer("twice")).empty());
  EXPECT_TRUE(probe.Step(At(1), MessageReceived{kConnection, Grant{}, {}}).empty());
  EXPECT_THAT(answers_, ElementsAre("1"));
}

TEST_F(SchedulerProbeTest, AwaitsTheAnswerAmongOtherMessages) {
  SchedulerProbe probe = Make();
  probe.Step(At(0), Started{});
  probe.Step(At(0), ConnectionUp{kConnection});
  EXPECT_TRUE(probe.Step(At(1), MessageReceived{kConnection, HeartbeatReply{}, {}}).empty());
  EXPECT_TRUE(StopStatus(probe.Step(At(2), Answer("{}"))).ok());
}

TEST_F(SchedulerProbeTest, AsksTheOneOfSeveralThatTakesItsConnection) {
  constexpr ConnectionId kOther = ConnectionId(2);
  SchedulerProbe probe = Make(absl::Seconds(1), {"tcp://a:1", "tcp://b:1"});
  const Actions first = probe.Step(At(0), Started{});
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(std::get<Connect>(first[1]).address, "tcp://b:1");
  const Actions asked = probe.Step(At(1), ConnectionUp{kOther});
  ASSERT_TRUE(Asks(asked));
  EXPECT_EQ(std::get<Send>(asked[0]).connection, kOther);
  // It has asked already, and asks the other one when this one is gone.
  EXPECT_TRUE(probe.Step(At(2), ConnectionUp{kConnection}).empty());
  const Actions again = probe.Step(At(3), ConnectionDown{kOther});
  ASSERT_TRUE(Asks(again));
  EXPECT_EQ(std::get<Send>(again[0]).connection, kConnection);
  EXPECT_THAT(std::string(StopStatus(probe.Step(At(8), DeadlineReached{})).message()),
              HasSubstr("the scheduler at tcp://a:1 or tcp://b:1 within 5s"));
}

TEST_F(SchedulerProbeTest, AsksAsideAfterAnAnswer) {
  std::optional<Message> aside;
  std::vector<std::string> refusals;
  SchedulerProbe probe(
      {.schedulers = {"tcp://a:1"},
       .question = StatusRequest{},
       .interval = absl::Seconds(1),
       .on_answer = [](const Message& message) { return std::holds_alternative<StatusReply>(message); },
       .aside = [&aside] { return std::exchange(aside, std::nullopt); },
       .on_aside =
           [&refusals](const Message& message) {
             const auto* reply = std::get_if<OperatorReply>(&message);
             if (reply != nullptr) refusals.push_back(reply->text);
             return reply != nullptr;
           }});
  probe.Step(At(0), Started{});
  probe.Step(At(0), ConnectionUp{kConnection});
  EXPECT_TRUE(probe.Step(At(1), Answer("{}")).empty());
  probe.Step(At(2), DeadlineReached{});
  aside = TraceRounds{1, absl::Seconds(7)};
  const Actions asked = probe.Step(At(3), Answer("{}"));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(std::get<TraceRounds>(std::get<Send>(asked[0]).message).patience, absl::Seconds(7));
  EXPECT_EQ(std::get<Send>(asked[0]).connection, kConnection);
  // The next question waits for nothing, and a refusal of the other ends nothing.
  EXPECT_EQ(probe.NextDeadline(), At(4));
  EXPECT_TRUE(Asks(probe.Step(At(4), DeadlineReached{})));
  EXPECT_TRUE(probe.Step(At(5), MessageReceived{kConnection, OperatorReply{false, "not now"}, {}}).empty());
  EXPECT_THAT(refusals, ElementsAre("not now"));
  EXPECT_TRUE(probe.Step(At(6), Answer("{}")).empty());
  EXPECT_EQ(probe.NextDeadline(), At(7));
}

TEST_F(SchedulerProbeTest, StopsWhenAsked) {
  SchedulerProbe probe = Make(absl::Seconds(1));
  probe.Step(At(0), Started{});
  EXPECT_TRUE(StopStatus(probe.Step(At(1), StopRequested{})).ok());
}

}  // namespace
}  // namespace banyan
