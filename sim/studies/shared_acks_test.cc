// Link acks that wait for the next one: that they do on links that are kept full, and for how long.
#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "gtest/gtest.h"
#include "node/link/link_ack_buffer.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"
#include "sim/traffic_observer.h"

namespace banyan {
namespace {

class AckCount : public TrafficObserver {
 public:
  void OnDelivered(const SentMessage& sent) override {
    const auto* chunk = std::get_if<ChunkMessage>(&sent.message);
    if (chunk != nullptr) arrived_[{sent.from, sent.to, chunk->link_sequence}] = sent.now;
  }
  void OnSent(const SentMessage& sent) override {
    const auto* ack = std::get_if<LinkAck>(&sent.message);
    if (ack == nullptr) return;
    ++messages;
    for (const LinkAck::Entry& entry : ack->entries) {
      ++entries;
      longest_wait = std::max(longest_wait, sent.now - arrived_.at({sent.to, sent.from, entry.link_sequence}));
    }
  }

  int64_t messages = 0;
  int64_t entries = 0;
  absl::Duration longest_wait;

 private:
  std::map<std::tuple<NodeId, NodeId, uint64_t>, Timestamp> arrived_;
};

TEST(SharedAcksTest, TwoTravelTogetherOnFullLinksAndNoneWaitsForLong) {
  ClusterOptions options = LinkedCluster(4, 1e6, 3e6);
  options.plan.tensors = {{"w", 200000, 0}};
  Cluster cluster(std::move(options));
  AckCount acks;
  cluster.simulator()->network()->AddObserver(&acks);
  EXPECT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(120))) << cluster.WhoWaits();
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  EXPECT_LT(acks.messages, 0.8 * acks.entries);
  EXPECT_GT(acks.longest_wait, absl::ZeroDuration());
  EXPECT_LE(acks.longest_wait, LinkAckBuffer::kLongestWait);
}

}  // namespace
}  // namespace banyan
