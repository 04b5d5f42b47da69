// The small cluster of most named scenarios. Pure function.
#ifndef BANYAN_SIM_TESTING_LINKED_CLUSTER_H_
#define BANYAN_SIM_TESTING_LINKED_CLUSTER_H_

#include "sim/cluster.h"

namespace banyan {

// Nodes that are all linked with each other, at rates between these; a round moves 40 kB and takes some tenths of a
// second. Sums, in chunks of 200 elements.
ClusterOptions LinkedCluster(int nodes, double least_bps, double most_bps);

}  // namespace banyan

#endif  // BANYAN_SIM_TESTING_LINKED_CLUSTER_H_
