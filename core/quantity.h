// Sizes, counts, times and rates as people write them: "46MB", "64 MiB", "1.5G", "1e6", "64k", "200ms", "1m30s",
// "100Mbit/s", "1Gbps".
// Pure functions. INVALID_ARGUMENT says what was expected and what came.
#ifndef BANYAN_CORE_QUANTITY_H_
#define BANYAN_CORE_QUANTITY_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace banyan {

// Returns the number that all of `text` is: decimal digits with a point, a sign and an exponent at most. Empty for
// everything else that C++ reads: 0x10, inf, nan.
std::optional<double> ParseDecimal(absl::string_view text);

// Returns bytes. k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of 1024, each with or without B.
absl::StatusOr<double> ParseBytes(absl::string_view text);

// Returns how many. It is a whole number, and may have the prefixes of ParseBytes.
absl::StatusOr<int64_t> ParseCount(absl::string_view text);

// Returns the time that `text` says. A number without a unit counts in `unit`; without one it is refused.
absl::StatusOr<absl::Duration> ParseTime(absl::string_view text, std::optional<absl::Duration> unit);

// Returns bits per second. A number without a unit is in Mbit/s. "M", "Mbit", "Mbit/s" and "Mbps" are bits, "MB/s" is
// bytes.
absl::StatusOr<double> ParseBitsPerSecond(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_CORE_QUANTITY_H_
