#include "runtime/metrics/metrics_page.h"

#include <atomic>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/metrics/latest_value.h"
#include "runtime/testing/http_get.h"

namespace banyan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::unique_ptr<MetricsPage> Serve(MetricsPage::Collect collect, const std::string& address = "127.0.0.1:0") {
  absl::StatusOr<std::unique_ptr<MetricsPage>> page = MetricsPage::Serve(address, std::move(collect));
  EXPECT_TRUE(page.ok()) << page.status();
  return page.ok() ? *std::move(page) : nullptr;
}

int PortOf(const MetricsPage& page) {
  const std::string url = page.url();
  const size_t colon = url.rfind(':');
  int port = 0;
  EXPECT_TRUE(absl::SimpleAtoi(url.substr(colon + 1, url.rfind('/') - colon - 1), &port)) << url;
  return port;
}

TEST(MetricsPageTest, ServesWhatIsCollected) {
  const auto page = Serve([] {
    return std::vector<MetricFamily>{
        {"banyan_queue_bytes", "What waits.", MetricFamily::Kind::kGauge, {{{{"to", "a\"\n"}}, 1.5}, {{}, 2}}},
        {"banyan_sent_bytes_total", "What went.", MetricFamily::Kind::kCounter, {{{}, 3e9}}},
        {"banyan_empty", "Nothing.", MetricFamily::Kind::kGauge, {}}};
  });
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(page->url(), StartsWith("http://127.0.0.1:"));
  const std::string answer = HttpGet(PortOf(*page), "/metrics");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK"));
  EXPECT_THAT(answer, HasSubstr("# HELP banyan_queue_bytes What waits.\n# TYPE banyan_queue_bytes gauge\n"
                                "banyan_queue_bytes{to=\"a\\\"\\n\"} 1.5\nbanyan_queue_bytes 2\n"));
  EXPECT_THAT(answer, HasSubstr("# TYPE banyan_sent_bytes_total counter\nbanyan_sent_bytes_total 3000000000\n"));
  EXPECT_THAT(answer, Not(HasSubstr("banyan_empty")));
}

TEST(HistogramTest, CountsUpToEachBound) {
  Histogram times;
  times.Add(0.004, 1);
  times.Add(0.3, 5);
  times.Add(2.5, 2);
  times.Add(1000, 1);
  const auto page =
      Serve([&times] { return std::vector<MetricFamily>{times.Family("banyan_round_seconds", "Rounds.")}; });
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->Render(),
            "# HELP banyan_round_seconds Rounds.\n# TYPE banyan_round_seconds histogram\n"
            "banyan_round_seconds_bucket{le=\"0.005\"} 1\nbanyan_round_seconds_bucket{le=\"0.01\"} 1\n"
            "banyan_round_seconds_bucket{le=\"0.025\"} 1\nbanyan_round_seconds_bucket{le=\"0.05\"} 1\n"
            "banyan_round_seconds_bucket{le=\"0.1\"} 1\nbanyan_round_seconds_bucket{le=\"0.25\"} 1\n"
            "banyan_round_seconds_bucket{le=\"0.5\"} 6\nbanyan_round_seconds_bucket{le=\"1\"} 6\n"
            "banyan_round_seconds_bucket{le=\"2.5\"} 8\nbanyan_round_seconds_bucket{le=\"5\"} 8\n"
            "banyan_round_seconds_bucket{le=\"10\"} 8\nbanyan_round_seconds_bucket{le=\"25\"} 8\n"
            "banyan_round_seconds_bucket{le=\"50\"} 8\nbanyan_round_seconds_bucket{le=\"100\"} 8\n"
            "banyan_round_seconds_bucket{le=\"+Inf\"} 9\nbanyan_round_seconds_sum 1006.504\n"
            "banyan_round_seconds_count 9\n");
}

TEST(MetricsPageTest, AnswersProbes) {
  const auto page = Serve([]() -> std::vector<MetricFamily> {
    ADD_FAILURE() << "a probe needs no metrics";
    return {};
  });
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(HttpGet(PortOf(*page), "/healthz"), AllOf(StartsWith("HTTP/1.1 200 OK"), HasSubstr("ok\n")));
}

TEST(MetricsPageTest, IsReadyWhenItsMakerIs) {
  std::atomic<bool> is_ready = false;
  absl::StatusOr<std::unique_ptr<MetricsPage>> page = MetricsPage::Serve(
      "127.0.0.1:0", [] { return std::vector<MetricFamily>(); }, {ReadinessRoute([&] { return is_ready.load(); })});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(HttpGet(PortOf(**page), "/readyz"), AllOf(StartsWith("HTTP/1.1 503 "), HasSubstr("not yet")));
  is_ready = true;
  EXPECT_THAT(HttpGet(PortOf(**page), "/readyz"), AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("ok")));
}

TEST(MetricsPageTest, ServesNothingElse) {
  const auto page = Serve([] { return std::vector<MetricFamily>(); });
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(HttpGet(PortOf(*page), "/etc/passwd"), HasSubstr(" 404 "));
  EXPECT_THAT(HttpGet(PortOf(*page), "/"), HasSubstr(" 404 "));
}

TEST(MetricsPageTest, RefusesATakenPortAndAForeignHost) {
  const auto nothing = [] { return std::vector<MetricFamily>(); };
  const auto page = Serve(nothing);
  ASSERT_NE(page, nullptr);
  const std::string taken = absl::StrCat("127.0.0.1:", PortOf(*page));
  for (const std::string& address : {taken, std::string("192.0.2.1:0")}) {
    const absl::Status status = MetricsPage::Serve(address, nothing).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << address;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
  }
}

TEST(MetricsPageTest, EveryInterfaceIsAStar) {
  const auto page = Serve([] { return std::vector<MetricFamily>(); }, "*:0");
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(HttpGet(PortOf(*page), "/metrics"), StartsWith("HTTP/1.1 200 OK"));
}

TEST(MetricsPageTest, RefusesToBeWrittenTo) {
  const auto page = Serve([] { return std::vector<MetricFamily>(); });
  ASSERT_NE(page, nullptr);
  const FileDescriptor client = Connect(PortOf(*page));
  const std::string request = "POST /metrics HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello";
  ASSERT_EQ(send(client.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  EXPECT_THAT(ReadAll(client.get()), HasSubstr(" 405 "));
}

size_t OpenFiles() {
  return static_cast<size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

// More would starve the daemon of file descriptors, and one that waits for them would never end.
TEST(MetricsPageTest, SilentClientsHoldFewFilesAndNoEnd) {
  auto page = Serve([] { return std::vector<MetricFamily>(); });
  ASSERT_NE(page, nullptr);
  EXPECT_THAT(HttpGet(PortOf(*page), "/metrics"), StartsWith("HTTP/1.1 200 OK"));
  constexpr size_t kClients = 100;
  const size_t before = OpenFiles();
  std::vector<FileDescriptor> clients;
  while (clients.size() < kClients) clients.push_back(Connect(PortOf(*page)));
  EXPECT_LE(OpenFiles(), before + kClients + 44);
  page.reset();
  EXPECT_EQ(ReadAll(clients.front().get()), "");
}

TEST(MetricsPageTest, ReadersSeeWholeValuesWhileTheyChange) {
  LatestValue<std::vector<MetricFamily>> latest;
  EXPECT_EQ(latest.Get(), nullptr);
  latest.Set({});
  const auto page = Serve([&latest] { return *latest.Get(); });
  ASSERT_NE(page, nullptr);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int value = 0; !done; ++value) {
      MetricFamily family = {"banyan_value", "Twice the same.", MetricFamily::Kind::kGauge, {}};
      family.Add({{"half", "1"}}, value);
      family.Add({{"half", "2"}}, value);
      latest.Set({std::move(family)});
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i) {
    const std::string answer = HttpGet(PortOf(*page), "/metrics");
    const auto value = [&answer](absl::string_view half) {
      const size_t at = answer.find(absl::StrCat("{half=\"", half, "\"} "));
      return at == std::string::npos ? "" : answer.substr(at + 11, answer.find('\n', at) - at - 11);
    };
    EXPECT_EQ(value("1"), value("2"));
  }
  done = true;
  writer.join();
}

}  // namespace
}  // namespace banyan
