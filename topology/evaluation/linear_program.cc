#include "topology/evaluation/linear_program.h"

#include <algorithm>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

constexpr double kMaximise = -1;
constexpr int kSilent = 0;
// What ClpModel::status() tells.
constexpr int kOptimal = 0;
constexpr int kInfeasible = 1;
constexpr int kUnbounded = 2;

// Adds to `steps`. The last solution's prices still hold, and its values may not, where only limits have changed: that
// suits the dual simplex.
absl::Status Solve(ClpSimplex& problem, bool only_limits_changed, int64_t& steps) {
  if (only_limits_changed) {
    problem.dual();
  } else {
    problem.primal();
  }
  steps += problem.numberIterations();
  // Each of its steps is at least 1e-12 long, beyond a bound if need be. Started where it ended, it steps no more and
  // computes the values afresh.
  if (problem.status() == kOptimal) problem.primal();
  if (problem.status() == kUnbounded) return absl::OutOfRangeError("the linear program has no limit");
  if (problem.status() == kInfeasible) return absl::NotFoundError("no values fit the linear program");
  if (problem.status() != kOptimal) {
    return absl::InternalError(absl::StrCat("the linear program ended in state ", problem.status()));
  }
  return absl::OkStatus();
}

}  // namespace

LinearProgram::LinearProgram() = default;
LinearProgram::LinearProgram(LinearProgram&&) = default;
LinearProgram& LinearProgram::operator=(LinearProgram&&) = default;
LinearProgram::~LinearProgram() = default;

int LinearProgram::Variables() const {
  return (solver_ == nullptr ? 0 : solver_->numberColumns()) + static_cast<int>(new_gains_.size());
}

int LinearProgram::AddVariable(double gain) {
  new_gains_.push_back(gain);
  return Variables() - 1;
}

int LinearProgram::AddRow(double bound) {
  BANYAN_CHECK(std::isfinite(bound) && solver_ == nullptr);
  bounds_.push_back(bound);
  return static_cast<int>(bounds_.size()) - 1;
}

void LinearProgram::AddTerm(int row, int variable, double coefficient) {
  BANYAN_CHECK(row >= 0 && row < static_cast<int>(bounds_.size()));
  const int first_new = Variables() - static_cast<int>(new_gains_.size());
  BANYAN_CHECK(variable >= first_new && variable < Variables());
  BANYAN_CHECK(std::isfinite(coefficient));
  new_terms_.push_back({row, variable - first_new, coefficient});
}

void LinearProgram::Exclude(int variable) {
  BANYAN_CHECK(solver_ != nullptr && variable >= 0 && variable < solver_->numberColumns());
  solver_->setColumnUpper(variable, 0);
  limits_changed_ = true;
}

void LinearProgram::Include(int variable) {
  BANYAN_CHECK(solver_ != nullptr && variable >= 0 && variable < solver_->numberColumns());
  solver_->setColumnUpper(variable, COIN_DBL_MAX);
  limits_changed_ = true;
}

void LinearProgram::Load() {
  // CLP wants each pair of row and variable once.
  std::stable_sort(new_terms_.begin(), new_terms_.end(), [](const Term& a, const Term& b) {
    return std::tie(a.variable, a.row) < std::tie(b.variable, b.row);
  });
  const size_t variables = new_gains_.size();
  std::vector<int> starts(variables + 1, 0);  // of each variable's rows; CLP wants the end of the last one too
  std::vector<int> rows;
  std::vector<double> coefficients;
  for (size_t i = 0; i < new_terms_.size(); ++i) {
    const Term& term = new_terms_[i];
    if (i > 0 && term.variable == new_terms_[i - 1].variable && term.row == new_terms_[i - 1].row) {
      coefficients.back() += term.coefficient;
      continue;
    }
    rows.push_back(term.row);
    coefficients.push_back(term.coefficient);
    starts[term.variable + 1] = static_cast<int>(rows.size());
  }
  for (size_t i = 1; i <= variables; ++i) starts[i] = std::max(starts[i], starts[i - 1]);
  if (solver_ == nullptr) {
    solver_ = std::make_unique<ClpSimplex>();
    solver_->setLogLevel(kSilent);
    CoinPackedMatrix empty(true, nullptr, nullptr, nullptr, 0);
    empty.setDimensions(static_cast<int>(bounds_.size()), 0);
    solver_->loadProblem(empty, nullptr, nullptr, nullptr, nullptr, bounds_.data());
    solver_->setOptimizationDirection(kMaximise);
  }
  if (variables == 0) return;
  const std::vector<double> least(variables, 0.0);
  const std::vector<double> most(variables, COIN_DBL_MAX);
  solver_->addColumns(static_cast<int>(variables), least.data(), most.data(), new_gains_.data(), starts.data(),
                      rows.data(), coefficients.data());
  new_gains_.clear();
  new_terms_.clear();
}

absl::StatusOr<LinearSolution> LinearProgram::Maximise() {
  const bool grown = !new_gains_.empty() || solver_ == nullptr;
  Load();
  LinearSolution solution;
  const bool only_limits_changed = std::exchange(limits_changed_, false) && !grown;
  if (absl::Status status = Solve(*solver_, only_limits_changed, solution.steps); !status.ok()) return status;
  solution.objective = solver_->objectiveValue();
  for (int i = 0; i < solver_->numberColumns(); ++i) {
    solution.values.push_back(std::max(0.0, solver_->primalColumnSolution()[i]));
  }
  for (int i = 0; i < solver_->numberRows(); ++i) {
    solution.prices.push_back(std::max(0.0, solver_->dualRowSolution()[i]));
  }
  return solution;
}

}  // namespace banyan
