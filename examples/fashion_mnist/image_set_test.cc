#include "examples/fashion_mnist/image_set.h"

#include <sys/stat.h>
#include <zlib.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void WriteIdx(const std::string& path, std::initializer_list<uint32_t> dimensions, const std::string& values) {
  std::string bytes = {0, 0, 8, static_cast<char>(dimensions.size())};
  for (uint32_t size : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(size >> shift & 0xff));
  }
  bytes += values;
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

std::string MakeDirectory(const std::string& name) {
  const std::string directory = ::testing::TempDir() + "/" + name;
  mkdir(directory.c_str(), 0700);
  return directory;
}

void ExpectRefused(const std::string& directory, const std::string& reason) {
  const absl::StatusOr<ImageSet> images = LoadFashionMnist(directory, Split::kTest);
  ASSERT_FALSE(images.ok());
  EXPECT_THAT(std::string(images.status().message()), HasSubstr(reason));
}

ImageSet MakeImages(int count) {
  ImageSet images;
  for (int i = 0; i < count; ++i) {
    images.pixels.insert(images.pixels.end(), kImagePixels, static_cast<uint8_t>(i));
    images.labels.push_back(static_cast<uint8_t>(i % kClasses));
  }
  return images;
}

TEST(ImageSetTest, LoadsImagesAndLabels) {
  const std::string directory = MakeDirectory("whole");
  WriteIdx(directory + "/t10k-images-idx3-ubyte.gz", {2, 28, 28}, std::string(2 * kImagePixels, 'x'));
  WriteIdx(directory + "/t10k-labels-idx1-ubyte.gz", {2}, {3, 9});
  const absl::StatusOr<ImageSet> images = LoadFashionMnist(directory, Split::kTest);
  ASSERT_TRUE(images.ok()) << images.status();
  EXPECT_EQ(images->size(), 2);
  EXPECT_THAT(images->labels, ElementsAre(3, 9));
}

TEST(ImageSetTest, SaysWhatToInstallWhenThereIsNoDataset) {
  ExpectRefused(MakeDirectory("absent"), "t10k-images-idx3-ubyte.gz");
  ExpectRefused(MakeDirectory("absent"), "dataset-fashion-mnist");
}

TEST(ImageSetTest, RefusesImagesOfAnotherSize) {
  const std::string directory = MakeDirectory("size");
  WriteIdx(directory + "/t10k-images-idx3-ubyte.gz", {1, 2, 2}, "abcd");
  WriteIdx(directory + "/t10k-labels-idx1-ubyte.gz", {1}, {3});
  ExpectRefused(directory, "28 x 28");
}

TEST(ImageSetTest, RefusesAnotherNumberOfLabels) {
  const std::string directory = MakeDirectory("count");
  WriteIdx(directory + "/t10k-images-idx3-ubyte.gz", {1, 28, 28}, std::string(kImagePixels, 'x'));
  WriteIdx(directory + "/t10k-labels-idx1-ubyte.gz", {2}, {3, 4});
  ExpectRefused(directory, "one label for each of the 1 images, got 2");
}

TEST(ImageSetTest, RefusesAnUnknownLabel) {
  const std::string directory = MakeDirectory("label");
  WriteIdx(directory + "/t10k-images-idx3-ubyte.gz", {2, 28, 28}, std::string(2 * kImagePixels, 'x'));
  WriteIdx(directory + "/t10k-labels-idx1-ubyte.gz", {2}, {3, 10});
  ExpectRefused(directory, "label 1: expected 0 to 9, got 10");
}

TEST(ImageSetTest, ShardsAreDisjointAndTogetherAll) {
  const ImageSet images = MakeImages(20);
  std::vector<uint8_t> firsts;
  for (int rank = 0; rank < 9; ++rank) {
    const ImageSet shard = TakeShard(images, rank, 9);
    EXPECT_GE(shard.size(), 2);
    EXPECT_LE(shard.size(), 3);
    for (int64_t i = 0; i < shard.size(); ++i) firsts.push_back(shard.pixels[i * kImagePixels]);
  }
  ASSERT_EQ(firsts.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(firsts[i], i);
}

TEST(ImageSetTest, BatchesAreNormalised) {
  ImageSet images = MakeImages(3);
  images.pixels[2 * kImagePixels] = 255;
  const Batch batch = MakeBatch(images, {2, 0});
  EXPECT_THAT(batch.labels, ElementsAre(2, 0));
  ASSERT_EQ(batch.pixels.size(), static_cast<size_t>(2 * kImagePixels));
  EXPECT_FLOAT_EQ(batch.pixels[0], (1.0f - 0.286f) / 0.353f);
  EXPECT_FLOAT_EQ(batch.pixels[kImagePixels], -0.286f / 0.353f);
}

}  // namespace
}  // namespace banyan
