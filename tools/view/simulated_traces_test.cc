#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/view/simulation_recorder.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kRoom = 40;

Timestamp At(uint64_t round, int64_t milliseconds) {
  return Timestamp::FromNanoseconds((static_cast<int64_t>(round) * 1000 + milliseconds) * 1000000);
}

// Two nodes with two keys, whose chunks go from n2 to n1 and back.
class SimulatedTracesTest : public ::testing::Test {
 protected:
  SimulatedTraces Make(uint64_t rounds, bool keeps_records = false) {
    for (const uint32_t node : {1u, 2u}) recorders_[NodeId(node)].Begin(Round(1), Round(rounds), kRoom);
    SimulatedTraces::Options options;
    options.recorders = &recorders_;
    options.names = {{NodeId(1), "n1"}, {NodeId(2), "n2"}};
    options.rounds = rounds;
    options.keys = 2;
    options.most_records = kRoom;
    options.keeps_records = keeps_records;
    return SimulatedTraces(options);
  }

  void Contribute(uint64_t round) {
    for (auto& [node, recorder] : recorders_) {
      for (const uint32_t key : {1u, 2u}) recorder.OnContributed(KeyId(key), Round(round), At(round, 0));
    }
  }
  void Complete(uint64_t round, uint32_t node, uint32_t key) {
    recorders_[NodeId(node)].OnCompleted(KeyId(key), Round(round), At(round, 500));
  }
  void Run(uint64_t round) {
    Contribute(round);
    for (const uint32_t node : {1u, 2u}) {
      for (const uint32_t key : {1u, 2u}) Complete(round, node, key);
    }
  }
  static std::vector<uint64_t> RoundsOf(const std::vector<RoundChart>& charts) {
    std::vector<uint64_t> rounds;
    for (const RoundChart& chart : charts) rounds.push_back(chart.round->value());
    return rounds;
  }

  std::map<NodeId, RoundRecorder> recorders_;
};

TEST_F(SimulatedTracesTest, ChoosesTheFirstRoundsAndOthersEvenly) {
  EXPECT_THAT(SimulatedTraces::Choose(3), ElementsAre(Round(1), Round(2), Round(3)));
  EXPECT_EQ(SimulatedTraces::Choose(60).size(), 60u);
  const std::vector<Round> chosen = SimulatedTraces::Choose(1000000);
  ASSERT_EQ(chosen.size(), SimulatedTraces::kMost);
  EXPECT_EQ(chosen[SimulatedTraces::kFirst - 1], Round(SimulatedTraces::kFirst));
  EXPECT_NEAR(static_cast<double>(chosen[SimulatedTraces::kFirst].value()), 1e6 / 56, 10);
  EXPECT_EQ(chosen.back(), Round(1000000));
}

TEST_F(SimulatedTracesTest, TakesARoundWhenAllNodesHaveAllOfIt) {
  SimulatedTraces traces = Make(3);
  EXPECT_THAT(traces.Take(), IsEmpty());
  Run(1);
  Contribute(2);
  EXPECT_THAT(RoundsOf(traces.Take()), ElementsAre(1));
  EXPECT_THAT(traces.Take(), IsEmpty());
  Complete(2, 1, 1);
  Complete(2, 1, 2);
  Complete(2, 2, 1);
  EXPECT_THAT(traces.Take(), IsEmpty());
  Complete(2, 2, 2);
  Run(3);
  const std::vector<RoundChart> charts = traces.Take();
  EXPECT_THAT(RoundsOf(charts), ElementsAre(2, 3));
  EXPECT_EQ(charts[1].seconds, 0.5);
  EXPECT_EQ(traces.too_large(), std::nullopt);
}

TEST_F(SimulatedTracesTest, HasRoomForALongSimulation) {
  SimulatedTraces traces = Make(1000);
  std::vector<uint64_t> rounds;
  for (uint64_t round = 1; round <= 1000; ++round) {
    Run(round);
    for (const uint64_t taken : RoundsOf(traces.Take())) rounds.push_back(taken);
  }
  EXPECT_EQ(traces.too_large(), std::nullopt);
  EXPECT_EQ(rounds.size(), SimulatedTraces::kMost);
  EXPECT_EQ(rounds.back(), 1000u);
}

TEST_F(SimulatedTracesTest, LeavesRecordsToWhoseTheyAre) {
  SimulatedTraces traces = Make(5, true);
  for (uint64_t round = 1; round <= 5; ++round) {
    Run(round);
    EXPECT_THAT(RoundsOf(traces.Take()), ElementsAre(round));
  }
  EXPECT_EQ(recorders_[NodeId(1)].records().moments.size(), 20u);
}

TEST_F(SimulatedTracesTest, EndsWhereARoundFoundNoRoom) {
  SimulatedTraces traces = Make(100);
  Run(1);
  EXPECT_THAT(RoundsOf(traces.Take()), ElementsAre(1));
  for (uint64_t round = 2; round < 20; ++round) Run(round);
  EXPECT_THAT(traces.Take(), IsEmpty());
  EXPECT_EQ(traces.too_large(), Round(2));
  Run(20);
  EXPECT_THAT(traces.Take(), IsEmpty());
  EXPECT_FALSE(recorders_[NodeId(1)].is_on());
}

}  // namespace
}  // namespace banyan
