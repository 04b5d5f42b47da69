#include <cmath>

#include "bench/all_reduce_rounds.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr int kWorld = 3;
constexpr int64_t kElements = 20;

std::vector<float> Sums(int64_t round) {
  std::vector<float> sums;
  for (int64_t i = 0; i < kElements; ++i) sums.push_back(SumOfValues(kWorld, round, i));
  return sums;
}

TEST(AllReduceLedgerTest, WhatComesLaterIsNotLost) {
  AllReduceLedger ledger(kWorld, kElements);
  std::vector<float> late = Sums(1);
  late[4] -= 5;
  ledger.Add(1, late);
  EXPECT_TRUE(absl::IsDataLoss(ledger.Check()));
  ledger.Add(2, Sums(2));
  std::vector<float> rest(kElements);
  rest[4] = 5;
  ledger.AddRest(rest);
  EXPECT_TRUE(ledger.Check().ok()) << ledger.Check();
}

TEST(AllReduceLedgerTest, MeansAreWorthAllMembers) {
  AllReduceLedger ledger(kWorld, kElements, AllReduceLedger::Results::kMeans);
  std::vector<float> means = Sums(1);
  for (float& mean : means) mean /= kWorld;
  ledger.Add(1, means);
  EXPECT_TRUE(ledger.Check().ok()) << ledger.Check();
  ledger.Add(2, means);
  EXPECT_EQ(ledger.Check().code(), absl::StatusCode::kDataLoss);
}

TEST(AllReduceLedgerTest, MajoritiesAreMeanMagnitudesAndMayFollowMeans) {
  AllReduceLedger ledger(kWorld, kElements, AllReduceLedger::Results::kMajorities);
  std::vector<float> means = Sums(1);
  for (float& mean : means) mean /= kWorld;
  ledger.Add(1, means);
  std::vector<float> majorities(kElements, static_cast<float>(MeanMagnitudeOfValues(kWorld, 2, kElements)));
  ledger.Add(2, majorities);
  EXPECT_TRUE(ledger.Check().ok()) << ledger.Check();
  majorities[9] = 0;
  ledger.Add(3, majorities);
  EXPECT_EQ(ledger.Check().code(), absl::StatusCode::kDataLoss);
}

TEST(AllReduceLedgerTest, SeesWhatIsLostOrDoubledOrNoNumber) {
  for (const float wrong : {-1.0f, 1.0f, std::nanf("")}) {
    AllReduceLedger ledger(kWorld, kElements);
    std::vector<float> sums = Sums(1);
    sums[7] += wrong;
    ledger.Add(1, sums);
    EXPECT_TRUE(absl::IsDataLoss(ledger.Check())) << wrong;
  }
}

TEST(AllReduceLedgerTest, ReplicasHaveTheSameHash) {
  AllReduceLedger one(kWorld, kElements), other(kWorld, kElements), third(kWorld, kElements);
  for (AllReduceLedger* ledger : {&one, &other, &third}) ledger->Add(1, Sums(1));
  EXPECT_EQ(one.hash(), other.hash());
  one.Add(2, Sums(2));
  other.Add(2, Sums(2));
  std::vector<float> near = Sums(2);
  near[0] = std::nextafter(near[0], 0.0f);
  third.Add(2, near);
  EXPECT_EQ(one.hash(), other.hash());
  EXPECT_NE(one.hash(), third.hash());
}

}  // namespace
}  // namespace banyan
