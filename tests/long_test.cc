// A job of many rounds in which nodes come and go: what its processes keep does not grow with its age.
#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "runtime/testing/http_get.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

constexpr int kRestarts = 16;
constexpr int kRoundsBetween = 500;
constexpr int kSettled = 4;  // restarts after which all is there that there will be
constexpr size_t kElements = 1000;
constexpr int64_t kMega = 1000 * 1000;

// What one process holds.
struct Holdings {
  int64_t memory_bytes = 0;
  size_t descriptors = 0;
};

Holdings HoldingsOf(pid_t process) {
  Holdings holdings;
  std::ifstream file(absl::StrCat("/proc/", process, "/status"));
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kilobytes = 0;
    if (words.empty() || words[0] != "VmRSS:" || !absl::SimpleAtoi(words.at(1), &kilobytes)) continue;
    holdings.memory_bytes = kilobytes * 1024;
  }
  const std::filesystem::directory_iterator all(absl::StrCat("/proc/", process, "/fd"));
  holdings.descriptors = static_cast<size_t>(std::distance(begin(all), end(all)));
  return holdings;
}

// What the whole job holds that none of the restarts has.
struct Snapshot {
  std::vector<Holdings> processes;  // the scheduler, n1 and n2
  int64_t state_bytes = 0;
  size_t series = 0;
};

class LongTest : public testing::Test {
 protected:
  static JobSpec Spec() {
    JobSpec spec;
    spec.keeps_state = true;
    spec.http = "127.0.0.1:0";
    spec.heartbeat_seconds = 0.25;
    spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
    spec.more = "aggregation: {op: sum}\npolicy: {lease_seconds: 5}\n";
    return spec;
  }

  LongTest() : job_(Spec()) {
    job_.StartAll();
    for (size_t node = 0; node < job_.nodes(); ++node) sessions_.push_back(OpenOne(node));
    std::vector<Ticket> inits;
    for (const auto& session : sessions_) inits.push_back(session->Init("w", values_));
    for (Ticket& init : inits) Require(init.Wait(kPatience), "init");
  }

  std::unique_ptr<Session> OpenOne(size_t node) const {
    std::unique_ptr<Session> session = job_.Open(node);
    // It sums numbers, and needs nothing that others have.
    Require(session->ShareState({}), "a worker without a state");
    return session;
  }
  void Rounds(const std::vector<size_t>& nodes, int count) {
    for (int round = 0; round < count; ++round) {
      std::vector<Ticket> tickets;
      for (const size_t node : nodes) {
        tickets.push_back(sessions_[node]->PushPull("w", values_, absl::MakeSpan(results_[node])));
      }
      for (Ticket& ticket : tickets) Require(ticket.Wait(kPatience), "a round");
    }
  }
  // The last node dies, the others go on, and it comes back.
  void Restart() {
    const size_t last = job_.nodes() - 1;
    JobFixture::Kill(job_.node(last));
    sessions_[last].reset();
    Rounds({0, 1}, 20);
    job_.StartNode(last);
    sessions_[last] = OpenOne(last);
    Ticket init = sessions_[last]->Init("w", values_);
    while (!init.Wait(absl::Milliseconds(1)).ok()) Rounds({0, 1}, 1);
    // It begins with a round that is open to it: the others push until it has a result.
    Ticket first = sessions_[last]->PushPull("w", values_, absl::MakeSpan(results_[last]));
    while (!first.Wait(absl::Milliseconds(1)).ok()) Rounds({0, 1}, 1);
  }
  Snapshot Take() {
    Snapshot snapshot;
    for (const pid_t process : {job_.scheduler().pid(), job_.node(0).pid(), job_.node(1).pid()}) {
      snapshot.processes.push_back(HoldingsOf(process));
    }
    for (const auto& file : std::filesystem::recursive_directory_iterator(job_.StatePath())) {
      if (file.is_regular_file()) snapshot.state_bytes += static_cast<int64_t>(file.file_size());
    }
    const std::string page = HttpGet(job_.MetricsPortOf("scheduler"), "/metrics");
    snapshot.series = static_cast<size_t>(std::count(page.begin(), page.end(), '\n'));
    return snapshot;
  }

  JobFixture job_;
  std::vector<std::unique_ptr<Session>> sessions_;
  const std::vector<float> values_ = std::vector<float>(kElements, 1.0f);
  std::vector<std::vector<float>> results_ = std::vector<std::vector<float>>(3, std::vector<float>(kElements));
};

TEST_F(LongTest, NothingGrowsWithTheAgeOfAJob) {
  Snapshot early;
  for (int restart = 1; restart <= kRestarts; ++restart) {
    Rounds({0, 1, 2}, kRoundsBetween);
    Restart();
    if (restart == kSettled) early = Take();
  }
  const Snapshot late = Take();
  for (size_t i = 0; i < late.processes.size(); ++i) {
    const Holdings& before = early.processes[i];
    const Holdings& now = late.processes[i];
    RecordProperty(absl::StrCat("grown_bytes_", i), absl::StrCat(now.memory_bytes - before.memory_bytes));
    if (!IsSanitized()) {
      EXPECT_LT(now.memory_bytes, before.memory_bytes + 4 * kMega) << "process " << i;
    }
    EXPECT_LE(now.descriptors, before.descriptors + 8) << "process " << i;
  }
  EXPECT_LE(late.state_bytes, 2 * early.state_bytes + kMega);
  EXPECT_LE(late.series, early.series + 10);
  RecordProperty("state_bytes", absl::StrCat(early.state_bytes, " ", late.state_bytes));
  RecordProperty("series", absl::StrCat(early.series, " ", late.series));
  job_.StopAll();
}

}  // namespace
}  // namespace banyan
