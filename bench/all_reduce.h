// A contender's way to make sums, with as few copies as it can. Thread-compatible; owned by the contender's process.
#ifndef BANYAN_BENCH_ALL_REDUCE_H_
#define BANYAN_BENCH_ALL_REDUCE_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace banyan {

class AllReduce {
 public:
  virtual ~AllReduce() = default;
  // Returns the buffer into which this member writes its values of the next round.
  virtual absl::StatusOr<absl::Span<float>> Input() = 0;
  // Returns the sums of all members' values, valid until the next call of Input.
  virtual absl::StatusOr<absl::Span<const float>> Sum() = 0;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_ALL_REDUCE_H_
