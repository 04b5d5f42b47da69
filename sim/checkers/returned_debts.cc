#include "sim/checkers/returned_debts.h"

#include <algorithm>
#include <cmath>

namespace banyan {
namespace {

// Several roundings on each of several nodes in each round.
constexpr double kDebtTolerance = 1e-5;

}  // namespace

std::optional<ReturnedDebts::Miss> ReturnedDebts::Book(size_t tensor, Round round, absl::Span<const float> pushed,
                                                       absl::Span<const float> returned, bool is_flush) {
  const auto [entry, is_new] = debts_.try_emplace(tensor);
  Debt& debt = entry->second;
  if (is_new) debt = {{}, 0, BeginningOf(tensor, round)};
  debt.owed.resize(returned.size());
  double largest = 0;
  for (size_t i = 0; i < returned.size(); ++i) {
    debt.owed[i] += double{pushed[i]} - returned[i];
    largest = std::max({largest, std::abs(double{pushed[i]}), std::abs(double{returned[i]})});
  }
  debt.magnitude += largest;
  if (!is_flush) return std::nullopt;
  const Debt settled = std::move(debt);
  debts_.erase(entry);
  if (doubtful_.erase(tensor) > 0 || settled.begun.changes != changes_) return std::nullopt;
  if (!membership_->HasSameMembersSince(settled.begun.epoch)) return std::nullopt;
  for (size_t i = 0; i < settled.owed.size(); ++i) {
    if (std::abs(settled.owed[i]) > kDebtTolerance * settled.magnitude) return Miss{i, settled.owed[i]};
  }
  return std::nullopt;
}

}  // namespace banyan
