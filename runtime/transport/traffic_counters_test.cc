#include "gtest/gtest.h"
#include "runtime/transport/traffic.h"

namespace banyan {
namespace {

TEST(TrafficCountersTest, CountsEachConnectionAndKeepsTheSumOfClosedOnes) {
  TrafficCounters counters;
  counters.CountSent(ConnectionId(1), 10);
  counters.CountSent(ConnectionId(1), 5);
  counters.CountReceived(ConnectionId(2), 7);
  counters.CountRejected();
  counters.CountRejectedWorkerMessage();
  counters.CountDroppedSend();
  counters.Close(ConnectionId(1));
  counters.Close(ConnectionId(9));
  const Traffic traffic = counters.Get();
  EXPECT_EQ(traffic.connections.size(), 1u);
  EXPECT_EQ(traffic.connections.at(ConnectionId(2)), (ConnectionTraffic{0, 0, 1, 7}));
  EXPECT_EQ(traffic.closed, (ConnectionTraffic{2, 15, 0, 0}));
  EXPECT_EQ(traffic.rejected_messages, 1u);
  EXPECT_EQ(traffic.rejected_worker_messages, 1u);
  EXPECT_EQ(traffic.dropped_sends, 1u);
}

}  // namespace
}  // namespace banyan
