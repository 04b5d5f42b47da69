// The critical path of a round: what the last node waited for, what came before that, and so on back to the round's
// beginning. Found by walking back from the last result. A chunk that came had waited for its link while that was busy
// with earlier chunks, before that for a sum at its sender, and that sum for the last of its parts.
//
// A link was busy for a chunk as long as chunks that came before it began to be carried after that chunk was ready. The
// least time that any chunk took on the link stands for its delay. So one chunk that waits behind less than another
// counts as on an idle link.
#ifndef BANYAN_TRACING_CRITICAL_PATH_H_
#define BANYAN_TRACING_CRITICAL_PATH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "core/ids.h"
#include "core/time.h"
#include "tracing/job_trace.h"

namespace banyan {

// What the round waited for, for a time.
struct PathPart {
  enum class Kind : uint8_t {
    kFormerRound,   // which `from` had not completed yet
    kContribution,  // of the workers of `from`
    kPolicy,        // that `from` asked the scheduler for
    kWork,          // of `from`, which adds up, encodes or reads
    kHop,           // a chunk on the link from `from` to `to`
    kFull           // the same link, busy with chunks before this one
  };
  Kind kind = Kind::kWork;
  NodeId from;
  NodeId to;  // itself, where no link is meant
  Timestamp begin;
  Timestamp end;
  // Of a full link.
  int64_t carried_bytes = 0;        // meanwhile
  std::set<NodeId> also_to = {};    // other nodes for whom chunks waited at `from` nearly all the time
  std::set<NodeId> also_from = {};  // other nodes at which chunks for `to` waited nearly all the time

  absl::Duration duration() const { return end - begin; }
};

struct CriticalPath {
  Round round;
  Timestamp begin;              // the first contribution of any node
  Timestamp end;                // the last node has the whole result
  std::vector<PathPart> parts;  // from begin to end, without gaps
};

class TraceIndex;

// Finds the paths of one trace, which it looks through once. The trace outlives it. Thread-compatible.
class PathFinder {
 public:
  explicit PathFinder(const JobTrace& trace);
  ~PathFinder();

  // Nothing when the trace does not hold the round's beginning and end.
  std::optional<CriticalPath> Find(Round round) const;
  // Returns the paths of all complete rounds, in order.
  std::vector<CriticalPath> FindAll() const;

 private:
  const JobTrace& trace_;
  std::unique_ptr<const TraceIndex> index_;
};

}  // namespace banyan

#endif  // BANYAN_TRACING_CRITICAL_PATH_H_
