#include "tools/page/scheduler_tap.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/testing/testing_protocol.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr ConnectionId kCommand = ConnectionId(kInboundConnection.value() + 99);
using Reply = std::optional<absl::StatusOr<OperatorReply>>;

PageOrder MakeOrder(Message message, Reply* reply) {
  return {"ada", std::move(message), [reply](absl::StatusOr<OperatorReply> given) {
            EXPECT_FALSE(reply->has_value());
            *reply = std::move(given);
          }};
}

// A job of three nodes whose scheduler takes orders from a requests. Records are durable and computations done at once.
class OrderTapTest : public ::testing::Test {
 protected:
  OrderTapTest()
      : scheduler_(std::make_unique<SchedulerTap>(
            std::make_unique<SchedulerCore>(MeshOverlay(3), SchedulerOptions{.stored = {}, .start = StartId(1)}),
            SchedulerTap::Options{.requests = requests_})) {
    requests_->SetOverlay(MeshYaml(3));
    Step(Started{});
    for (int node = 1; node <= 3; ++node) Step(MessageReceived{MeshConnection(node), MeshJoin(node), {}});
    sent_.clear();
  }

  void Step(Event event) {
    Carry(scheduler_->Step(now_, std::move(event)));
    while (!waiting_.empty()) {
      Event next = std::move(waiting_.front());
      waiting_.pop_front();
      Carry(scheduler_->Step(now_, std::move(next)));
    }
  }
  void Carry(Actions actions) {
    for (Action& action : actions) {
      if (auto* record = std::get_if<PersistRecord>(&action)) waiting_.emplace_back(RecordPersisted{record->record});
      if (auto* line = std::get_if<LogLine>(&action)) logs_.push_back(line->text);
      if (auto* send = std::get_if<Send>(&action)) sent_.push_back(std::move(*send));
      if (auto* started = std::get_if<StartComputation>(&action)) {
        started->computation->Run();
        waiting_.emplace_back(ComputationFinished{started->id, std::move(started->computation)});
      }
    }
  }
  // What the scheduler answers to an order of ada's.
  Reply Order(Message message) {
    Reply reply;
    requests_->Give(MakeOrder(std::move(message), &reply));
    EXPECT_EQ(wakes_, ++orders_);
    EXPECT_LE(scheduler_->NextDeadline(), now_);
    Step(DeadlineReached{});
    return reply;
  }
  int SentTo(ConnectionId connection) const {
    return static_cast<int>(
        std::count_if(sent_.begin(), sent_.end(), [&](const Send& send) { return send.connection == connection; }));
  }

  int wakes_ = 0;
  int orders_ = 0;
  Timestamp now_ = Timestamp() + absl::Seconds(100);
  const std::shared_ptr<OrderQueue> requests_ = std::make_shared<OrderQueue>([this] { ++wakes_; });
  std::deque<Event> waiting_;
  std::vector<std::string> logs_;
  std::vector<Send> sent_;
  std::unique_ptr<SchedulerTap> scheduler_;
};

TEST_F(OrderTapTest, AnOverlayIsCheckedPlannedAndInForce) {
  const std::string wanted = MeshYaml(3, "topology: {planner: star}\n");
  const Reply reply = Order(Reconfigure{wanted, "the overlay of ada"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_TRUE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, AllOf(StartsWith("policy 2: "), HasSubstr("star")));
  EXPECT_EQ(requests_->overlay(), wanted);
  EXPECT_THAT(logs_, AllOf(Contains("operator 'ada' on the page: reconfigure the job"),
                           Contains(StartsWith("operator 'ada' on the page: done: policy 2: "))));
  // Nodes hear of it, and nobody else.
  for (const Send& send : sent_) EXPECT_LE(send.connection, MeshConnection(3));
}

TEST_F(OrderTapTest, AMistakeChangesNothing) {
  const Reply reply = Order(Reconfigure{"nodes: [{name: a}]", "the overlay of ada"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_FALSE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, HasSubstr("the overlay of ada:1"));
  EXPECT_EQ(requests_->overlay(), MeshYaml(3));
  EXPECT_THAT(logs_, Contains(StartsWith("operator 'ada' on the page: not done: the overlay of ada:1")));
}

TEST_F(OrderTapTest, ANodeIsRemovedOnce) {
  Reply reply = Order(RemoveNode{"n3"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_TRUE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, HasSubstr("n3 is removed"));
  EXPECT_THAT(logs_, Contains("operator 'ada' on the page: remove n3"));
  reply = Order(RemoveNode{"n3"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_FALSE((*reply)->accepted);
  reply = Order(RemoveNode{"n9\n"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_THAT((*reply)->text, HasSubstr("has no node named 'n9"));
  EXPECT_THAT(logs_, Contains("operator 'ada' on the page: remove n9?"));
}

TEST_F(OrderTapTest, TheJobIsStoppedForAllNodes) {
  const Reply reply = Order(StopJob{"ada: enough"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_TRUE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, HasSubstr("is over for all its nodes"));
  EXPECT_THAT(logs_, Contains(HasSubstr("stopped by an operator: ada: enough")));
  for (int node = 1; node <= 3; ++node) EXPECT_GE(SentTo(MeshConnection(node)), 1) << node;
}

TEST_F(OrderTapTest, CommandsPassThroughAndTheirOverlaysAreKnown) {
  const std::string wanted = MeshYaml(3, "topology: {planner: star}\n");
  Step(MessageReceived{kCommand, Reconfigure{"nonsense", "f.yaml"}, {}});
  EXPECT_EQ(SentTo(kCommand), 1);
  EXPECT_EQ(requests_->overlay(), MeshYaml(3));
  Step(MessageReceived{kCommand, Reconfigure{wanted, "f.yaml"}, {}});
  EXPECT_EQ(SentTo(kCommand), 2);
  EXPECT_EQ(requests_->overlay(), wanted);
}

TEST(OrderTapEndTest, WhoeverIsNotAnsweredIsTold) {
  const auto requests = std::make_shared<OrderQueue>([] {});
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived&, Actions&) {};
  auto scheduler = std::make_unique<SchedulerTap>(std::move(core), SchedulerTap::Options{.requests = requests});
  Reply taken, waiting, late;
  requests->Give(MakeOrder(StopJob{}, &taken));
  scheduler->Step(Timestamp(), Started{});
  requests->Give(MakeOrder(StopJob{}, &waiting));
  scheduler.reset();
  requests->Give(MakeOrder(StopJob{}, &late));
  for (const Reply* reply : {&taken, &waiting, &late}) {
    ASSERT_TRUE(reply->has_value());
    EXPECT_TRUE(absl::IsCancelled((*reply)->status())) << (*reply)->status();
  }
}

TEST(OrderTapEndTest, AConnectionThatTheCoreClosesEndsItsOrder) {
  const auto requests = std::make_shared<OrderQueue>([] {});
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived& received, Actions& actions) {
    TestingProtocol::Add(actions, Disconnect{received.connection});
  };
  SchedulerTap scheduler(std::move(core), {.requests = requests});
  Reply reply;
  requests->Give(MakeOrder(StopJob{}, &reply));
  const Actions actions = scheduler.Step(Timestamp(), Started{});
  ASSERT_TRUE(reply.has_value());
  EXPECT_THAT(reply->status().message(), HasSubstr("look at its log"));
  // The driver is not to close what it has never opened.
  EXPECT_THAT(actions, SizeIs(2));
  for (const Action& action : actions) EXPECT_TRUE(std::holds_alternative<LogLine>(action));
  // Nor does the core see a deadline that was not its own.
  EXPECT_THAT(scheduler.Step(Timestamp(), DeadlineReached{}), IsEmpty());
}

// --- the status ---

constexpr ConnectionId kStranger = ConnectionId(kInboundConnection.value() + 1);

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

StatusReply StatusOf(const std::string& job) {
  StatusReply reply;
  reply.status->job = job;
  return reply;
}

// Answers every question with how many there were so far, and logs it.
std::unique_ptr<TestingProtocol> MakeCore() {
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [asked = 0](MessageReceived& received, Actions& actions) mutable {
    EXPECT_TRUE(std::holds_alternative<StatusRequest>(received.message));
    TestingProtocol::Add(actions, LogLine{LogLevel::kInfo, "asked"});
    TestingProtocol::Add(actions, Send{received.connection, StatusOf(std::to_string(++asked)), {}});
  };
  return core;
}

SchedulerTap::Options Into(LatestValue<std::string>* status) {
  return {.take_status = [status](Timestamp, const JobStatus& told) { status->Set(told.job); }};
}

TEST(StatusTapTest, AsksEverySecond) {
  LatestValue<std::string> status;
  SchedulerTap scheduler(MakeCore(), Into(&status));
  EXPECT_EQ(scheduler.NextDeadline(), kNever);
  // What the core does beside answering goes on.
  const Actions started = scheduler.Step(At(10), Started{});
  ASSERT_THAT(started, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<LogLine>(started[0]));
  EXPECT_EQ(*status.Get(), "1");
  EXPECT_EQ(scheduler.NextDeadline(), At(11));
  EXPECT_THAT(scheduler.Step(At(10.5), ConnectionDown{kStranger}), IsEmpty());
  EXPECT_EQ(*status.Get(), "1");
  scheduler.Step(At(11), DeadlineReached{});
  EXPECT_EQ(*status.Get(), "2");
}

TEST(StatusTapTest, TakesAnAnswerThatComesLater) {
  LatestValue<std::string> status;
  auto core = std::make_unique<TestingProtocol>();
  ConnectionId asker = kStranger;
  core->on_message = [&asker](MessageReceived& received, Actions&) { asker = received.connection; };
  core->on_persisted = [&asker](RecordId, Actions& actions) {
    TestingProtocol::Add(actions, Send{asker, StatusOf("late"), {}});
  };
  SchedulerTap scheduler(std::move(core), Into(&status));
  scheduler.Step(At(0), Started{});
  EXPECT_THAT(scheduler.Step(At(0.1), RecordPersisted{}), IsEmpty());
  EXPECT_EQ(*status.Get(), "late");
}

TEST(StatusTapTest, AnAnswerThatDoesNotComeIsAskedForAgain) {
  LatestValue<std::string> status;
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived& received, Actions& actions) {
    TestingProtocol::Add(actions, Disconnect{received.connection});
  };
  SchedulerTap scheduler(std::move(core), Into(&status));
  EXPECT_THAT(scheduler.Step(At(0), Started{}), IsEmpty());
  EXPECT_EQ(status.Get(), nullptr);
  EXPECT_EQ(scheduler.NextDeadline(), At(1));
}

TEST(StatusTapTest, ALargeStatusIsAskedForLessOften) {
  LatestValue<std::string> status;
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived& received, Actions& actions) {
    StatusReply reply;
    reply.status->links.resize(9000);
    TestingProtocol::Add(actions, Send{received.connection, reply, {}});
  };
  SchedulerTap scheduler(std::move(core), Into(&status));
  scheduler.Step(At(0), Started{});
  EXPECT_EQ(scheduler.NextDeadline(), At(3));
}

TEST(StatusTapTest, AnswersOfOthersPassThrough) {
  LatestValue<std::string> status;
  int sent = 0;
  SchedulerTap::Options options = Into(&status);
  options.on_sent = [&sent](const Message& message) {
    EXPECT_TRUE(std::holds_alternative<StatusReply>(message));
    ++sent;
  };
  SchedulerTap scheduler(MakeCore(), options);
  scheduler.Step(At(0), Started{});
  const Actions actions = scheduler.Step(At(0.5), MessageReceived{kStranger, StatusRequest{}, {}});
  EXPECT_EQ(sent, 1);
  ASSERT_THAT(actions, SizeIs(2));
  EXPECT_EQ(std::get<Send>(actions[1]).connection, kStranger);
  EXPECT_EQ(*status.Get(), "1");
}

TEST(StatusTapTest, TheCoreSeesOnlyItsOwnDeadlines) {
  LatestValue<std::string> status;
  auto core = MakeCore();
  std::vector<Timestamp> seen;
  core->deadline = At(1.5);
  core->on_deadline = [&seen, core = core.get()](Timestamp now, Actions&) {
    seen.push_back(now);
    core->deadline = At(9);
  };
  SchedulerTap scheduler(std::move(core), Into(&status));
  scheduler.Step(At(0), Started{});
  scheduler.Step(At(1), DeadlineReached{});
  EXPECT_EQ(scheduler.NextDeadline(), At(1.5));
  scheduler.Step(At(1.5), DeadlineReached{});
  EXPECT_THAT(seen, ElementsAre(At(1.5)));
}

TEST(StatusTapTest, AStoppedCoreIsNotAsked) {
  LatestValue<std::string> status;
  SchedulerTap scheduler(MakeCore(), Into(&status));
  scheduler.Step(At(0), Started{});
  const Actions actions = scheduler.Step(At(5), StopRequested{});
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<Stop>(actions[0]));
  EXPECT_EQ(*status.Get(), "1");
}

}  // namespace
}  // namespace banyan
