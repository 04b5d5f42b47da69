// What passes through the C interface: structs, times, the codes of C for those of Abseil, and what banyan_last_error
// tells, the last error of each thread. Thread-safe.
#ifndef BANYAN_RUNTIME_C_API_C_VALUES_H_
#define BANYAN_RUNTIME_C_API_C_VALUES_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace banyan {

// Keeps an error for LastError; OK changes nothing. Returns the code of C.
int Report(const absl::Status& status);
// Reports INVALID_ARGUMENT: `function` needs `what`.
int ReportMissing(absl::string_view function, absl::string_view what);
// Returns the last error of this thread; empty before the first.
const char* LastError();

// Reads a time of the C interface: endless below zero, and where it is no number.
absl::Duration DurationOf(double seconds);

// Copies `given`, a struct that begins with the size that its caller knows, or null: all defaults. Fields that the
// caller's header does not have are zero. Errors: INVALID_ARGUMENT, with `name`, for no size, and for fields that this
// library does not know and that are not zero.
template <typename Struct>
absl::StatusOr<Struct> ReadSized(const Struct* given, absl::string_view name) {
  Struct read = {};
  read.size = sizeof(Struct);
  if (given == nullptr) return read;
  const size_t size = given->size;
  if (size < sizeof(size_t)) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ".size: expected sizeof(", name, "), ", sizeof(Struct), " here, got ", size));
  }
  const char* const bytes = reinterpret_cast<const char*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(name, ": byte ", i, " is set, and this library knows only ",
                                                   sizeof(Struct), " bytes: install a newer one"));
  }
  std::memcpy(&read, given, std::min(size, sizeof(Struct)));
  read.size = sizeof(Struct);
  return read;
}

}  // namespace banyan

#endif  // BANYAN_RUNTIME_C_API_C_VALUES_H_
