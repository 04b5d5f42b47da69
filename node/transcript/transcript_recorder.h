// Records a node's transcript: what a replay must know beside the workers' gradients. Thread-compatible; owned by
// NodeCore.
//
// Invariants:
// - Entries are persisted in the order in which things happened, those of a step together.
// - A policy stands before the first round that it governs, and only once.
#ifndef BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_RECORDER_H_
#define BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_RECORDER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "node/transcript/node_script.h"
#include "proto/transcript/transcript_entry.h"

namespace banyan {

class TranscriptRecorder : public NodeScript {
 public:
  // Of the node of this name.
  explicit TranscriptRecorder(const std::string& node);

  void OnBound(KeyId key, Round round, const PolicySlice& slice) override;
  void OnEncoding(const Place& place, EncodingChoice& choice) override;
  void OnCut(const Place& place, uint32_t frames) override;
  absl::Status OnJoined(const JoinAccepted& accepted) override;
  void OnKeys(const KeysAssigned& assigned) override { entries_.emplace_back(assigned); }
  void OnEpoch(Epoch epoch) override;
  bool TakeCall(WorkerCall& call) override;
  void OnLeftOut(KeyId key, Round round) override { entries_.emplace_back(TranscriptLeftOut{key, round}); }
  void OnComplete(KeyId key, Round round, uint64_t hash) override {
    entries_.emplace_back(TranscriptComplete{key, round, hash});
  }
  absl::Status EndStep(StepContext& step, LocalWorkers* local_workers, RoundEngine* engine) override;

 private:
  std::vector<TranscriptEntry> entries_;  // of this step
  uint64_t records_ = 0;
  Epoch first_epoch_;
  std::set<PolicyVersion> policies_;                       // that are recorded
  std::map<KeyId, std::map<Round, PolicyVersion>> bound_;  // as recorded: by the first round of each
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_RECORDER_H_
