// What the scheduler says and hears, in a job of many keys that all move together.
#include <cstdint>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "proto/wire.h"
#include "sim/cluster.h"
#include "sim/testing/linked_cluster.h"

namespace banyan {
namespace {

constexpr uint64_t kRounds = 20;

// Counts messages between nodes and the scheduler, in the middle of the training: neither as it begins nor as it ends.
class ControlTraffic : public TrafficObserver {
 public:
  void OnSent(const SentMessage& sent) override {
    const bool is_control = sent.from == kSchedulerNode || sent.to == kSchedulerNode;
    // These come with time, and not with rounds.
    const bool is_beat = std::holds_alternative<Heartbeat>(sent.message) ||
                         std::holds_alternative<HeartbeatReply>(sent.message) ||
                         std::holds_alternative<NodeReport>(sent.message);
    if (const auto* closed = std::get_if<ClosedEverywhere>(&sent.message)) last_closed_ = closed->entries.back().round;
    if (!is_control || is_beat || last_closed_ < Round(5) || last_closed_ > Round(15)) return;
    ++messages;
    bytes += EncodeMessage(sent.message).size();
  }

  uint64_t messages = 0;
  uint64_t bytes = 0;

 private:
  Round last_closed_;
};

ControlTraffic TrafficOf(int keys) {
  constexpr int64_t kElements = 10'000;
  ClusterOptions options = LinkedCluster(3, 1e8, 1e8);
  options.overlay.chunks.max_elements = kElements;
  options.overlay.awareness.enabled = false;
  options.plan.rounds = kRounds;
  options.plan.compute_time = absl::Milliseconds(200);
  options.plan.tensors.clear();
  for (int key = 0; key < keys; ++key) options.plan.tensors.push_back({absl::StrCat("w", key), kElements / keys});
  Cluster cluster(options);
  ControlTraffic traffic;
  cluster.simulator()->network()->AddObserver(&traffic);
  EXPECT_TRUE(cluster.RunUntilTrained(Timestamp() + absl::Seconds(60)));
  EXPECT_TRUE(cluster.violations()->empty()) << cluster.violations()->Report();
  return traffic;
}

TEST(ManyKeysTest, TheSchedulerHasNoMoreToSayAndHearOfAThousandKeysThanOfOne) {
  const ControlTraffic one = TrafficOf(1);
  const ControlTraffic many = TrafficOf(1000);
  RecordProperty("messages", absl::StrCat(one.messages, " and ", many.messages));
  RecordProperty("bytes", absl::StrCat(one.bytes, " and ", many.bytes));
  EXPECT_GT(one.messages, 50u);
  EXPECT_LE(many.messages, one.messages + one.messages / 10);
  EXPECT_LE(many.bytes, 2 * one.bytes);
}

}  // namespace
}  // namespace banyan
