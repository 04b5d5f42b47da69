// Values as users write them after flags: ranges of rates, and sizes of models and tensors. Pure functions.
#ifndef BANYAN_TOOLS_FLAG_VALUES_H_
#define BANYAN_TOOLS_FLAG_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// The range from which links' rates are drawn anew: "20-155". The defaults are those of NETSTORM's evaluation (section
// IX-A).
struct RateRange {
  double low_mbps = 20;
  double high_mbps = 155;

  double low_bps() const { return low_mbps * 1e6; }
  double high_bps() const { return high_mbps * 1e6; }
  std::string ToString() const;
};

// INVALID_ARGUMENT for anything but two rates above 0, the lower one first.
absl::StatusOr<RateRange> ParseRateRange(absl::string_view text);

inline constexpr int64_t kElementBytes = 4;
inline constexpr int64_t kMostModelBytes = int64_t{1} << 42;

// Bytes of a size (core/quantity.h) such as "1000000", "46MB" or "1.5GiB"; INVALID_ARGUMENT unless they are whole
// float32 numbers.
absl::StatusOr<int64_t> ReadModelBytes(absl::string_view text);

// Cuts a model of so many elements into tensors of about the same size, of at most `most_chunks` chunks of
// `chunk_elements` each, as a job cuts none. INVALID_ARGUMENT where there are more chunks than can be planned for.
absl::StatusOr<std::vector<int64_t>> CutModel(int64_t elements, int64_t chunk_elements, int64_t most_chunks);

}  // namespace banyan

#endif  // BANYAN_TOOLS_FLAG_VALUES_H_
