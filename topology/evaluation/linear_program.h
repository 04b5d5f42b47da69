// A linear program that maximises a weighted sum of variables, none below 0, under upper bounds on sums of them.
// Thread-compatible. Solved by CLP's primal simplex, without clock or randomness: the same program has the same
// solution. Variables may be added and taken out between two solutions; the second then starts where the first ended.
#ifndef BANYAN_TOPOLOGY_EVALUATION_LINEAR_PROGRAM_H_
#define BANYAN_TOPOLOGY_EVALUATION_LINEAR_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"

class ClpSimplex;

namespace banyan {

struct LinearSolution {
  double objective = 0;
  std::vector<double> values;  // by variable
  std::vector<double> prices;  // by row: what one more unit of its bound adds to the objective, at least 0
  int64_t steps = 0;           // of the simplex method, that this solution took
};

class LinearProgram {
 public:
  LinearProgram();
  LinearProgram(LinearProgram&&);
  LinearProgram& operator=(LinearProgram&&);
  ~LinearProgram();

  // Returns the variable's number, from 0. `gain` is its weight in the objective.
  int AddVariable(double gain);
  // Returns the row's number, from 0: the sum of its terms is at most `bound`, which below 0 makes a least value of a
  // negated sum. REQUIRES: bound is finite; nothing has been solved yet.
  int AddRow(double bound);
  // REQUIRES: both exist, the variable is newer than the last solution, and coefficient is finite. Terms of the same
  // row and variable add up.
  void AddTerm(int row, int variable, double coefficient);

  // Keeps a variable at 0, or lets it grow again. REQUIRES: it was in the last solution.
  void Exclude(int variable);
  void Include(int variable);

  // OUT_OF_RANGE when the objective has no limit, NOT_FOUND when nothing fits (only with bounds below 0), INTERNAL when
  // rounding errors defeat the solver.
  absl::StatusOr<LinearSolution> Maximise();

 private:
  struct Term {
    int row;
    int variable;
    double coefficient;
  };

  int Variables() const;
  // Hands the new variables to the solver.
  void Load();

  std::vector<double> bounds_;     // by row
  std::vector<double> new_gains_;  // of the variables that the solver does not have yet
  std::vector<Term> new_terms_;
  std::unique_ptr<ClpSimplex> solver_;
  bool limits_changed_ = false;  // by variables that were excluded or included
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_EVALUATION_LINEAR_PROGRAM_H_
