// Has a running job trace a round now and then for a recording of it: says when to ask the scheduler, and puts together
// what comes. Thread-compatible; owned by who asks.
// Invariants:
// - It asks only while rounds are completed, for one round at a time, and gives up what is not answered.
// - Pauses double after each kTracesOfPace questions, up to kLongestPause: a long recording has few traces.
#ifndef BANYAN_TOOLS_VIEW_ROUND_ASKER_H_
#define BANYAN_TOOLS_VIEW_ROUND_ASKER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "proto/message.h"
#include "proto/status.h"
#include "proto/tracing/trace_messages.h"
#include "tools/reports/round_chart.h"
#include "tools/trace/record_gatherer.h"

namespace banyan {

class RoundAsker {
 public:
  static constexpr int kTracesOfPace = 8;
  static constexpr absl::Duration kFirstPause = absl::Seconds(5);
  static constexpr absl::Duration kLongestPause = absl::Minutes(10);
  // For which nodes note a round at most; longer where rounds are long.
  static constexpr absl::Duration kLeastPatience = absl::Minutes(1);
  static constexpr absl::Duration kMostPatience = absl::Minutes(30);

  struct Listener {
    std::function<void(const RoundChart& chart)> on_traced;  // of a complete round
    std::function<void(const std::string& why)> on_none;     // the question brought no round
  };

  explicit RoundAsker(Listener listener) : listener_(std::move(listener)) {}

  // Takes the status that came at `now`. Returns what the scheduler is to be asked, if anything.
  std::optional<TraceRounds> Next(const JobStatus& status, absl::Time now);
  // Takes what came from the scheduler at `now`. Returns whether it belongs to a trace.
  bool Take(const Message& message, absl::Time now);

 private:
  // Returns whether rounds have been completed since the last status.
  bool NoteRound(const JobStatus& status, absl::Time now);
  // The question is answered, or will not be.
  void End(absl::Time now);
  void TakeRecords(absl::Time now);

  const Listener listener_;
  RecordGatherer gatherer_;
  std::optional<absl::Time> awaited_until_;  // an answer; empty: nothing was asked
  uint64_t newest_round_ = 0;
  absl::Time newest_at_;
  std::optional<absl::Duration> round_time_;
  int questions_ = 0;
  absl::Duration pause_ = kFirstPause;
  absl::Time next_at_ = absl::InfinitePast();
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_VIEW_ROUND_ASKER_H_
