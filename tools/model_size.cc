#include "tools/model_size.h"

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace banyan {

absl::StatusOr<int64_t> ReadModelBytes(absl::string_view text) {
  absl::string_view digits = text;
  int64_t unit = 1;
  if (!digits.empty()) {
    const char last = digits.back();
    unit = last == 'k' ? 1000 : last == 'M' ? 1000 * 1000 : last == 'G' ? 1000 * 1000 * 1000 : 1;
    if (unit > 1) digits.remove_suffix(1);
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(digits, &count) || count < 1 || count > kMostModelBytes / unit ||
      count * unit % kElementBytes != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected a number of bytes that is a multiple of 4, such as 1000000 or 1M, got '", text, "'"));
  }
  return count * unit;
}

}  // namespace banyan
