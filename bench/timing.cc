#include "bench/timing.h"

#include <algorithm>
#include <cstddef>

#include "core/check.h"

namespace banyan {

double Median(std::vector<double> values) {
  BANYAN_CHECK(!values.empty());
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

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

}  // namespace banyan
