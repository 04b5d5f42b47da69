// Jobs with a server-side optimizer whose nodes die and come back while training goes on: a node that joins gets the
// parameters and the optimizer's moments from the others, and from then on all have the same bits.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/digest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/session/session.h"
#include "tests/job_fixture.h"

namespace banyan {
namespace {

const std::map<std::string, size_t> kKeys = {{"big", 150'000}, {"bias", 10}, {"middle", 7'000}};

uint64_t DigestOf(const std::vector<float>& values) {
  return DigestBytes({reinterpret_cast<const uint8_t*>(values.data()), values.size() * sizeof(float)}, 0);
}

// What all trainers have got. Thread-safe.
class Parameters {
 public:
  // Takes the parameters of a key after a round, as one node has them.
  void Add(size_t node, const std::string& key, uint64_t round, const std::vector<float>& values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [first, is_first] = digests_.try_emplace({key, round}, DigestOf(values));
    EXPECT_EQ(first->second, DigestOf(values)) << key << " after round " << round << " at node " << node;
    known_[key].insert(DigestOf(values));
    if (!is_first) ++compared_;
    ++results_[node];
    has_changed_.notify_all();
  }
  // A late Init gives what others have, or will have, after some round.
  void AddOfInit(const std::string& key, const std::vector<float>& values) {
    const std::lock_guard<std::mutex> lock(mutex_);
    of_inits_.emplace_back(key, DigestOf(values));
  }
  // Waits until the node has got so many results more.
  void WaitForMore(size_t node, int results) {
    std::unique_lock<std::mutex> lock(mutex_);
    const int enough = results_[node] + results;
    const auto patience = absl::ToChronoNanoseconds(kPatience);
    ASSERT_TRUE(has_changed_.wait_for(lock, patience, [&] { return results_[node] >= enough; }))
        << "node " << node << " has " << results_[node] << " results";
  }
  // REQUIRE: all trainers have ended.
  void ExpectKnownInits() const {
    for (const auto& [key, digest] : of_inits_) EXPECT_TRUE(known_.at(key).count(digest) > 0) << key;
  }
  size_t inits() const { return of_inits_.size(); }
  int compared() const { return compared_; }

 private:
  mutable std::mutex mutex_;
  std::condition_variable has_changed_;
  std::map<std::pair<std::string, uint64_t>, uint64_t> digests_;
  std::map<std::string, std::set<uint64_t>> known_;
  std::vector<std::pair<std::string, uint64_t>> of_inits_;
  std::map<size_t, int> results_;
  int compared_ = 0;
};

class OptimizerJobTest : public testing::TestWithParam<std::string> {
 protected:
  static JobSpec Spec() {
    JobSpec spec;
    spec.keeps_state = true;
    spec.heartbeat_seconds = 0.25;
    spec.lost_after_seconds = IsSanitized() ? 5 : 2.5;
    spec.more = absl::StrCat("aggregation: {op: ", GetParam(), ", learning_rate: 0.01}\n");
    return spec;
  }
  OptimizerJobTest() : job_(Spec()), trainers_(job_.nodes()) { job_.StartAll(); }
  ~OptimizerJobTest() override { StopTraining(); }

  void StartTrainer(size_t node, bool is_late) {
    trainers_[node] = std::thread([this, node, is_late] { Train(node, is_late); });
  }
  void KillNode(size_t node) {
    JobFixture::Kill(job_.node(node));
    trainers_[node].join();
  }
  void RestartNode(size_t node) {
    job_.StartNode(node);
    StartTrainer(node, /*is_late=*/true);
  }
  void StopTraining() {
    stops_ = true;
    for (std::thread& trainer : trainers_) {
      if (trainer.joinable()) trainer.join();
    }
  }

  using Values = std::map<std::string, std::vector<float>>;

  // Trains until all are to stop, or the node has gone. A program shares the number of its step alone, so that it
  // begins with the same step in all keys; parameters are the nodes'.
  void Train(size_t node, bool is_late) {
    uint64_t step = 0;
    const std::unique_ptr<Session> session = job_.Open(node);
    Values values;
    for (const auto& [key, elements] : kKeys) {
      values[key].assign(elements, 0.25f);
      Require(session->Init(key, values[key], values[key]).Wait(kPatience), "init");
      if (is_late) parameters_.AddOfInit(key, values[key]);
    }
    Require(session->ShareState({{"step", {reinterpret_cast<uint8_t*>(&step), sizeof(step)}}}), "share");
    if (is_late && !Synchronise(*session, node, values)) return;
    while (!stops_ && TrainRound(*session, node, ++step, values)) {
      if (!session->PassBoundary(step, kPatience).ok()) return;
    }
  }
  // Begins where the others are. False when they have gone.
  bool Synchronise(Session& session, size_t node, Values& values) {
    absl::StatusOr<uint64_t> step;
    do {
      step = session.FetchState(kPatience);
    } while (absl::IsUnavailable(step.status()) && !stops_);
    if (!step.ok()) return false;
    for (auto& [key, parameters] : values) {
      if (!session.Pull(key, absl::MakeSpan(parameters)).Wait(kPatience).ok()) return false;
      parameters_.Add(node, key, *step, parameters);
    }
    return true;
  }
  bool TrainRound(Session& session, size_t node, uint64_t step, Values& values) {
    std::vector<Ticket> tickets;
    for (auto& [key, parameters] : values) {
      // A gradient that depends on all that was before.
      std::vector<float> gradient(parameters.size());
      for (size_t i = 0; i < gradient.size(); ++i) {
        gradient[i] = parameters[i] * 0.5f + static_cast<float>((i + node) % 7) - 3;
      }
      tickets.push_back(session.PushPull(key, gradient, absl::MakeSpan(parameters)));
    }
    auto ticket = tickets.begin();
    for (auto& [key, parameters] : values) {
      if (!ticket->Wait(kPatience).ok()) return false;
      parameters_.Add(node, key, step, parameters);
      ++ticket;
    }
    return true;
  }

  Parameters parameters_;
  JobFixture job_;
  std::vector<std::thread> trainers_;
  std::atomic<bool> stops_ = false;
};

TEST_P(OptimizerJobTest, ANodeThatIsRestartedGoesOnWithWhatTheOthersHave) {
  for (const size_t node : {0, 1, 2}) StartTrainer(node, /*is_late=*/false);
  parameters_.WaitForMore(1, 30);
  KillNode(1);
  parameters_.WaitForMore(0, 30);
  RestartNode(1);
  parameters_.WaitForMore(1, 30);
  // Those who had all of it from the start die in turn: the one that came later has it, too.
  KillNode(0);
  KillNode(2);
  parameters_.WaitForMore(1, 30);
  RestartNode(0);
  RestartNode(2);
  parameters_.WaitForMore(0, 30);
  parameters_.WaitForMore(2, 30);
  StopTraining();
  parameters_.ExpectKnownInits();
  EXPECT_EQ(parameters_.inits(), 3 * kKeys.size());
  EXPECT_GT(parameters_.compared(), 150);
  job_.StopAll();
}

INSTANTIATE_TEST_SUITE_P(Ops, OptimizerJobTest, testing::Values("momentum", "adam"));

}  // namespace
}  // namespace banyan
