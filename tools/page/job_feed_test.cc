#include <string>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/page/job_page.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr char kWaiting[] =
    R"({"job":"j","state":"waiting","epoch":1,"policy":0,"nodes":[],"links":[],"trees":[],"keys":[]})";
constexpr char kRunning[] =
    R"({"job":"j","state":"running","epoch":1,"policy":0,"nodes":[{"name":"a","round":3,"sync_seconds":0.5}],"links":[],"trees":[],"keys":[]})";

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

TEST(JobFeedTest, BeforeTheFirstStatusThereIsNothing) {
  const JobFeed feed;
  uint64_t place = 0;
  EXPECT_EQ(feed.Status(), nullptr);
  EXPECT_EQ(feed.NextEvents(place), "");
}

TEST(JobFeedTest, AStatusIsPassedOnAsItCame) {
  JobFeed feed;
  feed.Set(kWaiting, At(1));
  EXPECT_EQ(*feed.Status(), kWaiting);
  uint64_t place = 0;
  EXPECT_EQ(feed.NextEvents(place),
            std::string("event: history\ndata: {\"all\":true,\"rounds\":[],\"policies\":[]}\n\n") +
                "event: status\ndata: " + kWaiting + "\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
}

TEST(JobFeedTest, ATraceIsToldOnceToEachReader) {
  JobFeed feed;
  uint64_t place = 0;
  feed.SetTrace("{}");
  EXPECT_EQ(feed.NextEvents(place), "event: trace\ndata: {}\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
  feed.Set(kWaiting, At(1));
  EXPECT_THAT(feed.NextEvents(place), Not(HasSubstr("event: trace")));
  uint64_t later = 0;
  EXPECT_THAT(feed.NextEvents(later), HasSubstr("}\n\nevent: trace\ndata: {}\n\n"));
}

TEST(JobFeedTest, TheSameStatusIsOnlyABeat) {
  JobFeed feed;
  uint64_t place = 0;
  feed.Set(kWaiting, At(1));
  feed.NextEvents(place);
  feed.Set(kWaiting, At(2));
  EXPECT_EQ(feed.NextEvents(place), "event: beat\ndata: {}\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
  uint64_t other_place = 0;
  EXPECT_THAT(feed.NextEvents(other_place), HasSubstr("event: status\n"));
  feed.Set(kRunning, At(3));
  EXPECT_THAT(feed.NextEvents(place), StartsWith("event: history\ndata: {\"all\":false,\"rounds\":[{\"at_s\":3,"));
}

TEST(JobFeedTest, WhoIsSlowGetsTheNewestAndTheWholeHistory) {
  JobFeed feed;
  uint64_t place = 0;
  feed.Set(kWaiting, At(1));
  feed.NextEvents(place);
  feed.Set(kRunning, At(2));
  std::string later = kRunning;
  later.replace(later.find("\"round\":3"), 9, "\"round\":4");
  feed.Set(later, At(3));
  const std::string events = feed.NextEvents(place);
  EXPECT_THAT(events, HasSubstr("\"round\":3,"));
  EXPECT_THAT(events, HasSubstr("event: status\ndata: " + later));
  EXPECT_THAT(events, Not(HasSubstr("event: status\ndata: " + std::string(kRunning))));
}

TEST(JobFeedTest, TextThatIsNoStatusHasNoHistory) {
  JobFeed feed;
  feed.Set("{[", At(1));
  uint64_t place = 0;
  EXPECT_THAT(feed.NextEvents(place), HasSubstr("event: status\ndata: {["));
}

TEST(JobPageRoutesTest, ThePageNeedsNothingFromElsewhere) {
  const JobFeed feed;
  size_t files = 0;
  for (const HttpRoute& route : JobPageRoutes(&feed)) {
    if (route.answer == nullptr || route.path == "/api/status") continue;
    ++files;
    const std::string body = route.answer().body;
    EXPECT_FALSE(body.empty()) << route.path;
    for (const char* elsewhere : {"src=\"http", "href=\"http", "url(http", "@import", "fetch(\"http"}) {
      EXPECT_FALSE(absl::StrContains(body, elsewhere)) << route.path << " has " << elsewhere;
    }
  }
  EXPECT_EQ(files, 3u);
}

}  // namespace
}  // namespace banyan
