#include "node/transcript/transcript_replayer.h"

#include <optional>
#include <variant>

#include "absl/strings/str_cat.h"
#include "node/transcript/node_script.h"

namespace banyan {

void TranscriptReplayer::OnEncoding(const Place& place, EncodingChoice& choice) {
  const auto known = transcript_->encodings.find({place.key, place.round, place.chunk, place.half});
  choice = known == transcript_->encodings.end() ? EncodingChoice() : known->second;
}

uint32_t TranscriptReplayer::CutOf(const Place& place) const {
  const auto known = transcript_->cuts.find({place.key, place.round, place.chunk, place.half});
  return known == transcript_->cuts.end() ? 0 : known->second;
}

bool TranscriptReplayer::MayComplete(KeyId key, Round round) const {
  goes_beyond_ = goes_beyond_ || is_over();
  if (is_over()) return false;
  const auto* next = std::get_if<TranscriptComplete>(&transcript_->events[position_]);
  return next != nullptr && next->key == key && next->round == round;
}

absl::Status TranscriptReplayer::OnJoined(const JoinAccepted& accepted) {
  if (accepted.node == transcript_->joined.node) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("the transcript is of node ", transcript_->joined.node.value(),
                                                    ", but the scheduler knows ", transcript_->start.node, " as node ",
                                                    accepted.node.value()));
}

bool TranscriptReplayer::TakeCall(WorkerCall& call) {
  const std::optional<TranscriptCall> entry = CallEntryOf(call);
  if (entry.has_value()) calls_[entry->worker].push_back(std::move(call));
  return entry.has_value();
}

std::vector<WorkerCall> TranscriptReplayer::ReturnCalls() {
  std::vector<WorkerCall> all;
  for (auto& [worker, waiting] : calls_) {
    for (WorkerCall& call : std::exchange(waiting, {})) all.push_back(std::move(call));
  }
  return all;
}

void TranscriptReplayer::OnComplete(KeyId key, Round round, uint64_t hash) {
  const auto& wanted = std::get<TranscriptComplete>(transcript_->events[position_]);
  ++position_;
  if (wanted.hash == hash || !error_.ok()) return;
  error_ = absl::DataLossError(absl::StrCat("the result of ", NameOfKey(key), " in round ", round.value(),
                                            " differs from that of the transcript of ", transcript_->start.node,
                                            ": the training program, its data or its seeds are others"));
}

absl::Status TranscriptReplayer::EndStep(StepContext& step, LocalWorkers* local_workers, RoundEngine* engine) {
  while (local_workers != nullptr && error_.ok() && !is_over()) {
    const absl::StatusOr<bool> done = Do(step, *local_workers, *engine);
    if (!done.ok()) error_ = done.status();
    if (!done.ok() || !*done) break;
  }
  if (error_.ok() && is_over()) error_ = CheckEnd();
  return error_;
}

absl::StatusOr<bool> TranscriptReplayer::Do(StepContext& step, LocalWorkers& local_workers, RoundEngine& engine) {
  const NodeTranscript::Event& next = transcript_->events[position_];
  if (const auto* call = std::get_if<TranscriptCall>(&next)) return DoCall(step, local_workers, *call);
  // It counts as done with OnComplete.
  if (const auto* complete = std::get_if<TranscriptComplete>(&next)) {
    const size_t before = position_;
    engine.CompleteIfAllowed(step, complete->key, complete->round);
    return position_ > before;
  }
  const auto& left_out = std::get<TranscriptLeftOut>(next);
  ++position_;
  if (local_workers.GoOnWithoutLate(step, left_out.key, left_out.round)) return true;
  return absl::DataLossError(absl::StrCat("the transcript of ", transcript_->start.node,
                                          " leaves workers out of round ", left_out.round.value(), " of ",
                                          NameOfKey(left_out.key), ", which is not the next one here"));
}

absl::StatusOr<bool> TranscriptReplayer::DoCall(StepContext& step, LocalWorkers& local_workers,
                                                const TranscriptCall& wanted) {
  std::deque<WorkerCall>& waiting = calls_[wanted.worker];
  if (waiting.empty()) return false;
  const TranscriptCall came = *CallEntryOf(waiting.front());
  if (came != wanted) {
    return absl::FailedPreconditionError(absl::StrCat(
        Describe(came), " in the replay, where the transcript of ", transcript_->start.node, " has that ",
        Describe(wanted), " (event ", position_ + 1, "): the training program or its settings are others"));
  }
  ++position_;
  WorkerCall call = std::move(waiting.front());
  waiting.pop_front();
  local_workers.OnCall(step, std::move(call));
  return true;
}

absl::Status TranscriptReplayer::CheckEnd() const {
  std::optional<TranscriptCall> further;
  for (const auto& [worker, waiting] : calls_) {
    if (!waiting.empty()) further = CallEntryOf(waiting.front());
  }
  const bool is_end = further.has_value() && further->kind >= TranscriptCall::Kind::kGoodBye;
  if (!goes_beyond_ && (!further.has_value() || is_end)) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("the transcript of ", transcript_->start.node, " ends here, after ",
                                            transcript_->events.size(), " events",
                                            further.has_value() ? absl::StrCat("; ", Describe(*further)) : ""));
}

std::string TranscriptReplayer::Describe(const TranscriptCall& call) const {
  const std::string of_key = call.key == KeyId() ? "" : absl::StrCat(" of ", NameOfKey(call.key));
  return absl::StrCat("worker ", call.worker.value(), " calls for a ", NameOf(call.kind), of_key);
}

std::string TranscriptReplayer::NameOfKey(KeyId key) const {
  const size_t index = key.value() - 1;
  if (index >= transcript_->keys.size()) return absl::StrCat("key ", key.value());
  return absl::StrCat("key '", transcript_->keys[index].name, "'");
}

}  // namespace banyan
