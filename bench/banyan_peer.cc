// A worker of `banyan bench wan`, which starts it: push-pulls of one tensor through the data centre's node. Or one of
// `banyan bench training`: steps of a training.

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/types/span.h"
#include "bench/all_reduce_rounds.h"
#include "bench/round_barrier.h"
#include "bench/training_steps.h"
#include "runtime/session/session.h"

namespace banyan {
namespace {

constexpr char kKey[] = "values";
constexpr char kLossy[] = "lossy";
constexpr char kMeans[] = "means";            // likewise, and of means
constexpr char kMajorities[] = "majorities";  // likewise, and of majorities
constexpr char kTraining[] = "training";
constexpr char kUsage[] =
    "usage: banyan_peer GATE RANK WORLD ELEMENTS unix:SOCKET [lossy | means | majorities | training METHOD STEPS "
    "SECONDS "
    "SYNCS]";

// In the memory that the worker shares with its node.
class SharedAllReduce : public AllReduce {
 public:
  explicit SharedAllReduce(Session& session) : session_(session) {}

  absl::StatusOr<absl::Span<float>> Input() override {
    sums_ = Ticket();
    // Jobs with low-bit rounds decide by it.
    TrainingHealthReport health;
    health.step = ++step_;
    health.loss = 1;
    if (absl::Status status = session_.ReportHealth(health).Wait(); !status.ok()) return status;
    absl::StatusOr<SharedGradient> gradient = session_.ShareGradient(kKey);
    if (!gradient.ok()) return gradient.status();
    return gradient_.emplace(*std::move(gradient)).values();
  }
  absl::StatusOr<absl::Span<const float>> Sum() override {
    sums_ = session_.PushPull(kKey, *std::move(gradient_));
    if (absl::Status status = sums_.Wait(); !status.ok()) return status;
    return sums_.shared_result();
  }

 private:
  Session& session_;
  std::optional<SharedGradient> gradient_;
  Ticket sums_;
  uint64_t step_ = 0;
};

// After rounds whose results may lack something: brings it, and checks that nothing is missing then. Prints the hash of
// all results.
absl::Status Settle(Session& session, absl::Span<const float> zeros, AllReduceLedger& ledger) {
  std::vector<float> rest(zeros.size());
  if (absl::Status status = session.Flush(kKey, zeros, rest).Wait(); !status.ok()) return status;
  ledger.AddRest(rest);
  std::cout << "results " << ledger.hash() << std::endl;
  return ledger.Check();
}

// What the peer's last argument says of results; nothing where each is to be right.
std::optional<AllReduceLedger::Results> ResultsOf(const std::vector<std::string>& arguments) {
  if (arguments.size() != 6) return std::nullopt;
  if (arguments[5] == kLossy) return AllReduceLedger::Results::kSums;
  if (arguments[5] == kMeans) return AllReduceLedger::Results::kMeans;
  if (arguments[5] == kMajorities) return AllReduceLedger::Results::kMajorities;
  return std::nullopt;
}

absl::Status RunPeer(const std::vector<std::string>& arguments) {
  AllReduceMember member;
  int64_t elements = 0;
  const std::optional<AllReduceLedger::Results> results = ResultsOf(arguments);
  const bool is_lossy = results.has_value();
  const bool trains = arguments.size() == 10 && arguments[5] == kTraining;
  if (arguments.size() != (is_lossy ? 6
                           : trains ? 10
                                    : 5) ||
      !absl::SimpleAtoi(arguments[1], &member.rank) || !absl::SimpleAtoi(arguments[2], &member.world) ||
      !absl::SimpleAtoi(arguments[3], &elements) || elements < 1) {
    return absl::InvalidArgumentError(kUsage);
  }
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Open(arguments[0], member.world);
  if (!barrier.ok()) return barrier.status();
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Open({.node = arguments[4]});
  if (!session.ok()) return session.status();
  if (trains) {
    const absl::StatusOr<TrainingSteps> steps = ParseTrainingSteps({arguments.begin() + 6, arguments.end()});
    return steps.ok() ? RunTrainingSteps(**barrier, member, **session, elements, *steps) : steps.status();
  }
  const std::vector<float> zeros(static_cast<size_t>(elements));
  if (absl::Status status = (*session)->Init(kKey, zeros).Wait(); !status.ok()) return status;
  std::optional<AllReduceLedger> ledger;
  if (is_lossy) ledger.emplace(member.world, elements, *results);
  std::optional<SharedAllReduce> all_reduce(**session);
  const absl::Status status = RunAllReduceRounds(**barrier, member, *all_reduce, is_lossy ? &*ledger : nullptr);
  if (!status.ok() || !is_lossy) return status;
  all_reduce.reset();
  return Settle(**session, zeros, *ledger);
}

}  // namespace
}  // namespace banyan

int main(int argc, char** argv) {
  return banyan::ExitCode("banyan_peer", banyan::RunPeer(std::vector<std::string>(argv + 1, argv + argc)));
}
