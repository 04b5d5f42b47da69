// The work of every contender's process of `banyan bench wan`: rounds of an all-reduce of known values. Each round
// begins when the barrier opens, and its result is checked.
#ifndef BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_
#define BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "bench/round_barrier.h"

namespace banyan {

// What the members put in, and what the sums are. Small whole numbers, whose sums are exact in any order: other ones at
// each place, in each round, of each member. Pure functions.
float OwnValue(int rank, int64_t round, int64_t index);
float SumOfValues(int world, int64_t round, int64_t index);
float LargestSum(int world);
// The mean magnitude of all members' values at `elements` places.
double MeanMagnitudeOfValues(int world, int64_t round, int64_t elements);

void FillValues(int rank, int64_t round, absl::Span<float> values);

// A contender's way to make sums, with as few copies as it can. Thread-compatible; owned by the contender's process.
class AllReduce {
 public:
  virtual ~AllReduce() = default;
  // Returns the buffer into which this member writes its values of the next round.
  virtual absl::StatusOr<absl::Span<float>> Input() = 0;
  // Returns the sums of all members' values, valid until the next call of Input.
  virtual absl::StatusOr<absl::Span<const float>> Sum() = 0;
};

// An all-reduce in memory of its own: a function makes the values of every member the sum of all. Thread-compatible.
class InPlaceAllReduce : public AllReduce {
 public:
  InPlaceAllReduce(int64_t elements, std::function<absl::Status(absl::Span<float>)> sum)
      : values_(static_cast<size_t>(elements)), sum_(std::move(sum)) {}
  absl::StatusOr<absl::Span<float>> Input() override { return absl::MakeSpan(values_); }
  absl::StatusOr<absl::Span<const float>> Sum() override {
    if (absl::Status status = sum_(absl::MakeSpan(values_)); !status.ok()) return status;
    return absl::MakeConstSpan(values_);
  }

 private:
  std::vector<float> values_;
  const std::function<absl::Status(absl::Span<float>)> sum_;
};

// Checks all-reduces of known values whose single results may lack something that comes later: in the end nothing may
// be missing. Results of majorities, to which nothing comes, are each what all members agree on. Thread-compatible;
// owned by a contender's process.
class AllReduceLedger {
 public:
  // kMajorities: the mean magnitude, with the sign of most members; a round of floats among them has means.
  enum class Results { kSums, kMeans, kMajorities };

  // Of `world` members that have `elements` values each, as OwnValue has them.
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

// DATA_LOSS names the first value that is not the sum of all members' ones.
absl::Status CheckSums(int world, int64_t round, absl::Span<const float> values);

struct AllReduceMember {
  int rank = 0;
  int world = 1;
};

// Until the barrier closes. Only Sum is timed. Results go to the ledger where there is one; without it each must be
// right.
absl::Status RunAllReduceRounds(RoundBarrier& barrier, const AllReduceMember& member, AllReduce& all_reduce,
                                AllReduceLedger* ledger = nullptr);

// The exit code of a program's main.
int ExitCode(absl::string_view program, const absl::Status& status);

}  // namespace banyan

#endif  // BANYAN_BENCH_ALL_REDUCE_ROUNDS_H_
