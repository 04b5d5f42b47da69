// What a site's doctor tells another one of what it has found: the text in which it travels. Pure functions;
// thread-safe.
//
// A line for each check: "ok" or "fix", its name, value and text, with tabs in between.
#ifndef BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_
#define BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/doctor/check_result.h"

namespace banyan {

inline constexpr int64_t kMostReportBytes = 1 << 20;

std::string EncodeReport(const CheckResults& results);
// INVALID_ARGUMENT for a text that is no report, with the first line that is none. What a peer has put into the words
// is made printable.
absl::StatusOr<CheckResults> DecodeReport(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_
