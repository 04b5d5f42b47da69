// A recording of a real job, made by a command while it trains and opened by another one.
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "posix/child_process.h"
#include "runtime/session/session.h"
#include "runtime/testing/http_get.h"
#include "tests/job_fixture.h"
#include "tests/test_training.h"
#include "tools/reports/round_chart.h"
#include "tools/reports/status_text.h"
#include "tools/view/recording.h"

namespace banyan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kHeadersEnd = "\r\n\r\n";
size_t TracesIn(const std::string& path) {
  // A recorder that has just begun has no line yet.
  const absl::StatusOr<Recording> recording = Recording::Open(path);
  return recording.ok() ? recording->traces() : 0;
}

// Trains until two rounds are recorded.
void Train(const JobFixture& job, const std::string& path) {
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  TestTraining training(Addresses(sessions), {{"w", 300'000}, {"b", 1000}});
  training.Init();
  const absl::Time until = absl::Now() + kPatience;
  while (TracesIn(path) < 2 && absl::Now() < until) {
    for (int round = 0; round < 10; ++round) training.PushPullRound();
  }
}

void ExpectStatusAndTraces(const Recording& recording) {
  const absl::StatusOr<JobStatus> last = ParseStatus(*recording.Read(recording.size() - 1));
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, "running");
  ASSERT_EQ(last->nodes.size(), 3u);
  ASSERT_TRUE(last->nodes[2].report.has_value());
  EXPECT_GT(last->nodes[2].report->round.value_or(0), 0u);
  for (size_t i = 0; i < recording.traces(); ++i) {
    const absl::StatusOr<RoundChart> chart = ReadRoundChart(*recording.ReadTrace(i));
    ASSERT_TRUE(chart.ok()) << chart.status();
    ASSERT_TRUE(chart->round.has_value());
    EXPECT_THAT(chart->sentence, StartsWith(absl::StrCat("round ", chart->round->value(), " took ")));
    EXPECT_THAT(chart->missing, IsEmpty());
    EXPECT_THAT(chart->path, Not(IsEmpty()));
    EXPECT_THAT(chart->links, Not(IsEmpty()));
  }
}

// Returns where `banyan view` says that the page is.
std::string PageOf(const JobFixture& job) {
  job.WaitForLog("view", " until Ctrl-C");
  const std::string log = job.LogOf("view");
  const size_t begin = log.find("http://");
  return log.substr(begin, log.find(' ', begin) - begin);
}

std::string Get(const std::string& page, const std::string& path) {
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(page.substr(17, page.size() - 18), &port)) << page;
  const std::string answer = HttpGet(port, path);
  EXPECT_THAT(answer, HasSubstr(" 200 ")) << path;
  return answer.substr(answer.find(kHeadersEnd) + kHeadersEnd.size());
}

TEST(RecordedJobTest, ARunningJobIsRecordedByAnObserverWithItsTraces) {
  JobSpec spec;
  spec.has_keys = true;
  JobFixture job(spec);
  const std::string path = job.SocketPathOf(0) + ".rec";
  job.StartAll();
  const std::unique_ptr<ChildProcess> recorder =
      job.StartCommand("recorder", {"status", "--watch", "--record", path, "--timeout", "60", "--scheduler",
                                    job.scheduler_address(), "--key", job.KeyPathOf("observer")});
  Train(job, path);
  recorder->Signal(SIGINT);
  ASSERT_TRUE(recorder->WaitUntilEnded(kPatience));
  EXPECT_EQ(recorder->failure(), "") << job.LogOf("recorder");

  const absl::StatusOr<Recording> recording = Recording::Open(path);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_GE(recording->traces(), 2u) << job.LogOf("recorder");
  ExpectStatusAndTraces(*recording);

  const std::unique_ptr<ChildProcess> view = job.StartCommand("view", {"view", path});
  const std::string page = PageOf(job);
  const std::string at_end = Get(page, absl::StrFormat("/api/recording/at/%.3f", recording->to_s() + 1));
  EXPECT_THAT(at_end, HasSubstr(absl::StrCat("\"next_s\":null,\"trace\":", recording->traces() - 1, ",\"traced_s\":")));
  EXPECT_THAT(at_end, HasSubstr(*recording->Read(recording->size() - 1)));
  EXPECT_EQ(Get(page, "/api/recording/trace/0"), *recording->ReadTrace(0));
  view->Signal(SIGINT);
  EXPECT_TRUE(view->WaitUntilEnded(kPatience));
  EXPECT_EQ(view->failure(), "");
}

}  // namespace
}  // namespace banyan
