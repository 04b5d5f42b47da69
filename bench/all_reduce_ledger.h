// Checks all-reduces of known values whose single results may lack something that comes later: in the end nothing may
// be missing. Results of majorities, to which nothing comes, are each what all members agree on. Thread-compatible;
// owned by a contender's process.
#ifndef BANYAN_BENCH_ALL_REDUCE_LEDGER_H_
#define BANYAN_BENCH_ALL_REDUCE_LEDGER_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace banyan {

class AllReduceLedger {
 public:
  // kMajorities: the mean magnitude, with the sign of most members; a round of floats among them has means.
  enum class Results { kSums, kMeans, kMajorities };

  // Of `world` members that have `elements` values each, as known_values.h has them.
  AllReduceLedger(int world, int64_t elements, Results results = Results::kSums)
      : world_(world),
        results_(results),
        values_per_result_(results == Results::kSums ? 1 : static_cast<float>(world)),
        owed_(static_cast<size_t>(elements)) {}

  // A round's result. REQUIRES (as the next): as many as there are elements.
  void Add(int64_t round, absl::Span<const float> results);
  // The result of a last round, of zeros, with which all comes that is missing.
  void AddRest(absl::Span<const float> results);

  // DATA_LOSS names the first element that has not all of its values in the results, or more.
  absl::Status Check() const;
  // Of all results so far, bit by bit and in their order: replicas have the same.
  uint64_t hash() const { return hash_; }

 private:
  bool IsOfMajorities(int64_t round, absl::Span<const float> results) const;

  int world_;
  Results results_;
  float values_per_result_;
  std::vector<float> owed_;  // what has been pushed, less what has come
  uint64_t hash_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_BENCH_ALL_REDUCE_LEDGER_H_
