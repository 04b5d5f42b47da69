// A running hash over every event that a process was handed, and on demand a line of text for each: two runs of a seed
// are the same when their hashes are. Thread-compatible; owned by the simulation.
#ifndef BANYAN_SIM_TRACE_H_
#define BANYAN_SIM_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/ids.h"
#include "core/time.h"
#include "protocol/event.h"

namespace banyan {

class Trace {
 public:
  using Sink = std::function<void(const std::string& line)>;

  // Lines go to `sink` from now on; an empty one ends that.
  void set_sink(Sink sink) { sink_ = std::move(sink); }

  void Record(Timestamp now, NodeId process, const Event& event);
  // A line that is not part of the hash: a log line of a core, a fault.
  void Note(Timestamp now, NodeId process, const std::string& text);
  bool wants_notes() const { return static_cast<bool>(sink_); }

  uint64_t hash() const { return hash_; }
  uint64_t events() const { return events_; }

 private:
  uint64_t hash_ = 0;
  uint64_t events_ = 0;
  Sink sink_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TRACE_H_
