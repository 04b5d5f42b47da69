#include "node/rounds/round_reports.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Four keys; the third is in no round.
class RoundReportsTest : public ::testing::Test {
 protected:
  RoundReportsTest() {
    for (uint32_t key = 1; key <= 4; ++key) table_[KeyId(key)] = {KeyId(key), "w", 2};
    for (uint32_t key : {1, 2, 4}) {
      KeyState state{TensorMemory(AggregationConfig(), 2), {}};
      state.rounds.FindOrAdd(Round(0)).contribution.emplace().values = Buffer::CopyOf({1, 2});
      state.rounds.Complete(Round(0), key);
      keys_.emplace(KeyId(key), std::move(state));
    }
  }

  std::map<KeyId, KeySlice> table_;
  KeyStates keys_;
};

TEST_F(RoundReportsTest, ProgressIsInRunsOfKeys) {
  using Run = EpochReport::Progress;
  EXPECT_THAT(ProgressOf(keys_, table_, [](KeyId) { return true; }),
              ElementsAre(Run{KeyId(1), KeyId(2), Round(1)}, Run{KeyId(3), KeyId(3), Round(0)},
                          Run{KeyId(4), KeyId(4), Round(1)}));
  EXPECT_THAT(ProgressOf(keys_, table_, [](KeyId key) { return key != KeyId(2); }),
              ElementsAre(Run{KeyId(1), KeyId(1), Round(1)}, Run{KeyId(3), KeyId(3), Round(0)},
                          Run{KeyId(4), KeyId(4), Round(1)}));
  EXPECT_THAT(ProgressOf(keys_, table_, [](KeyId) { return false; }), IsEmpty());
}

TEST_F(RoundReportsTest, WhatIsCompleteAndNotClosedIsToldWithItsHash) {
  keys_.at(KeyId(2)).rounds.Close(Round(0));
  EXPECT_THAT(CompleteRoundsOf(keys_),
              ElementsAre(RoundsClosed::Entry{KeyId(1), Round(0), 1}, RoundsClosed::Entry{KeyId(4), Round(0), 4}));
}

TEST_F(RoundReportsTest, MemoryIsNamedByWhatItIsFor) {
  keys_.at(KeyId(1)).rounds.Find(Round(0))->residuals.Keep(ChunkIndex(0), Epoch(1), {0, 2}, Buffer::CopyOf({1, 2}));
  keys_.at(KeyId(1)).rounds.FindOrAdd(Round(1)).contribution.emplace().values = Buffer::CopyOf({1, 2});
  std::map<std::string, uint64_t> bytes;
  for (const NodeReport::Memory& part : MemoryOf(keys_)) bytes[part.what] = part.size_bytes;
  EXPECT_EQ(bytes.at("contributions"), 8u) << "of a round that is complete they have gone";
  EXPECT_EQ(bytes.at("next residuals"), 8u);
  EXPECT_EQ(bytes.at("results"), 0u);
}

}  // namespace
}  // namespace banyan
