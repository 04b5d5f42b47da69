// A real etcd: that its gateway understands what is asked, and that its limits and leases are as expected.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/steady_clock.h"
#include "protocol/testing/record_store_conformance.h"
#include "runtime/etcd/etcd_client.h"
#include "runtime/etcd/etcd_leadership.h"
#include "runtime/etcd/etcd_record_store.h"
#include "runtime/etcd/testing/etcd_process.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;

// One for all tests: it takes a while to start.
EtcdProcess& Etcd() {
  static EtcdProcess etcd;
  return etcd;
}

std::unique_ptr<EtcdLeadership> NewLeadership(const std::string& job, const std::string& name) {
  return std::make_unique<EtcdLeadership>(Etcd().NewApi(), job, name, absl::Seconds(60));
}

std::unique_ptr<RecordStore> NewStore(const std::string& job, const EtcdLeadership& leadership) {
  return std::make_unique<EtcdRecordStore>(Etcd().NewApi(), job, leadership.fence(), &leadership);
}

// Each opening is that of a new leader.
struct ServerStorage {
  std::unique_ptr<RecordStore> NewStore() {
    leadership.reset();
    leadership = NewLeadership(job, "tcp://a:1");
    const absl::Status status = leadership->Campaign();
    EXPECT_TRUE(status.ok()) << status;
    return banyan::NewStore(job, *leadership);
  }

  std::string job = absl::StrCat("job-", SteadyNow().nanoseconds());
  std::unique_ptr<EtcdLeadership> leadership;
};

INSTANTIATE_TYPED_TEST_SUITE_P(EtcdServer, RecordStoreConformance, ServerStorage);

TEST(EtcdServerTest, ReadsWhatIsLargerThanOneAnswer) {
  ServerStorage storage;
  std::unique_ptr<RecordStore> store = storage.NewStore();
  ASSERT_TRUE(store->Open().ok());
  StoredRecords expected;
  for (int i = 0; i < 12; ++i) {
    expected.tail.push_back(std::string(900000, static_cast<char>('a' + i)));
    ASSERT_TRUE(store->Append({expected.tail.back()}).ok());
  }
  for (int i = 0; i < 50; ++i) {
    expected.tail.push_back(absl::StrCat("small ", i));
    ASSERT_TRUE(store->Append({expected.tail.back()}).ok());
  }
  store = storage.NewStore();
  EXPECT_EQ(*store->Open(), expected);
}

TEST(EtcdServerTest, OneLeadsAndTheNextFollowsWhenItsLeaseEnds) {
  auto first = NewLeadership("election", "tcp://a:1");
  const auto second = NewLeadership("election", "tcp://b:1");
  ASSERT_TRUE(first->Campaign().ok());
  const std::unique_ptr<RecordStore> deposed = NewStore("election", *first);
  ASSERT_TRUE(deposed->Open().ok());
  ASSERT_TRUE(deposed->Append({"first"}).ok());
  EXPECT_EQ(second->Campaign().message(), "tcp://a:1 leads");

  // It has the key alone, so nobody renews its lease; then as after a process that stood still.
  etcd::TxnRequest take;
  *take.add_success() = EtcdDeleteOp(first->fence().key, first->fence().key + '\0');
  ASSERT_TRUE(Etcd().NewApi()->Commit(take).ok());
  ASSERT_TRUE(second->Campaign().ok());
  EXPECT_NE(second->fence().create_revision, first->fence().create_revision);
  const std::unique_ptr<RecordStore> store = NewStore("election", *second);
  EXPECT_EQ(store->Open()->tail, std::vector<std::string>{"first"});
  const absl::Status status = deposed->Append({"second"});
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("of tcp://b:1: this process leads no more"));
  EXPECT_TRUE(store->Append({"third"}).ok());
}

TEST(EtcdServerTest, EndingGivesTheLeadershipBack) {
  auto first = NewLeadership("return", "tcp://a:1");
  const auto second = NewLeadership("return", "tcp://b:1");
  ASSERT_TRUE(first->Campaign().ok());
  first.reset();
  EXPECT_TRUE(second->Campaign().ok());
}

TEST(EtcdServerTest, LeasesEndByThemselves) {
  etcd::LeaseGrantRequest grant;
  grant.set_ttl(2);
  const std::unique_ptr<EtcdApi> api = Etcd().NewApi();
  const absl::StatusOr<etcd::LeaseGrantResponse> granted = api->Grant(grant);
  ASSERT_TRUE(granted.ok()) << granted.status();
  EXPECT_EQ(granted->ttl(), 2);
  etcd::LeaseKeepAliveRequest keep;
  keep.set_id(granted->id());
  EXPECT_EQ(api->KeepAlive(keep)->ttl(), 2);
  etcd::TxnRequest commit;
  *commit.add_success() = EtcdPutOp("/banyan/leased/leader", "tcp://a:1");
  commit.mutable_success(0)->mutable_request_put()->set_lease(granted->id());
  ASSERT_TRUE(api->Commit(commit).ok());
  const auto leadership = NewLeadership("leased", "tcp://b:1");
  while (!leadership->Campaign().ok()) absl::SleepFor(absl::Milliseconds(50));
  EXPECT_EQ(api->KeepAlive(keep)->ttl(), 0);
}

TEST(EtcdServerTest, AFullEtcdIsNamedWithItsCure) {
  EtcdProcess etcd({"--quota-backend-bytes", "4000000"});
  EtcdLeadership leadership(etcd.NewApi(), "full", "tcp://a:1", absl::Seconds(60));
  ASSERT_TRUE(leadership.Campaign().ok());
  EtcdRecordStore store(etcd.NewApi(), "full", leadership.fence(), &leadership);
  ASSERT_TRUE(store.Open().ok());
  absl::Status status;
  while (status.ok()) status = store.Append({std::string(900000, 'x')});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("database space exceeded; let etcd forget old revisions"));
}

// A leader outlives an etcd that is away for less than its lease, and its store goes on then.
TEST(EtcdServerTest, ARestartOfEtcdIsWaitedFor) {
  EtcdProcess etcd;
  EtcdLeadership leadership(etcd.NewApi(), "restart", "tcp://a:1", absl::Seconds(60));
  ASSERT_TRUE(leadership.Campaign().ok());
  EtcdRecordStore store(etcd.NewApi(), "restart", leadership.fence(), &leadership);
  ASSERT_TRUE(store.Open().ok());
  etcd.Kill();
  EXPECT_TRUE(absl::IsUnavailable(etcd.NewApi()->Read(EtcdRead("x")).status()));
  etcd.Start();
  EXPECT_TRUE(store.Append({"after"}).ok());
  EXPECT_LT(SteadyNow(), leadership.LeadsUntil());
}

// Etcd with users: a scheduler gives a password, and goes on when its token has ended.
TEST(EtcdServerTest, AUserWithAPasswordGetsIn) {
  EtcdProcess etcd;
  HttpClient http;
  const auto ask = [&](const std::string& path, const std::string& json, const std::string& token = {}) {
    const absl::StatusOr<HttpAnswer> answer = http.Post(etcd.url() + path, json, absl::Seconds(120), token);
    EXPECT_TRUE(answer.ok() && answer->code == 200) << path << (answer.ok() ? answer->body : "");
    return answer.ok() ? answer->body : "";
  };
  ask("/v3/auth/user/add", R"({"name":"root","password":"r"})");
  ask("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  ask("/v3/auth/role/add", R"({"name":"banyan"})");
  ask("/v3/auth/role/grant",  // all below /banyan/
      R"({"name":"banyan","perm":{"permType":2,"key":"L2Jhbnlhbi8=","range_end":"L2JhbnlhbjA="}})");
  ask("/v3/auth/user/add", R"({"name":"scheduler","password":"secret"})");
  ask("/v3/auth/user/grant", R"({"user":"scheduler","role":"banyan"})");
  ask("/v3/auth/enable", "{}");
  EXPECT_FALSE(etcd.NewApi()->Read(EtcdRead("/banyan/j/x")).ok());

  std::string password = "wrong";
  const auto new_api = [&] {
    return std::make_unique<EtcdClient>(std::vector<std::string>{etcd.url()}, absl::Seconds(120),
                                        EtcdAccess{.user = "scheduler", .password = [&] { return password; }});
  };
  EXPECT_FALSE(new_api()->Read(EtcdRead("/banyan/j/x")).ok());
  password = "secret";
  EtcdLeadership leadership(new_api(), "j", "tcp://a:1", absl::Seconds(60));
  ASSERT_TRUE(leadership.Campaign().ok());
  EtcdRecordStore store(new_api(), "j", leadership.fence(), &leadership);
  ASSERT_TRUE(store.Open().ok());
  // A change of etcd's users ends all tokens.
  const std::string body = ask("/v3/auth/authenticate", R"({"name":"root","password":"r"})");
  const size_t begin = body.find("\"token\":\"") + 9;
  ask("/v3/auth/user/add", R"({"name":"other","password":"o"})", body.substr(begin, body.find('"', begin) - begin));
  const absl::Status status = store.Append({"after"});
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace banyan
