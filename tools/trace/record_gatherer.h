// Puts together the pieces in which the records of nodes come. Thread-compatible; owned by who asks for a trace, or
// who shows one.
//
// Invariants:
// - Holds at most kMostRecords, and of the newest trace alone.
#ifndef BANYAN_TOOLS_TRACE_RECORD_GATHERER_H_
#define BANYAN_TOOLS_TRACE_RECORD_GATHERER_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "core/ids.h"
#include "proto/tracing/trace_messages.h"

namespace banyan {

// Of all nodes that have sent all that they had.
struct GatheredRecords {
  std::map<NodeId, RoundRecords> records;
  std::map<NodeId, std::string> names;
  TraceEnd end;
};

class RecordGatherer {
 public:
  static constexpr size_t kMostRecords = size_t{1} << 19;

  // Takes a piece. Those of another trace than the last piece's begin anew.
  void Take(const TracePiece& piece);
  void End(const TraceEnd& end) { end_ = end; }
  bool is_over() const { return end_.has_value(); }
  // More came than a scheduler lets nodes note: it is not kept.
  bool is_too_much() const { return is_too_much_; }
  // Returns all of the nodes that are not missing, and begins anew. REQUIRES: is_over().
  GatheredRecords TakeAll();

 private:
  TraceId trace_;
  size_t size_ = 0;
  bool is_too_much_ = false;
  std::map<NodeId, RoundRecords> records_;
  std::map<NodeId, std::string> names_;
  std::optional<TraceEnd> end_;
};

}  // namespace banyan

#endif  // BANYAN_TOOLS_TRACE_RECORD_GATHERER_H_
