#include "tools/flag_values.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/quantity.h"

namespace banyan {
namespace {

constexpr int64_t kMostPlannedChunks = int64_t{1} << 23;

constexpr double kMostMbps = 1e6;

}  // namespace

std::string RateRange::ToString() const { return absl::StrCat(low_mbps, "-", high_mbps); }

absl::StatusOr<RateRange> ParseRateRange(absl::string_view text) {
  const std::pair<absl::string_view, absl::string_view> ends = absl::StrSplit(text, absl::MaxSplits('-', 1));
  const absl::StatusOr<double> high_bps = ParseBitsPerSecond(ends.second);
  // "20-155Mbit/s": the unit is that of both.
  const size_t unit = ends.second.find_first_not_of("0123456789.");
  const bool shares_unit = ends.first.find_first_not_of("0123456789.") == absl::string_view::npos;
  const absl::StatusOr<double> low_bps = ParseBitsPerSecond(
      absl::StrCat(ends.first, shares_unit && unit != absl::string_view::npos ? ends.second.substr(unit) : ""));
  RateRange range{low_bps.value_or(0) / 1e6, high_bps.value_or(0) / 1e6};
  if (range.low_mbps > 0 && range.high_mbps >= range.low_mbps && range.high_mbps <= kMostMbps) {
    return range;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected two rates in Mbit/s, the lower one first, such as 20-155, got '", text, "'"));
}

absl::StatusOr<int64_t> ReadModelBytes(absl::string_view text) {
  const absl::StatusOr<double> bytes = ParseBytes(text);
  if (!bytes.ok()) return bytes.status();
  const auto whole = *bytes >= 1 && *bytes <= static_cast<double>(kMostModelBytes) ? static_cast<int64_t>(*bytes) : 0;
  if (whole > 0 && whole % kElementBytes == 0 && static_cast<double>(whole) == *bytes) return whole;
  return absl::InvalidArgumentError(absl::StrCat(
      "expected a size above 0 and up to 4TiB that is a multiple of 4 bytes, such as 46MB or 1000000, got '", text,
      "'"));
}

absl::StatusOr<std::vector<int64_t>> CutModel(int64_t elements, int64_t chunk_elements, int64_t most_chunks) {
  if (elements / chunk_elements > kMostPlannedChunks) {
    return absl::InvalidArgumentError(absl::StrCat("a model of ", elements, " elements in chunks of ", chunk_elements,
                                                   ": expected at most ", kMostPlannedChunks,
                                                   " chunks; raise chunks.max_elements"));
  }
  const int64_t most = chunk_elements * most_chunks;
  const int64_t tensors = (elements - 1) / most + 1;
  std::vector<int64_t> cut(tensors, elements / tensors);
  for (int64_t i = 0; i < elements % tensors; ++i) ++cut[i];
  return cut;
}

}  // namespace banyan
