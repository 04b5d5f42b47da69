#include "examples/fashion_mnist/image_set.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"

namespace banyan {
namespace {

// --- IDX files ---

constexpr uint8_t kUnsignedByte = 0x08;
constexpr int kMaxDimensions = 4;
// A header may promise more than the file holds, so that memory grows with what was read.
constexpr int64_t kReadStep = int64_t{1} << 20;

struct GzipCloser {
  void operator()(gzFile file) const { gzclose(file); }
};

using GzipFile = std::unique_ptr<gzFile_s, GzipCloser>;

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", what, "; is it a whole IDX file?"));
}

absl::StatusOr<GzipFile> OpenGzip(const std::string& path) {
  struct stat attributes;
  if (stat(path.c_str(), &attributes) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  }
  if (!S_ISREG(attributes.st_mode)) return absl::InvalidArgumentError(absl::StrCat(path, ": expected a regular file"));
  GzipFile file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return absl::NotFoundError(absl::StrCat(path, ": ", std::strerror(errno)));
  return file;
}

absl::Status ReadExactly(gzFile file, const std::string& path, uint8_t* data, int64_t size) {
  const int count = gzread(file, data, static_cast<unsigned>(size));
  if (count < 0) {
    int code = 0;
    return Damaged(path, absl::StrCat("cannot be unpacked: ", gzerror(file, &code)));
  }
  if (count < size) return Damaged(path, absl::StrCat("ends ", size - count, " bytes too early"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ReadDimensions(gzFile file, const std::string& path) {
  uint8_t magic[4];
  if (absl::Status status = ReadExactly(file, path, magic, sizeof magic); !status.ok()) return status;
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUnsignedByte) {
    return Damaged(path, "expected it to begin with 00 00 08, the mark of an array of unsigned bytes");
  }
  if (magic[3] < 1 || magic[3] > kMaxDimensions) {
    return Damaged(path, absl::StrCat("expected 1 to ", kMaxDimensions, " dimensions, got ", int{magic[3]}));
  }
  std::vector<int64_t> dimensions;
  for (int i = 0; i < magic[3]; ++i) {
    uint8_t size[4];
    if (absl::Status status = ReadExactly(file, path, size, sizeof size); !status.ok()) return status;
    dimensions.push_back(int64_t{size[0]} << 24 | int64_t{size[1]} << 16 | int64_t{size[2]} << 8 | int64_t{size[3]});
  }
  return dimensions;
}

absl::StatusOr<int64_t> CountValues(const std::vector<int64_t>& dimensions, const std::string& path) {
  int64_t count = 1;
  for (int64_t size : dimensions) {
    if (size > kMaxIdxValues) return Damaged(path, absl::StrCat("a dimension of ", size, " is too large"));
    count *= size;
    if (count > kMaxIdxValues) return Damaged(path, absl::StrCat("expected at most ", kMaxIdxValues, " values"));
  }
  return count;
}

}  // namespace

absl::StatusOr<IdxArray> ReadIdxFile(const std::string& path) {
  absl::StatusOr<GzipFile> file = OpenGzip(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<std::vector<int64_t>> dimensions = ReadDimensions(file->get(), path);
  if (!dimensions.ok()) return dimensions.status();
  absl::StatusOr<int64_t> count = CountValues(*dimensions, path);
  if (!count.ok()) return count.status();

  IdxArray array;
  array.dimensions = *std::move(dimensions);
  for (int64_t done = 0; done < *count;) {
    const int64_t step = std::min(kReadStep, *count - done);
    array.values.resize(done + step);
    if (absl::Status status = ReadExactly(file->get(), path, array.values.data() + done, step); !status.ok()) {
      return status;
    }
    done += step;
  }
  // Reading on also has zlib compare the checksum.
  uint8_t beyond = 0;
  const int rest = gzread(file->get(), &beyond, 1);
  if (rest > 0) return Damaged(path, "goes on behind its last value");
  if (rest < 0) return Damaged(path, "its checksum does not fit its content");
  return array;
}

// --- images ---

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

absl::StatusOr<ImageSplits> LoadFashionMnist(const std::string& directory) {
  const std::string place = directory.empty() ? kFashionMnistDirectory : directory;
  absl::StatusOr<ImageSet> training = LoadFashionMnist(place, Split::kTraining);
  if (!training.ok()) return training.status();
  absl::StatusOr<ImageSet> test = LoadFashionMnist(place, Split::kTest);
  if (!test.ok()) return test.status();
  return ImageSplits{*std::move(training), *std::move(test)};
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
