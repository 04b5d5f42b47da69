#include <zlib.h>

#include <fstream>
#include <string>

#include "examples/fashion_mnist/image_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace banyan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string TemporaryPath(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::string WritePlain(const std::string& name, const std::string& bytes) {
  const std::string path = TemporaryPath(name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string WriteGzip(const std::string& name, const std::string& bytes) {
  const std::string path = TemporaryPath(name);
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return path;
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string Header(std::initializer_list<uint32_t> dimensions, char type = 8) {
  std::string header = {0, 0, type, static_cast<char>(dimensions.size())};
  for (uint32_t size : dimensions) {
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<char>(size >> shift & 0xff));
  }
  return header;
}

void ExpectRefused(const std::string& path, const std::string& reason) {
  const absl::StatusOr<IdxArray> array = ReadIdxFile(path);
  ASSERT_FALSE(array.ok());
  EXPECT_EQ(array.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(path));
  EXPECT_THAT(std::string(array.status().message()), HasSubstr(reason));
}

TEST(IdxFileTest, ReadsGzipAndPlain) {
  const std::string bytes = Header({2, 3}) + "abcdef";
  for (const std::string& path : {WriteGzip("good.gz", bytes), WritePlain("good", bytes)}) {
    const absl::StatusOr<IdxArray> array = ReadIdxFile(path);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_THAT(array->dimensions, ElementsAre(2, 3));
    EXPECT_THAT(array->values, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
  }
}

TEST(IdxFileTest, ReadsAnArrayOfNothing) {
  const absl::StatusOr<IdxArray> array = ReadIdxFile(WriteGzip("nothing.gz", Header({0, 28, 28})));
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_TRUE(array->values.empty());
}

TEST(IdxFileTest, ReportsAMissingFile) {
  const absl::StatusOr<IdxArray> array = ReadIdxFile(TemporaryPath("missing.gz"));
  EXPECT_EQ(array.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(array.status().message()), HasSubstr("missing.gz"));
}

TEST(IdxFileTest, RefusesADirectory) { ExpectRefused(::testing::TempDir(), "regular file"); }

TEST(IdxFileTest, RefusesAnEmptyFile) { ExpectRefused(WritePlain("empty", ""), "4 bytes too early"); }

TEST(IdxFileTest, RefusesOtherTypesThanBytes) {
  ExpectRefused(WriteGzip("floats.gz", Header({1}, 13) + "x"), "00 00 08");
}

TEST(IdxFileTest, RefusesAWrongNumberOfDimensions) {
  ExpectRefused(WriteGzip("none.gz", Header({})), "1 to 4 dimensions, got 0");
  ExpectRefused(WriteGzip("five.gz", Header({1, 1, 1, 1, 1}) + "x"), "got 5");
}

TEST(IdxFileTest, RefusesATruncatedHeader) {
  ExpectRefused(WriteGzip("header.gz", Header({2, 3}).substr(0, 9)), "3 bytes too early");
}

TEST(IdxFileTest, RefusesTruncatedValues) {
  ExpectRefused(WriteGzip("short.gz", Header({2, 3}) + "abcd"), "2 bytes too early");
}

TEST(IdxFileTest, RefusesMoreThanTheHeaderSays) {
  ExpectRefused(WriteGzip("long.gz", Header({2, 3}) + "abcdefg"), "goes on behind");
}

TEST(IdxFileTest, RefusesSizesWhoseProductIsTooLarge) {
  ExpectRefused(WriteGzip("huge.gz", Header({0xffffffff})), "too large");
  ExpectRefused(WriteGzip("product.gz", Header({60000, 60000, 60000})), "at most");
}

TEST(IdxFileTest, APromiseOfMuchTakesLittleMemory) {
  ExpectRefused(WriteGzip("promise.gz", Header({1u << 30}) + "abc"), "too early");
}

TEST(IdxFileTest, RefusesATruncatedArchive) {
  const std::string path = WriteGzip("cut.gz", Header({4096}) + std::string(4096, 'x'));
  const std::string whole = ReadAll(path);
  WritePlain("cut.gz", whole.substr(0, whole.size() / 2));
  EXPECT_FALSE(ReadIdxFile(path).ok());
}

TEST(IdxFileTest, RefusesAWrongChecksum) {
  const std::string path = WriteGzip("damaged.gz", Header({3}) + "abc");
  std::string bytes = ReadAll(path);
  bytes[bytes.size() - 5] ^= 1;  // the last byte of the CRC, before the length
  WritePlain("damaged.gz", bytes);
  EXPECT_FALSE(ReadIdxFile(path).ok());
}

}  // namespace
}  // namespace banyan
