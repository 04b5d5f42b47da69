// Labelled grey images of one size, as bytes; and the part of a set that one worker trains on. Values;
// thread-compatible.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_IMAGE_SET_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_IMAGE_SET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace banyan {

inline constexpr int64_t kImageSide = 28;
inline constexpr int64_t kImagePixels = kImageSide * kImageSide;
inline constexpr int kClasses = 10;

// Where Debian's package dataset-fashion-mnist puts its files.
inline constexpr char kFashionMnistDirectory[] = "/usr/share/datasets/fashion-mnist";

enum class Split { kTraining, kTest };

struct ImageSet {
  std::vector<uint8_t> pixels;  // kImagePixels for each image
  std::vector<uint8_t> labels;  // below kClasses

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Some images as a network wants them.
struct Batch {
  std::vector<float> pixels;  // normalised to about zero mean and unit variance
  std::vector<int64_t> labels;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Reads the images and labels of `split` from `directory`. Fails with a message that names the file, and the package to
// install when there is none.
absl::StatusOr<ImageSet> LoadFashionMnist(const std::string& directory, Split split);

struct ImageSplits {
  ImageSet training;
  ImageSet test;
};
// Both, from where Debian has them if `directory` is empty.
absl::StatusOr<ImageSplits> LoadFashionMnist(const std::string& directory);

// The `rank`-th of `world` parts of nearly equal size, by position. REQUIRES: 0 <= rank < world.
ImageSet TakeShard(const ImageSet& images, int rank, int world);

// REQUIRES: all indices lie in `images`.
Batch MakeBatch(const ImageSet& images, absl::Span<const int64_t> indices);

// --- IDX files: the format of the MNIST family of datasets, gzip'd or plain ---

// An array of bytes, the last dimension varying fastest; in a file after a header with the number and sizes of the
// dimensions.
struct IdxArray {
  std::vector<int64_t> dimensions;
  std::vector<uint8_t> values;
};

// Larger arrays are refused before memory is taken for them.
inline constexpr int64_t kMaxIdxValues = int64_t{1} << 30;

// NOT_FOUND when there is no such file; INVALID_ARGUMENT, naming the file, when it is no IDX file of unsigned bytes, is
// truncated, damaged, larger than kMaxIdxValues, or goes on behind its end.
absl::StatusOr<IdxArray> ReadIdxFile(const std::string& path);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_IMAGE_SET_H_
