// Decides, chunk by chunk, whether a chunk to a tree neighbour takes its primary path or an auxiliary path, as NETSTORM
// does (section VI). Thread-compatible; owned by ChunkSender.
//
// Rules:
//   1. A chunk takes the primary path until that is busy. Busy means that its bandwidth-delay product, in whole chunks,
//      and `primary_busy_bound` chunks more are on their way there.
//   2. Then it takes the first auxiliary path, in the policy's order, that is wanted, has room and is sooner. Where
//      there is none it takes the primary path.
//   3. A path has room while less than its own bandwidth-delay product and `auxiliary_queue_length` chunks are on it.
//   4. A path is sooner when it brings the chunk to its destination before the primary path would.
//   5. An auxiliary path takes room on each of its links, which others may need more. So which paths are wanted depends
//      on the primary path:
//      a. It is as fast as the plan took it to be: those for which the plan has a share.
//      b. It is slower, which the plan did not foresee: those too whose links the trees do not need.
//      c. It is much slower: all.
//      d. It is cut or stands still: all, and each of them counts as sooner.
//   6. A path on which a relay has refused a chunk takes none for a while, longer after each refusal in a row. Then it
//      takes one at a time, until one has arrived.
//
// Invariants:
//   1. A chunk counts on one path at a time, from OnSent until OnDelivered or OnDone.
//   2. Chunks over the direct link are not counted here: its PeerLink knows them.
//   3. A path whose relays refuse everything costs one chunk in kLongestRefusal.
#ifndef BANYAN_NODE_PEERS_AUXILIARY_SELECTOR_H_
#define BANYAN_NODE_PEERS_AUXILIARY_SELECTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/link/chunk_in_flight.h"
#include "proto/policy_slice.h"

namespace banyan {

class AuxiliarySelector {
 public:
  using Path = std::vector<NodeId>;
  // Returns whether the link from here to `neighbour` is up and could send a chunk at once.
  using HasRoom = std::function<bool(NodeId neighbour)>;

  // The load of a primary path that moves nothing.
  static constexpr int64_t kStuck = int64_t{1} << 50;
  // A link that shares a host's cap reaches at least this part of what the plan gives it. Others are faster at times.
  static constexpr double kLeastOfCap = 0.5;
  // A primary path is slower than planned below this part of what it reaches under the plan. Losses, congestion control
  // and headers take up to a seventh of links that are as fast as ever.
  static constexpr double kAsPlanned = 0.85;
  // It is much slower below this part.
  static constexpr double kHardlyAsPlanned = 0.8;
  // A path takes nothing for so long after a refusal, and twice as long after the next. A relay that has no room has
  // some soon; one that does not reach the destination may not for hours.
  static constexpr absl::Duration kFirstRefusal = absl::Milliseconds(100);
  static constexpr absl::Duration kLongestRefusal = absl::Seconds(20);
  // The trees do not need the links of a path of which they leave this part.
  static constexpr double kLeastSpare = 0.1;

  explicit AuxiliarySelector(NodeId self) : self_(self) {}

  // Learns the paths of a policy. Known versions stay as they are.
  void AddPolicy(const PolicySlice& slice);
  // Forgets all versions below `oldest`.
  void RetirePolicies(PolicyVersion oldest);

  bool has_auxiliary_paths() const { return has_auxiliary_paths_; }
  // Returns the primary path to `destination`; the direct link when the policy is unknown.
  Path PrimaryPath(PolicyVersion policy, NodeId destination) const;
  // Returns whether a chunk that finds `load_bytes` on the primary path should look for an auxiliary path.
  bool IsPrimaryBusy(PolicyVersion policy, NodeId destination, int64_t load_bytes) const;
  // Returns the bytes that the link to `neighbour` may carry at once before more would better take an auxiliary path.
  // Empty when the policy plans none there.
  std::optional<int64_t> PrimaryLimit(PolicyVersion policy, NodeId neighbour) const;
  // Returns the auxiliary path that a chunk of `size_bytes` should take when `load_bytes` are before it on the primary
  // path (kStuck when that moves nothing). `fastest_bps` is what the primary path does at best, 0 when unknown. Null
  // when there is none. Valid until the next RetirePolicies.
  const Path* PickPath(PolicyVersion policy, NodeId destination, int64_t size_bytes, int64_t load_bytes,
                       double fastest_bps, const HasRoom& has_room, Timestamp now) const;
  // Notes that `chunk` is on its way along its route. REQUIRES: it counts on no path.
  void OnSent(ChunkInFlight& chunk, Timestamp now);
  // Notes that `chunk` has arrived. How long it took tells how long others will take on its path.
  void OnDelivered(ChunkInFlight& chunk, Timestamp now);
  // Notes that a relay did not pass on a chunk along `path`.
  void OnRefused(const Path& path, Timestamp now);
  // Notes that `chunk` is on its way along its route no more.
  void OnDone(ChunkInFlight& chunk);
  // Forgets what is on its way: all chunks are dropped.
  void Clear();

  // Returns the bytes that are on their way along a `path` over other nodes.
  int64_t BytesOn(const Path& path) const;

 private:
  struct Way {
    Path path;
    int64_t limit_bytes = 0;
    double rate_bps = 0;
    double planned_bps = 0;  // what it reaches, at least, when all goes as planned
    absl::Duration delay;
    bool is_planned = true;  // the plan has a share for it
    bool is_spare = false;   // the trees do not need its links
  };
  struct Ways {
    Way primary;
    std::vector<Way> auxiliary_paths;
  };
  // How long chunks took on an auxiliary path of late, and when that was last seen.
  struct Latency {
    absl::Duration smoothed;
    Timestamp seen_at;
  };

  struct Refusal {
    absl::Duration lasts;
    Timestamp until;
  };

  // Returns whether the path may take a chunk for all that its relays have refused.
  bool MayTry(const Path& path, Timestamp now) const;
  // Returns how long a chunk of `size_bytes` would take on the path `auxiliary path`, behind what is on it.
  absl::Duration ExpectedTime(const Way& auxiliary_path, int64_t size_bytes, Timestamp now) const;
  // Returns whether `auxiliary path` is sooner than the primary path with `load_bytes` before the chunk.
  bool IsSooner(const Ways& ways, const Way& auxiliary_path, int64_t size_bytes, int64_t load_bytes,
                Timestamp now) const;
  const Ways* Find(PolicyVersion policy, NodeId destination) const;

  NodeId self_;
  bool has_auxiliary_paths_ = false;                          // in any policy ever
  std::map<PolicyVersion, std::map<NodeId, Ways>> policies_;  // by destination
  std::map<Path, int64_t> bytes_on_;                          // of chunks on their way, over other nodes only
  std::map<Path, Latency> latencies_;
  std::map<Path, Refusal> refusals_;  // since a chunk has last arrived
};

}  // namespace banyan

#endif  // BANYAN_NODE_PEERS_AUXILIARY_SELECTOR_H_
