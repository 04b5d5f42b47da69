// Reads IDX files (the format of the MNIST family of datasets), gzip'd or plain: a header with the number and sizes of
// the dimensions, then unsigned bytes. Pure functions but for the file they read; thread-safe.
#ifndef BANYAN_EXAMPLES_FASHION_MNIST_IDX_FILE_H_
#define BANYAN_EXAMPLES_FASHION_MNIST_IDX_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace banyan {

// An array of bytes, the last dimension varying fastest.
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

#endif  // BANYAN_EXAMPLES_FASHION_MNIST_IDX_FILE_H_
