// Work on buffers that a core hands to its driver's compute pool: codecs, sums, hashes, planning. The core gives the
// object away in an action. The event that says it has finished brings the same object back, with its results in it.
//
// Run() is called once, on any thread; it touches only what the object holds. In between the object belongs to the
// driver.
#ifndef BANYAN_PROTOCOL_COMPUTATION_H_
#define BANYAN_PROTOCOL_COMPUTATION_H_

#include <cstdint>
#include <optional>

#include "proto/precision/precision_report.h"

namespace banyan {

class Computation {
 public:
  virtual ~Computation() = default;

  virtual void Run() = 0;
  // Bytes of memory that Run() reads and writes: what the simulator turns into time.
  virtual int64_t size_bytes() const = 0;
  // Of the work whose rate a node reports; empty for other work.
  virtual std::optional<ServiceKind> service() const { return std::nullopt; }
};

}  // namespace banyan

#endif  // BANYAN_PROTOCOL_COMPUTATION_H_
