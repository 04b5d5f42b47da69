#include "runtime/etcd/etcd_leadership.h"

#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/steady_clock.h"
#include "runtime/etcd/testing/fake_etcd.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

constexpr char kLeader[] = "/banyan/test/leader";

class EtcdLeadershipTest : public testing::Test {
 protected:
  std::unique_ptr<EtcdLeadership> New(const std::string& name, absl::Duration lease = absl::Seconds(1000)) {
    return std::make_unique<EtcdLeadership>(etcd_.NewApi(), "test", name, lease);
  }
  static bool Leads(const Leadership& leadership) { return SteadyNow() < leadership.LeadsUntil(); }
  static void WaitUntilLost(const Leadership& leadership) {
    while (Leads(leadership)) absl::SleepFor(absl::Milliseconds(1));
  }

  FakeEtcd etcd_;
};

TEST_F(EtcdLeadershipTest, TheFirstOneLeads) {
  const auto first = New("tcp://a:1");
  EXPECT_FALSE(Leads(*first));
  ASSERT_TRUE(first->Campaign().ok());
  EXPECT_TRUE(Leads(*first));
  EXPECT_EQ(etcd_.Values()[kLeader], "tcp://a:1");
  EXPECT_EQ(first->fence().key, kLeader);
  EXPECT_GT(first->fence().create_revision, 0);
}

TEST_F(EtcdLeadershipTest, OthersLearnWhoLeads) {
  const auto first = New("tcp://a:1");
  const auto second = New("tcp://b:1");
  ASSERT_TRUE(first->Campaign().ok());
  const absl::Status status = second->Campaign();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(status.message(), "tcp://a:1 leads");
  EXPECT_FALSE(Leads(*second));
  EXPECT_EQ(etcd_.leases(), 1);
}

TEST_F(EtcdLeadershipTest, AnEndGivesTheLeadershipBack) {
  auto first = New("tcp://a:1");
  const auto second = New("tcp://b:1");
  ASSERT_TRUE(first->Campaign().ok());
  const int64_t revision = first->fence().create_revision;
  first.reset();
  ASSERT_TRUE(second->Campaign().ok());
  EXPECT_NE(second->fence().create_revision, revision);
  EXPECT_EQ(etcd_.leases(), 1);
}

TEST_F(EtcdLeadershipTest, WhoResignsLeadsNoMore) {
  const auto first = New("tcp://a:1");
  const auto second = New("tcp://b:1");
  ASSERT_TRUE(first->Campaign().ok());
  first->Resign();
  EXPECT_FALSE(Leads(*first));
  EXPECT_EQ(etcd_.leases(), 0);
  EXPECT_TRUE(second->Campaign().ok());
  first->Resign();
  EXPECT_TRUE(Leads(*second));
}

TEST_F(EtcdLeadershipTest, ACampaignWhoseAnswersAreLostMayBeTriedAgain) {
  // Its three calls, and those that give back what they have brought.
  for (const FakeEtcdLoss loss : {FakeEtcdLoss::kRequest, FakeEtcdLoss::kAnswer}) {
    for (int calls = 0; calls < 3; ++calls) {
      const auto leadership = New("tcp://a:1");
      etcd_.FailAfter(calls, loss, 1);
      EXPECT_TRUE(absl::IsUnavailable(leadership->Campaign())) << calls;
      EXPECT_FALSE(Leads(*leadership));
      EXPECT_TRUE(leadership->Campaign().ok()) << calls;
    }
  }
}

TEST_F(EtcdLeadershipTest, ALeaseThatEtcdHasEndedIsLost) {
  const auto first = New("tcp://a:1", absl::Milliseconds(60));
  ASSERT_TRUE(first->Campaign().ok());
  etcd_.EndLeases();
  const auto second = New("tcp://b:1");
  EXPECT_TRUE(second->Campaign().ok());
  WaitUntilLost(*first);
  EXPECT_EQ(first->WhyLost().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(first->WhyLost().message()), HasSubstr("etcd has ended the lease"));
}

TEST_F(EtcdLeadershipTest, TheLeaseIsKeptAlive) {
  const auto leadership = New("tcp://a:1", absl::Milliseconds(60));
  ASSERT_TRUE(leadership->Campaign().ok());
  const Timestamp first = leadership->LeadsUntil();
  while (leadership->LeadsUntil() < first + absl::Seconds(1)) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(Leads(*leadership));
}

TEST_F(EtcdLeadershipTest, ARefusalThatPassesCostsNoLease) {
  const auto leadership = New("tcp://a:1", absl::Milliseconds(600));
  ASSERT_TRUE(leadership->Campaign().ok());
  const Timestamp first = leadership->LeadsUntil();
  etcd_.FailAfter(0, FakeEtcdLoss::kRequest, 1, absl::ResourceExhaustedError("etcdserver: too many requests"));
  while (leadership->LeadsUntil() < first + absl::Seconds(1) && Leads(*leadership)) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(Leads(*leadership));
}

TEST_F(EtcdLeadershipTest, ALeaseThatIsNotRenewedIsLost) {
  const auto first = New("tcp://a:1", absl::Milliseconds(60));
  ASSERT_TRUE(first->Campaign().ok());
  etcd_.FailAfter(0, FakeEtcdLoss::kAnswer, 1'000'000);
  WaitUntilLost(*first);
  EXPECT_EQ(first->WhyLost().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(first->WhyLost().message()), HasSubstr("was not renewed (the test says so)"));
  // Though etcd answers again, and still has the lease.
  etcd_.FailAfter(0, FakeEtcdLoss::kAnswer, 0);
  EXPECT_EQ(etcd_.leases(), 1);
  EXPECT_FALSE(Leads(*first));
}

}  // namespace
}  // namespace banyan
