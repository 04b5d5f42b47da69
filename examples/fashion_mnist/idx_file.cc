#include "examples/fashion_mnist/idx_file.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

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

}  // namespace banyan
