// Computes how much of each half tree fits into an overlay together. It is a linear program over their volumes, in
// which what is reduced on a root is broadcast from it. Thread-compatible; the graph must outlive it. Half trees may be
// added between two solutions.
#ifndef BANYAN_TOPOLOGY_PACKING_PACKING_PROGRAM_H_
#define BANYAN_TOPOLOGY_PACKING_PACKING_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/evaluation/linear_program.h"
#include "topology/packing/capacity_graph.h"
#include "topology/packing/half_tree.h"

namespace banyan {

struct PackingSolution {
  double rate_bps = 0;
  std::vector<double> volumes_bps;  // by half tree; on each root the broadcast ones sum to at least the reduce ones
  std::vector<double> prices;       // by number in the graph
  double limit_price = 0;           // of a unit of money, where that is limited
  int64_t work = 0;                 // about proportional to the time that it took
};

class PackingProgram {
 public:
  // Maximises the rate. `typical_bps` scales the numbers that the solver sees. What is sent costs no more money than
  // `limit` allows, unless that is null; it outlives this.
  PackingProgram(const CapacityGraph* graph, double typical_bps, const PriceLimit* limit = nullptr);
  // Minimises the costs of what is sent at no less than this rate.
  static PackingProgram AtLeast(const CapacityGraph* graph, double rate_bps, const PriceLimit* limit = nullptr);

  // `cost` per bit matters only at a given rate.
  void Add(const HalfTree& half, double cost = 0);

  // Leaves a half tree out, or takes it back; they count in the order of Add. REQUIRES: Solve knows it already.
  void Exclude(size_t half) { program_.Exclude(static_cast<int>(half)); }
  void Include(size_t half) { program_.Include(static_cast<int>(half)); }

  // NOT_FOUND when the half trees do not reach the given rate; INTERNAL when rounding errors defeat the solver.
  absl::StatusOr<PackingSolution> Solve();

 private:
  static constexpr int kNone = -1;

  void AddCapacities();

  const CapacityGraph* graph_;
  double typical_bps_;
  const PriceLimit* limit_;
  bool maximise_rate_ = true;
  LinearProgram program_;
  int rate_row_ = kNone;
  int limit_row_ = kNone;
  std::vector<int> capacity_rows_;  // by number in the graph; kNone where nothing limits it
  std::vector<int> root_rows_;      // what is reduced less what is broadcast, at most 0
  std::vector<bool> is_reduce_;     // by half tree
};

}  // namespace banyan

#endif  // BANYAN_TOPOLOGY_PACKING_PACKING_PROGRAM_H_
