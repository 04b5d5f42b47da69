#include "core/json_reader.h"

#include <exception>
#include <stdexcept>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace banyan {
namespace {

constexpr int kDeepest = 64;

}  // namespace

absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  const auto check_depth = [](int depth, Event, nlohmann::json&) {
    if (depth > kDeepest) throw std::length_error(absl::StrCat("value nested more than ", kDeepest, " deep"));
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), check_depth);
  } catch (const std::exception& error) {
    // After the library's own name of the error, in brackets.
    absl::string_view what = error.what();
    if (const size_t end = what.find("] "); what.substr(0, 1) == "[" && end != what.npos) what.remove_prefix(end + 2);
    return absl::InvalidArgumentError(absl::StrCat("expected JSON, got text with a ", what));
  }
}

}  // namespace banyan
