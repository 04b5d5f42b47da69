#include "tools/trace/trace_question.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "tools/scheduler_probe.h"

namespace banyan {
namespace {

// Beyond the time for which rounds are noted: for nodes to say that they do, and for their pieces.
constexpr absl::Duration kGrace = absl::Minutes(1);
// Where no scheduler is, nobody waits so long.
constexpr absl::Duration kConnectPatience = absl::Seconds(5);

}  // namespace

absl::StatusOr<GatheredRecords> AskForTrace(const std::vector<std::string>& schedulers,
                                            std::optional<SecurityOptions> security, const TraceRounds& question) {
  RecordGatherer gatherer;
  SchedulerProbeOptions probe;
  probe.schedulers = schedulers;
  probe.security = std::move(security);
  probe.question = question;
  probe.patience = question.patience + kGrace;
  probe.connect_patience = kConnectPatience;
  probe.on_answer = [&gatherer](const Message& message) {
    if (const auto* piece = std::get_if<TracePiece>(&message)) gatherer.Take(*piece);
    if (const auto* end = std::get_if<TraceEnd>(&message)) gatherer.End(*end);
    return gatherer.is_over() || gatherer.is_too_much();
  };
  if (absl::Status status = AskScheduler(std::move(probe)); !status.ok()) return status;
  if (gatherer.is_too_much()) {
    return absl::ResourceExhaustedError(
        "the scheduler sent more records than nodes were to note; is it another version?");
  }
  if (!gatherer.is_over()) return absl::CancelledError("stopped before the rounds were noted; nothing was written");
  return gatherer.TakeAll();
}

}  // namespace banyan
