// How far keys are, in runs, to and from Protobuf. Part of proto/wire.h, which is what others use. Pure functions.
#ifndef BANYAN_PROTO_PROGRESS_RUNS_WIRE_H_
#define BANYAN_PROTO_PROGRESS_RUNS_WIRE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "proto/field_reader.h"
#include "proto/scheduler.pb.h"
#include "proto/scheduler_messages.h"

namespace banyan {

using ProgressRunList = google::protobuf::RepeatedPtrField<wire::KeyProgressRun>;

inline void WriteProgressRuns(const std::vector<KeyProgressRun>& from, ProgressRunList& to) {
  to.Reserve(static_cast<int>(from.size()));
  for (const KeyProgressRun& run : from) {
    wire::KeyProgressRun& written = *to.Add();
    written.set_key(run.key.value());
    written.set_round(run.round.value());
    written.set_more_keys(run.more_keys);
  }
}

inline std::vector<KeyProgressRun> ReadProgressRuns(const ProgressRunList& from, FieldReader& fields) {
  std::vector<KeyProgressRun> runs;
  const int count = fields.Count("runs", from.size());
  runs.reserve(count);
  size_t keys = 0;
  for (int i = 0; i < count; ++i) {
    const wire::KeyProgressRun& run = from.Get(i);
    FieldReader within = fields.Within("runs", i);
    const KeyId key = within.NonZero<KeyId>("key", run.key());
    const uint32_t more_keys = within.MoreKeys(key, run.more_keys(), keys);
    runs.push_back({key, Round(run.round()), more_keys});
  }
  return runs;
}

}  // namespace banyan

#endif  // BANYAN_PROTO_PROGRESS_RUNS_WIRE_H_
