// Fetches the training state for workers of this node that begin late: asks one holder what the state is made of, and
// all of them for its chunks, each as fast as it gives them. Thread-compatible; owned by NodeCore.
//
// A holder is asked for as much as it gives in kHorizon, so that its link is never idle and its queue never long. At
// the end, chunks that a slow or silent holder still owes are asked of a faster one as well.
//
// Invariants:
// - A chunk is written only when its hash is that of the manifest. A wrong one is asked of another holder, and a holder
//   that gives kMostWrong wrong ones is asked no more.
// - A chunk is asked of at most two holders at a time. Only what a holder still owes is asked again when it falls
//   silent or leaves.
// - Every fetch ends: complete, or failed at the latest when nothing has come for `stall_after`.
// - What has been asked and not been written stays below kMostBytes, over all holders, or is one chunk.
#ifndef BANYAN_NODE_STATE_STATE_FETCHER_H_
#define BANYAN_NODE_STATE_STATE_FETCHER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "node/state/holder_link.h"
#include "node/state/state_mail.h"
#include "node/step_context.h"
#include "proto/message.h"
#include "proto/state_layout.h"
#include "proto/state_messages.h"
#include "protocol/state_call.h"

namespace banyan {

class StateFetcher {
 public:
  static constexpr int64_t kMostBytes = int64_t{128} << 20;
  static constexpr int kMostWrong = 3;

  struct Settings {
    absl::Duration stall_after = absl::Seconds(5);
    absl::Duration tick = absl::Milliseconds(100);
  };
  enum class Phase : uint8_t { kIdle, kNoHolders, kNoManifest, kPulling, kComplete, kFailed };

  // `mail` outlives this.
  StateFetcher(Settings settings, StateMail* mail) : settings_(settings), mail_(mail) {}

  // Fetches for this worker too, whose state has this shape. INVALID_ARGUMENT when another worker's differs. `replica`
  // has the keys of replicas, and the rounds after which they are wanted.
  absl::Status AddWorker(StepContext& step, WorkerId worker, StateShape shape, std::vector<KeysPushed> replica = {});
  // Fetches for this worker no longer; without any the fetch ends.
  void RemoveWorker(WorkerId worker);
  // Forgets a worker that has gone: it answers nothing any more.
  void OnWorkerGone(WorkerId worker);
  // Waits for holders again, of another transfer.
  void Restart();
  // Ends the fetch and forgets all of it.
  void Clear();

  // Takes who holds the state now. Of another transfer than before: begins anew.
  void OnHolders(StepContext& step, const StateHolders& holders);
  void OnManifest(StepContext& step, const StateManifest& manifest);
  void OnRefused(StepContext& step, const StateRefused& refused);
  // Returns whether it is to be written for all workers(); for each there is to be an OnWritten.
  bool OnChunk(StepContext& step, const ChunkMessage& message, const Payload& payload);
  // Returns false when the worker has not taken a chunk of this fetch, and so fetches no longer.
  bool OnWritten(StepContext& step, const WorkerStateWritten& written);
  // What is on its way is lost, on all nodes until Resume: an epoch begins.
  void Pause() { is_paused_ = true; }
  void Resume(StepContext& step);
  void OnDeadline(StepContext& step);
  Timestamp NextDeadline() const;

  Phase phase() const { return phase_; }
  // Why it has failed; REQUIRES: phase() is kFailed.
  const absl::Status& failure() const { return failure_; }
  // Returns whether anybody is left to ask.
  bool has_holders() const { return !holders_.empty(); }
  // For whom it fetches.
  const std::set<WorkerId>& workers() const { return workers_; }
  TransferId transfer() const { return transfer_; }
  uint64_t boundary() const { return boundary_; }
  const std::vector<KeysPushed>& pushed() const { return pushed_; }
  uint64_t wrong_chunks() const { return wrong_chunks_; }
  // Says what it waits for, as in "chunks 7 of 100 from nodes 2, 3".
  std::string Describe() const;

 private:
  using Holders = std::map<NodeId, HolderLink>;

  // Forgets all but the workers and their shape.
  void Reset();
  void Begin(StepContext& step, const StateHolders& holders);
  void UpdateHolders(const StateHolders& holders);
  void ChooseReserves();
  void AskManifest(StepContext& step);
  void AskAnotherForManifest(StepContext& step);
  absl::Duration ManifestPatience() const;
  // Names the part that differs; OK when none does.
  absl::Status CheckShape(const StateShape& came, NodeId holder) const;
  void Fill(StepContext& step);
  // Asks this holder for as much as it may owe, and `most` chunks.
  void FillFrom(StepContext& step, HolderLink& holder, size_t most = StateLayout::kMostChunks);
  std::optional<ChunkIndex> NextChunk(const HolderLink& holder);
  // Chooses a chunk that another holder owes and will give much later than `holder` would.
  std::optional<ChunkIndex> ChunkToSteal(Timestamp now, const HolderLink& holder);
  void SendRequest(const HolderLink& holder, const std::vector<ChunkIndex>& chunks);
  // What this holder owes is to be asked of others.
  void TakeBackFrom(HolderLink& holder);
  void TakeBack(NodeId holder, ChunkIndex chunk);
  void RemoveHolder(NodeId holder);
  // Says whether this is the chunk that the manifest means.
  bool IsRight(ChunkIndex chunk, const Payload& payload) const;
  void OnWrong(StepContext& step, NodeId holder, ChunkIndex chunk);
  void CompleteIfWhole();
  bool IsWhole() const;
  void Fail(absl::Status status);
  int64_t HeldBytes() const;
  std::string HolderNames() const;

  const Settings settings_;
  StateMail* mail_;

  Phase phase_ = Phase::kIdle;
  absl::Status failure_;
  std::set<WorkerId> workers_;            // that fetch
  std::map<WorkerId, uint32_t> writing_;  // chunks that are being written into the memory of each worker
  std::map<WorkerId, uint32_t> former_;   // the first of these, which are of its fetch before
  StateShape shape_;
  StateLayout layout_;
  std::vector<KeysPushed> replica_;
  TransferId transfer_;
  uint64_t boundary_ = 0;
  std::vector<KeysPushed> pushed_;

  Holders holders_;
  NodeId manifest_from_;       // who was asked for it last, or has given it
  size_t manifest_asked_ = 0;  // how often
  std::vector<uint64_t> hashes_;
  ChunkIndex next_;                                  // has never been asked for, nor any after it
  std::set<ChunkIndex> again_;                       // to be asked for again
  std::map<ChunkIndex, std::vector<NodeId>> asked_;  // of one holder or two
  std::map<ChunkIndex, std::set<NodeId>> wrong_;     // from whom
  uint64_t wrong_chunks_ = 0;
  Attempt attempt_;
  bool is_paused_ = false;
  Timestamp progress_at_;
  Timestamp next_tick_ = kNever;
};

// Hands what another node says of a state, chunks aside, to the one of this node that gives or that fetches.
template <typename Server>
void HandStateMessage(StepContext& step, const Message& message, Server& server, StateFetcher& fetcher) {
  if (const auto* wanted = std::get_if<StateManifestWanted>(&message)) {
    server.OnManifestWanted(step, *wanted);
  } else if (const auto* manifest = std::get_if<StateManifest>(&message)) {
    fetcher.OnManifest(step, *manifest);
  } else if (const auto* request = std::get_if<StateRequest>(&message)) {
    server.OnRequest(step, *request);
  } else if (const auto* refused = std::get_if<StateRefused>(&message)) {
    fetcher.OnRefused(step, *refused);
  }
}

}  // namespace banyan

#endif  // BANYAN_NODE_STATE_STATE_FETCHER_H_
