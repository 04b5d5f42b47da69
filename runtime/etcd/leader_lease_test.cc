#include "gtest/gtest.h"
#include "runtime/etcd/etcd_leadership.h"

namespace banyan {
namespace {

Timestamp At(double seconds) { return Timestamp() + absl::Seconds(seconds); }

TEST(LeaderLeaseTest, HoldsFromTheFirstGrantOn) {
  LeaderLease lease;
  EXPECT_FALSE(lease.Holds(At(5)));
  lease.Renew(At(5), absl::Seconds(10), At(6));
  EXPECT_TRUE(lease.Holds(At(6)));
}

TEST(LeaderLeaseTest, EndsATenthBeforeItsLengthFromTheQuestionOn) {
  LeaderLease lease;
  lease.Renew(At(5), absl::Seconds(10), At(9));
  EXPECT_TRUE(lease.Holds(At(13.9)));
  EXPECT_FALSE(lease.Holds(At(14)));
  EXPECT_EQ(lease.HoldsUntil(), At(14));
}

TEST(LeaderLeaseTest, RenewalsMoveItOnAndNeverBack) {
  LeaderLease lease;
  lease.Renew(At(0), absl::Seconds(10), At(0));
  lease.Renew(At(8), absl::Seconds(10), At(8));
  EXPECT_EQ(lease.HoldsUntil(), At(17));
  lease.Renew(At(2), absl::Seconds(10), At(9));
  EXPECT_EQ(lease.HoldsUntil(), At(17));
}

TEST(LeaderLeaseTest, StaysEnded) {
  LeaderLease lease;
  lease.Renew(At(0), absl::Seconds(10), At(0));
  lease.Renew(At(8), absl::Seconds(10), At(8.5));
  EXPECT_EQ(lease.HoldsUntil(), At(17));
  // The process stood still until after its end; the answer came meanwhile.
  lease.Renew(At(16), absl::Seconds(10), At(18));
  EXPECT_FALSE(lease.Holds(At(18)));
  LeaderLease ended;
  ended.Renew(At(0), absl::Seconds(10), At(0));
  ended.End();
  ended.Renew(At(1), absl::Seconds(10), At(1));
  EXPECT_FALSE(ended.Holds(At(1)));
}

TEST(LeaderLeaseTest, OneThatWasGrantedTooLateNeverHolds) {
  LeaderLease lease;
  lease.Renew(At(0), absl::Seconds(10), At(20));
  EXPECT_FALSE(lease.Holds(At(20)));
  lease.Renew(At(20), absl::Seconds(10), At(20));
  EXPECT_FALSE(lease.Holds(At(20)));
}

}  // namespace
}  // namespace banyan
