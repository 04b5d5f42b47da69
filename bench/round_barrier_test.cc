#include "bench/round_barrier.h"

#include <cstdio>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

class RoundBarrierTest : public ::testing::Test {
 protected:
  void SetUp() override { std::remove(path_.c_str()); }

  const std::string path_ = ::testing::TempDir() + "/barrier";
};

TEST_F(RoundBarrierTest, LetsMembersThroughTogether) {
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Create(path_, 2);
  ASSERT_TRUE(barrier.ok()) << barrier.status();
  absl::StatusOr<std::unique_ptr<RoundBarrier>> mine = RoundBarrier::Open(path_, 2);
  ASSERT_TRUE(mine.ok()) << mine.status();
  (*mine)->Arrive(0, 1);
  EXPECT_FALSE((*barrier)->AllArrived(1));
  (*mine)->Arrive(1, 1);
  EXPECT_TRUE((*barrier)->AllArrived(1));
  EXPECT_FALSE((*mine)->AwaitOpening(1, absl::ZeroDuration()));
  std::thread opener([&] { (*barrier)->OpenRound(1); });
  EXPECT_TRUE((*mine)->AwaitOpening(1, kPatience));
  opener.join();
  (*barrier)->Close();
  EXPECT_FALSE((*mine)->AwaitOpening(2, kPatience));
}

TEST_F(RoundBarrierTest, ARoundLastsUntilTheLastMemberHasItsResult) {
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Create(path_, 3);
  ASSERT_TRUE(barrier.ok()) << barrier.status();
  (*barrier)->End(0, 2, {100, 250});
  (*barrier)->End(1, 2, {90, 220});
  EXPECT_FALSE((*barrier)->AwaitAllEnded(2, absl::ZeroDuration()));
  std::thread last([&] { (*barrier)->End(2, 2, {110, 300}); });
  EXPECT_TRUE((*barrier)->AwaitAllEnded(2, kPatience));
  last.join();
  EXPECT_EQ((*barrier)->LastSpan().start_ns, 90);
  EXPECT_EQ((*barrier)->LastSpan().end_ns, 300);
}

TEST_F(RoundBarrierTest, NobodyWaitsForAnEndThatDoesNotCome) {
  absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Create(path_, 2);
  ASSERT_TRUE(barrier.ok()) << barrier.status();
  (*barrier)->End(0, 1, {});
  std::thread closer([&] { (*barrier)->Close(); });
  EXPECT_FALSE((*barrier)->AwaitAllEnded(1, kPatience));
  closer.join();
}

TEST_F(RoundBarrierTest, RefusesOtherFiles) {
  EXPECT_FALSE(RoundBarrier::Open(path_, 2).ok());
  ASSERT_TRUE(RoundBarrier::Create(path_, 2).ok());
  EXPECT_FALSE(RoundBarrier::Create(path_, 2).ok());
  EXPECT_FALSE(RoundBarrier::Open(path_, 3).ok());
  std::FILE* file = std::fopen(path_.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("something else", file);
  std::fclose(file);
  EXPECT_FALSE(RoundBarrier::Open(path_, 2).ok());
}

}  // namespace
}  // namespace banyan
