#include "bench/round_gate.h"

#include <cstdio>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace banyan {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);

class RoundGateTest : public ::testing::Test {
 protected:
  void SetUp() override { std::remove(path_.c_str()); }

  const std::string path_ = ::testing::TempDir() + "/gate";
};

TEST_F(RoundGateTest, LetsMembersThroughTogether) {
  absl::StatusOr<std::unique_ptr<RoundGate>> gate = RoundGate::Create(path_, 2);
  ASSERT_TRUE(gate.ok()) << gate.status();
  absl::StatusOr<std::unique_ptr<RoundGate>> mine = RoundGate::Open(path_, 2);
  ASSERT_TRUE(mine.ok()) << mine.status();
  (*mine)->Arrive(0, 1);
  EXPECT_FALSE((*gate)->AllArrived(1));
  (*mine)->Arrive(1, 1);
  EXPECT_TRUE((*gate)->AllArrived(1));
  EXPECT_FALSE((*mine)->AwaitOpening(1, absl::ZeroDuration()));
  std::thread opener([&] { (*gate)->OpenRound(1); });
  EXPECT_TRUE((*mine)->AwaitOpening(1, kPatience));
  opener.join();
  (*gate)->Close();
  EXPECT_FALSE((*mine)->AwaitOpening(2, kPatience));
}

TEST_F(RoundGateTest, ARoundLastsUntilTheLastMemberHasItsResult) {
  absl::StatusOr<std::unique_ptr<RoundGate>> gate = RoundGate::Create(path_, 3);
  ASSERT_TRUE(gate.ok()) << gate.status();
  (*gate)->End(0, 2, {100, 250});
  (*gate)->End(1, 2, {90, 220});
  EXPECT_FALSE((*gate)->AwaitAllEnded(2, absl::ZeroDuration()));
  std::thread last([&] { (*gate)->End(2, 2, {110, 300}); });
  EXPECT_TRUE((*gate)->AwaitAllEnded(2, kPatience));
  last.join();
  EXPECT_EQ((*gate)->LastSpan().start_ns, 90);
  EXPECT_EQ((*gate)->LastSpan().end_ns, 300);
}

TEST_F(RoundGateTest, NobodyWaitsForAnEndThatDoesNotCome) {
  absl::StatusOr<std::unique_ptr<RoundGate>> gate = RoundGate::Create(path_, 2);
  ASSERT_TRUE(gate.ok()) << gate.status();
  (*gate)->End(0, 1, {});
  std::thread closer([&] { (*gate)->Close(); });
  EXPECT_FALSE((*gate)->AwaitAllEnded(1, kPatience));
  closer.join();
}

TEST_F(RoundGateTest, RefusesOtherFiles) {
  EXPECT_FALSE(RoundGate::Open(path_, 2).ok());
  ASSERT_TRUE(RoundGate::Create(path_, 2).ok());
  EXPECT_FALSE(RoundGate::Create(path_, 2).ok());
  EXPECT_FALSE(RoundGate::Open(path_, 3).ok());
  std::FILE* file = std::fopen(path_.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs("something else", file);
  std::fclose(file);
  EXPECT_FALSE(RoundGate::Open(path_, 2).ok());
}

}  // namespace
}  // namespace banyan
