// The error for a number of a controller's configuration that lies outside of its range. Pure functions; used by the
// controllers' own checks.
#ifndef BANYAN_COMPRESSION_CONTROL_CONFIG_CHECK_H_
#define BANYAN_COMPRESSION_CONTROL_CONFIG_CHECK_H_

#include <initializer_list>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace banyan {

struct NumberInRange {
  absl::string_view name;  // as the file has it
  double value = 0;
  double least = 0;
  double greatest = 0;
};

// INVALID_ARGUMENT for the first number that is not within its range (ends included), or not a number at all.
inline absl::Status CheckRanges(absl::string_view where, std::initializer_list<NumberInRange> numbers) {
  for (const NumberInRange& number : numbers) {
    if (number.value >= number.least && number.value <= number.greatest) continue;
    return absl::InvalidArgumentError(absl::StrCat(where, ".", number.name, ": expected a number from ", number.least,
                                                   " to ", number.greatest, ", got ", number.value));
  }
  return absl::OkStatus();
}

// Below this nothing would be sent of most tensors.
inline constexpr double kLeastRatio = 1e-6;

}  // namespace banyan

#endif  // BANYAN_COMPRESSION_CONTROL_CONFIG_CHECK_H_
