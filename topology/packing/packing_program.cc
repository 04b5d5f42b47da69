#include "topology/packing/packing_program.h"

#include <cmath>

namespace banyan {
namespace {

constexpr int64_t kStepsToBegin = 20;

}  // namespace

PackingProgram::PackingProgram(const CapacityGraph* graph, double typical_bps, const PriceLimit* limit)
    : graph_(graph), typical_bps_(typical_bps), limit_(limit) {
  AddCapacities();
  if (limit != nullptr) limit_row_ = program_.AddRow(0);
}

PackingProgram PackingProgram::AtLeast(const CapacityGraph* graph, double rate_bps, const PriceLimit* limit) {
  PackingProgram packing(graph, rate_bps, limit);
  packing.maximise_rate_ = false;
  packing.rate_row_ = packing.program_.AddRow(-1);
  return packing;
}

void PackingProgram::AddCapacities() {
  for (const double capacity_bps : graph_->capacities_bps()) {
    capacity_rows_.push_back(std::isfinite(capacity_bps) ? program_.AddRow(capacity_bps / typical_bps_) : kNone);
  }
  for (size_t root = 0; root < graph_->nodes(); ++root) root_rows_.push_back(program_.AddRow(0));
}

void PackingProgram::Add(const HalfTree& half, double cost) {
  const bool is_reduce = half.half == Half::kReduce;
  const int volume = program_.AddVariable(!maximise_rate_ ? -cost : is_reduce ? 1 : 0);
  const auto load = [&](size_t number) {
    if (capacity_rows_[number] != kNone) program_.AddTerm(capacity_rows_[number], volume, 1);
  };
  for (const size_t link : half.links) graph_->ForEachLoaded(link, load);
  program_.AddTerm(root_rows_[half.root], volume, is_reduce ? 1 : -1);
  if (is_reduce && rate_row_ != kNone) program_.AddTerm(rate_row_, volume, -1);
  if (limit_ != nullptr) {
    // What is sent may cost so much for each bit that is reduced: sum(volume * (price - allowance)) <= 0.
    const double over = limit_->PriceOf(half) - (is_reduce ? limit_->most : 0);
    program_.AddTerm(limit_row_, volume, over / limit_->Scale());
  }
  is_reduce_.push_back(is_reduce);
}

absl::StatusOr<PackingSolution> PackingProgram::Solve() {
  absl::StatusOr<LinearSolution> solved = program_.Maximise();
  if (!solved.ok()) return solved.status();
  PackingSolution solution;
  for (size_t i = 0; i < is_reduce_.size(); ++i) {
    solution.volumes_bps.push_back(solved->values[i] * typical_bps_);
    if (is_reduce_[i]) solution.rate_bps += solution.volumes_bps.back();
  }
  for (const int row : capacity_rows_) solution.prices.push_back(row == kNone ? 0 : solved->prices[row]);
  if (limit_ != nullptr) solution.limit_price = solved->prices[limit_row_] / limit_->Scale();
  // A step looks at every half tree and changes what every row holds; to begin with costs as much as some steps.
  solution.work = (solved->steps + kStepsToBegin) * static_cast<int64_t>(solved->values.size() + solved->prices.size());
  return solution;
}

}  // namespace banyan
