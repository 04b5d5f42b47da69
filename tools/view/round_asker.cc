#include "tools/view/round_asker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/scheduler_messages.h"
#include "tools/reports/status_text.h"
#include "tracing/job_trace.h"

namespace banyan {
namespace {

constexpr char kRunning[] = "running";
// Up to 16 rounds may be open when all nodes note, and the traced one comes after them.
constexpr int kRoundsOfPatience = 24;
// Beyond the time for which nodes note, for what they send.
constexpr absl::Duration kGrace = absl::Minutes(1);

}  // namespace

std::optional<TraceRounds> RoundAsker::Next(const JobStatus& status, absl::Time now) {
  const bool advances = NoteRound(status, now);
  if (awaited_until_.has_value() && now >= *awaited_until_) {
    End(now);
    listener_.on_none("no answer came in time");
  }
  const bool is_time = !awaited_until_.has_value() && now >= next_at_;
  if (!is_time || !advances || !round_time_.has_value() || status.state != kRunning) return std::nullopt;
  const absl::Duration patience = std::clamp(*round_time_ * kRoundsOfPatience, kLeastPatience, kMostPatience);
  awaited_until_ = now + patience + kGrace;
  return TraceRounds{1, patience};
}

bool RoundAsker::NoteRound(const JobStatus& status, absl::Time now) {
  const uint64_t newest = NewestRound(status);
  if (newest == newest_round_) return false;
  // One that goes back is of another job.
  const bool advances = newest_round_ > 0 && newest > newest_round_;
  round_time_ = std::nullopt;
  if (advances) round_time_ = (now - newest_at_) / static_cast<double>(newest - newest_round_);
  newest_round_ = newest;
  newest_at_ = now;
  return advances;
}

bool RoundAsker::Take(const Message& message, absl::Time now) {
  if (const auto* piece = std::get_if<TracePiece>(&message)) {
    gatherer_.Take(*piece);
    return true;
  }
  if (const auto* end = std::get_if<TraceEnd>(&message)) {
    gatherer_.End(*end);
    TakeRecords(now);
    return true;
  }
  const auto* reply = std::get_if<OperatorReply>(&message);
  if (reply == nullptr || reply->accepted || !awaited_until_.has_value()) return false;
  End(now);
  listener_.on_none(reply->text);
  return true;
}

void RoundAsker::TakeRecords(absl::Time now) {
  const bool is_too_much = gatherer_.is_too_much();
  GatheredRecords all = gatherer_.TakeAll();
  // It may be the answer to a question that was given up.
  if (!awaited_until_.has_value()) return;
  End(now);
  if (is_too_much) return listener_.on_none("the scheduler sent more records than nodes were to note");
  const JobTrace trace = MakeJobTrace(all.records, std::move(all.names));
  const RoundChart chart = MakeRoundChart(trace, std::move(all.end.missing));
  if (chart.round.has_value()) return listener_.on_traced(chart);
  listener_.on_none("the round that was to be traced was not complete at all nodes in time");
}

void RoundAsker::End(absl::Time now) {
  awaited_until_ = std::nullopt;
  if (++questions_ % kTracesOfPace == 0) pause_ = std::min(2 * pause_, kLongestPause);
  next_at_ = now + pause_;
}

}  // namespace banyan
