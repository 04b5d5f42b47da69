// The largest ranks of a matrix that changes little from call to call, by subspace iteration from the last result
// (PowerSGD, Vogels et al., 2019), and in the order of their eigenvalues. Thread-compatible.
#ifndef BANYAN_EXAMPLES_PACKETS_LOW_RANK_H_
#define BANYAN_EXAMPLES_PACKETS_LOW_RANK_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "core/random.h"

namespace banyan {

class LowRank {
 public:
  // At most `ranks`, no more than rows or columns.
  LowRank(int64_t rows, int64_t columns, int64_t ranks, Random& random);

  // Sets left() and right() so that left() times right() transposed is near `matrix`, row by row.
  void Approximate(absl::Span<const float> matrix);
  // Writes left() times right() transposed.
  void MultiplyTo(absl::Span<float> matrix) const;

  int64_t ranks() const { return ranks_; }
  // Row after row, `ranks()` numbers each, the largest eigenvalue first. Whoever decodes may set numbers to zero.
  std::vector<float>& left() { return left_; }
  std::vector<float>& right() { return right_; }

 private:
  void Orthogonalise();
  void OrderRanks();

  const int64_t rows_;
  const int64_t columns_;
  const int64_t ranks_;
  std::vector<float> start_;  // of the next iteration: columns_ x ranks_
  std::vector<float> left_;   // rows_ x ranks_
  std::vector<float> right_;  // columns_ x ranks_
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PACKETS_LOW_RANK_H_
