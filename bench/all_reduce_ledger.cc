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

void AllReduceLedger::Add(int64_t round, absl::Span<const float> sums) {
  for (size_t i = 0; i < owed_.size(); ++i) owed_[i] += SumOfValues(world_, round, static_cast<int64_t>(i));
  AddRest(sums);
}

void AllReduceLedger::AddRest(absl::Span<const float> sums) {
  BANYAN_CHECK(sums.size() == owed_.size());
  for (size_t i = 0; i < owed_.size(); ++i) owed_[i] -= sums[i];
  hash_ = XXH3_64bits_withSeed(sums.data(), sums.size() * sizeof(float), hash_);
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
