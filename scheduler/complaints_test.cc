#include "scheduler/complaints.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(ComplaintsTest, NamesWhoLostWhom) {
  EXPECT_EQ(DescribeComplaint("n1", "n2", PeerLost{NodeId(2), "silent for 5 s"}),
            "n1 has lost its neighbour n2: silent for 5 s");
  EXPECT_EQ(DescribeComplaint("n1", WorkerLost{WorkerId(3), "its socket closed"}),
            "worker 3 of n1 is lost: its socket closed");
}

TEST(ComplaintsTest, NamesWhoBrokeARoundWhereItIsKnown) {
  const RoundBroken broken = {
      .key = KeyId(1), .round = Round(7), .culprit = NodeId(2), .reason = "a weight of 9 in a job of 3"};
  EXPECT_EQ(DescribeComplaint("n1", "fc1", "n2", broken),
            "n1 cannot finish round 7 of key 'fc1': n2: a weight of 9 in a job of 3");
  EXPECT_EQ(DescribeComplaint("n1", "fc1", "", broken),
            "n1 cannot finish round 7 of key 'fc1': a weight of 9 in a job of 3");
}

TEST(ComplaintsTest, PrintsNoPeersControlCharacters) {
  EXPECT_EQ(DescribeComplaint("n1", WorkerLost{WorkerId(0), "a\x1b[2Jb"}).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace banyan
