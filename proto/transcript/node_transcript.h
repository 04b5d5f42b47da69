// The transcript of one node as a replay looks things up in it. Value; thread-compatible.
#ifndef BANYAN_PROTO_TRANSCRIPT_NODE_TRANSCRIPT_H_
#define BANYAN_PROTO_TRANSCRIPT_NODE_TRANSCRIPT_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "proto/half.h"
#include "proto/job_config.h"
#include "proto/policy_slice.h"
#include "proto/scheduler_messages.h"
#include "proto/transcript/transcript_entry.h"

namespace banyan {

struct NodeTranscript {
  using Place = std::tuple<KeyId, Round, ChunkIndex, Half>;
  // What happened one after the other between workers and rounds.
  using Event = std::variant<TranscriptCall, TranscriptLeftOut, TranscriptComplete>;

  TranscriptStart start;
  JoinAccepted joined;
  std::vector<KeySlice> keys;  // without gaps, from 1
  std::map<PolicyVersion, PolicySlice> policies;
  std::map<KeyId, std::map<Round, PolicyVersion>> bound;  // by the first round of each policy
  std::map<Place, EncodingChoice> encodings;
  std::map<Place, uint32_t> cuts;
  std::vector<Event> events;

  // Returns the policy that governs the round, with the last round up to which it does so as far as this node knows.
  // Version 0: none that is known.
  std::pair<PolicyVersion, Round> PolicyOf(KeyId key, Round round) const;
};

// Returns why a job cannot be replayed from a transcript of it; OK if it can.
absl::Status CheckReplayable(const JobConfig& config);

// Reads the `records` of one transcript, oldest first. INVALID_ARGUMENT says in which record what is wrong.
// FAILED_PRECONDITION when it is sound, but no replay gives the same: members came or went, or a worker died.
absl::StatusOr<NodeTranscript> ReadNodeTranscript(const std::vector<std::string>& records);

}  // namespace banyan

#endif  // BANYAN_PROTO_TRANSCRIPT_NODE_TRANSCRIPT_H_
