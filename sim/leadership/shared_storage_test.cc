#include "sim/leadership/shared_storage.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kLease = absl::Seconds(2);
const NodeId kOne(0);
const NodeId kTwo(9);

class SharedStorageTest : public testing::Test {
 protected:
  void PassTime(absl::Duration time) {
    now_ = now_ + time;
    agenda_.AdvanceTo(now_);
  }

  Timestamp now_;
  Agenda agenda_;
  Violations violations_;
  SharedStorage storage_{StandbyOptions{.lease = kLease}, &agenda_, &violations_};
};

TEST_F(SharedStorageTest, OneHasTheLeaseUntilItEnds) {
  const auto first = storage_.Campaign(kOne);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(storage_.Campaign(kTwo).has_value());
  PassTime(kLease / 2);
  EXPECT_TRUE(storage_.Renew(*first));
  PassTime(kLease * 0.9);
  EXPECT_FALSE(storage_.Campaign(kTwo).has_value());
  PassTime(kLease);
  EXPECT_FALSE(storage_.Renew(*first));
  EXPECT_TRUE(storage_.Campaign(kTwo).has_value());
}

TEST_F(SharedStorageTest, ALeaseThatIsGivenBackIsFreeAtOnce) {
  storage_.GiveBack(*storage_.Campaign(kOne));
  EXPECT_TRUE(storage_.Campaign(kTwo).has_value());
}

TEST_F(SharedStorageTest, ADeposedLeaderWritesNothing) {
  const auto first = storage_.Campaign(kOne);
  EXPECT_TRUE(storage_.Append(*first, {"a"}).ok());
  PassTime(kLease);
  const auto second = storage_.Campaign(kTwo);
  EXPECT_TRUE(absl::IsFailedPrecondition(storage_.Append(*first, {"b"})));
  EXPECT_TRUE(absl::IsFailedPrecondition(storage_.Replace(*first, "b")));
  EXPECT_TRUE(storage_.Append(*second, {"c"}).ok());
  EXPECT_EQ(storage_.records().tail, (std::vector<std::string>{"a", "c"}));
  EXPECT_TRUE(violations_.empty());
}

TEST_F(SharedStorageTest, WithoutAFenceAnOldWriterIsCaught) {
  SharedStorage storage({.lease = kLease, .is_fenced = false}, &agenda_, &violations_);
  const auto first = storage.Campaign(kOne);
  PassTime(kLease);
  EXPECT_TRUE(storage.Append(*storage.Campaign(kTwo), {"c"}).ok());
  EXPECT_TRUE(violations_.empty());
  EXPECT_TRUE(storage.Append(*first, {"b"}).ok());
  EXPECT_TRUE(violations_.Has("one writer per term"));
}

TEST_F(SharedStorageTest, WhileItIsAwayNoLeaseEnds) {
  const auto first = storage_.Campaign(kOne);
  storage_.SetAway(true);
  EXPECT_FALSE(storage_.Answers(kOne));
  PassTime(3 * kLease);
  storage_.SetAway(false);
  EXPECT_TRUE(storage_.Answers(kOne));
  EXPECT_FALSE(storage_.Campaign(kTwo).has_value());
  EXPECT_TRUE(storage_.Append(*first, {"a"}).ok());
  PassTime(kLease);
  EXPECT_TRUE(storage_.Campaign(kTwo).has_value());
}

TEST_F(SharedStorageTest, OneIsCutOffUntilTheLastOfItsFaultsEnds) {
  storage_.SetCutOff(kOne, true);
  storage_.SetCutOff(kOne, true);
  EXPECT_TRUE(storage_.Answers(kTwo));
  storage_.SetCutOff(kOne, false);
  EXPECT_FALSE(storage_.Answers(kOne));
  storage_.SetCutOff(kOne, false);
  EXPECT_TRUE(storage_.Answers(kOne));
}

}  // namespace
}  // namespace banyan
