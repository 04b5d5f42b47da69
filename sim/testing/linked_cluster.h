// The small cluster of most named scenarios. Pure function.
#ifndef BANYAN_SIM_TESTING_LINKED_CLUSTER_H_
#define BANYAN_SIM_TESTING_LINKED_CLUSTER_H_

#include <cstddef>
#include <memory>
#include <set>

#include "sim/cluster.h"
#include "sim/training/contributor_fields.h"

namespace banyan {

// Nodes that are all linked with each other, at rates between these; a round moves 40 kB and takes some tenths of a
// second. Sums, in chunks of 200 elements.
ClusterOptions LinkedCluster(int nodes, double least_bps, double most_bps);

// A job whose members may change: its gradients say whose they are.
class ChangingCluster {
 public:
  // `options` of a job; the gradients are drawn from their seed. In the tensors of `spread` each worker has elements of
  // its own.
  explicit ChangingCluster(ClusterOptions options, std::set<size_t> spread = {});

  Cluster& operator*() { return cluster_; }
  Cluster* operator->() { return &cluster_; }
  Cluster* get() { return &cluster_; }

 private:
  std::unique_ptr<ContributorFields> fields_;  // outlives the cluster
  Cluster cluster_;
};

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_LINKED_CLUSTER_H_
