#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/http_get.h"
#include "tools/commands.h"
#include "tools/reports/round_chart.h"
#include "tools/view/recording.h"
#include "tools/view/recording_server.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A job whose rounds take two seconds, and which gets another policy in the middle.
JobStatus StatusAt(int second, int seconds) {
  JobStatus status;
  status.job = "j";
  status.state = "running";
  status.epoch = 1;
  status.policy = second < seconds / 2 ? 1 : 2;
  JobStatus::Node& node = status.nodes.emplace_back();
  node.name = "a";
  JobStatus::Report& report = node.report.emplace();
  report.round = second / 2 + 1;
  report.sync_seconds = 0.5;
  JobStatus::Link& link = status.links.emplace_back();
  link.from = "a";
  link.to = "b";
  link.traffic.sent_bytes = 1000 * static_cast<uint64_t>(second);
  return status;
}

std::string RecordingOf(int seconds) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/view_recording");
  std::ofstream file(path, std::ios::binary);
  for (int second = 0; second < seconds; ++second)
    file << MakeRecordingLine(100 + second, StatusAt(second, seconds)) << "\n";
  return path;
}

class ServedRecording {
 public:
  explicit ServedRecording(int seconds) : ServedRecording(RecordingOf(seconds)) {}
  explicit ServedRecording(const std::string& path) {
    absl::StatusOr<Recording> recording = Recording::Open(path);
    EXPECT_TRUE(recording.ok()) << recording.status();
    absl::StatusOr<std::unique_ptr<RecordingServer>> server =
        RecordingServer::Serve("127.0.0.1:0", *std::move(recording), 2.5);
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::string Get(const std::string& path) const {
    const std::string url = server_->url();
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(url.substr(17, url.size() - 18), &port)) << url;
    return HttpGet(port, path);
  }

 private:
  std::unique_ptr<RecordingServer> server_;
};

TEST(RecordingServerTest, ServesThePageAndEachMoment) {
  const ServedRecording served(10);
  EXPECT_THAT(served.Get("/"), AllOf(HasSubstr("<title>Banyan</title>"), HasSubstr("<body data-recording>")));
  EXPECT_THAT(served.Get("/page.js"), HasSubstr("/api/recording/"));
  EXPECT_THAT(served.Get("/api/recording/facts"),
              EndsWith("\r\n\r\n"
                       R"({"from_s":100.000,"to_s":109.000,"speed":2.5,"history_parts":1})"));
  const auto moment = [](int second, const std::string& next) {
    return absl::StrCat("\r\n\r\n{\"at_s\":", 100 + second, ".000,\"next_s\":", next,
                        ",\"trace\":null,\"traced_s\":null,\"status\":", StatusJson(StatusAt(second, 10)), "}");
  };
  EXPECT_THAT(served.Get("/api/recording/at/0"), EndsWith(moment(0, "101.000")));
  EXPECT_THAT(served.Get("/api/recording/at/104.999"), EndsWith(moment(4, "105.000")));
  EXPECT_THAT(served.Get("/api/recording/at/105"), EndsWith(moment(5, "106.000")));
  EXPECT_THAT(served.Get("/api/recording/at/999"), EndsWith(moment(9, "null")));
  for (const char* path : {"", "at/", "at/x", "at/nan", "history/-1", "history/7", "history/", "trace/0"}) {
    EXPECT_THAT(served.Get(absl::StrCat("/api/recording/", path)), HasSubstr(" 404 ")) << path;
  }
}

TEST(RecordingServerTest, TellsTheLastTracedRoundUntilEachMoment) {
  const auto chart = [](uint64_t round) {
    RoundChart chart;
    chart.round = Round(round);
    chart.sentence = absl::StrCat("round ", round, " took a while");
    return chart;
  };
  const std::string path = absl::StrCat(::testing::TempDir(), "/view_traces");
  std::ofstream(path, std::ios::binary) << MakeRecordingLine(1, StatusAt(1, 9)) << "\n"
                                        << MakeTraceLine(1.5, chart(4)) << "\n"
                                        << MakeRecordingLine(2, StatusAt(2, 9)) << "\n"
                                        << MakeTraceLine(2, chart(6)) << "\n"
                                        << MakeTraceLine(3, chart(8)) << "\n";
  const ServedRecording served(path);
  const auto at = [&served](const char* time) {
    const std::string answer = served.Get(absl::StrCat("/api/recording/at/", time));
    const size_t begin = answer.find("\r\n\r\n") + 4;
    return answer.substr(begin, answer.find(",\"status\"") - begin);
  };
  EXPECT_THAT(served.Get("/api/recording/facts"), HasSubstr(R"({"from_s":1.000,"to_s":3.000,)"));
  EXPECT_EQ(at("1.499"), R"({"at_s":1.000,"next_s":1.500,"trace":null,"traced_s":null)");
  EXPECT_EQ(at("1.5"), R"({"at_s":1.500,"next_s":2.000,"trace":0,"traced_s":1.500)");
  EXPECT_EQ(at("2.9"), R"({"at_s":2.000,"next_s":3.000,"trace":1,"traced_s":2.000)");
  EXPECT_EQ(at("3"), R"({"at_s":3.000,"next_s":null,"trace":2,"traced_s":3.000)");
  EXPECT_THAT(served.Get("/api/recording/trace/1"), EndsWith("\r\n\r\n" + RoundChartJson(chart(6))));
  EXPECT_THAT(served.Get("/api/recording/trace/3"), HasSubstr(" 404 "));
}

TEST(RecordingServerTest, TellsTheHistoryPartByPart) {
  const ServedRecording served(50);
  EXPECT_THAT(served.Get("/api/recording/facts"), HasSubstr("\"history_parts\":3}"));
  EXPECT_THAT(served.Get("/api/recording/history/0"),
              AllOf(HasSubstr(R"("rounds":[{"at_s":100,"round":1,"seconds":0.5,)"), HasSubstr(R"("round":10,)"),
                    Not(HasSubstr(R"("round":11,)")), HasSubstr(R"("policies":[{"at_s":100,"policy":1,)")));
  EXPECT_THAT(served.Get("/api/recording/history/1"),
              AllOf(HasSubstr(R"({"at_s":120,"round":11,)"), HasSubstr(R"("policy":2,)")));
  EXPECT_THAT(served.Get("/api/recording/history/2"),
              AllOf(HasSubstr(R"("round":25,)"), Not(HasSubstr(R"("round":20,)"))));
}

TEST(RecordingServerTest, TheHistoryOfALongRecordingIsOfPartOfIt) {
  const ServedRecording served(3000);
  EXPECT_THAT(served.Get("/api/recording/facts"), HasSubstr("\"history_parts\":30}"));
  EXPECT_THAT(served.Get("/api/recording/history/29"), HasSubstr(R"({"at_s":3099,"round":1500,)"));
}

TEST(RecordingServerTest, AnswersUnderTheNamesThatItIsGiven) {
  const std::string path = RecordingOf(3);
  for (const bool is_named : {false, true}) {
    HttpAccess access;
    if (is_named) access.hosts = {"recordings.example"};
    const auto server = RecordingServer::Serve("127.0.0.1:0", *Recording::Open(path), 1, std::move(access));
    ASSERT_TRUE(server.ok()) << server.status();
    const std::string url = (*server)->url();
    int port = 0;
    ASSERT_TRUE(absl::SimpleAtoi(url.substr(17, url.size() - 18), &port)) << url;
    EXPECT_THAT(HttpGet(port, "/", "recordings.example"), HasSubstr(is_named ? " 200 " : " 421 "));
  }
}

TEST(ViewCommandTest, ServesUntilItIsStopped) {
  std::ostringstream out, err;
  // Comes before the command looks for it.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &stop, nullptr), 0);
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  const std::string path = RecordingOf(10);
  EXPECT_EQ(ViewCommand({path, "--http-host", "recordings.example"}, out, err), 0);
  EXPECT_THAT(out.str(),
              AllOf(HasSubstr(absl::StrCat(path, ", 9s, at http://127.0.0.1:")), HasSubstr("/ until Ctrl-C\n")));
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace banyan
