// Which nodes give one key which shape, when they differ: says who differs from most others. Thread-compatible; owned
// by KeyRegistrar.
#ifndef BANYAN_SCHEDULER_ROUNDS_SHAPE_CLAIMS_H_
#define BANYAN_SCHEDULER_ROUNDS_SHAPE_CLAIMS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/tensor_layout.h"

namespace banyan {

class ShapeClaims {
 public:
  // The nodes whose shape is that of more than half of at least three, and the others.
  struct Sides {
    std::vector<NodeId> most;
    std::vector<NodeId> outliers;
  };

  // Notes what the node gave last.
  void Note(NodeId node, const TensorShape& shape) { claims_[node] = {shape.elements, shape.layout.Hash()}; }
  bool Has(NodeId node) const { return claims_.count(node) > 0; }
  // Returns both sides; empty without a majority, or when all agree.
  Sides Judge() const {
    std::map<Claim, std::vector<NodeId>> by_claim;
    for (const auto& [node, claim] : claims_) by_claim[claim].push_back(node);
    Sides sides;
    for (const auto& [claim, nodes] : by_claim) {
      if (claims_.size() >= 3 && 2 * nodes.size() > claims_.size()) sides.most = nodes;
    }
    for (const auto& [claim, nodes] : by_claim) {
      if (!sides.most.empty() && nodes != sides.most) {
        sides.outliers.insert(sides.outliers.end(), nodes.begin(), nodes.end());
      }
    }
    if (sides.outliers.empty()) sides.most.clear();
    return sides;
  }

 private:
  using Claim = std::pair<int64_t, uint64_t>;  // elements, and the layout's hash

  std::map<NodeId, Claim> claims_;
};

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_ROUNDS_SHAPE_CLAIMS_H_
