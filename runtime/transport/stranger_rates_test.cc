#include "runtime/transport/stranger_rates.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

HostPrefix Host(uint32_t number) { return {false, {number, 0}}; }

class StrangerRatesTest : public testing::Test {
 protected:
  StrangerRatesTest() { rates_.Decide(now_); }

  // Lets a second go by in which so many strangers of the host ask, of which the admission lets in its part.
  void Second(const HostPrefix& host, int64_t asking) {
    double share = rates_.admission().share_of_others;
    for (const auto& [limited, its_share] : rates_.admission().shares) {
      if (limited == host) share = its_share;
    }
    let_in_ = static_cast<int64_t>(static_cast<double>(asking) * share);
    for (int64_t i = 0; i < let_in_; ++i) rates_.CountStranger(host);
    Decide();
  }
  bool Decide() {
    now_ = now_ + absl::Seconds(1);
    return rates_.Decide(now_);
  }

  StrangerRates rates_{50, 200};
  Timestamp now_ = Timestamp::FromNanoseconds(1000000000);
  int64_t let_in_ = 0;
};

TEST_F(StrangerRatesTest, FewStrangersAreLetIn) {
  EXPECT_EQ(rates_.next_deadline(), kNever);
  for (int i = 0; i < 5; ++i) Second(Host(1), 50);
  EXPECT_TRUE(rates_.admission().IsWhole());
  EXPECT_THAT(rates_.TakeHeldBack(), IsEmpty());
}

TEST_F(StrangerRatesTest, WhoIsTooFastForAMomentIsLetIn) {
  for (int i = 0; i < 5; ++i) {
    Second(Host(1), 1000);
    Second(Host(1), 10);
  }
  EXPECT_TRUE(rates_.admission().IsWhole());
  EXPECT_THAT(rates_.TakeHeldBack(), IsEmpty());
  Decide();
  EXPECT_EQ(rates_.next_deadline(), kNever);
}

TEST_F(StrangerRatesTest, OfManyAsManyComeInAsMay) {
  Second(Host(7), 5000);
  EXPECT_TRUE(rates_.admission().IsWhole());
  Second(Host(7), 5000);
  EXPECT_THAT(rates_.TakeHeldBack(), ElementsAre(HasSubstr("0.0.0.7"), HasSubstr("unknown hosts")));
  for (int i = 0; i < 5; ++i) Second(Host(7), 5000);
  for (int i = 0; i < 20; ++i) {
    Second(Host(7), 5000);
    EXPECT_LE(let_in_, 55);
    EXPECT_GE(let_in_, 45);
  }
  EXPECT_EQ(rates_.admission().share_of_others, 1);
  EXPECT_THAT(rates_.TakeHeldBack(), IsEmpty());
}

TEST_F(StrangerRatesTest, OneHostsFloodLeavesOthersAlone) {
  Second(Host(7), 150);
  Second(Host(7), 150);
  EXPECT_THAT(rates_.admission().shares, SizeIs(1));
  EXPECT_EQ(rates_.admission().share_of_others, 1);
}

TEST_F(StrangerRatesTest, ManyHostsTogetherAreHeldBackAsOne) {
  for (int seconds = 0; seconds < 2; ++seconds) {
    for (uint32_t host = 0; host < 1000; ++host) rates_.CountStranger(Host(host));
    Decide();
  }
  EXPECT_THAT(rates_.admission().shares, IsEmpty());
  EXPECT_NEAR(rates_.admission().share_of_others, 0.2, 0.001);
}

TEST_F(StrangerRatesTest, StrangersOfNobodyKnowsWhichHostAreHeldBackWithTheRest) {
  for (int seconds = 0; seconds < 2; ++seconds) {
    for (int i = 0; i < 1000; ++i) rates_.CountStranger(std::nullopt);
    EXPECT_NE(rates_.next_deadline(), kNever);
    Decide();
  }
  EXPECT_THAT(rates_.TakeHeldBack(), ElementsAre(HasSubstr("unknown hosts")));
  EXPECT_THAT(rates_.admission().shares, IsEmpty());
  EXPECT_NEAR(rates_.admission().share_of_others, 0.2, 0.001);
}

TEST_F(StrangerRatesTest, WhoHasShownAKeyIsNeverHeldBack) {
  rates_.CountKnown(Host(1));
  for (int i = 0; i < 10000; ++i) rates_.CountStranger(Host(1));
  EXPECT_FALSE(Decide());
  EXPECT_TRUE(rates_.admission().IsWhole());
  Second(Host(7), 5000);
  Second(Host(7), 5000);
  EXPECT_THAT(rates_.admission().known, ElementsAre(Host(1)));
}

TEST_F(StrangerRatesTest, AShareRisesAgainWhenTheFloodIsOver) {
  Second(Host(7), 50000);
  Second(Host(7), 50000);
  EXPECT_FALSE(rates_.admission().IsWhole());
  EXPECT_EQ(rates_.next_deadline(), now_ + absl::Seconds(1));
  int seconds = 0;
  while (!rates_.admission().IsWhole() && seconds < 100) {
    EXPECT_TRUE(Decide());
    ++seconds;
  }
  EXPECT_EQ(seconds, 10);
  EXPECT_EQ(rates_.next_deadline(), kNever);
}

TEST_F(StrangerRatesTest, WhoShowsAKeyMeanwhileIsLetIn) {
  Second(Host(7), 150);
  Second(Host(7), 150);
  rates_.CountKnown(Host(7));
  Decide();
  EXPECT_THAT(rates_.admission().shares, IsEmpty());
}

TEST_F(StrangerRatesTest, MemoryIsBounded) {
  for (int seconds = 0; seconds < 2; ++seconds) {
    for (uint32_t host = 0; host < 100000; ++host) {
      for (int i = 0; i < 60; ++i) rates_.CountStranger(Host(host));
    }
    Decide();
  }
  EXPECT_THAT(rates_.admission().shares, SizeIs(StrangerRates::kMostLimited));
  EXPECT_LT(rates_.admission().share_of_others, 0.01);
  for (uint32_t host = 0; host < 1000; ++host) rates_.CountKnown(Host(host));
  Decide();
  EXPECT_THAT(rates_.admission().known, SizeIs(StrangerRates::kMostKnown));
}

}  // namespace
}  // namespace banyan
