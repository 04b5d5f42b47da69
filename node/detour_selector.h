// Decides, chunk by chunk, whether a chunk to a tree neighbour takes the primary path or a detour (NETSTORM, section
// VI, its bounds taken for what exceeds a bandwidth-delay product): the primary path until its bandwidth-delay
// product (in whole chunks) and `primary_busy_bound` chunks are on their way there; then the first detour in the
// policy's order that has less than its own bandwidth-delay product and `auxiliary_queue_length` chunks on its way and
// brings the chunk there sooner than the primary path would; else the primary path again.
//
// A detour takes room on each of its links, which others may need more. So a primary path that is as fast as the plan
// took it to be shares only with detours for which the plan has a share; one that is slower, which the plan did not
// foresee, shares with those too whose links the trees do not need; one that is much slower shares with all, and one
// that is cut or stands still shares with all whatever they take.
//
// Thread-compatible; owned by PeerNetwork.
#ifndef BANYAN_NODE_DETOUR_SELECTOR_H_
#define BANYAN_NODE_DETOUR_SELECTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "proto/chunk_message.h"
#include "proto/policy_slice.h"

namespace banyan {

class DetourSelector {
 public:
  using Path = std::vector<NodeId>;
  // Whether the link from here to a neighbour is up and could send a chunk at once.
  using HasRoom = std::function<bool(NodeId neighbour)>;

  static constexpr int64_t kStuck = int64_t{1} << 50;
  // A link that shares a host's cap reaches at least this part of what the plan gives it: others are faster at times.
  static constexpr double kLeastOfCap = 0.5;
  // Below this part of what it reaches under the plan, a primary path is slower than planned. Losses, congestion
  // control and headers take up to a seventh of links that are as fast as ever.
  static constexpr double kAsPlanned = 0.85;
  // And below this part much slower.
  static constexpr double kHardlyAsPlanned = 0.8;
  // A detour has room to spare when the trees leave this part of each of its links.
  static constexpr double kLeastSpare = 0.1;

  explicit DetourSelector(NodeId self) : self_(self) {}

  // Learns the ways of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below.
  void RetirePolicies(PolicyVersion oldest);

  bool has_detours() const { return has_detours_; }
  // The primary path; the direct link when the policy is unknown.
  Path PrimaryPath(PolicyVersion policy, NodeId destination) const;
  // Whether a chunk that finds `load_bytes` on its way on the primary path should look for a detour.
  bool IsPrimaryBusy(PolicyVersion policy, NodeId destination, int64_t load_bytes) const;
  // What a link may carry at once when more would better take a detour; empty when the policy plans no detour there.
  std::optional<int64_t> PrimaryLimit(PolicyVersion policy, NodeId neighbour) const;
  // A detour with room for the chunk that brings it there before the primary path, with `load_bytes` before it (kStuck
  // when it moves nothing), would. `fastest_bps` is what the primary path does at best, 0 when unknown. nullptr when
  // there is none. Valid until the next RetirePolicies.
  const Path* PickDetour(PolicyVersion policy, NodeId destination, int64_t size_bytes, int64_t load_bytes,
                         double fastest_bps, const HasRoom& has_room, Timestamp now) const;
  // The chunk is on its way along its route; one that was on another before has left that.
  void OnSent(const ChunkMessage& chunk, int64_t size_bytes, Timestamp now);
  // It has arrived, or is given up.
  void OnDelivered(NodeId destination, const ChunkId& chunk, Timestamp now);
  void OnDone(NodeId destination, const ChunkId& chunk);
  void Clear();

  // On their way along a path over other nodes.
  int64_t BytesOn(const Path& path) const;

 private:
  struct Way {
    Path path;
    int64_t limit_bytes = 0;
    double rate_bps = 0;
    double planned_bps = 0;  // what it reaches, at least, when all goes as planned
    absl::Duration delay;
    bool is_planned = true;
    bool is_spare = false;
  };
  struct Ways {
    Way primary;
    std::vector<Way> detours;
  };
  struct OnItsWay {
    Path path;
    int64_t size_bytes = 0;
    Timestamp sent_at;
  };
  // How long chunks took on a detour of late, and when that was last seen.
  struct Latency {
    absl::Duration smoothed;
    Timestamp seen_at;
  };

  absl::Duration ExpectedTime(const Way& detour, int64_t size_bytes, Timestamp now) const;
  // Whether it is sooner there than with `load_bytes` before it on the primary path.
  bool IsSooner(const Ways& ways, const Way& detour, int64_t size_bytes, int64_t load_bytes, Timestamp now) const;
  const Ways* Find(PolicyVersion policy, NodeId destination) const;

  NodeId self_;
  bool has_detours_ = false;                                     // in any policy ever
  std::map<PolicyVersion, std::map<NodeId, Ways>> policies_;     // by destination
  std::map<std::pair<NodeId, ChunkId>, OnItsWay> on_their_way_;  // over other nodes only
  std::map<Path, int64_t> bytes_on_;
  std::map<Path, Latency> latencies_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_DETOUR_SELECTOR_H_
