#include "bench/all_reduce_rounds.h"

#include <cmath>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/check.h"
#include "posix/steady_clock.h"
#include "xxhash.h"

namespace banyan {
namespace {

constexpr int64_t kPeriod = 7;  // of the values' pattern

int64_t Pattern(int64_t round, int64_t index) { return (index + round) % kPeriod + 1; }

// Of the largest sum of a round: what transforms round in many rounds. A chunk that is lost or counted twice is more.
constexpr double kRounding = 1e-3;

// Between rounds the others may still be under way, on a slow network.
constexpr absl::Duration kPatience = absl::Minutes(30);

}  // namespace

float OwnValue(int rank, int64_t round, int64_t index) {
  return static_cast<float>((rank + 1) * Pattern(round, index));
}

float SumOfValues(int world, int64_t round, int64_t index) {
  return static_cast<float>(world * (world + 1) / 2 * Pattern(round, index));
}

float LargestSum(int world) { return static_cast<float>(world * (world + 1) / 2 * kPeriod); }

double MeanMagnitudeOfValues(int world, int64_t round, int64_t elements) {
  int64_t sum = 0;
  for (int64_t i = 0; i < elements; ++i) sum += Pattern(round, i);
  return (world + 1) / 2.0 * static_cast<double>(sum) / static_cast<double>(elements);
}

void FillValues(int rank, int64_t round, absl::Span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) values[i] = OwnValue(rank, round, static_cast<int64_t>(i));
}

bool AllReduceLedger::IsOfMajorities(int64_t round, absl::Span<const float> results) const {
  // Values of neighbours differ, as means of floats show.
  return results_ == Results::kMajorities && results.size() > 1 && results[0] == results[1] &&
         SumOfValues(world_, round, 0) != SumOfValues(world_, round, 1);
}

void AllReduceLedger::Add(int64_t round, absl::Span<const float> results) {
  if (IsOfMajorities(round, results)) {
    // All values are above zero, and so is each majority.
    const auto elements = static_cast<int64_t>(owed_.size());
    const auto sum = static_cast<float>(world_ * MeanMagnitudeOfValues(world_, round, elements));
    for (float& owed : owed_) owed += sum;
    return AddRest(results);
  }
  for (size_t i = 0; i < owed_.size(); ++i) owed_[i] += SumOfValues(world_, round, static_cast<int64_t>(i));
  AddRest(results);
}

void AllReduceLedger::AddRest(absl::Span<const float> results) {
  BANYAN_CHECK(results.size() == owed_.size());
  for (size_t i = 0; i < owed_.size(); ++i) owed_[i] -= values_per_result_ * results[i];
  hash_ = XXH3_64bits_withSeed(results.data(), results.size() * sizeof(float), hash_);
}

absl::Status AllReduceLedger::Check() const {
  const double allowed = kRounding * LargestSum(world_);
  for (size_t i = 0; i < owed_.size(); ++i) {
    // Not-a-numbers are beyond it too.
    if (std::abs(owed_[i]) <= allowed) continue;
    return absl::DataLossError(
        absl::StrCat("at ", i, " the results lack ", owed_[i], " of what was pushed, at most ", allowed, " expected"));
  }
  return absl::OkStatus();
}

absl::Status CheckSums(int world, int64_t round, absl::Span<const float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const float expected = SumOfValues(world, round, static_cast<int64_t>(i));
    if (values[i] == expected) continue;
    return absl::DataLossError(
        absl::StrCat("round ", round, ": expected the sum ", expected, " at ", i, ", got ", values[i]));
  }
  return absl::OkStatus();
}

absl::Status RunAllReduceRounds(RoundBarrier& barrier, const AllReduceMember& member, AllReduce& all_reduce,
                                AllReduceLedger* ledger) {
  for (int64_t round = 1;; ++round) {
    const absl::StatusOr<absl::Span<float>> input = all_reduce.Input();
    if (!input.ok()) return input.status();
    FillValues(member.rank, round, *input);
    barrier.Arrive(member.rank, round);
    if (!barrier.AwaitOpening(round, kPatience)) return absl::OkStatus();
    RoundSpan span;
    span.start_ns = SteadyNow().nanoseconds();
    const absl::StatusOr<absl::Span<const float>> sums = all_reduce.Sum();
    span.end_ns = SteadyNow().nanoseconds();
    if (!sums.ok()) return sums.status();
    barrier.End(member.rank, round, span);
    if (!barrier.AwaitAllEnded(round, kPatience)) return absl::OkStatus();
    if (ledger != nullptr) {
      ledger->Add(round, *sums);
    } else if (absl::Status status = CheckSums(member.world, round, *sums); !status.ok()) {
      return status;
    }
  }
}

int ExitCode(absl::string_view program, const absl::Status& status) {
  if (status.ok()) return 0;
  std::cerr << program << ": " << status.message() << std::endl;
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

}  // namespace banyan
