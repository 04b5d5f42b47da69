#include "compression/prune.h"

#include <cmath>
#include <vector>

#include "compression/testing/testing_samples.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(PruneTest, TheShareFollowsTheRatio) {
  EXPECT_EQ(PruningShare(0.5, 1), 0);
  EXPECT_EQ(PruningShare(0.5, 0), 0.5);
  EXPECT_DOUBLE_EQ(PruningShare(0.5, 0.2), 0.4);
  EXPECT_DOUBLE_EQ(PruningShare(0.25, 0.2), 0.2);
  EXPECT_EQ(PruningShare(0, 0.2), 0);
}

TEST(PruneTest, ZeroesTheGradientsOfTheSmallestWeights) {
  std::vector<float> gradients = {10, 20, 30, 40, 50};
  EXPECT_EQ(PruneSmallestWeights({-3, 0.5f, 1, -0.1f, 2}, 0.4, TopKSelection::kExact, 0, absl::MakeSpan(gradients)), 2);
  EXPECT_THAT(gradients, ElementsAre(10, 0, 30, 0, 50));
}

TEST(PruneTest, ZeroesWhateverTheGradientWas) {
  std::vector<float> gradients = {std::nanf(""), INFINITY, 3, 4};
  EXPECT_EQ(PruneSmallestWeights({0, 1, std::nanf(""), 5}, 0.5, TopKSelection::kExact, 0, absl::MakeSpan(gradients)),
            2);
  EXPECT_THAT(gradients, ElementsAre(0, 0, 3, 4));
}

TEST(PruneTest, EqualWeightsStay) {
  std::vector<float> gradients(8, 1.0f);
  EXPECT_EQ(PruneSmallestWeights(std::vector<float>(8, 0.0f), 0.5, TopKSelection::kExact, 0, absl::MakeSpan(gradients)),
            0);
  EXPECT_THAT(gradients, Each(1.0f));
}

TEST(PruneTest, ASmallShareOfFewIsNothing) {
  std::vector<float> gradients = {1, 2, 3};
  EXPECT_EQ(PruneSmallestWeights({1, 2, 3}, 0.3, TopKSelection::kExact, 0, absl::MakeSpan(gradients)), 0);
  EXPECT_EQ(PruneSmallestWeights({}, 0.5, TopKSelection::kExact, 0, {}), 0);
  EXPECT_THAT(gradients, ElementsAre(1, 2, 3));
}

TEST(PruneTest, MeetsTheShareAtEveryLength) {
  for (int length : {2, 15, 16, 17, 100, 1000, 65537}) {
    const std::vector<float> weights = GaussianSamples(length, 1);
    std::vector<float> gradients(length, 1.0f);
    const int64_t pruned = PruneSmallestWeights(weights, 0.495, TopKSelection::kExact, 0, absl::MakeSpan(gradients));
    EXPECT_EQ(pruned, static_cast<int64_t>(0.495 * length));
    EXPECT_EQ(std::count(gradients.begin(), gradients.end(), 0.0f), pruned);
  }
}

TEST(PruneTest, ASampleMeetsTheShareNearly) {
  const std::vector<float> weights = LaplaceSamples(100000, 1);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<float> gradients(weights.size(), 1.0f);
    const int64_t pruned = PruneSmallestWeights(weights, 0.4, TopKSelection::kSampled, seed, absl::MakeSpan(gradients));
    EXPECT_NEAR(static_cast<double>(pruned) / weights.size(), 0.4, 4 * 0.008);
    float largest_pruned = 0;
    float smallest_kept = INFINITY;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (gradients[i] == 0) largest_pruned = std::max(largest_pruned, std::abs(weights[i]));
      if (gradients[i] != 0) smallest_kept = std::min(smallest_kept, std::abs(weights[i]));
    }
    EXPECT_LT(largest_pruned, smallest_kept);
  }
}

}  // namespace
}  // namespace banyan
