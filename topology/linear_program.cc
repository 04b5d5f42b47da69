#include "topology/linear_program.h"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr double kMaximise = -1;
constexpr int kSilent = 0;
// What ClpModel::status() tells.
constexpr int kOptimal = 0;
constexpr int kUnbounded = 2;

absl::Status Solve(ClpSimplex& problem) {
  problem.primal();
  // Each of its steps is at least 1e-12 long, beyond a bound if need be. Started where it ended, it steps no more and
  // computes the values afresh.
  if (problem.status() == kOptimal) problem.primal();
  if (problem.status() == kUnbounded) return absl::OutOfRangeError("the linear program has no limit");
  if (problem.status() != kOptimal) {
    return absl::InternalError(absl::StrCat("the linear program ended in state ", problem.status()));
  }
  return absl::OkStatus();
}

}  // namespace

int LinearProgram::AddVariable(double gain) {
  gains_.push_back(gain);
  return static_cast<int>(gains_.size()) - 1;
}

int LinearProgram::AddRow(double bound) {
  BANYAN_CHECK(std::isfinite(bound) && bound >= 0);
  bounds_.push_back(bound);
  return static_cast<int>(bounds_.size()) - 1;
}

void LinearProgram::AddTerm(int row, int variable, double coefficient) {
  BANYAN_CHECK(row >= 0 && row < static_cast<int>(bounds_.size()));
  BANYAN_CHECK(variable >= 0 && variable < static_cast<int>(gains_.size()));
  BANYAN_CHECK(std::isfinite(coefficient));
  terms_.push_back({row, variable, coefficient});
}

absl::StatusOr<LinearSolution> LinearProgram::Maximise() const {
  // CLP wants each pair of row and variable once.
  std::vector<Term> terms = terms_;
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return std::tie(a.variable, a.row) < std::tie(b.variable, b.row);
  });
  std::vector<int> rows;
  std::vector<int> columns;
  std::vector<double> coefficients;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0 && terms[i].variable == terms[i - 1].variable && terms[i].row == terms[i - 1].row) {
      coefficients.back() += terms[i].coefficient;
      continue;
    }
    rows.push_back(terms[i].row);
    columns.push_back(terms[i].variable);
    coefficients.push_back(terms[i].coefficient);
  }
  CoinPackedMatrix matrix(true, rows.data(), columns.data(), coefficients.data(), static_cast<int>(rows.size()));
  matrix.setDimensions(static_cast<int>(bounds_.size()), static_cast<int>(gains_.size()));

  const std::vector<double> least(gains_.size(), 0.0);
  ClpSimplex problem;
  problem.setLogLevel(kSilent);
  problem.loadProblem(matrix, least.data(), nullptr, gains_.data(), nullptr, bounds_.data());
  problem.setOptimizationDirection(kMaximise);
  if (absl::Status status = Solve(problem); !status.ok()) return status;

  LinearSolution solution{.objective = problem.objectiveValue(), .values = {}, .prices = {}};
  for (size_t i = 0; i < gains_.size(); ++i) {
    solution.values.push_back(std::max(0.0, problem.primalColumnSolution()[i]));
  }
  for (size_t i = 0; i < bounds_.size(); ++i) {
    solution.prices.push_back(std::max(0.0, problem.dualRowSolution()[i]));
  }
  return solution;
}

}  // namespace banyan
