// An all-reduce in memory of its own: a function makes the values of every member the sum of all. Thread-compatible.
#ifndef BANYAN_BENCH_IN_PLACE_ALL_REDUCE_H_
#define BANYAN_BENCH_IN_PLACE_ALL_REDUCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "bench/all_reduce.h"

namespace banyan {

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

}  // namespace banyan

#endif  // BANYAN_BENCH_IN_PLACE_ALL_REDUCE_H_
