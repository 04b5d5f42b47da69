#include "scheduler/farewell.h"

#include "gtest/gtest.h"
#include "scheduler/testing/mesh_job.h"

namespace banyan {
namespace {

const Timestamp kBegin = Timestamp() + absl::Seconds(100);
constexpr absl::Duration kPatience = absl::Seconds(10);

class FarewellTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const int node : {1, 2}) members_.Join(kBegin, MeshConnection(node), MeshJoin(node, 1));
    members_.Start(Epoch(1));
  }
  bool IsDueAfter(absl::Duration time) const { return farewell_.IsDue(kBegin + time, members_); }
  void Disconnect(int node, absl::Duration after) {
    members_.Disconnect(MeshConnection(node));
    farewell_.OnDisconnected(kBegin + after, NodeId(static_cast<uint32_t>(node)));
  }

  Membership members_{{.job = MeshOverlay(2).job,
                       .names = {"n1", "n2"},
                       .start_with = 2,
                       .heartbeat = absl::Seconds(1),
                       .lost_after = kPatience,
                       .suspect_after = absl::Seconds(2)}};
  Farewell farewell_{kPatience};
};

TEST_F(FarewellTest, NeverComesBeforeTheEnd) {
  EXPECT_EQ(farewell_.NextDeadline(kBegin), kNever);
  Disconnect(1, absl::ZeroDuration());
  EXPECT_FALSE(IsDueAfter(absl::Hours(1)));
}

TEST_F(FarewellTest, WaitsForThoseWhoAreConnected) {
  farewell_.Begin(kBegin);
  farewell_.Begin(kBegin + absl::Seconds(5));
  EXPECT_FALSE(IsDueAfter(kPatience - absl::Seconds(1)));
  EXPECT_TRUE(IsDueAfter(kPatience));
  EXPECT_EQ(farewell_.NextDeadline(kBegin), kBegin + Farewell::kLeast);
  EXPECT_EQ(farewell_.NextDeadline(kBegin + Farewell::kLeast), kBegin + kPatience);
}

TEST_F(FarewellTest, ComesSoonAfterTheLastHasGone) {
  farewell_.Begin(kBegin);
  Disconnect(1, absl::Seconds(1));
  Disconnect(2, absl::Seconds(3));
  EXPECT_FALSE(IsDueAfter(absl::Seconds(4)));
  EXPECT_TRUE(IsDueAfter(absl::Seconds(3) + Farewell::kLeast));
}

TEST_F(FarewellTest, WaitsForWhoWasAwayWhenItBegan) {
  Disconnect(1, absl::ZeroDuration());
  farewell_.Begin(kBegin);
  Disconnect(2, absl::Seconds(1));
  EXPECT_FALSE(IsDueAfter(absl::Seconds(9)));
  EXPECT_TRUE(IsDueAfter(kPatience));
}

TEST_F(FarewellTest, DoesNotWaitForWhoHasLeft) {
  members_.Leave(NodeId(1), /*is_asked_for=*/false);
  Disconnect(1, absl::ZeroDuration());
  farewell_.Begin(kBegin);
  Disconnect(2, absl::Seconds(1));
  EXPECT_TRUE(IsDueAfter(absl::Seconds(1) + Farewell::kLeast));
}

}  // namespace
}  // namespace banyan
