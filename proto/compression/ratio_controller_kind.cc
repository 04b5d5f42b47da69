#include "proto/compression/ratio_controller_kind.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

constexpr std::array<std::pair<RatioControllerKind, absl::string_view>, 8> kNames = {
    {{RatioControllerKind::kFixed, "fixed"},
     {RatioControllerKind::kNetSense, "netsense"},
     {RatioControllerKind::kDa1, "da1"},
     {RatioControllerKind::kDa2, "da2"},
     {RatioControllerKind::kDa3, "da3"},
     {RatioControllerKind::kDa4, "da4"},
     {RatioControllerKind::kDa5, "da5"},
     {RatioControllerKind::kBudget, "budget"}}};

}  // namespace

std::vector<RatioControllerKind> AllRatioControllerKinds() {
  std::vector<RatioControllerKind> kinds;
  for (const auto& [kind, name] : kNames) kinds.push_back(kind);
  return kinds;
}

absl::string_view NameOf(RatioControllerKind kind) {
  for (const auto& [known, name] : kNames) {
    if (known == kind) return name;
  }
  return "";
}

std::vector<std::string> RatioControllerNames() {
  std::vector<std::string> names;
  for (const auto& [kind, name] : kNames) names.emplace_back(name);
  return names;
}

absl::StatusOr<RatioControllerKind> ParseRatioControllerKind(absl::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return absl::InvalidArgumentError(absl::StrCat("expected a ratio controller (",
                                                 absl::StrJoin(RatioControllerNames(), ", "), "), got '", name, "'"));
}

}  // namespace banyan
