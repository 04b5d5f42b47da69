#include "runtime/etcd/etcd_client.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/etcd/etcd_api.h"
#include "runtime/etcd/testing/scripted_http_server.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// For answers that come, and for those that do not.
constexpr absl::Duration kLong = absl::Seconds(60);
constexpr absl::Duration kShort = absl::Milliseconds(100);

class EtcdClientTest : public testing::Test {
 protected:
  EtcdClient Client() { return EtcdClient({server_.url()}, kLong); }

  ScriptedHttpServer server_;
};

TEST_F(EtcdClientTest, AsksAsEtcdsGatewayReads) {
  server_.Answer(200, "{}");
  EtcdClient client = Client();
  etcd::RangeRequest range = EtcdRead("a");
  range.set_range_end("b");
  range.set_limit(5);
  EXPECT_TRUE(client.Read(range).ok());
  etcd::TxnRequest commit;
  *commit.add_compare() = EtcdCreatedIn("leader", 0);
  *commit.add_compare() = EtcdHasValue("generation", "7");
  *commit.add_success() = EtcdPutOp("key", "value");
  *commit.add_success() = EtcdDeleteOp("a", "b");
  *commit.add_failure() = EtcdReadOp("leader");
  EXPECT_TRUE(client.Commit(commit).ok());
  etcd::LeaseGrantRequest grant;
  grant.set_ttl(3);
  EXPECT_TRUE(client.Grant(grant).ok());
  etcd::LeaseRevokeRequest revoke;
  revoke.set_id(5);
  EXPECT_TRUE(client.Revoke(revoke).ok());
  EXPECT_THAT(server_.requests(),
              ElementsAre(R"(/v3/kv/range {"key":"YQ==","range_end":"Yg==","limit":"5"})",
                          R"(/v3/kv/txn {"compare":[{"target":"CREATE","key":"bGVhZGVy","create_revision":"0"},)"
                          R"({"target":"VALUE","key":"Z2VuZXJhdGlvbg==","value":"Nw=="}],)"
                          R"("success":[{"request_put":{"key":"a2V5","value":"dmFsdWU="}},)"
                          R"({"request_delete_range":{"key":"YQ==","range_end":"Yg=="}}],)"
                          R"("failure":[{"request_range":{"key":"bGVhZGVy"}}]})",
                          R"(/v3/lease/grant {"TTL":"3"})", R"(/v3/lease/revoke {"ID":"5"})"));
}

TEST_F(EtcdClientTest, ReadsAnswers) {
  EtcdClient client = Client();
  server_.Answer(200, R"({"header":{"revision":"9"},"kvs":[{"key":"YQ==","create_revision":"8","version":"1",)"
                      R"("value":"AAE=","lease":"77"}],"more":true,"count":"2"})");
  const absl::StatusOr<etcd::RangeResponse> range = client.Read(EtcdRead("a"));
  ASSERT_TRUE(range.ok()) << range.status();
  ASSERT_EQ(range->kvs_size(), 1);
  EXPECT_EQ(range->kvs(0).key(), "a");
  EXPECT_EQ(range->kvs(0).value(), std::string("\0\1", 2));
  EXPECT_EQ(range->kvs(0).create_revision(), 8);
  EXPECT_EQ(range->kvs(0).lease(), 77);
  EXPECT_TRUE(range->more());
  server_.Answer(200, R"({"succeeded":true,"responses":[{"response_put":{"header":{"revision":"2"}}},)"
                      R"({"response_range":{"kvs":[{"key":"YQ=="}]}}]})");
  const absl::StatusOr<etcd::TxnResponse> commit = client.Commit({});
  ASSERT_TRUE(commit.ok()) << commit.status();
  EXPECT_TRUE(commit->succeeded());
  ASSERT_EQ(commit->responses_size(), 2);
  EXPECT_EQ(commit->responses(1).response_range().kvs(0).key(), "a");
}

TEST_F(EtcdClientTest, AKeepAliveWithoutTimeLeftIsAnAnswerAndAnErrorIsNone) {
  EtcdClient client = Client();
  server_.Answer(200, R"({"result":{"ID":"5","TTL":"3"}})");
  EXPECT_EQ(client.KeepAlive({})->ttl(), 3);
  server_.Answer(200, R"({"result":{"ID":"5"}})");
  EXPECT_EQ(client.KeepAlive({})->ttl(), 0);
  server_.Answer(200, R"({"error":{"grpc_code":14,"message":"etcdserver: no leader"}})");
  EXPECT_TRUE(absl::IsUnavailable(client.KeepAlive({}).status()));
}

TEST_F(EtcdClientTest, SaysWhatEtcdSays) {
  EtcdClient client = Client();
  server_.Answer(404, R"({"error":"x","message":"etcdserver: requested lease not found","code":5})");
  const absl::Status status = client.Revoke({}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/v3/lease/revoke: etcdserver: requested lease not found"));
  for (const int passing : {1, 2, 4, 10, 14}) {
    server_.Answer(503, absl::StrCat(R"({"message":"not now","code":)", passing, "}"));
    EXPECT_TRUE(absl::IsUnavailable(client.Read({}).status())) << passing;
  }
}

TEST_F(EtcdClientTest, WhatIsNoEtcdIsNoAnswer) {
  EtcdClient client = Client();
  for (const auto& [code, body] : std::vector<std::pair<int, std::string>>{
           {200, "<html>"}, {200, "{"}, {404, "404 page not found"}, {500, "{}"}, {301, ""}}) {
    server_.Answer(code, body);
    const absl::Status status = client.Read({}).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected the JSON of etcd 3.4 or later, got code "));
  }
}

TEST_F(EtcdClientTest, AsksTheNextMemberAndStaysThere) {
  ScriptedHttpServer silent;
  server_.Answer(200, R"({"kvs":[{"key":"YQ=="}]})");
  EtcdClient client({"http://127.0.0.1:1", silent.url(), server_.url()}, kShort);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.Read(EtcdRead("a")).ok());
  EXPECT_EQ(silent.requests().size(), 1u);
  EXPECT_EQ(server_.requests().size(), 3u);
}

TEST_F(EtcdClientTest, ARefusalOfOneMemberIsFinal) {
  ScriptedHttpServer second;
  server_.Answer(400, R"({"message":"etcdserver: request is too large","code":3})");
  EtcdClient client({server_.url(), second.url()}, kLong);
  EXPECT_EQ(client.Commit({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(second.requests().size(), 0u);
}

TEST_F(EtcdClientTest, NamesAllThatDoNotAnswer) {
  EtcdClient client({"http://127.0.0.1:1", server_.url()}, kShort);
  const absl::Status status = client.Read({}).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("overlay says? http://127.0.0.1:1/v3/kv/range: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr(server_.url()));
}

}  // namespace
}  // namespace banyan
