#include "proto/compression/ratio_controller_kind.h"

#include <array>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace banyan {
namespace {

using Kind = RatioControllerKind;

constexpr std::array<std::pair<Kind, absl::string_view>, 8> kNames = {{{Kind::kFixed, "fixed"},
                                                                       {Kind::kNetSense, "netsense"},
                                                                       {Kind::kDa1, "da1"},
                                                                       {Kind::kDa2, "da2"},
                                                                       {Kind::kDa3, "da3"},
                                                                       {Kind::kDa4, "da4"},
                                                                       {Kind::kDa5, "da5"},
                                                                       {Kind::kBudget, "budget"}}};

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
