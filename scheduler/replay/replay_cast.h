// The transcripts of all nodes of one job, which a replay needs together. Immutable; thread-safe.
#ifndef BANYAN_SCHEDULER_REPLAY_REPLAY_CAST_H_
#define BANYAN_SCHEDULER_REPLAY_REPLAY_CAST_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "proto/transcript/node_transcript.h"

namespace banyan {

class ReplayCast {
 public:
  using Transcript = std::shared_ptr<const NodeTranscript>;

  // FAILED_PRECONDITION when these are not the transcripts of all nodes of one job: of which node one is missing or
  // there are two, or where they contradict each other.
  static absl::StatusOr<ReplayCast> Create(const std::vector<Transcript>& transcripts);

  // By number.
  const std::map<NodeId, Transcript>& nodes() const { return nodes_; }
  // Null for a name that no node has.
  const NodeTranscript* Find(const std::string& name) const;
  // The key table: of the node that has seen most of it.
  const std::vector<KeySlice>& keys() const { return keys_; }
  const std::string& job() const { return nodes_.begin()->second->joined.config.job; }

 private:
  std::map<NodeId, Transcript> nodes_;
  std::vector<KeySlice> keys_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_REPLAY_REPLAY_CAST_H_
