#include "examples/fashion_mnist/image_set.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "examples/fashion_mnist/idx_file.h"

namespace banyan {
namespace {

// Of the training images, over all pixels scaled to [0, 1].
constexpr float kMean = 0.286f;
constexpr float kDeviation = 0.353f;

absl::StatusOr<IdxArray> ReadPart(const std::string& path) {
  absl::StatusOr<IdxArray> array = ReadIdxFile(path);
  if (absl::IsNotFound(array.status())) {
    return absl::NotFoundError(absl::StrCat(
        array.status().message(), "; install Debian's package dataset-fashion-mnist or say --data DIRECTORY"));
  }
  return array;
}

}  // namespace

absl::StatusOr<ImageSet> LoadFashionMnist(const std::string& directory, Split split) {
  const std::string stem = absl::StrCat(directory, split == Split::kTraining ? "/train" : "/t10k");
  const std::string image_path = stem + "-images-idx3-ubyte.gz";
  const std::string label_path = stem + "-labels-idx1-ubyte.gz";
  absl::StatusOr<IdxArray> images = ReadPart(image_path);
  if (!images.ok()) return images.status();
  absl::StatusOr<IdxArray> labels = ReadPart(label_path);
  if (!labels.ok()) return labels.status();

  const std::vector<int64_t>& shape = images->dimensions;
  if (shape.size() != 3 || shape[1] != kImageSide || shape[2] != kImageSide) {
    return absl::InvalidArgumentError(absl::StrCat(image_path, ": expected images of 28 x 28 pixels"));
  }
  if (labels->dimensions.size() != 1 || labels->dimensions[0] != shape[0]) {
    return absl::InvalidArgumentError(absl::StrCat(label_path, ": expected one label for each of the ", shape[0],
                                                   " images, got ", labels->values.size()));
  }
  const auto wrong =
      std::find_if(labels->values.begin(), labels->values.end(), [](uint8_t l) { return l >= kClasses; });
  if (wrong != labels->values.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(label_path, ": label ", wrong - labels->values.begin(), ": expected 0 to 9, got ", int{*wrong}));
  }
  return ImageSet{std::move(images->values), std::move(labels->values)};
}

ImageSet TakeShard(const ImageSet& images, int rank, int world) {
  BANYAN_CHECK(0 <= rank && rank < world);
  const int64_t begin = images.size() * rank / world;
  const int64_t end = images.size() * (rank + 1) / world;
  ImageSet shard;
  shard.pixels.assign(images.pixels.begin() + begin * kImagePixels, images.pixels.begin() + end * kImagePixels);
  shard.labels.assign(images.labels.begin() + begin, images.labels.begin() + end);
  return shard;
}

Batch MakeBatch(const ImageSet& images, absl::Span<const int64_t> indices) {
  Batch batch;
  batch.pixels.reserve(indices.size() * kImagePixels);
  batch.labels.reserve(indices.size());
  for (int64_t index : indices) {
    BANYAN_CHECK(0 <= index && index < images.size());
    const uint8_t* pixels = images.pixels.data() + index * kImagePixels;
    for (int64_t i = 0; i < kImagePixels; ++i) {
      batch.pixels.push_back((static_cast<float>(pixels[i]) / 255.0f - kMean) / kDeviation);
    }
    batch.labels.push_back(images.labels[index]);
  }
  return batch;
}

}  // namespace banyan
