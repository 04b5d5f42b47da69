#include "node/peers/link_prober.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

using Path = LinkProber::Path;

const Path kFast = {NodeId(1), NodeId(3), NodeId(2)};
const Path kSlow = {NodeId(1), NodeId(4), NodeId(2)};
constexpr PolicyVersion kPolicy(7);
// 40,000 bits a probe: 4 ms of the fast auxiliary path, 20 ms of the slow one, and a hundred times that are within 10
// s.
constexpr int64_t kChunkBytes = 1250;

Timestamp At(int64_t seconds) { return Timestamp::FromNanoseconds(seconds * 1'000'000'000); }

PolicySlice Slice() {
  PolicySlice slice;
  slice.version = kPolicy;
  slice.auxiliary = {{.path = kFast, .rate_bps = 10e6, .crosses_idle_link = true},
                     {.path = kSlow, .rate_bps = 2e6, .crosses_idle_link = true}};
  return slice;
}

class LinkProberTest : public ::testing::Test {
 protected:
  const Path* Pick(Timestamp now, int64_t size_bytes = kChunkBytes) {
    return prober_.Pick(
        kPolicy, NodeId(2), size_bytes, [this](NodeId neighbour) { return neighbour != full_; }, now);
  }
  LinkProber prober_;
  NodeId full_;
};

TEST_F(LinkProberTest, ProbesTheAuxiliaryPathThatWasIdleLongest) {
  prober_.AddPolicy(Slice());
  EXPECT_EQ(Pick(At(0)), nullptr);
  prober_.OnAuxiliaryPath(kFast, At(8));
  EXPECT_EQ(Pick(At(9)), nullptr);
  ASSERT_NE(Pick(At(10)), nullptr);
  // Its other chunks follow at once, and then nothing for an interval.
  for (uint32_t i = 1; i < LinkProber::kChunks; ++i) {
    const Path* next = Pick(At(10));
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(*next, kSlow);
  }
  prober_.OnAuxiliaryPath(kSlow, At(10));
  EXPECT_EQ(Pick(At(19)), nullptr);
  EXPECT_EQ(*Pick(At(20)), kFast);
}

// The seconds from 0 to 130 in which chunks of this size, of which there are always some, probe the slow auxiliary
// path.
std::vector<int64_t> SecondsOfProbes(int64_t size_bytes) {
  PolicySlice slice = Slice();
  slice.auxiliary.erase(slice.auxiliary.begin());
  LinkProber prober;
  prober.AddPolicy(slice);
  std::vector<int64_t> seconds;
  for (int64_t now = 0; now <= 130; ++now) {
    for (uint32_t i = 0; i < 2 * LinkProber::kChunks; ++i) {
      const Path* probed = prober.Pick(
          kPolicy, NodeId(2), size_bytes, [](NodeId) { return true; }, At(now));
      if (probed == nullptr) continue;
      seconds.push_back(now);
      prober.OnAuxiliaryPath(*probed, At(now));
    }
  }
  return seconds;
}

TEST(LinkProberShareTest, TakesNoMoreThanItsShareOfAnAuxiliaryPathButNeverForgetsOne) {
  // A probe takes 0.02 s of it, 0.4 s, 4 s.
  EXPECT_EQ(SecondsOfProbes(kChunkBytes).size(), 13 * LinkProber::kChunks);
  EXPECT_EQ(SecondsOfProbes(20 * kChunkBytes),
            (std::vector<int64_t>{40, 40, 40, 40, 80, 80, 80, 80, 120, 120, 120, 120}));
  EXPECT_EQ(SecondsOfProbes(200 * kChunkBytes), (std::vector<int64_t>{60, 60, 60, 60, 120, 120, 120, 120}));
}

// The trees' own chunks measure all its links.
TEST_F(LinkProberTest, AnAuxiliaryPathOverBusyLinksNeedsNoProbe) {
  PolicySlice slice = Slice();
  slice.auxiliary[0].crosses_idle_link = false;
  prober_.AddPolicy(slice);
  EXPECT_EQ(Pick(At(0)), nullptr);
  for (uint32_t i = 0; i < LinkProber::kChunks; ++i) EXPECT_EQ(*Pick(At(10)), kSlow);
  prober_.OnAuxiliaryPath(kSlow, At(10));
  for (int64_t seconds = 11; seconds < 20; ++seconds) EXPECT_EQ(Pick(At(seconds)), nullptr);
  EXPECT_EQ(*Pick(At(20)), kSlow);
}

TEST_F(LinkProberTest, OnlyALinkThatWouldSendAtOnceIsProbed) {
  prober_.AddPolicy(Slice());
  EXPECT_EQ(Pick(At(0)), nullptr);
  full_ = NodeId(3);
  EXPECT_EQ(*Pick(At(10)), kSlow);
  full_ = NodeId(4);
  EXPECT_EQ(Pick(At(10)), nullptr);
}

TEST_F(LinkProberTest, PoliciesThatDoNotMeasureOrHaveNoAuxiliaryPathsOrAreGoneNeedNone) {
  PolicySlice slice = Slice();
  slice.transmission.measures = false;
  prober_.AddPolicy(slice);
  EXPECT_EQ(Pick(At(0)), nullptr);
  EXPECT_EQ(Pick(At(10)), nullptr);
  slice = Slice();
  slice.version = PolicyVersion(8);
  slice.transmission.uses_auxiliary_paths = false;
  prober_.AddPolicy(slice);
  const auto pick = [&](PolicyVersion version, int64_t seconds) {
    return prober_.Pick(
        version, NodeId(2), kChunkBytes, [](NodeId) { return true; }, At(seconds));
  };
  EXPECT_EQ(pick(slice.version, 0), nullptr);
  EXPECT_EQ(pick(slice.version, 10), nullptr);
  slice = Slice();
  slice.version = PolicyVersion(9);
  prober_.AddPolicy(slice);
  EXPECT_EQ(pick(slice.version, 10), nullptr);
  EXPECT_NE(pick(slice.version, 20), nullptr);
  prober_.RetirePolicies(PolicyVersion(10));
  EXPECT_EQ(pick(slice.version, 20), nullptr);
  EXPECT_EQ(pick(slice.version, 30), nullptr);
}

}  // namespace
}  // namespace banyan
