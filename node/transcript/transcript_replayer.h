// Makes a node do again what its transcript says, with gradients of workers that run again. Thread-compatible; owned by
// NodeCore.
//
// Invariants:
// - Calls of workers, contributions without late ones and ends of rounds come in the order of the transcript. What
//   comes earlier waits. That never hangs: in that order it has all happened.
// - A call, or the result of a round, that is not the transcript's ends the replay with an error that names it.
#ifndef BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_REPLAYER_H_
#define BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_REPLAYER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/transcript/node_script.h"
#include "proto/transcript/node_transcript.h"

namespace banyan {

class TranscriptReplayer : public NodeScript {
 public:
  explicit TranscriptReplayer(std::shared_ptr<const NodeTranscript> transcript) : transcript_(std::move(transcript)) {}

  void OnEncoding(const Place& place, EncodingChoice& choice) override;
  uint32_t CutOf(const Place& place) const override;
  bool MayComplete(KeyId key, Round round) const override;
  absl::Status OnJoined(const JoinAccepted& accepted) override;
  void OnKeys(const KeysAssigned&) override {}
  void OnEpoch(Epoch) override {}
  bool TakeCall(WorkerCall& call) override;
  std::vector<WorkerCall> ReturnCalls() override;
  void OnLeftOut(KeyId, Round) override {}
  void OnComplete(KeyId key, Round round, uint64_t hash) override;
  absl::Status EndStep(StepContext& step, LocalWorkers* local_workers, RoundEngine* engine) override;

 private:
  // Does the next event if it can be done now. Returns whether it was.
  absl::StatusOr<bool> Do(StepContext& step, LocalWorkers& local_workers, RoundEngine& engine);
  absl::StatusOr<bool> DoCall(StepContext& step, LocalWorkers& local_workers, const TranscriptCall& wanted);
  // Not OK when workers go on where the transcript ends.
  absl::Status CheckEnd() const;
  // A call or a key, for an error.
  std::string Describe(const TranscriptCall& call) const;
  std::string NameOfKey(KeyId key) const;
  bool is_over() const { return position_ == transcript_->events.size(); }

  std::shared_ptr<const NodeTranscript> transcript_;
  size_t position_ = 0;                               // of the next event
  std::map<WorkerId, std::deque<WorkerCall>> calls_;  // that wait for their turn
  mutable bool goes_beyond_ = false;                  // a round is over of which the transcript has no end
  absl::Status error_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_TRANSCRIPT_TRANSCRIPT_REPLAYER_H_
