#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/demo/demo_page.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FaultRoutesTest : public testing::Test {
 protected:
  // What is answered to a post, if anything is.
  std::string Post(const std::string& path, const std::string& body) {
    std::string told;
    for (const HttpRoute& route : routes_) {
      if (route.path != path) continue;
      route.post->take("demo", body, [&told](const PostAnswer& answer) { told = answer.content.body; });
    }
    return told;
  }

  std::vector<FaultRequest> given_;
  const PageAccess access_ = {.readers_token = "", .operators = {{"demo", "secret"}}};
  const std::vector<HttpRoute> routes_ =
      FaultRoutes(access_, true, [this](FaultRequest request) { given_.push_back(std::move(request)); });
};

TEST_F(FaultRoutesTest, WhatIsAskedForIsGiven) {
  EXPECT_EQ(Post("/api/faults/kill", "n3"), "");
  EXPECT_EQ(Post("/api/faults/cut", "n1 n2"), "");
  EXPECT_EQ(Post("/api/faults/traffic", " n2  n1\n"), "");
  ASSERT_THAT(given_, SizeIs(3));
  EXPECT_EQ(given_[0].kind, ChaosKind::kKillNode);
  EXPECT_EQ(given_[0].node, "n3");
  EXPECT_EQ(given_[1].kind, ChaosKind::kCutLink);
  EXPECT_EQ(given_[2].kind, ChaosKind::kShareLink);
  EXPECT_EQ(given_[2].node + ">" + given_[2].other, "n2>n1");
}

TEST_F(FaultRoutesTest, WhatMakesNoSenseIsTold) {
  EXPECT_THAT(Post("/api/faults/kill", ""), HasSubstr("expected a node's name, got ''"));
  EXPECT_THAT(Post("/api/faults/cut", "n1"), HasSubstr("expected two nodes' names, the ends of a link, got 'n1'"));
  EXPECT_THAT(Post("/api/faults/traffic", "n1 n2 n3"), HasSubstr("\"accepted\":false"));
  EXPECT_THAT(given_, IsEmpty());
}

TEST_F(FaultRoutesTest, AnswersSayWhatWasDone) {
  std::string told;
  routes_[1].post->take("demo", "n3", [&told](const PostAnswer& answer) { told = answer.content.body; });
  given_[0].reply(std::string("killed node n3"));
  EXPECT_EQ(told, R"({"accepted":true,"text":"killed node n3"})");
  given_[0].reply(absl::NotFoundError("no node 'n3' runs here now"));
  EXPECT_EQ(told, R"({"accepted":false,"text":"no node 'n3' runs here now"})");
}

TEST_F(FaultRoutesTest, OnlyWhoHasTheTokenBreaksAnything) {
  for (const HttpRoute& route : routes_) {
    if (!route.post.has_value()) continue;
    EXPECT_TRUE(absl::IsUnauthenticated(route.post->admit("").status())) << route.path;
    EXPECT_TRUE(absl::IsUnauthenticated(route.post->admit("Bearer other").status())) << route.path;
    EXPECT_TRUE(route.post->admit("Bearer secret").ok()) << route.path;
  }
}

TEST_F(FaultRoutesTest, ThePageIsToldWhetherThereAreLinks) {
  EXPECT_THAT(routes_[0].answer().body, HasSubstr("\"accepted\":true"));
  EXPECT_THAT(FaultRoutes(access_, false, nullptr)[0].answer().body, HasSubstr("\"accepted\":false"));
}

}  // namespace
}  // namespace banyan
