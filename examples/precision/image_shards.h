// The images of each worker of a guided model, and the order of its batches. Thread-compatible; owned by the model.
#ifndef BANYAN_EXAMPLES_PRECISION_IMAGE_SHARDS_H_
#define BANYAN_EXAMPLES_PRECISION_IMAGE_SHARDS_H_

#include <cstdint>
#include <vector>

#include "examples/fashion_mnist/image_set.h"
#include "examples/fashion_mnist/worker_training.h"

namespace banyan {

struct ImageModelOptions {
  uint64_t seed = 1;
  int64_t workers = 1;
  int64_t batch = 16;  // images of each worker in each round
  double momentum = 0.9;
};

class ImageShards {
 public:
  // REQUIRES: each worker's part of `images` has a batch.
  ImageShards(const ImageModelOptions& options, const ImageSet& images);

  // The next batch of `worker`, with labels that are `label_shift` too high.
  Batch Next(int64_t worker, int64_t label_shift);

 private:
  struct Shard {
    ImageSet images;
    BatchOrder order;
  };

  std::vector<Shard> shards_;  // by worker
};

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_IMAGE_SHARDS_H_
