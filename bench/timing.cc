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

}  // namespace banyan
