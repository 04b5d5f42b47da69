#include "sim/runs/adaptation.h"

#include <algorithm>
#include <numeric>

#include "core/check.h"

namespace banyan {
namespace {

constexpr size_t kFirstRounds = 6;

double Sum(const std::vector<double>& seconds, size_t count) {
  return std::accumulate(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

}  // namespace

std::optional<size_t> FirstNear(const std::vector<double>& seconds, double usual) {
  constexpr size_t kInARow = 3;
  for (size_t first = 0; first < seconds.size(); ++first) {
    const size_t end = std::min(seconds.size(), first + kInARow);
    const bool are_near = std::all_of(seconds.begin() + static_cast<std::ptrdiff_t>(first),
                                      seconds.begin() + static_cast<std::ptrdiff_t>(end),
                                      [usual](double one) { return one <= kNear * usual; });
    if (are_near) return first;
  }
  return std::nullopt;
}

Adaptation AdaptationOf(const std::vector<double>& seconds, double informed_seconds) {
  BANYAN_CHECK(!seconds.empty());
  Adaptation adaptation;
  adaptation.near_from = FirstNear(seconds, informed_seconds);
  adaptation.near_after_seconds = Sum(seconds, adaptation.near_from.value_or(0));
  adaptation.first_rounds = std::min(seconds.size(), kFirstRounds);
  adaptation.first_ratio =
      Sum(seconds, adaptation.first_rounds) / (static_cast<double>(adaptation.first_rounds) * informed_seconds);
  std::vector<double> later(seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  const auto middle = later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2);
  std::nth_element(later.begin(), middle, later.end());
  adaptation.later_ratio = *middle / informed_seconds;
  return adaptation;
}

}  // namespace banyan
