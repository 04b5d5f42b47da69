#include "examples/packets/low_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace banyan {
namespace {

constexpr int kJacobiSweeps = 8;

// A symmetric matrix of a few rows, diagonal by diagonal. `vectors` ends with its eigenvectors as columns, `matrix`
// with the eigenvalues on its diagonal.
void Diagonalise(int64_t n, std::vector<double>& matrix, std::vector<double>& vectors) {
  vectors.assign(static_cast<size_t>(n * n), 0);
  for (int64_t i = 0; i < n; ++i) vectors[i * n + i] = 1;
  const auto rotate = [n](std::vector<double>& m, int64_t i, int64_t j, int64_t step, double c, double s) {
    for (int64_t k = 0; k < n; ++k) {
      double& a = step == 1 ? m[i * n + k] : m[k * n + i];
      double& b = step == 1 ? m[j * n + k] : m[k * n + j];
      const double old_a = a;
      a = c * old_a - s * b;
      b = s * old_a + c * b;
    }
  };
  for (int sweep = 0; sweep < kJacobiSweeps; ++sweep) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = i + 1; j < n; ++j) {
        if (matrix[i * n + j] == 0) continue;
        const double angle = std::atan2(2 * matrix[i * n + j], matrix[j * n + j] - matrix[i * n + i]) / 2;
        const double c = std::cos(angle), s = std::sin(angle);
        rotate(matrix, i, j, 1, c, s);
        rotate(matrix, i, j, n, c, s);
        rotate(vectors, i, j, n, c, s);
      }
    }
  }
}

// to = from times mix, of `rows` with `n` numbers each.
std::vector<float> Mixed(const std::vector<float>& from, int64_t n, const std::vector<double>& mix,
                         const std::vector<int64_t>& order) {
  std::vector<float> to(from.size());
  for (size_t row = 0; row < from.size(); row += static_cast<size_t>(n)) {
    for (int64_t rank = 0; rank < n; ++rank) {
      double sum = 0;
      for (int64_t k = 0; k < n; ++k) sum += from[row + k] * mix[k * n + order[rank]];
      to[row + rank] = static_cast<float>(sum);
    }
  }
  return to;
}

}  // namespace

LowRank::LowRank(int64_t rows, int64_t columns, int64_t ranks, Random& random)
    : rows_(rows),
      columns_(columns),
      ranks_(std::min({ranks, rows, columns})),
      start_(static_cast<size_t>(columns * ranks_)),
      left_(static_cast<size_t>(rows * ranks_)),
      right_(static_cast<size_t>(columns * ranks_)) {
  for (float& value : start_) value = static_cast<float>(random.Unit() - 0.5);
}

void LowRank::Approximate(absl::Span<const float> matrix) {
  std::fill(left_.begin(), left_.end(), 0.0f);
  for (int64_t row = 0; row < rows_; ++row) {
    float* const to = &left_[row * ranks_];
    for (int64_t column = 0; column < columns_; ++column) {
      const float value = matrix[row * columns_ + column];
      for (int64_t rank = 0; rank < ranks_; ++rank) to[rank] += value * start_[column * ranks_ + rank];
    }
  }
  Orthogonalise();
  std::fill(right_.begin(), right_.end(), 0.0f);
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t column = 0; column < columns_; ++column) {
      const float value = matrix[row * columns_ + column];
      for (int64_t rank = 0; rank < ranks_; ++rank) {
        right_[column * ranks_ + rank] += value * left_[row * ranks_ + rank];
      }
    }
  }
  OrderRanks();
  // A rank of zeros would stay so for ever.
  for (int64_t rank = 0; rank < ranks_; ++rank) {
    const auto at = [rank, this](int64_t column) { return static_cast<size_t>(column * ranks_ + rank); };
    int64_t used = 0;
    for (int64_t column = 0; column < columns_; ++column) used += right_[at(column)] != 0 ? 1 : 0;
    for (int64_t column = 0; used > 0 && column < columns_; ++column) start_[at(column)] = right_[at(column)];
  }
}

void LowRank::MultiplyTo(absl::Span<float> matrix) const {
  for (int64_t row = 0; row < rows_; ++row) {
    for (int64_t column = 0; column < columns_; ++column) {
      const float* const a = &left_[row * ranks_];
      const float* const b = &right_[column * ranks_];
      matrix[row * columns_ + column] = std::inner_product(a, a + ranks_, b, 0.0f);
    }
  }
}

// Gram-Schmidt over the ranks of left_. A rank that depends on others becomes zero.
void LowRank::Orthogonalise() {
  const auto dot = [this](int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t row = 0; row < rows_; ++row) {
      sum += static_cast<double>(left_[row * ranks_ + a]) * left_[row * ranks_ + b];
    }
    return sum;
  };
  for (int64_t rank = 0; rank < ranks_; ++rank) {
    const double before = dot(rank, rank);
    for (int64_t other = 0; other < rank; ++other) {
      const auto part = static_cast<float>(dot(rank, other));
      for (int64_t row = 0; row < rows_; ++row) left_[row * ranks_ + rank] -= part * left_[row * ranks_ + other];
    }
    const double norm = dot(rank, rank);
    const float scale = norm > 1e-10 * before ? static_cast<float>(1 / std::sqrt(norm)) : 0;
    for (int64_t row = 0; row < rows_; ++row) left_[row * ranks_ + rank] *= scale;
  }
}

// Rotates both factors so that the ranks are those of the matrix' part in the subspace (Rayleigh and Ritz).
void LowRank::OrderRanks() {
  std::vector<double> gram(static_cast<size_t>(ranks_ * ranks_)), vectors;
  for (int64_t column = 0; column < columns_; ++column) {
    const float* const row = &right_[column * ranks_];
    for (int64_t i = 0; i < ranks_; ++i) {
      for (int64_t j = 0; j < ranks_; ++j) gram[i * ranks_ + j] += static_cast<double>(row[i]) * row[j];
    }
  }
  Diagonalise(ranks_, gram, vectors);
  std::vector<int64_t> order(static_cast<size_t>(ranks_));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return gram[a * ranks_ + a] > gram[b * ranks_ + b]; });
  left_ = Mixed(left_, ranks_, vectors, order);
  right_ = Mixed(right_, ranks_, vectors, order);
}

}  // namespace banyan
