#include "sim/training/contributor_fields.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Counts = ContributorFields::Counts;

constexpr size_t kTensor = 1;
constexpr size_t kElements = 40;

std::vector<WorkerName> Workers(uint32_t count) {
  std::vector<WorkerName> workers;
  for (uint32_t i = 0; i < count; ++i) workers.push_back({NodeId(i / 2 + 1), WorkerId(i % 2)});
  return workers;
}

// Each worker as often as `counts` says, in the order of float32 additions.
std::vector<float> Sum(ContributorFields* fields, const Counts& counts, Round round) {
  std::vector<float> sum(kElements, 0.0f);
  std::vector<float> gradient(kElements);
  for (size_t place = 0; place < counts.size(); ++place) {
    fields->Fill(fields->workers()[place], kTensor, round, absl::MakeSpan(gradient));
    for (int times = 0; times < counts[place]; ++times) {
      for (size_t i = 0; i < kElements; ++i) sum[i] += gradient[i];
    }
  }
  return sum;
}

TEST(ContributorFieldsTest, ASumSaysWhoIsInItHowOften) {
  ContributorFields fields(Workers(11), {}, 7);
  for (const Counts& counts : {Counts(11, 1), Counts(11, 0), Counts(11, 2), Counts{1, 0, 2, 1, 0, 0, 3, 0, 1, 1, 2}}) {
    const std::vector<float> sum = Sum(&fields, counts, Round(3));
    for (size_t i = 0; i < kElements; ++i) EXPECT_EQ(fields.OfSum(kTensor, Round(3), i, sum[i]), counts);
  }
}

TEST(ContributorFieldsTest, AMeanSaysIt) {
  ContributorFields fields(Workers(11), {}, 7);
  for (const Counts& counts :
       {Counts(11, 1), Counts{1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1}, Counts{0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1}}) {
    float weight = 0;
    for (const uint8_t count : counts) weight += count;
    const std::vector<float> sum = Sum(&fields, counts, Round(3));
    for (size_t i = 0; i < kElements; ++i) {
      EXPECT_EQ(fields.OfMean(kTensor, Round(3), i, sum[i] / weight), counts);
      EXPECT_EQ(fields.OfMean(kTensor, Round(3), i, sum[i] * (1 / weight)), counts);
    }
    EXPECT_NE(fields.OfMean(kTensor, Round(3), 0, sum[0] / (weight + 1)), counts);
  }
}

TEST(ContributorFieldsTest, AContributionToAnotherRoundIsNoSum) {
  ContributorFields fields(Workers(4), {}, 7);
  std::vector<float> sum = Sum(&fields, {1, 1, 0, 1}, Round(3));
  const std::vector<float> late = Sum(&fields, {0, 0, 1, 0}, Round(2));
  int decoded = 0;
  for (size_t i = 0; i < kElements; ++i) {
    if (fields.OfSum(kTensor, Round(3), i, sum[i] + late[i]) == Counts{1, 1, 1, 1}) ++decoded;
  }
  EXPECT_LT(decoded, 35);
  EXPECT_GT(decoded, 5);
}

TEST(ContributorFieldsTest, InASpreadTensorEachWorkerHasElementsOfItsOwn) {
  ContributorFields fields(Workers(3), {kTensor}, 7);
  EXPECT_TRUE(fields.IsSpread(kTensor));
  EXPECT_FALSE(fields.IsSpread(0));
  std::vector<float> gradient(kElements);
  fields.Fill(fields.workers()[1], kTensor, Round(1), absl::MakeSpan(gradient));
  int own = 0;
  for (size_t i = 0; i < kElements; ++i) {
    if (i % 3 == 1 && gradient[i] != 0) ++own;
    if (i % 3 != 1) {
      EXPECT_EQ(gradient[i], 0) << i;
    }
  }
  EXPECT_GT(own, 10);
}

}  // namespace
}  // namespace banyan
