// A linear program that maximises a weighted sum of variables, none below 0, under upper bounds on sums of them. Zero
// for every variable always fits, so there is no infeasible one. A value; thread-compatible. Solved by CLP's primal
// simplex, without clock or randomness: the same program has the same solution.
#ifndef BANYAN_TOPOLOGY_LINEAR_PROGRAM_H_
#define BANYAN_TOPOLOGY_LINEAR_PROGRAM_H_

#include <vector>

#include "absl/status/statusor.h"

namespace banyan {

struct LinearSolution {
  double objective = 0;
  std::vector<double> values;  // by variable
  std::vector<double> prices;  // by row: what one more unit of its bound adds to the objective, at least 0
};

class LinearProgram {
 public:
  // Returns the variable's number, from 0. `gain` is its weight in the objective.
  int AddVariable(double gain);
  // Returns the row's number, from 0: the sum of its terms is at most `bound`. REQUIRES: bound is finite, at least 0.
  int AddRow(double bound);
  // REQUIRES: both exist and coefficient is finite. Terms of the same row and variable add up.
  void AddTerm(int row, int variable, double coefficient);

  // OUT_OF_RANGE when the objective has no limit, INTERNAL when rounding errors defeat the solver.
  absl::StatusOr<LinearSolution> Maximise() const;

 private:
  struct Term {
    int row;
    int variable;
    double coefficient;
  };

  std::vector<double> gains_;
  std::vector<double> bounds_;
  std::vector<Term> terms_;
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_LINEAR_PROGRAM_H_
