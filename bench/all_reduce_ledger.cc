#include "bench/all_reduce_ledger.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "bench/known_values.h"
#include "core/check.h"
#include "xxhash.h"

namespace banyan {
namespace {

// Of the largest sum of a round: what transforms round in many rounds. A chunk that is lost or counted twice is more.
constexpr double kRounding = 1e-3;

}  // namespace

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

}  // namespace banyan
