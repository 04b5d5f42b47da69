#include "tools/doctor/site_report.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/printable.h"

namespace banyan {
namespace {

constexpr char kOk[] = "ok";
constexpr char kFix[] = "fix";
constexpr size_t kFields = 4;

}  // namespace

std::string EncodeReport(const CheckResults& results) {
  std::string text;
  for (const CheckResult& result : results) {
    // One line has no tab either.
    absl::StrAppend(&text, result.ok ? kOk : kFix, "\t", EscapeUnprintable(result.name), "\t",
                    EscapeUnprintable(result.value), "\t", EscapeUnprintable(result.text), "\n");
  }
  return text;
}

absl::StatusOr<CheckResults> DecodeReport(absl::string_view text) {
  CheckResults results;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> fields = absl::StrSplit(line, '\t');
    if (fields.size() != kFields || (fields[0] != kOk && fields[0] != kFix) || fields[1].empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected ok or fix, a name, a value and a text with tabs between, "
                       "got '",
                       EscapeUnprintable(line), "'"));
    }
    results.push_back({.name = EscapeUnprintable(fields[1]),
                       .ok = fields[0] == kOk,
                       .text = EscapeUnprintable(fields[3]),
                       .value = EscapeUnprintable(fields[2])});
  }
  if (results.empty()) return absl::InvalidArgumentError("expected a line for each check, got none");
  return results;
}

}  // namespace banyan
