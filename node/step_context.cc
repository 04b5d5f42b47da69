#include "node/step_context.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace banyan {

void RejectionLog::Reject(absl::string_view kind, absl::string_view detail, Actions& actions) {
  ++total_;
  const uint64_t count = ++counts_[std::string(kind)];
  if (!std::has_single_bit(count)) return;
  std::string text = absl::StrCat("rejected: ", kind, ": ", detail);
  if (count > 1) absl::StrAppend(&text, " (", count, " of this kind so far)");
  actions.emplace_back(std::in_place_type<LogLine>, LogLine{LogLevel::kWarning, std::move(text)});
}

}  // namespace banyan
