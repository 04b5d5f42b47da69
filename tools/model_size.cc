#include "tools/model_size.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/quantity.h"

namespace banyan {

absl::StatusOr<int64_t> ReadModelBytes(absl::string_view text) {
  const absl::StatusOr<double> bytes = ParseBytes(text);
  if (!bytes.ok()) return bytes.status();
  const auto whole = *bytes >= 1 && *bytes <= static_cast<double>(kMostModelBytes) ? static_cast<int64_t>(*bytes) : 0;
  if (whole > 0 && whole % kElementBytes == 0 && static_cast<double>(whole) == *bytes) return whole;
  return absl::InvalidArgumentError(absl::StrCat(
      "expected a size above 0 and up to 4TiB that is a multiple of 4 bytes, such as 46MB or 1000000, got '", text,
      "'"));
}

}  // namespace banyan
