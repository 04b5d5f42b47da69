#include "tools/page/commanded_scheduler.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/testing_protocol.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
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

// A job of three nodes whose scheduler takes orders from a desk. Records are durable and computations done at once.
class CommandedSchedulerTest : public ::testing::Test {
 protected:
  CommandedSchedulerTest()
      : scheduler_(std::make_unique<CommandedScheduler>(
            std::make_unique<SchedulerCore>(MeshOverlay(3), SchedulerOptions{.stored = {}, .start = StartId(1)}),
            desk_)) {
    desk_->SetOverlay(MeshYaml(3));
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
    desk_->Give(MakeOrder(std::move(message), &reply));
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
  const std::shared_ptr<OrderDesk> desk_ = std::make_shared<OrderDesk>([this] { ++wakes_; });
  std::deque<Event> waiting_;
  std::vector<std::string> logs_;
  std::vector<Send> sent_;
  std::unique_ptr<CommandedScheduler> scheduler_;
};

TEST_F(CommandedSchedulerTest, AnOverlayIsCheckedPlannedAndInForce) {
  const std::string wanted = MeshYaml(3, "topology: {planner: star}\n");
  const Reply reply = Order(Reconfigure{wanted, "the overlay of ada"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_TRUE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, AllOf(StartsWith("policy 2: "), HasSubstr("star")));
  EXPECT_EQ(desk_->overlay(), wanted);
  EXPECT_THAT(logs_, AllOf(Contains("operator 'ada' on the page: reconfigure the job"),
                           Contains(StartsWith("operator 'ada' on the page: done: policy 2: "))));
  // Nodes hear of it, and nobody else.
  for (const Send& send : sent_) EXPECT_LE(send.connection, MeshConnection(3));
}

TEST_F(CommandedSchedulerTest, AMistakeChangesNothing) {
  const Reply reply = Order(Reconfigure{"nodes: [{name: a}]", "the overlay of ada"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_FALSE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, HasSubstr("the overlay of ada:1"));
  EXPECT_EQ(desk_->overlay(), MeshYaml(3));
  EXPECT_THAT(logs_, Contains(StartsWith("operator 'ada' on the page: not done: the overlay of ada:1")));
}

TEST_F(CommandedSchedulerTest, ANodeIsRemovedOnce) {
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

TEST_F(CommandedSchedulerTest, TheJobIsStoppedForAllNodes) {
  const Reply reply = Order(StopJob{"ada: enough"});
  ASSERT_TRUE(reply.has_value() && reply->ok());
  EXPECT_TRUE((*reply)->accepted);
  EXPECT_THAT((*reply)->text, HasSubstr("is over for all its nodes"));
  EXPECT_THAT(logs_, Contains(HasSubstr("stopped by an operator: ada: enough")));
  for (int node = 1; node <= 3; ++node) EXPECT_GE(SentTo(MeshConnection(node)), 1) << node;
}

TEST_F(CommandedSchedulerTest, CommandsPassThroughAndTheirOverlaysAreKnown) {
  const std::string wanted = MeshYaml(3, "topology: {planner: star}\n");
  Step(MessageReceived{kCommand, Reconfigure{"nonsense", "f.yaml"}, {}});
  EXPECT_EQ(SentTo(kCommand), 1);
  EXPECT_EQ(desk_->overlay(), MeshYaml(3));
  Step(MessageReceived{kCommand, Reconfigure{wanted, "f.yaml"}, {}});
  EXPECT_EQ(SentTo(kCommand), 2);
  EXPECT_EQ(desk_->overlay(), wanted);
}

TEST(CommandedSchedulerEndTest, WhoeverIsNotAnsweredIsTold) {
  const auto desk = std::make_shared<OrderDesk>([] {});
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived&, Actions&) {};
  auto scheduler = std::make_unique<CommandedScheduler>(std::move(core), desk);
  Reply taken, waiting, late;
  desk->Give(MakeOrder(StopJob{}, &taken));
  scheduler->Step(Timestamp(), Started{});
  desk->Give(MakeOrder(StopJob{}, &waiting));
  scheduler.reset();
  desk->Give(MakeOrder(StopJob{}, &late));
  for (const Reply* reply : {&taken, &waiting, &late}) {
    ASSERT_TRUE(reply->has_value());
    EXPECT_TRUE(absl::IsCancelled((*reply)->status())) << (*reply)->status();
  }
}

TEST(CommandedSchedulerEndTest, AConnectionThatTheCoreClosesEndsItsOrder) {
  const auto desk = std::make_shared<OrderDesk>([] {});
  auto core = std::make_unique<TestingProtocol>();
  core->on_message = [](MessageReceived& received, Actions& actions) {
    TestingProtocol::Add(actions, Disconnect{received.connection});
  };
  CommandedScheduler scheduler(std::move(core), desk);
  Reply reply;
  desk->Give(MakeOrder(StopJob{}, &reply));
  const Actions actions = scheduler.Step(Timestamp(), Started{});
  ASSERT_TRUE(reply.has_value());
  EXPECT_THAT(reply->status().message(), HasSubstr("look at its log"));
  // The driver is not to close what it has never opened.
  EXPECT_THAT(actions, SizeIs(2));
  for (const Action& action : actions) EXPECT_TRUE(std::holds_alternative<LogLine>(action));
  // Nor does the core see a deadline that was not its own.
  EXPECT_THAT(scheduler.Step(Timestamp(), DeadlineReached{}), IsEmpty());
}

}  // namespace
}  // namespace banyan
