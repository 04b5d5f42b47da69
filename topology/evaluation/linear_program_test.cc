#include "topology/evaluation/linear_program.h"

#include <gtest/gtest.h>

#include <thread>

namespace banyan {
namespace {

// Two goods from two machines: 3x + 2y under x + y <= 4, x + 3y <= 7, x <= 3.
LinearProgram TwoGoods() {
  LinearProgram program;
  const int x = program.AddVariable(3);
  const int y = program.AddVariable(2);
  const int sum = program.AddRow(4);
  program.AddTerm(sum, x, 1);
  program.AddTerm(sum, y, 1);
  const int slope = program.AddRow(7);
  program.AddTerm(slope, x, 1);
  program.AddTerm(slope, y, 3);
  program.AddTerm(program.AddRow(3), x, 1);
  return program;
}

TEST(LinearProgramTest, FindsValuesAndPrices) {
  const absl::StatusOr<LinearSolution> solution = TwoGoods().Maximise();
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_NEAR(solution->objective, 11, 1e-9);
  ASSERT_EQ(solution->values.size(), 2u);
  EXPECT_NEAR(solution->values[0], 3, 1e-9);
  EXPECT_NEAR(solution->values[1], 1, 1e-9);
  ASSERT_EQ(solution->prices.size(), 3u);
  EXPECT_NEAR(solution->prices[0], 2, 1e-9);
  EXPECT_NEAR(solution->prices[1], 0, 1e-9);
  EXPECT_NEAR(solution->prices[2], 1, 1e-9);
}

TEST(LinearProgramTest, TermsOfTheSameRowAndVariableAddUp) {
  LinearProgram program;
  const int x = program.AddVariable(1);
  const int row = program.AddRow(6);
  program.AddTerm(row, x, 1);
  program.AddTerm(row, x, 2);
  EXPECT_NEAR(program.Maximise()->objective, 2, 1e-9);
}

TEST(LinearProgramTest, SaysThatNothingLimitsIt) {
  LinearProgram program;
  program.AddVariable(1);
  EXPECT_EQ(program.Maximise().status().code(), absl::StatusCode::kOutOfRange);
}

TEST(LinearProgramTest, NothingIsAProgram) { EXPECT_EQ(LinearProgram().Maximise()->objective, 0); }

TEST(LinearProgramTest, PrintsNothing) {
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(TwoGoods().Maximise().ok());
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

TEST(LinearProgramTest, AnyThreadMaySolve) {
  double objective = 0;
  std::thread([&objective] { objective = TwoGoods().Maximise()->objective; }).join();
  EXPECT_EQ(objective, TwoGoods().Maximise()->objective);
}

TEST(LinearProgramTest, GrowsByVariables) {
  LinearProgram program = TwoGoods();
  ASSERT_TRUE(program.Maximise().ok());
  const int better = program.AddVariable(4);
  program.AddTerm(0, better, 1);
  program.AddTerm(1, better, 0.5);
  program.AddTerm(1, better, 0.5);
  const absl::StatusOr<LinearSolution> solution = program.Maximise();
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_NEAR(solution->objective, 16, 1e-9);
  ASSERT_EQ(solution->values.size(), 3u);
  EXPECT_NEAR(solution->values[better], 4, 1e-9);
  EXPECT_NEAR(program.Maximise()->objective, 16, 1e-9);
}

TEST(LinearProgramTest, VariablesCanBeTakenOutAndBack) {
  LinearProgram program = TwoGoods();
  ASSERT_TRUE(program.Maximise().ok());
  program.Exclude(0);
  EXPECT_NEAR(program.Maximise()->objective, 2 * 7.0 / 3, 1e-9);
  EXPECT_EQ(program.Maximise()->values[0], 0);
  program.Include(0);
  EXPECT_NEAR(program.Maximise()->objective, 11, 1e-9);
}

TEST(LinearProgramTest, ABoundBelowZeroAsksForALeastValue) {
  LinearProgram program;
  const int x = program.AddVariable(-2);
  program.AddTerm(program.AddRow(-3), x, -1);
  const absl::StatusOr<LinearSolution> solution = program.Maximise();
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_NEAR(solution->values[x], 3, 1e-9);
}

TEST(LinearProgramTest, SaysWhenNothingFits) {
  LinearProgram program;
  const int x = program.AddVariable(1);
  program.AddTerm(program.AddRow(-3), x, -1);
  program.AddTerm(program.AddRow(2), x, 1);
  EXPECT_EQ(program.Maximise().status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace banyan
