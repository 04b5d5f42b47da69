#include "topology/linear_program.h"

#include <glpk.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// GLPK keeps memory for each thread that uses it; whoever leaves a thread must not leave that behind.
class SolverMemory {
 public:
  SolverMemory() { glp_term_out(GLP_OFF); }
  ~SolverMemory() { glp_free_env(); }
  SolverMemory(const SolverMemory&) = delete;
  SolverMemory& operator=(const SolverMemory&) = delete;
};

struct DeleteProblem {
  void operator()(glp_prob* problem) const { glp_delete_prob(problem); }
};

absl::Status Solve(glp_prob& problem) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.meth = GLP_PRIMAL;
  if (const int error = glp_simplex(&problem, &options); error != 0) {
    return absl::InternalError(absl::StrCat("the solver of linear programs gave up with code ", error));
  }
  const int status = glp_get_status(&problem);
  if (status == GLP_UNBND) return absl::OutOfRangeError("the linear program has no limit");
  if (status != GLP_OPT) return absl::InternalError(absl::StrCat("the linear program ended in state ", status));
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
  // GLPK wants each pair of row and variable once, counts from 1, and leaves the first entry of arrays alone.
  std::vector<Term> terms = terms_;
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return std::tie(a.variable, a.row) < std::tie(b.variable, b.row);
  });
  std::vector<int> rows(1);
  std::vector<int> columns(1);
  std::vector<double> coefficients(1);
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0 && terms[i].variable == terms[i - 1].variable && terms[i].row == terms[i - 1].row) {
      coefficients.back() += terms[i].coefficient;
      continue;
    }
    rows.push_back(terms[i].row + 1);
    columns.push_back(terms[i].variable + 1);
    coefficients.push_back(terms[i].coefficient);
  }

  const SolverMemory memory;
  const std::unique_ptr<glp_prob, DeleteProblem> problem(glp_create_prob());
  glp_set_obj_dir(problem.get(), GLP_MAX);
  if (!bounds_.empty()) glp_add_rows(problem.get(), static_cast<int>(bounds_.size()));
  if (!gains_.empty()) glp_add_cols(problem.get(), static_cast<int>(gains_.size()));
  for (size_t i = 0; i < bounds_.size(); ++i) {
    glp_set_row_bnds(problem.get(), static_cast<int>(i) + 1, GLP_UP, 0, bounds_[i]);
  }
  for (size_t i = 0; i < gains_.size(); ++i) {
    glp_set_col_bnds(problem.get(), static_cast<int>(i) + 1, GLP_LO, 0, 0);
    glp_set_obj_coef(problem.get(), static_cast<int>(i) + 1, gains_[i]);
  }
  glp_load_matrix(problem.get(), static_cast<int>(rows.size()) - 1, rows.data(), columns.data(), coefficients.data());
  if (absl::Status status = Solve(*problem); !status.ok()) return status;

  LinearSolution solution{.objective = glp_get_obj_val(problem.get()), .values = {}, .prices = {}};
  for (size_t i = 0; i < gains_.size(); ++i) {
    solution.values.push_back(std::max(0.0, glp_get_col_prim(problem.get(), static_cast<int>(i) + 1)));
  }
  for (size_t i = 0; i < bounds_.size(); ++i) {
    solution.prices.push_back(std::max(0.0, glp_get_row_dual(problem.get(), static_cast<int>(i) + 1)));
  }
  return solution;
}

}  // namespace banyan
