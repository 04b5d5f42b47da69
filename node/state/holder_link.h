// What a joiner knows of one holder of the state: how to reach it, what it owes, and how fast it gives.
// Thread-compatible; owned by StateFetcher.
//
// It may owe what it gives in kHorizon, or in twice the shortest time from a request to its chunk where that is longer.
// So the amount grows, at least doubling in each such time, until the link is full, and then stays.
#ifndef BANYAN_NODE_STATE_HOLDER_LINK_H_
#define BANYAN_NODE_STATE_HOLDER_LINK_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"

namespace banyan {

class HolderLink {
 public:
  static constexpr absl::Duration kHorizon = absl::Milliseconds(250);
  // It may owe that many chunks at least, so that it has the next one at hand while one travels.
  static constexpr int64_t kLeastChunks = 4;

  HolderLink() = default;
  // `path` leads from the joiner to the holder; of one node where they are the same.
  HolderLink(std::vector<NodeId> path, int64_t chunk_bytes) : path_(std::move(path)), chunk_bytes_(chunk_bytes) {}

  const std::vector<NodeId>& path() const { return path_; }
  NodeId node() const { return path_.back(); }
  // A holder behind another one, which gives over the same link, is asked only in its place.
  bool is_reserve = false;
  // Nothing has come for so long that it is not asked for more.
  bool is_silent = false;
  int wrong = 0;  // chunks

  void OnAsked(Timestamp now, ChunkIndex chunk, int64_t size_bytes);
  // Notes that a chunk has come. False when it was not owed.
  bool OnArrived(Timestamp now, ChunkIndex chunk);
  // Returns what it owed; it owes nothing then.
  std::vector<ChunkIndex> TakeOwed();

  bool Owes(ChunkIndex chunk) const { return owed_.count(chunk) > 0; }
  bool OwesAny() const { return !owed_.empty(); }
  int64_t owed_bytes() const { return owed_bytes_; }
  // What it owes, since when, and how many bytes.
  const std::map<ChunkIndex, std::pair<Timestamp, int64_t>>& owed() const { return owed_; }
  // How much more it may owe.
  int64_t Room() const { return TargetBytes() - owed_bytes_; }
  // Since when it owes something and has given nothing; REQUIRES: OwesAny().
  Timestamp heard_at() const { return heard_at_; }
  // How long it will take for what it owes and for so much more.
  absl::Duration ExpectedWait(Timestamp now, int64_t further_bytes) const;
  double bytes_per_second() const { return bytes_per_second_; }

 private:
  int64_t TargetBytes() const;
  void Measure(Timestamp now, int64_t size_bytes);

  std::vector<NodeId> path_;
  int64_t chunk_bytes_ = 0;
  std::map<ChunkIndex, std::pair<Timestamp, int64_t>> owed_;  // since when, and its bytes
  int64_t owed_bytes_ = 0;
  Timestamp heard_at_;
  absl::Duration shortest_ = absl::InfiniteDuration();  // from a request to its chunk
  double bytes_per_second_ = 0;                         // 0 before the first measurement
  Timestamp measured_at_;                               // when the sample under way began
  int64_t sample_bytes_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_HOLDER_LINK_H_
