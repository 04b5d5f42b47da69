#include "sim/violations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace banyan {

void Violations::Add(Timestamp now, const std::string& rule, const std::string& what) {
  ++count_;
  const bool known = Has(rule);
  if (first_.size() < kKept || !known) first_.push_back({now, rule, what});
}

bool Violations::Has(const std::string& rule) const {
  return std::any_of(first_.begin(), first_.end(), [&](const Violation& violation) { return violation.rule == rule; });
}

std::string Violations::Report() const {
  std::string report;
  for (const Violation& violation : first_) {
    absl::StrAppendFormat(&report, "%.6f s: %s: %s\n", violation.when.nanoseconds() * 1e-9, violation.rule,
                          violation.what);
  }
  if (count_ > static_cast<int64_t>(first_.size())) absl::StrAppend(&report, "and ", count_ - first_.size(), " more\n");
  return report;
}

}  // namespace banyan
