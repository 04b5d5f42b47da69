#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "compression/counts/count_planes.h"
#include "compression/counts/vote_values.h"
#include "compression/testing/testing_samples.h"

namespace banyan {
namespace {

// The bits of a plane in the order of the values.
std::vector<float> Unpacked(const std::vector<uint64_t>& plane, int64_t elements) {
  std::vector<float> values(elements);
  AddWhereSet(plane.data(), 1, absl::MakeSpan(values), KernelPath::kPortable);
  return values;
}

TEST(VotePackingTest, BitsAreThoseOfComparisonsOnEveryPath) {
  for (int64_t elements : {0, 1, 63, 64, 511, 512, 513, 5000}) {
    std::vector<float> values = GaussianSamples(elements, 3);
    for (int64_t i = 0; i < elements; i += 7) values[i] = i % 2 == 0 ? 0.0f : -0.0f;
    if (elements > 600) values[600] = std::nanf("");
    for (float threshold : {0.0f, 0.6f}) {
      for (KernelPath path : KernelPaths()) {
        std::vector<uint64_t> above(PlaneWords(elements), ~uint64_t{0}), below(PlaneWords(elements), ~uint64_t{0});
        PackAbove(values, threshold, above.data(), path);
        PackBelow(values, threshold, below.data(), path);
        ASSERT_TRUE(elements == 0 || IsPlaneEndClear(elements, above.data()));
        const std::vector<float> is_above = Unpacked(above, elements), is_below = Unpacked(below, elements);
        for (int64_t i = 0; i < elements; ++i) {
          ASSERT_EQ(is_above[i], values[i] > threshold ? 1 : 0) << i << " of " << elements;
          ASSERT_EQ(is_below[i], values[i] < -threshold ? 1 : 0) << i << " of " << elements;
        }
      }
    }
  }
}

TEST(VotePackingTest, AddsOnEveryPathAlike) {
  const std::vector<float> values = GaussianSamples(5003, 4);
  std::vector<uint64_t> plane(PlaneWords(5003));
  PackAbove(values, 0.3f, plane.data());
  for (KernelPath path : KernelPaths()) {
    std::vector<float> sums = values;
    AddWhereSet(plane.data(), 0.125f, absl::MakeSpan(sums), path);
    for (size_t i = 0; i < sums.size(); ++i) ASSERT_EQ(sums[i], values[i] > 0.3f ? values[i] + 0.125f : values[i]);
  }
}

}  // namespace
}  // namespace banyan
