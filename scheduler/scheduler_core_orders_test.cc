// What operators order, in every order with what happens to the node and to the scheduler meanwhile: no order is
// forgotten, nothing hangs, and no key counts that was withdrawn.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "scheduler/scheduler_core.h"
#include "scheduler/scheduler_limits.h"
#include "scheduler/testing/scheduler_harness.h"
#include "topology/overlay/overlay_yaml.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr int kOperator = 90;

// A key's text of the right form.
std::string KeyOf(const std::string& name) { return name + std::string(40 - name.size(), '0'); }

// Three nodes and an operator, each with the key of its name, but for n3 and the operator.
std::string KeyedYaml(const std::string& key3 = "n3", const std::string& ada = "ada") {
  std::string yaml = absl::StrCat("job: test\nscheduler: {address: 'tcp://127.0.0.1:7700', public_key: '",
                                  KeyOf("scheduler"), "'}\nnodes:\n");
  for (const std::string name : {"n1", "n2", "n3"}) {
    absl::StrAppend(&yaml, "  - {name: ", name, ", address: 'tcp://10.0.0.", name.substr(1), ":7701', public_key: '",
                    KeyOf(name == "n3" ? key3 : name), "'}\n");
  }
  return absl::StrCat(yaml, "operators: [{name: ada, public_key: '", KeyOf(ada), "'}]\npolicy: {lease_seconds: 0}\n");
}

OverlayConfig KeyedOverlay() {
  absl::StatusOr<OverlayConfig> overlay = ParseOverlay(KeyedYaml(), "first.yaml");
  EXPECT_TRUE(overlay.ok()) << overlay.status();
  return *std::move(overlay);
}

// A job of three nodes, of which n1 and n2 live, whatever happens to n3 and to the scheduler.
class Job {
  struct Third {
    int connection = 3;
    uint64_t incarnation = 1;
    std::string key = "n3";
    bool is_alive = true;
  };

 public:
  Job() {
    harness_.emplace(KeyedOverlay());
    for (const int node : {1, 2, 3}) Dial(node, absl::StrCat("n", node), SchedulerHarness::JoinOf(node));
    harness_->ForgetSent();
    key_ = harness_->AddKey("w", 10);
  }

  SchedulerHarness& scheduler() { return *harness_; }
  bool is_removed() const { return is_removed_; }

  std::optional<OperatorReply> Order(Message order) {
    const size_t before = harness_->Sent<OperatorReply>(kOperator).size();
    harness_->Receive(kOperator, std::move(order));
    const std::vector<OperatorReply> replies = harness_->Sent<OperatorReply>(kOperator);
    return replies.size() == before ? std::nullopt : std::optional(replies.back());
  }
  void Remove() {
    const std::optional<OperatorReply> reply = Order(RemoveNode{"n3"});
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->accepted, !is_removed_) << reply->text;
    is_removed_ = true;
    Look();
  }
  // The scheduler crashes before the order is durable: nobody has heard that it is taken.
  void RemoveInVain() {
    harness_->persists = false;
    const bool is_refused = is_removed_;
    EXPECT_EQ(Order(RemoveNode{"n3"}).has_value(), is_refused);
    Crash();
  }
  void Reconfigure(const std::string& yaml = KeyedYaml()) {
    // It waits for an epoch under way.
    Settle();
    const std::optional<OperatorReply> reply = Order(banyan::Reconfigure{yaml, "second.yaml"});
    ASSERT_TRUE(reply.has_value());
    EXPECT_TRUE(reply->accepted) << reply->text;
    is_removed_ = false;
    Look();
  }
  // As Reconfigure, at once: it may have to wait for the end of the epoch.
  void ReconfigureAtOnce() {
    harness_->Receive(kOperator, banyan::Reconfigure{KeyedYaml(), "second.yaml"});
    Settle();
    ASSERT_FALSE(harness_->Sent<OperatorReply>(kOperator).empty());
    EXPECT_TRUE(harness_->Sent<OperatorReply>(kOperator).back().accepted);
    is_removed_ = false;
  }
  void Leave() {
    if (third_.is_alive) harness_->Receive(third_.connection, banyan::Leave{"it was stopped", true});
    Kill();
  }
  void Kill() {
    if (std::exchange(third_.is_alive, false))
      harness_->Step(ConnectionDown{SchedulerHarness::ConnectionOf(third_.connection)});
  }
  // n3 is started again.
  void Start() { StartWith(third_.key); }
  void StartWith(const std::string& key) {
    Kill();
    third_ = {third_.connection + 1, third_.incarnation + 1, key, true};
    Dial(third_.connection, key, SchedulerHarness::JoinOf(3, third_.incarnation));
    Look();
  }
  void Crash() {
    const StoredRecords stored = harness_->stored();
    harness_.emplace(KeyedOverlay(), stored);
    ASSERT_FALSE(harness_->stopped().has_value()) << *harness_->stopped();
    for (const int node : {1, 2}) Dial(node, absl::StrCat("n", node), SchedulerHarness::JoinOf(node));
    if (third_.is_alive) Dial(third_.connection, third_.key, SchedulerHarness::JoinOf(3, third_.incarnation));
    Look();
  }
  // The causes of a change of membership are taken together.
  void BeginEpoch() {
    harness_->BeginEpoch(Alive());
    Look();
  }
  // Lets whatever is under way end.
  void Settle() {
    for (int i = 0; i < 12; ++i) {
      harness_->Advance(absl::Seconds(1), Alive());
      Look();
      for (const int node : Alive()) {
        if (!harness_->Sent<EpochBegin>(node).empty()) harness_->ReportProgress({node}, Round(round_));
      }
    }
  }

  // Checks that nothing was forgotten and that training goes on.
  void Check() {
    Settle();
    for (const int node : {1, 2}) ASSERT_THAT(harness_->Sent<JobFailed>(node), SizeIs(0));
    EXPECT_EQ(Lists("n3"), !is_removed_);
    Start();
    Settle();
    EXPECT_EQ(third_.is_alive, !is_removed_) << "n3 is let in, or refused";
    EXPECT_EQ(harness_->Sent<JoinAccepted>(third_.connection).empty(), is_removed_);
    harness_->ForgetSent();
    for (const int node : Alive()) harness_->Receive(node, PolicyRequest{{{key_, Round(round_)}}});
    for (const int node : Alive()) harness_->Receive(node, RoundsClosed{{{key_, Round(round_), 7}}});
    EXPECT_THAT(harness_->Sent<ClosedEverywhere>(1), SizeIs(1)) << "a round waits for a node that is not there";
  }

  bool Lists(const std::string& key) const {
    const std::vector<ListedKey>& keys = harness_->admitted();
    return std::any_of(keys.begin(), keys.end(),
                       [&key](const ListedKey& listed) { return listed.public_key == KeyOf(key); });
  }

  void Dial(int connection, const std::string& key, const Join& join) {
    harness_->Step(ConnectionAccepted{SchedulerHarness::ConnectionOf(connection), "10.0.0.9", KeyOf(key)});
    harness_->Receive(connection, join);
  }

 private:
  std::vector<int> Alive() const {
    return third_.is_alive ? std::vector<int>{1, 2, third_.connection} : std::vector<int>{1, 2};
  }
  // A node that is refused ends.
  void Look() {
    if (third_.is_alive && !harness_->Sent<JoinRefused>(third_.connection).empty()) Kill();
  }

  std::optional<SchedulerHarness> harness_;
  Third third_;
  KeyId key_;
  uint64_t round_ = 1;
  bool is_removed_ = false;
};

using Step = void (Job::*)();
struct NamedStep {
  const char* name;
  Step step;
};

void Reconfigure(Job& job) { job.Reconfigure(); }

constexpr NamedStep kSteps[] = {{"remove", &Job::Remove}, {"remove in vain", &Job::RemoveInVain},
                                {"leave", &Job::Leave},   {"kill", &Job::Kill},
                                {"crash", &Job::Crash},   {"reconfigure", &Job::ReconfigureAtOnce},
                                {"start", &Job::Start},   {"epoch", &Job::BeginEpoch}};

// Takes `trace` and then each sequence of `more` steps.
void TryAll(std::vector<NamedStep> trace, int more) {
  if (testing::Test::HasFailure()) return;
  if (more > 0) {
    trace.emplace_back();
    for (const NamedStep& step : kSteps) {
      trace.back() = step;
      TryAll(trace, more - 1);
    }
    return;
  }
  Job job;
  std::string names;
  for (const NamedStep& step : trace) absl::StrAppend(&names, step.name, ", ");
  SCOPED_TRACE(names);
  for (const NamedStep& step : trace) (job.*step.step)();
  job.Check();
}

TEST(SchedulerOrdersTest, NoOrderIsForgottenInAnyOrderOfEvents) { TryAll({}, 3); }

TEST(SchedulerOrdersTest, NoRemovalIsForgottenWhateverFollows) { TryAll({{"remove", &Job::Remove}}, 3); }

TEST(SchedulerOrdersTest, ANodeThatComesBackAfterItsRemovalIsRefusedInAnyOrder) {
  const NamedStep steps[] = {{"leave", &Job::Leave},
                             {"kill", &Job::Kill},
                             {"crash", &Job::Crash},
                             {"epoch", &Job::BeginEpoch},
                             {"settle", &Job::Settle}};
  for (const NamedStep& first : steps) {
    for (const NamedStep& second : steps) {
      SCOPED_TRACE(absl::StrCat(first.name, ", ", second.name));
      Job job;
      job.Remove();
      (job.*first.step)();
      job.Start();
      (job.*second.step)();
      job.Remove();
      job.Check();
      Reconfigure(job);
      job.Check();
    }
  }
}

TEST(SchedulerOrdersTest, ARemovedNodesKeyIsWithdrawnAtOnceAndForGood) {
  Job job;
  ASSERT_TRUE(job.Lists("n3"));
  job.Remove();
  EXPECT_FALSE(job.Lists("n3"));
  ASSERT_THAT(job.scheduler().Sent<JoinRefused>(3), SizeIs(1)) << "it hears why before it is cut off";
  EXPECT_THAT(job.scheduler().Sent<JoinRefused>(3)[0].reason, HasSubstr("was removed from the job"));
  const std::vector<AccessList> told = job.scheduler().Sent<AccessList>(1);
  ASSERT_FALSE(told.empty());
  for (const ListedKey& key : told.back().keys) EXPECT_NE(key.name, "n3");
  job.Crash();
  EXPECT_FALSE(job.Lists("n3"));
  // With a new key for it in the file, the former one never comes back.
  job.Reconfigure(KeyedYaml("n3b"));
  EXPECT_FALSE(job.Lists("n3"));
  EXPECT_TRUE(job.Lists("n3b"));
  job.Crash();
  EXPECT_FALSE(job.Lists("n3"));
  EXPECT_TRUE(job.Lists("n3b"));
}

// The scheduler may end between any two records of an order.
TEST(SchedulerOrdersTest, NoCrashLetsARemovedNodeInWithTheKeyThatTheOrderWithdraws) {
  Job job;
  job.Remove();
  job.Settle();
  const size_t before = job.scheduler().records().size();
  job.Reconfigure(KeyedYaml("n3b"));
  const StoredRecords stored = job.scheduler().stored();
  ASSERT_GT(stored.tail.size(), before + 1);
  for (size_t records = before; records <= stored.tail.size(); ++records) {
    StoredRecords first;
    first.tail.assign(stored.tail.begin(), stored.tail.begin() + static_cast<std::ptrdiff_t>(records));
    const SchedulerHarness after(KeyedOverlay(), first);
    EXPECT_FALSE(std::any_of(after.admitted().begin(), after.admitted().end(),
                             [](const ListedKey& listed) { return listed.public_key == KeyOf("n3"); }))
        << "after " << records - before << " of " << stored.tail.size() - before << " records";
  }
}

TEST(SchedulerOrdersTest, ALivingNodeKeepsItsFormerKeyUntilItComesWithTheNewOne) {
  Job job;
  job.Reconfigure(KeyedYaml("n3b"));
  EXPECT_TRUE(job.Lists("n3"));
  EXPECT_TRUE(job.Lists("n3b"));
  job.Crash();
  EXPECT_TRUE(job.Lists("n3")) << "it lives still";
  job.StartWith("n3b");
  job.Settle();
  EXPECT_FALSE(job.Lists("n3"));
  EXPECT_TRUE(job.Lists("n3b"));
}

TEST(SchedulerOrdersTest, NoNewStartComesInWithAFormerKey) {
  Job job;
  job.Reconfigure(KeyedYaml("n3b"));
  job.StartWith("n3");
  const std::vector<JoinRefused> refused = job.scheduler().Sent<JoinRefused>(4);
  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_THAT(refused[0].reason, HasSubstr("node 'n3' has another key by now"));
  job.Settle();
  EXPECT_FALSE(job.Lists("n3"));
}

TEST(SchedulerOrdersTest, AStartThatWaitsWithAFormerKeyIsRefusedWhenTheKeyChanges) {
  Job job;
  // It contests the place of the living one, and the operator reconfigures before that is decided.
  job.Dial(50, "n3", SchedulerHarness::JoinOf(3, 9));
  EXPECT_THAT(job.scheduler().Sent<JoinRefused>(50), SizeIs(0));
  ASSERT_TRUE(job.Order(banyan::Reconfigure{KeyedYaml("n3b"), "second.yaml"}).has_value());
  EXPECT_THAT(job.scheduler().Sent<JoinRefused>(50), SizeIs(1));
}

TEST(SchedulerOrdersTest, WithdrawnOperatorsStayWithdrawn) {
  Job job;
  job.scheduler().Step(ConnectionAccepted{SchedulerHarness::ConnectionOf(kOperator), "10.0.0.8", KeyOf("ada")});
  job.Reconfigure(KeyedYaml("n3", "bob"));
  EXPECT_THAT(job.scheduler().Sent<OperatorReply>(kOperator).back().text,
              HasSubstr("the key that gave this order counts no more"));
  for (const bool is_restarted : {false, true}) {
    SCOPED_TRACE(is_restarted);
    if (is_restarted) job.Crash();
    EXPECT_FALSE(job.Lists("ada"));
    EXPECT_TRUE(job.Lists("bob"));
  }
  EXPECT_TRUE(job.scheduler().HasLog("first.yaml lists other operators or observers"));
}

TEST(SchedulerOrdersTest, AnOperatorWhoseKeyIsWithdrawnHearsThatItIsDone) {
  Job job;
  job.scheduler().persists = false;
  job.scheduler().Receive(kOperator, banyan::Reconfigure{KeyedYaml("n3", "bob"), "second.yaml"});
  EXPECT_TRUE(job.Lists("ada")) << "the answer waits for the storage, and so does the withdrawal";
  job.scheduler().PersistWaiting();
  EXPECT_FALSE(job.Lists("ada"));
  EXPECT_THAT(job.scheduler().Sent<OperatorReply>(kOperator), SizeIs(1));
}

}  // namespace
}  // namespace banyan
