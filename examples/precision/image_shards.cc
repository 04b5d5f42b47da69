#include "examples/precision/image_shards.h"

#include <utility>

namespace banyan {

ImageShards::ImageShards(const ImageModelOptions& options, const ImageSet& images) {
  for (int64_t rank = 0; rank < options.workers; ++rank) {
    ImageSet part = TakeShard(images, static_cast<int>(rank), static_cast<int>(options.workers));
    BatchOrder order(part.size(), options.batch,
                     options.seed * static_cast<uint64_t>(options.workers) + static_cast<uint64_t>(rank));
    shards_.push_back({std::move(part), std::move(order)});
  }
}

Batch ImageShards::Next(int64_t worker, int64_t label_shift) {
  Shard& shard = shards_[static_cast<size_t>(worker)];
  Batch batch = MakeBatch(shard.images, shard.order.Next());
  for (int64_t& label : batch.labels) label = (label + label_shift) % kClasses;
  return batch;
}

}  // namespace banyan
