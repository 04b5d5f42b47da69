// What banyan_last_error tells: the last error of each thread, and the codes of C for those of Abseil. Thread-safe.
#ifndef BANYAN_RUNTIME_C_API_LAST_ERROR_H_
#define BANYAN_RUNTIME_C_API_LAST_ERROR_H_

#include "absl/status/status.h"
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

}  // namespace banyan

#endif  // BANYAN_RUNTIME_C_API_LAST_ERROR_H_
