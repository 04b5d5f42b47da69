#include "runtime/c_api/c_values.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/c_api/banyan.h"

namespace banyan {
namespace {

static_assert(BANYAN_UNAVAILABLE == static_cast<int>(absl::StatusCode::kUnavailable));
static_assert(BANYAN_UNAUTHENTICATED == static_cast<int>(absl::StatusCode::kUnauthenticated));

// C has no other way to give a text along with a code that needs no memory of the caller.
std::string& ErrorOfThread() {
  thread_local std::string error;
  return error;
}

}  // namespace

int Report(const absl::Status& status) {
  if (!status.ok()) ErrorOfThread() = std::string(status.message());
  return static_cast<int>(status.code());
}

int ReportMissing(absl::string_view function, absl::string_view what) {
  return Report(absl::InvalidArgumentError(absl::StrCat(function, ": expected ", what, ", got NULL")));
}

const char* LastError() { return ErrorOfThread().c_str(); }

absl::Duration DurationOf(double seconds) { return seconds >= 0 ? absl::Seconds(seconds) : absl::InfiniteDuration(); }

}  // namespace banyan
