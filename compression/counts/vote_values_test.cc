#include "compression/counts/vote_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "compression/testing/testing_samples.h"

namespace banyan {
namespace {

constexpr int64_t kSizes[] = {0, 1, 63, 512, 513, 1500, 5003};

// Planes of some numbers of so many bits, at an odd address.
class Planes {
 public:
  Planes(int64_t elements, int width, uint64_t seed) : bytes_(1), stride_(PlaneWords(elements) * 8 + 3) {
    std::vector<uint64_t> plane(PlaneWords(elements));
    for (int i = 0; i < width; ++i) {
      PackAbove(GaussianSamples(elements, seed + i), 0, plane.data());
      numbers_.emplace_back(elements);
      AddWhereSet(plane.data(), std::ldexp(1.0f, i), absl::MakeSpan(numbers_.back()), KernelPath::kPortable);
      bytes_.resize(bytes_.size() + stride_);
      // A plane of no elements has no address.
      if (!plane.empty()) std::memcpy(bytes_.data() + 1 + i * stride_, plane.data(), plane.size() * 8);
    }
  }

  PlaneBytes view() const { return {bytes_.data() + 1, stride_, static_cast<int>(numbers_.size())}; }
  const uint8_t* first() const { return bytes_.data() + 1; }
  float At(int64_t i) const {
    float sum = 0;
    for (const std::vector<float>& plane : numbers_) sum += plane[i];
    return sum;
  }

 private:
  std::vector<uint8_t> bytes_;
  int64_t stride_;
  std::vector<std::vector<float>> numbers_;
};

TEST(VoteValuesTest, LeadsAreWholeNumbersOfStepsOnEveryPath) {
  constexpr float kStep = 0.3f;
  for (const int64_t elements : kSizes) {
    for (const int width : {1, 2, 3, 4, 5, 20}) {
      const Planes votes_for(elements, width, 1), votes_against(elements, width, 50);
      const int64_t weight = (int64_t{1} << width) - 1;
      for (const KernelPath path : KernelPaths()) {
        std::vector<float> values(elements, 7);
        WriteLeads({votes_for.view(), {}, false, weight}, kStep, absl::MakeSpan(values), path);
        for (int64_t i = 0; i < elements; ++i) {
          ASSERT_EQ(values[i], (2 * votes_for.At(i) - static_cast<float>(weight)) * kStep) << i;
        }
        WriteLeads({votes_for.view(), votes_against.view(), true, weight}, kStep, absl::MakeSpan(values), path);
        for (int64_t i = 0; i < elements; ++i) {
          ASSERT_EQ(values[i], (votes_for.At(i) - votes_against.At(i)) * kStep) << i;
        }
      }
    }
  }
}

TEST(VoteValuesTest, NobodysVotesLeadNowhere) {
  std::vector<float> values(3, 7);
  WriteLeads({{}, {}, false, 0}, 2, absl::MakeSpan(values));
  EXPECT_EQ(values, std::vector<float>(3, 0));
}

TEST(VoteValuesTest, DirectionsAreSignsOfTheScaleOnEveryPath) {
  for (const int64_t elements : kSizes) {
    const std::vector<float> votes = GaussianSamples(elements, 3);
    std::vector<uint64_t> above(PlaneWords(elements)), below(PlaneWords(elements));
    PackAbove(votes, 0.4f, above.data());
    PackBelow(votes, 0.4f, below.data());
    const auto* const up = reinterpret_cast<const uint8_t*>(above.data());
    const auto* const down = reinterpret_cast<const uint8_t*>(below.data());
    for (const KernelPath path : KernelPaths()) {
      std::vector<float> values(elements, 7);
      WriteDirections(up, nullptr, 1.5f, absl::MakeSpan(values), path);
      for (int64_t i = 0; i < elements; ++i) ASSERT_EQ(values[i], votes[i] > 0.4f ? 1.5f : -1.5f) << i;
      WriteDirections(up, down, 1.5f, absl::MakeSpan(values), path);
      for (int64_t i = 0; i < elements; ++i) {
        ASSERT_EQ(values[i], votes[i] > 0.4f ? 1.5f : votes[i] < -0.4f ? -1.5f : 0.0f) << i;
      }
      WriteDirections(up, down, std::nanf(""), absl::MakeSpan(values), path);
      for (const float value : values) ASSERT_TRUE(std::isnan(value));
    }
  }
}

TEST(VoteValuesTest, WhatIsLeftIsWhatWasOfferedLessTheDirectionOnEveryPath) {
  for (const int64_t elements : kSizes) {
    std::vector<float> gradient = GaussianSamples(elements, 5);
    const std::vector<float> residual = GaussianSamples(elements, 6);
    for (int64_t i = 0; i < elements; i += 100) gradient[i] = std::numeric_limits<float>::infinity();
    for (int64_t i = 1; i < elements; i += 100) gradient[i] = std::nanf("");
    std::vector<uint64_t> above(PlaneWords(elements)), below(PlaneWords(elements));
    PackAbove(residual, 0.4f, above.data());
    PackBelow(residual, 0.4f, below.data());
    const auto* const up = reinterpret_cast<const uint8_t*>(above.data());
    const auto* const down = reinterpret_cast<const uint8_t*>(below.data());
    for (const uint8_t* below_plane : {static_cast<const uint8_t*>(nullptr), down}) {
      std::vector<float> direction(elements);
      WriteDirections(up, below_plane, 0.7f, absl::MakeSpan(direction), KernelPath::kPortable);
      for (const KernelPath path : KernelPaths()) {
        std::vector<float> alone = gradient, both(elements);
        LeaveAfterDirections(up, below_plane, 0.7f, {alone, {}}, absl::MakeSpan(alone), path);
        LeaveAfterDirections(up, below_plane, 0.7f, {gradient, residual}, absl::MakeSpan(both), path);
        for (int64_t i = 0; i < elements; ++i) {
          ASSERT_EQ(alone[i], i % 100 < 2 ? 0 : gradient[i] - direction[i]) << i;
          ASSERT_EQ(both[i], i % 100 < 2 ? 0 : gradient[i] + residual[i] - direction[i]) << i;
        }
      }
    }
  }
}

TEST(VoteValuesTest, AScaleThatIsNotFiniteLeavesNothing) {
  const std::vector<uint64_t> plane(1);
  std::vector<float> left(5, 7);
  LeaveAfterDirections(reinterpret_cast<const uint8_t*>(plane.data()), nullptr, std::nanf(""),
                       {std::vector<float>(5, 1), {}}, absl::MakeSpan(left));
  EXPECT_EQ(left, std::vector<float>(5, 0));
}

}  // namespace
}  // namespace banyan
