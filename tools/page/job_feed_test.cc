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

JobStatus Waiting() {
  JobStatus status;
  status.job = "j";
  status.state = "waiting";
  return status;
}

JobStatus Running(uint64_t round) {
  JobStatus status;
  status.job = "j";
  status.state = "running";
  status.nodes.resize(1);
  status.nodes[0].report.emplace().round = round;
  status.nodes[0].report->sync_seconds = 0.5;
  return status;
}

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

TEST(JobFeedTest, BeforeTheFirstStatusThereIsNothing) {
  const JobFeed feed;
  uint64_t place = 0;
  EXPECT_EQ(feed.Status(), nullptr);
  EXPECT_EQ(feed.NextEvents(place), "");
}

TEST(JobFeedTest, AStatusIsPassedOn) {
  JobFeed feed;
  feed.Set(Waiting(), At(1));
  EXPECT_EQ(feed.Status()->json, StatusJson(Waiting()));
  EXPECT_EQ(feed.Status()->status, Waiting());
  uint64_t place = 0;
  EXPECT_EQ(feed.NextEvents(place),
            std::string("event: history\ndata: {\"all\":true,\"rounds\":[],\"policies\":[]}\n\n") +
                "event: status\ndata: " + StatusJson(Waiting()) + "\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
}

TEST(JobFeedTest, ATraceIsToldOnceToEachReader) {
  JobFeed feed;
  uint64_t place = 0;
  feed.SetTrace("{}");
  EXPECT_EQ(feed.NextEvents(place), "event: trace\ndata: {}\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
  feed.Set(Waiting(), At(1));
  EXPECT_THAT(feed.NextEvents(place), Not(HasSubstr("event: trace")));
  uint64_t later = 0;
  EXPECT_THAT(feed.NextEvents(later), HasSubstr("}\n\nevent: trace\ndata: {}\n\n"));
}

TEST(JobFeedTest, TheSameStatusIsOnlyABeat) {
  JobFeed feed;
  uint64_t place = 0;
  feed.Set(Waiting(), At(1));
  feed.NextEvents(place);
  feed.Set(Waiting(), At(2));
  EXPECT_EQ(feed.NextEvents(place), "event: beat\ndata: {}\n\n");
  EXPECT_EQ(feed.NextEvents(place), "");
  uint64_t other_place = 0;
  EXPECT_THAT(feed.NextEvents(other_place), HasSubstr("event: status\n"));
  feed.Set(Running(3), At(3));
  EXPECT_THAT(feed.NextEvents(place), StartsWith("event: history\ndata: {\"all\":false,\"rounds\":[{\"at_s\":3,"));
}

TEST(JobFeedTest, WhoIsSlowGetsTheNewestAndTheWholeHistory) {
  JobFeed feed;
  uint64_t place = 0;
  feed.Set(Waiting(), At(1));
  feed.NextEvents(place);
  feed.Set(Running(3), At(2));
  feed.Set(Running(4), At(3));
  const std::string events = feed.NextEvents(place);
  EXPECT_THAT(events, HasSubstr("\"round\":3,"));
  EXPECT_THAT(events, HasSubstr("event: status\ndata: " + StatusJson(Running(4))));
  EXPECT_THAT(events, Not(HasSubstr("event: status\ndata: " + StatusJson(Running(3)))));
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
