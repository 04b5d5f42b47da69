#include "bench/all_reduce_rounds.h"

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(AllReduceRoundsTest, SumsAreThoseOfTheMembersValues) {
  for (int64_t round = 1; round < 9; ++round) {
    for (int64_t index = 0; index < 20; ++index) {
      float sum = 0;
      for (int rank = 0; rank < 5; ++rank) sum += OwnValue(rank, round, index);
      EXPECT_EQ(sum, SumOfValues(5, round, index));
    }
  }
}

TEST(AllReduceRoundsTest, FindsAWrongSum) {
  std::vector<float> values(100);
  FillValues(0, 3, absl::MakeSpan(values));
  EXPECT_TRUE(CheckSums(1, 3, values).ok());
  EXPECT_FALSE(CheckSums(1, 4, values).ok());
  values[57] += 1;
  EXPECT_TRUE(absl::IsDataLoss(CheckSums(1, 3, values)));
}

class OneMember : public ::testing::Test {
 protected:
  void SetUp() override {
    std::remove(path_.c_str());
    absl::StatusOr<std::unique_ptr<RoundBarrier>> barrier = RoundBarrier::Create(path_, 1);
    ASSERT_TRUE(barrier.ok()) << barrier.status();
    barrier_ = *std::move(barrier);
  }

  const std::string path_ = ::testing::TempDir() + "/rounds_gate";
  std::unique_ptr<RoundBarrier> barrier_;
};

TEST_F(OneMember, RunsTheRoundsThatOpen) {
  int rounds = 0;
  absl::Status status;
  std::thread member([&] {
    InPlaceAllReduce all_reduce(10, [&](absl::Span<float>) {
      ++rounds;
      return absl::OkStatus();
    });
    status = RunAllReduceRounds(*barrier_, {0, 1}, all_reduce);
  });
  barrier_->OpenRound(1);
  while (!barrier_->AllArrived(2)) std::this_thread::yield();
  EXPECT_GE(barrier_->LastSpan().end_ns, barrier_->LastSpan().start_ns);
  barrier_->Close();
  member.join();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(rounds, 1);
}

TEST_F(OneMember, EndsWithAWrongSum) {
  barrier_->OpenRound(1);
  InPlaceAllReduce all_reduce(10, [](absl::Span<float> values) {
    values[3] = -1;
    return absl::OkStatus();
  });
  const absl::Status status = RunAllReduceRounds(*barrier_, {0, 1}, all_reduce);
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_EQ(ExitCode("test", status), 1);
}

}  // namespace
}  // namespace banyan
