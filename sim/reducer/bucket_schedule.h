// The buckets in which data-parallel training sends the gradients of a model: what reducers are replayed on. Values and
// pure functions.
#ifndef BANYAN_SIM_REDUCER_BUCKET_SCHEDULE_H_
#define BANYAN_SIM_REDUCER_BUCKET_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "precision/profile/named_shape.h"

namespace banyan {

struct BucketSchedule {
  std::string model;
  std::vector<int64_t> buckets;  // elements of each, in order of the backward pass

  int64_t elements() const;
};

// Fills buckets as PyTorch's DistributedDataParallel does (compute_bucket_assignment_by_size in its reducer): from the
// last tensor to the first, each bucket until it has its limit or more; 1 MiB of float32 for the first, 25 MiB for each
// other. `tensors` are in order of the forward pass.
std::vector<int64_t> Buckets(const std::vector<NamedShape>& tensors);

// Of ResNet-18 for CIFAR-100, DistilBERT and BERT-base for two classes, Pythia-160M: precision/samples/model_tensors.h.
std::vector<BucketSchedule> ModelSchedules();

}  // namespace banyan

#endif  // BANYAN_SIM_REDUCER_BUCKET_SCHEDULE_H_
