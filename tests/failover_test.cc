// Two schedulers of one job with their state in etcd: whatever happens to the one that leads, the other one answers
// with what it knew, and never both.
#include <signal.h>

#include <cstdint>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/etcd/etcd_api.h"
#include "runtime/etcd/etcd_keys.h"
#include "runtime/etcd/testing/etcd_process.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "tests/tcp_proxy.h"
#include "tests/test_training.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLeads[] = "this process leads now";
constexpr char kListens[] = "listening on";

// A lease that ends soon after its leader, or not while a test runs.
constexpr int kShortLease = 2;
constexpr int kLongLease = 300;

class FailoverTest : public testing::Test {
 protected:
  // Starts two schedulers: the first one leads, the second one stands by.
  void StartSchedulers(int lease_seconds, const std::vector<std::string>& flags_of_second = {}) {
    JobSpec spec;
    spec.etcd = etcd_.url();
    spec.schedulers = 2;
    spec.lease_seconds = lease_seconds;
    job_ = std::make_unique<JobFixture>(spec);
    job_->StartScheduler(0);
    job_->WaitForLog("scheduler", kListens);
    job_->StartScheduler(1, flags_of_second);
    job_->WaitForLog("scheduler-2", "standing by: tcp://");
  }

  static uint64_t TermIn(const std::string& status) {
    std::smatch term;
    uint64_t value = 0;
    EXPECT_TRUE(std::regex_search(status, term, std::regex("\"term\":([0-9]+)"))) << status;
    EXPECT_TRUE(absl::SimpleAtoi(term[1].str(), &value)) << status;
    return value;
  }
  uint64_t TermOf(size_t scheduler) { return TermIn(job_->StatusJson(scheduler)); }

  // Of whichever of them answers first.
  uint64_t TermOfWhoLeads() {
    const std::unique_ptr<ChildProcess> status = job_->StartCommand(
        "status-of-all", {"status", "--json", "--timeout", "60", "--scheduler",
                          absl::StrCat(job_->scheduler_address(0), ",", job_->scheduler_address(1))});
    EXPECT_TRUE(status->WaitUntilEnded(kPatience));
    EXPECT_EQ(status->failure(), "");
    return TermIn(job_->LogOf("status-of-all"));
  }

  // It answers nobody any more, and lives on.
  void ExpectDeposed(size_t scheduler) {
    job_->WaitForLog(JobFixture::SchedulerName(scheduler), "it stands by from now on");
    EXPECT_FALSE(job_->scheduler(scheduler).WaitUntilEnded(absl::ZeroDuration()));
  }

  // All that is stored for the job, but for who leads.
  std::vector<std::string> StoredKeys() {
    etcd::RangeRequest all = EtcdRead("/banyan/test/");
    all.set_range_end(EtcdRangeEnd(all.key()));
    const absl::StatusOr<etcd::RangeResponse> found = etcd_.NewApi()->Read(all);
    std::vector<std::string> keys;
    for (const etcd::KeyValue& one : found->kvs()) keys.push_back(one.key());
    return keys;
  }

  EtcdProcess etcd_;
  std::unique_ptr<JobFixture> job_;
};

TEST_F(FailoverTest, AKilledLeaderIsFollowed) {
  StartSchedulers(kShortLease);
  const uint64_t term = TermOf(0);
  JobFixture::Kill(job_->scheduler());
  job_->WaitForLog("scheduler-2", kListens);
  EXPECT_GT(TermOf(1), term);
  const std::unique_ptr<ChildProcess> status = job_->StartCommand(
      "status-of-all",
      {"status", "--scheduler", absl::StrCat(job_->scheduler_address(0), ",", job_->scheduler_address(1))});
  EXPECT_TRUE(status->WaitUntilEnded(kPatience));
  EXPECT_EQ(status->failure(), "") << job_->LogOf("status-of-all");
  EXPECT_THAT(StoredKeys(), testing::Contains("/banyan/test/generation"));
}

TEST_F(FailoverTest, WithAnotherFileNobodyStandsBy) {
  StartSchedulers(kLongLease);
  const std::unique_ptr<ChildProcess> other = job_->StartCommand(
      "other",
      {"scheduler", job_->WriteOverlay("other.yaml", "aggregation: {op: sum}\n"), "--listen", "tcp://127.0.0.1:0"});
  EXPECT_TRUE(other->WaitUntilEnded(kPatience));
  EXPECT_EQ(other->failure(), "exit code 1");
  EXPECT_THAT(job_->LogOf("other"), HasSubstr("aggregation.op is mean in the running job, and sum in"));
}

// Both have the same address here, so that nodes find the second one where they knew the first.
TEST_F(FailoverTest, TrainingGoesOnUnderTheNextScheduler) {
  StartSchedulers(kShortLease);
  JobFixture::Kill(job_->scheduler(1));
  const std::unique_ptr<ChildProcess> second = job_->StartCommand(
      "second", {"scheduler", job_->WriteOverlay("second.yaml", ""), "--listen", job_->scheduler_address()});
  job_->WaitForLog("second", "standing by: tcp://");
  for (size_t node = 0; node < job_->nodes(); ++node) job_->StartNode(node);
  const std::vector<std::unique_ptr<Session>> sessions = job_->OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 1000}, {"b", 10}});
  training.Init();
  for (int round = 0; round < 5; ++round) training.PushPullRound();
  std::vector<Ticket> waiting = training.StartRound();
  JobFixture::Kill(job_->scheduler());
  training.FinishRound(std::move(waiting));
  // Leased rounds need no scheduler, and would be over before the second one leads.
  job_->WaitForLog("second", kListens);
  for (int round = 0; round < 5; ++round) training.PushPullRound();
}

TEST_F(FailoverTest, ALeaderThatStoodStillSaysNothingMore) {
  StartSchedulers(kShortLease);
  const uint64_t term = TermOf(0);
  job_->scheduler().Signal(SIGSTOP);
  // It would be taken in if the first one went on where it was stopped.
  job_->StartNode(0);
  job_->WaitForLog("scheduler-2", kListens);
  EXPECT_GT(TermOf(1), term);
  job_->scheduler().Signal(SIGCONT);
  ExpectDeposed(0);
  EXPECT_THAT(job_->LogOf("scheduler"), Not(HasSubstr("n1 has joined")));
  EXPECT_THAT(job_->LogOf("n1"), Not(HasSubstr("has joined job")));
  EXPECT_GT(TermOf(1), term);
}

TEST_F(FailoverTest, ALeaderWithoutEtcdStandsByAndOneOfThemLeadsWhenEtcdIsBack) {
  StartSchedulers(kShortLease);
  const uint64_t term = TermOf(0);
  etcd_.Kill();
  ExpectDeposed(0);
  job_->WaitForLog("scheduler-2", "standing by: etcd does not answer;");
  EXPECT_THAT(job_->LogOf("scheduler-2"), Not(HasSubstr(kLeads)));
  etcd_.Start();
  EXPECT_GT(TermOfWhoLeads(), term);
}

// Leased rounds go on meanwhile. Then nodes find the next leader, whoever it is, and nothing has to be started again.
TEST_F(FailoverTest, TrainingGoesOnWhileEtcdIsAwayAndAfterwards) {
  StartSchedulers(kShortLease);
  // Either of them may be the first that etcd hears when it is back.
  job_->ReachSchedulersAt(absl::StrCat(job_->scheduler_address(0), ",", job_->scheduler_address(1)));
  for (size_t node = 0; node < job_->nodes(); ++node) job_->StartNode(node);
  const std::vector<std::unique_ptr<Session>> sessions = job_->OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 1000}, {"b", 10}});
  training.Init();
  for (int round = 0; round < 5; ++round) training.PushPullRound();
  etcd_.Kill();
  training.PushPullRound();
  ExpectDeposed(0);
  for (int round = 0; round < 5; ++round) training.PushPullRound();
  etcd_.Start();
  for (int round = 0; round < 20; ++round) training.PushPullRound();
}

// Nodes that were told of one scheduler alone learn from it where the other one is.
TEST_F(FailoverTest, NodesFollowToASchedulerThatTheyWereNotToldOf) {
  StartSchedulers(kShortLease);
  for (size_t node = 0; node < job_->nodes(); ++node) job_->StartNode(node);
  const std::vector<std::unique_ptr<Session>> sessions = job_->OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 1000}});
  training.Init();
  training.PushPullRound();
  job_->WaitForLog("n1", absl::StrCat("n1 has learned of schedulers at ", job_->scheduler_address(1)));
  JobFixture::Kill(job_->scheduler(0));
  for (const char* node : {"n1", "n2", "n3"}) job_->WaitForLog("scheduler-2", absl::StrCat(node, " is back from"));
  for (int round = 0; round < 20; ++round) training.PushPullRound();
}

// The one that leads reaches etcd through a proxy, and no other way.
TEST_F(FailoverTest, ALeaderThatIsCutOffFromEtcdIsFollowed) {
  TcpProxy to_etcd(etcd_.port());
  JobSpec spec;
  spec.schedulers = 2;
  spec.lease_seconds = kShortLease;
  spec.etcd = absl::StrCat("http://127.0.0.1:", to_etcd.port());
  const JobFixture cut_off(spec);
  const std::string overlay = cut_off.WriteOverlay("cut_off.yaml", "");
  spec.etcd = etcd_.url();
  job_ = std::make_unique<JobFixture>(spec);
  const std::unique_ptr<ChildProcess> first =
      job_->StartCommand("first", {"scheduler", overlay, "--listen", job_->scheduler_address(0)});
  job_->WaitForLog("first", kListens);
  const uint64_t term = TermOf(0);
  job_->StartScheduler(1);
  job_->WaitForLog("scheduler-2", "standing by: tcp://");
  to_etcd.FallSilent();
  job_->WaitForLog("scheduler-2", kListens);
  EXPECT_GT(TermOf(1), term);
  job_->WaitForLog("first", "it stands by from now on");
}

// Whatever the first one believes of its lease: without its key it writes nothing, so it says nothing new either.
TEST_F(FailoverTest, ALeaderWithoutItsKeyEndsAtItsNextWrite) {
  StartSchedulers(kLongLease);
  const std::string key = EtcdKeys("test").Leader();
  etcd::TxnRequest take;
  *take.add_success() = EtcdDeleteOp(key, key + '\0');
  Require(etcd_.NewApi()->Commit(take), "to take the key");
  job_->WaitForLog("scheduler-2", kListens);
  job_->StartNode(0);
  ExpectDeposed(0);
  EXPECT_THAT(job_->LogOf("scheduler"), HasSubstr("expected to lead by /banyan/test/leader of revision "));
  EXPECT_THAT(job_->LogOf("n1"), Not(HasSubstr("has joined job")));
  EXPECT_THAT(job_->LogOf("scheduler-2"), Not(HasSubstr("leads no more")));
}

// What must be durable waits, and then comes.
TEST_F(FailoverTest, AnEtcdThatIsAwayForLessThanTheLeaseIsWaitedFor) {
  StartSchedulers(kLongLease);
  const uint64_t term = TermOf(0);
  etcd_.Kill();
  job_->StartNode(0);
  job_->WaitForLog("scheduler", "n1 has joined");
  EXPECT_EQ(TermOf(0), term);
  EXPECT_THAT(job_->LogOf("n1"), Not(HasSubstr("has joined job")));
  etcd_.Start();
  job_->WaitForLog("n1", "has joined job");
  EXPECT_EQ(TermOf(0), term);
  EXPECT_THAT(job_->LogOf("scheduler-2"), Not(HasSubstr(kLeads)));
}

// What nobody has heard of does not keep it from ending.
TEST_F(FailoverTest, ALeaderWithoutEtcdEndsWhenAskedTo) {
  StartSchedulers(kLongLease);
  etcd_.Kill();
  job_->StartNode(0);
  job_->WaitForLog("scheduler", "n1 has joined");
  job_->scheduler().Signal(SIGTERM);
  EXPECT_TRUE(job_->scheduler().WaitUntilEnded(kPatience));
}

// The lease is given back: by itself it would not end in this test's time.
TEST_F(FailoverTest, ALeaderThatIsAskedToEndHandsOver) {
  StartSchedulers(kLongLease);
  const uint64_t term = TermOf(0);
  job_->scheduler().Signal(SIGTERM);
  EXPECT_TRUE(job_->scheduler().WaitUntilEnded(kPatience));
  EXPECT_EQ(job_->scheduler().failure(), JobFixture::AskedToEnd(SIGTERM));
  job_->WaitForLog("scheduler-2", kListens);
  EXPECT_GT(TermOf(1), term);
}

TEST_F(FailoverTest, OneThatStandsByEndsWhenAskedTo) {
  StartSchedulers(kLongLease);
  job_->StopAll();
  EXPECT_THAT(job_->LogOf("scheduler-2"), Not(HasSubstr(kListens)));
}

}  // namespace
}  // namespace banyan
