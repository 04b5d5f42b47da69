// A node's memory stays within three times the model, the workers' segments and the configured queues.
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"
#include "yaml-cpp/yaml.h"

namespace banyan {
namespace {

constexpr int64_t kMega = 1000 * 1000;
constexpr int64_t kModelBytes = 64 * kMega;
constexpr int kTensors = 4;
constexpr size_t kElements = kModelBytes / kTensors / sizeof(float);
constexpr int kRounds = 4;
// With one round in flight a worker's tensor has two slots for gradients and one for the result.
constexpr int64_t kSegmentBytes = 3 * kModelBytes;
constexpr int64_t kEarlyBytes = 8 * kMega;
constexpr int64_t kRelayBytes = 8 * kMega;
// Of both neighbours, in both directions, and once more in the sockets' own buffers.
constexpr int64_t kWindowBytes = 4 * kMega;
constexpr int64_t kQueueBytes = kEarlyBytes + kRelayBytes + 2 * 2 * 2 * kWindowBytes;

// The largest amount of memory that the process has had so far.
int64_t PeakBytes(pid_t process) {
  std::ifstream file(absl::StrCat("/proc/", process, "/status"));
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("VmHWM:", 0) != 0) continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    int64_t kilobytes = 0;
    EXPECT_TRUE(absl::SimpleAtoi(words.at(1), &kilobytes));
    return kilobytes * 1024;
  }
  ADD_FAILURE() << "process " << process << " has no peak of memory";
  return 0;
}

// What each node says that it keeps, by itself and without its workers' segments.
void ExpectReportsWithinBounds(JobFixture& job) {
  const YAML::Node status = YAML::Load(job.StatusJson());
  for (const YAML::Node& node : status["nodes"]) {
    int64_t size_bytes = 0;
    for (const auto& row : node["memory"]) {
      if (row.first.as<std::string>() != "worker segments") size_bytes += row.second.as<int64_t>();
    }
    EXPECT_LE(size_bytes, 3 * kModelBytes + kQueueBytes) << node["name"].as<std::string>() << "\n" << node["memory"];
  }
}

TEST(MemoryTest, ANodeStaysWithinThreeTimesTheModel) {
  JobSpec spec;
  spec.more = absl::StrCat("transport: {early_bytes: ", kEarlyBytes, ", relay_bytes: ", kRelayBytes,
                           ", window_bytes: ", kWindowBytes, "}\n");
  JobFixture job(spec);
  job.StartAll();
  const std::vector<std::unique_ptr<Session>> sessions = job.OpenAll();
  std::vector<int64_t> before_bytes;
  for (size_t node = 0; node < job.nodes(); ++node) before_bytes.push_back(PeakBytes(job.node(node).pid()));

  // All tensors of a worker are alike, so that they share its vectors.
  std::vector<std::vector<float>> gradients;
  std::vector<std::vector<float>> results(sessions.size(), std::vector<float>(kElements));
  for (size_t i = 0; i < sessions.size(); ++i) gradients.emplace_back(kElements, static_cast<float>(3 * i));
  const auto for_all = [&](const auto& call) {
    std::vector<Ticket> tickets;
    for (int tensor = 0; tensor < kTensors; ++tensor) {
      for (size_t i = 0; i < sessions.size(); ++i) tickets.push_back(call(i, absl::StrCat("w", tensor)));
    }
    for (Ticket& ticket : tickets) Require(ticket.Wait(kPatience), "a round");
  };
  for_all([&](size_t i, const std::string& key) { return sessions[i]->Init(key, gradients[i]); });
  for (int round = 1; round <= kRounds; ++round) {
    for_all([&](size_t i, const std::string& key) {
      return sessions[i]->PushPull(key, gradients[i], absl::MakeSpan(results[i]));
    });
    ExpectReportsWithinBounds(job);
    for (const std::vector<float>& result : results) ASSERT_EQ(result, std::vector<float>(kElements, 3.0f));
  }
  for (size_t node = 0; node < job.nodes(); ++node) {
    const int64_t grown_bytes = PeakBytes(job.node(node).pid()) - before_bytes[node];
    RecordProperty(absl::StrCat("grown_bytes_n", node + 1), absl::StrCat(grown_bytes));
    if (IsSanitized()) continue;
    EXPECT_LE(grown_bytes, 3 * kModelBytes + kSegmentBytes + kQueueBytes);
  }
  job.StopAll();
}

}  // namespace
}  // namespace banyan
