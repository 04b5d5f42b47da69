// What checks of `banyan doctor` have found, and the text in which a site's doctor tells it to another one. Values and
// pure functions.
//
// A line for each check: "ok" or "fix", its name, value and text, with tabs in between.
#ifndef BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_
#define BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

struct CheckResult {
  std::string name;  // without spaces: the subject, and where there are several of it a colon and which one
  bool ok = false;
  std::string text;        // what was found; what to do when it is not ok
  std::string value = {};  // the same in a word or a number, for a table; empty where there is none
};

using CheckResults = std::vector<CheckResult>;

inline constexpr int64_t kMostReportBytes = 1 << 20;

std::string EncodeReport(const CheckResults& results);
// INVALID_ARGUMENT for a text that is no report, with the first line that is none. What a peer has put into the words
// is made printable.
absl::StatusOr<CheckResults> DecodeReport(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_TOOLS_DOCTOR_SITE_REPORT_H_
