// The keys of all nodes of a running training, changed one after the other: whoever is not being changed misses no
// round, and every sum says exactly whose gradients are in it. With BANYAN_LONG nine nodes, else three.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "access/key_file.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

constexpr char kKey[] = "w";
constexpr size_t kElements = 5000;

JobSpec Spec() {
  JobSpec spec;
  spec.nodes = std::getenv("BANYAN_LONG") == nullptr ? 3 : 9;
  spec.has_keys = true;
  spec.keeps_state = true;
  spec.heartbeat_seconds = 0.25;
  spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
  spec.more = "aggregation: {op: sum}\n";
  return spec;
}

// The training process of each node: it pushes a power of two, so that a sum can be read off, round after round.
class KeyRotationTest : public testing::Test {
 protected:
  KeyRotationTest() : job_(Spec()), all_((uint32_t{1} << job_.nodes()) - 1), full_rounds_(job_.nodes()) {
    job_.StartAll();
  }
  ~KeyRotationTest() override { EndTraining(); }

  void BeginTraining() {
    for (size_t node = 0; node < job_.nodes(); ++node) workers_.emplace_back([this, node] { Train(node); });
    for (size_t node = 0; node < job_.nodes(); ++node) WaitForFullRound(node);
  }
  void EndTraining() {
    ends_ = true;
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
  }

  void WaitForFullRound(size_t node) {
    const uint64_t before = full_rounds_[node];
    const absl::Time deadline = absl::Now() + kPatience;
    while (full_rounds_[node] == before && absl::Now() < deadline) absl::SleepFor(absl::Milliseconds(2));
    EXPECT_GT(full_rounds_[node], before) << JobFixture::NameOf(node) << " is in no round with all others";
  }

  // As docs/security.md has it: the new key listed, then used.
  void Rotate(size_t node) {
    const std::string name = JobFixture::NameOf(node);
    KeyFile file = Require(ReadKeyFile(job_.KeyPathOf(name)), "the old key");
    const std::string old_key = file.keys.public_key;
    file.keys = MakeCurveKeys();
    const std::string path = job_.KeyPathOf(absl::StrCat(name, "-new"));
    Require(WriteKeyFile(path, file, name), "the new key");
    std::stringstream overlay;
    overlay << std::ifstream(job_.OverlayPath()).rdbuf();
    std::ofstream(job_.OverlayPath()) << absl::StrReplaceAll(overlay.str(), {{old_key, file.keys.public_key}});
    const std::unique_ptr<ChildProcess> command =
        job_.StartCommand("reconfigure", {"reconfigure", job_.OverlayPath(), "--scheduler", job_.scheduler_address(),
                                          "--key", job_.KeyPathOf("operator"), "--timeout", "60"});
    EXPECT_TRUE(command->WaitUntilEnded(kPatience));
    EXPECT_EQ(command->failure(), "") << job_.LogOf("reconfigure");
    rotating_ = uint32_t{1} << node;
    job_.node(node).Signal(SIGTERM);
    EXPECT_TRUE(job_.node(node).WaitUntilEnded(kPatience));
    ASSERT_EQ(std::rename(path.c_str(), job_.KeyPathOf(name).c_str()), 0);
    job_.StartNode(node);
    WaitForFullRound(node);
    rotating_ = 0;
  }

  JobFixture job_;
  const uint32_t all_;  // nodes, as the sum of all gradients
  std::vector<std::atomic<uint64_t>> full_rounds_;

 private:
  void Train(size_t node) {
    while (!ends_) {
      SessionOptions options;
      options.node = absl::StrCat("unix:", job_.SocketPathOf(node));
      options.open_timeout = kPatience;
      // Not open while its node ends.
      const absl::StatusOr<std::unique_ptr<Session>> session = Session::Open(options);
      if (!session.ok()) continue;
      // Its numbers need nothing of others.
      if (!(*session)->ShareState({}).ok()) continue;
      const absl::Status known = (*session)->Init(kKey, std::vector<float>(kElements, 0.5f)).Wait(kPatience);
      if (known.ok()) TrainAt(**session, node);
    }
  }

  // Whether a sum is one of distinct gradients, all but perhaps those of `excusable` nodes. Of a node that goes, some
  // chunks of its last round may have the gradient and others not.
  bool HasAll(float sum, uint32_t excusable) const {
    const auto nodes = static_cast<uint32_t>(sum);
    return static_cast<float>(nodes & all_) == sum && (nodes | excusable) == (all_ | excusable);
  }

  // Until the end, or the end of the node whose key is changed.
  void TrainAt(Session& session, size_t node) {
    const uint32_t own = uint32_t{1} << node;
    std::vector<float> values(kElements);
    while (true) {
      std::fill(values.begin(), values.end(), static_cast<float>(own));
      const uint32_t excused = rotating_;
      const absl::Status status = session.PushPull(kKey, values, absl::MakeSpan(values)).Wait(kPatience);
      if (!status.ok()) {
        EXPECT_TRUE(ends_ || ((rotating_ | excused) & own) != 0) << JobFixture::NameOf(node) << ": " << status;
        return;
      }
      // Whoever waits for a worker that has ended gets the sum of the others.
      if (ends_) return;
      const uint32_t excusable = excused | rotating_;
      // Who has just come back may be in another round than the others at first.
      if ((excusable & own) == 0) {
        EXPECT_TRUE(std::all_of(values.begin(), values.end(), [&](float value) { return HasAll(value, excusable); }))
            << JobFixture::NameOf(node) << " has " << values.front() << " ... " << values.back() << ", without excuse";
      }
      if (std::all_of(values.begin(), values.end(), [&](float value) { return HasAll(value, 0); }))
        ++full_rounds_[node];
    }
  }

  std::atomic<uint32_t> rotating_ = 0;
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> workers_;
};

TEST_F(KeyRotationTest, NoRoundIsLostAndNoSumIsWrong) {
  BeginTraining();
  for (size_t node = 0; node < job_.nodes() && !HasFatalFailure(); ++node) {
    SCOPED_TRACE(JobFixture::NameOf(node));
    Rotate(node);
    for (size_t other = 0; other < job_.nodes(); ++other) WaitForFullRound(other);
  }
  RecordProperty("rounds", static_cast<int>(full_rounds_[0]));
  EndTraining();
  job_.StopAll();
}

}  // namespace
}  // namespace banyan
