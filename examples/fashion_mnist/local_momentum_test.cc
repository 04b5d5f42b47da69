#include "examples/fashion_mnist/local_momentum.h"

#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

std::vector<float> After(LocalMomentum& momentum, size_t tensor, std::vector<float> gradient) {
  momentum.AddTo(tensor, absl::MakeSpan(gradient));
  return gradient;
}

TEST(LocalMomentumTest, AddsUpWithFallingWeights) {
  LocalMomentum momentum(0.5);
  EXPECT_EQ(After(momentum, 1, {8, -4}), (std::vector<float>{8, -4}));
  EXPECT_EQ(After(momentum, 1, {0, 2}), (std::vector<float>{4, 0}));
  EXPECT_EQ(After(momentum, 1, {1, 1}), (std::vector<float>{3, 1}));
}

TEST(LocalMomentumTest, EachTensorHasItsOwn) {
  LocalMomentum momentum(0.5);
  After(momentum, 2, {8});
  EXPECT_EQ(After(momentum, 0, {1, 2, 3}), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(After(momentum, 2, {0}), std::vector<float>{4});
}

TEST(LocalMomentumTest, ZeroChangesNothing) {
  LocalMomentum momentum(0);
  After(momentum, 0, {8});
  EXPECT_EQ(After(momentum, 0, {1}), std::vector<float>{1});
}

}  // namespace
}  // namespace banyan
