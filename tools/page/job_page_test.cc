#include "tools/page/job_page.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(JobPageTest, ServesThePageTheStatusAndMetrics) {
  std::vector<std::string> logged;
  const absl::StatusOr<std::unique_ptr<JobPage>> page =
      JobPage::Serve("127.0.0.1:0", [&logged](LogLevel, absl::string_view line) { logged.emplace_back(line); });
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string url = (*page)->url();
  EXPECT_THAT(logged, Contains(absl::StrCat("dashboard at ", url)));
  int port = 0;
  ASSERT_TRUE(absl::SimpleAtoi(url.substr(17, url.size() - 18), &port)) << url;

  EXPECT_THAT(HttpGet(port, "/"), HasSubstr("<title>Banyan</title>"));
  EXPECT_THAT(HttpGet(port, "/page.js"), HasSubstr("EventSource"));
  EXPECT_THAT(HttpGet(port, "/api/status"), HasSubstr("\r\n\r\n{}"));
  const FileDescriptor events = Connect(port);
  const std::string request = "GET /api/events HTTP/1.0\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(send(events.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  JobStatus status;
  status.job = "j";
  status.term = 4;
  (*page)->Take(status);
  std::string told;
  char byte = 0;
  while (!absl::StrContains(told, "event: status\ndata: {\"job\":\"j\"") && recv(events.get(), &byte, 1, 0) == 1)
    told += byte;
  EXPECT_THAT(told, HasSubstr("event: history\n"));
  EXPECT_THAT(HttpGet(port, "/api/status"), HasSubstr(StatusJson(status)));
  EXPECT_THAT(HttpGet(port, "/metrics"), HasSubstr("banyan_scheduler_term 4\n"));
  EXPECT_THAT(HttpGet(port, "/healthz"), HasSubstr("ok\n"));
}

TEST(JobPageTest, ATakenPortIsAnError) {
  const auto ignore = [](LogLevel, absl::string_view) {};
  const absl::StatusOr<std::unique_ptr<JobPage>> page = JobPage::Serve("127.0.0.1:0", ignore);
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string taken = (*page)->url().substr(7, (*page)->url().size() - 8);
  EXPECT_EQ(JobPage::Serve(taken, ignore).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace banyan
