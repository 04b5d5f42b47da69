#include "compression/control/ratio_config.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/check.h"

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

std::string AllNames() {
  std::string names;
  for (const auto& [kind, name] : kNames) absl::StrAppend(&names, names.empty() ? "" : ", ", name);
  return names;
}

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
  BANYAN_CHECK(false);
  return "";
}

absl::StatusOr<RatioControllerKind> ParseRatioControllerKind(absl::string_view name) {
  for (const auto& [kind, known] : kNames) {
    if (known == name) return kind;
  }
  return absl::InvalidArgumentError(absl::StrCat("expected a ratio controller (", AllNames(), "), got '", name, "'"));
}

absl::Status CheckRatioControllerConfig(const RatioControllerConfig& config) {
  switch (config.kind) {
    case Kind::kFixed:
      return FixedController::Check(config.fixed);
    case Kind::kNetSense:
      return NetSenseController::Check(config.netsense);
    case Kind::kDa1:
    case Kind::kDa2:
    case Kind::kDa3:
    case Kind::kDa4:
    case Kind::kDa5:
      return DelayAdaptiveController::Check(config.delay_adaptive);
    case Kind::kBudget:
      return BudgetController::Check(config.budget);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected a ratio controller (", AllNames(), "), got number ", static_cast<int>(config.kind)));
}

}  // namespace banyan
