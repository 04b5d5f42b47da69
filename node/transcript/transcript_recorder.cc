#include "node/transcript/transcript_recorder.h"

#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "node/transcript/node_script.h"
#include "proto/transcript/node_transcript.h"
#include "proto/transcript/transcript_wire.h"

namespace banyan {

TranscriptRecorder::TranscriptRecorder(const std::string& node) {
  TranscriptStart start;
  start.node = node;
  entries_.emplace_back(std::move(start));
}

void TranscriptRecorder::OnBound(KeyId key, Round round, const PolicySlice& slice) {
  if (policies_.insert(slice.version).second) entries_.emplace_back(PolicyPublished{Term(1), slice});
  // Rounds may be bound before earlier ones.
  std::map<Round, PolicyVersion>& of_key = bound_[key];
  const auto next = of_key.upper_bound(round);
  if (next != of_key.begin() && std::prev(next)->second == slice.version) return;
  of_key.insert_or_assign(round, slice.version);
  entries_.emplace_back(TranscriptBound{key, round, slice.version});
}

void TranscriptRecorder::OnEncoding(const Place& place, EncodingChoice& choice) {
  if (choice == EncodingChoice()) return;
  entries_.emplace_back(TranscriptEncoding{place.key, place.round, place.chunk, place.half, choice});
}

void TranscriptRecorder::OnCut(const Place& place, uint32_t frames) {
  entries_.emplace_back(TranscriptCut{place.key, place.round, place.chunk, frames});
}

absl::Status TranscriptRecorder::OnJoined(const JoinAccepted& accepted) {
  entries_.emplace_back(accepted);
  const absl::Status sound = CheckReplayable(accepted.config);
  return sound.ok() ? sound : absl::Status(sound.code(), absl::StrCat("--transcript: ", sound.message()));
}

void TranscriptRecorder::OnEpoch(Epoch epoch) {
  if (first_epoch_ == Epoch()) first_epoch_ = epoch;
  if (epoch != first_epoch_) entries_.emplace_back(TranscriptEpoch{epoch});
}

bool TranscriptRecorder::TakeCall(WorkerCall& call) {
  if (const std::optional<TranscriptCall> entry = CallEntryOf(call)) entries_.emplace_back(*entry);
  return false;
}

absl::Status TranscriptRecorder::EndStep(StepContext& step, LocalWorkers* /*local_workers*/, RoundEngine* /*engine*/) {
  if (entries_.empty()) return absl::OkStatus();
  PersistRecord record{RecordId(++records_), EncodeTranscript(std::exchange(entries_, {}))};
  step.actions.emplace_back(std::in_place_type<PersistRecord>, std::move(record));
  return absl::OkStatus();
}

}  // namespace banyan
