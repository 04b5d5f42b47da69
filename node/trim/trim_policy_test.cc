// What every policy promises, and what each of them does.
#include "node/trim/trim_policy.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

// Ranges in as many levels.
ChunkMessage Message(int ranges, int levels, uint32_t chunk = 0) {
  ChunkMessage message;
  message.id.chunk = ChunkIndex(chunk);
  for (int level = 0; level < levels; ++level) {
    for (int range = 0; range < ranges; ++range) {
      message.frames.push_back({.codec = CodecId::kTrimRht, .first_element = range, .elements = 1, .level = level});
    }
  }
  return message;
}

Timestamp At(double seconds) { return Timestamp::FromNanoseconds(0) + absl::Seconds(seconds); }

class TrimPolicyTest : public ::testing::TestWithParam<TrimPolicyKind> {
 protected:
  std::unique_ptr<TrimPolicy> Make(double share = 0.5) const {
    return MakeTrimPolicy({.policy = GetParam(), .queue_bytes = 1000, .share = share}, NodeId(3));
  }
};

TEST_P(TrimPolicyTest, KeepsHeadsAndNoMoreThanThereIs) {
  Random random(1);
  const std::unique_ptr<TrimPolicy> policy = Make();
  for (int i = 0; i < 2000; ++i) {
    const int ranges = static_cast<int>(random.Between(1, 20));
    const ChunkMessage message = Message(ranges, static_cast<int>(random.Between(2, 6)), static_cast<uint32_t>(i));
    TrimQuestion question{.message = &message,
                          .now = At(random.Unit() * 20),
                          .due = std::nullopt,
                          .waiting_bytes = static_cast<int64_t>(random.Below(3000))};
    if (random.Chance(0.7)) question.due = RoundPace::Due{At(random.Unit() * 20), absl::Seconds(random.Unit())};
    const size_t kept = policy->KeptFrames(question);
    EXPECT_GE(kept, static_cast<size_t>(ranges));
    EXPECT_LE(kept, message.frames.size());
    EXPECT_EQ(policy->KeptFrames(question), kept) << "the same question";
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrimPolicyTest,
                         testing::Values(TrimPolicyKind::kDeadline, TrimPolicyKind::kQueue, TrimPolicyKind::kRandom,
                                         TrimPolicyKind::kOff),
                         [](const auto& info) { return std::string(NameOf(info.param)); });

TEST(DeadlineTrimPolicyTest, TheLaterTheLessGoes) {
  const ChunkMessage message = Message(10, 2);
  const RoundPace::Due due = {At(10), absl::Seconds(1)};
  const auto kept = [&](double now) {
    return DeadlineTrimPolicy().KeptFrames({.message = &message, .now = At(now), .due = due, .waiting_bytes = 0});
  };
  EXPECT_EQ(kept(9), 20u);
  EXPECT_EQ(kept(10), 20u);
  EXPECT_EQ(kept(10.55), 14u);
  EXPECT_EQ(kept(11), 10u);
  EXPECT_EQ(kept(99), 10u);
  EXPECT_EQ(DeadlineTrimPolicy().KeptFrames({.message = &message, .now = At(99), .due = {}, .waiting_bytes = 9999}),
            20u)
      << "nobody knows when it is due";
}

TEST(QueueTrimPolicyTest, CutsWhileTooMuchWaits) {
  const ChunkMessage message = Message(10, 2);
  const auto kept = [&](int64_t waiting_bytes) {
    return QueueTrimPolicy(1000).KeptFrames(
        {.message = &message, .now = At(0), .due = {}, .waiting_bytes = waiting_bytes});
  };
  EXPECT_EQ(kept(1000), 20u);
  EXPECT_EQ(kept(1001), 10u);
}

TEST(RandomTrimPolicyTest, CutsItsShare) {
  const RandomTrimPolicy policy(0.3, NodeId(2));
  int cut = 0;
  for (uint32_t chunk = 0; chunk < 10'000; ++chunk) {
    const ChunkMessage message = Message(1, 2, chunk);
    cut += policy.KeptFrames({.message = &message, .now = At(0), .due = {}, .waiting_bytes = 0}) == 1 ? 1 : 0;
  }
  EXPECT_NEAR(cut, 3000, 150);
}

}  // namespace
}  // namespace banyan
