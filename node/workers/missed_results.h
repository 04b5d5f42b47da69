// The results of one key that a late worker has not been given: what its next call gets. Results that are updates are
// summed; of results that are the values themselves the last one counts. Thread-compatible; owned by LocalKey.
//
// Invariants:
// - Each result is given once, alone or in a sum, and no later than those after it. So what a worker was given up to a
//   call adds up to the results of all rounds that were complete then.
// - One tensor of memory at most, however many rounds were missed. Of one round it is shared with whoever holds it.
#ifndef BANYAN_NODE_WORKERS_MISSED_RESULTS_H_
#define BANYAN_NODE_WORKERS_MISSED_RESULTS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "core/buffer.h"
#include "core/data_type.h"
#include "core/ids.h"

namespace banyan {

class MissedResults {
 public:
  using Parts = std::vector<std::pair<int64_t, Buffer>>;  // with their first elements
  using Sink = absl::FunctionRef<void(int64_t first_element, const Buffer& values)>;

  // The worker has the results of rounds up to `given`.
  explicit MissedResults(Round given) : through_(given) {}

  // The last round of which nothing more comes: its result was given, or is here.
  Round through() const { return through_; }
  bool is_given() const { return is_given_; }
  // Takes the result of `round`, of a tensor of `elements`. One that `replaces` is no update, but the values.
  void Add(Round round, Parts result, int64_t elements, bool replaces);
  // Gives all that is here to `sink`, zeros of `type` where nothing is new. The same again until there is more.
  void Give(int64_t elements, DataType type, Sink sink);
  // The worker has pushed another round: what was given is over, but for values that still hold.
  void OnPushed(bool replaces);

  int64_t size_bytes() const;

 private:
  Round through_;
  bool is_given_ = false;
  Parts parts_;
};

}  // namespace banyan

#endif  // BANYAN_NODE_WORKERS_MISSED_RESULTS_H_
