#include "proto/compression/ratio_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"

namespace banyan {
namespace {

using Kinds = std::vector<RatioControllerKind>;
using Config = RatioControllerConfig;

// Below this nothing would be sent of most tensors.
constexpr double kLeastRatio = 1e-6;
constexpr double kMostRounds = 100'000;
constexpr double kLargestHalf = 65504;

double ToNumber(double value) { return value; }
double ToNumber(int64_t value) { return static_cast<double>(value); }
double ToNumber(absl::Duration value) { return absl::ToDoubleSeconds(value); }

void FromNumber(double number, double& value) { value = number; }
void FromNumber(double number, int64_t& value) { value = static_cast<int64_t>(number); }
void FromNumber(double number, absl::Duration& value) { value = absl::Seconds(number); }

// The number `field` of the configuration's part `part`.
template <auto part, auto field>
RatioNumber Number(absl::string_view name, double least, double greatest) {
  using Value = std::remove_cvref_t<decltype(Config().*part.*field)>;
  return {name,
          least,
          greatest,
          std::is_integral_v<Value>,
          std::is_same_v<Value, absl::Duration>,
          [](const Config& config) { return ToNumber(config.*part.*field); },
          [](Config& config, double value) { FromNumber(value, config.*part.*field); }};
}

template <auto field>
RatioNumber NetSense(absl::string_view name, double least, double greatest) {
  return Number<&Config::netsense, field>(name, least, greatest);
}

template <auto field>
RatioNumber DelayAdaptive(absl::string_view name, double least, double greatest) {
  return Number<&Config::delay_adaptive, field>(name, least, greatest);
}

template <auto field>
RatioNumber Budget(absl::string_view name, double least, double greatest) {
  return Number<&Config::budget, field>(name, least, greatest);
}

std::vector<RatioNumber> NetSenseNumbers() {
  using Part = NetSenseConfig;
  return {NetSense<&Part::start_ratio>("start_ratio", kLeastRatio, 1),
          NetSense<&Part::start_step>("start_step", kLeastRatio, 1),
          NetSense<&Part::excessive_delay>("excessive_delay", 1, 100),
          NetSense<&Part::bdp_share>("bdp_share", 0.01, 10),
          NetSense<&Part::fill_share>("fill_share", 0.01, 10),
          NetSense<&Part::decrease_factor>("decrease_factor", 0.01, 0.99),
          NetSense<&Part::increase_step>("increase_step", kLeastRatio, 1),
          NetSense<&Part::least_ratio>("least_ratio", kLeastRatio, 1),
          NetSense<&Part::greatest_ratio>("greatest_ratio", kLeastRatio, 1),
          NetSense<&Part::bandwidth_rounds>("bandwidth_rounds", 1, kMostRounds),
          NetSense<&Part::propagation_rounds>("propagation_rounds", 2, kMostRounds),
          NetSense<&Part::quantize_below>("quantize_below", 0, 1),
          NetSense<&Part::quantize_rms>("quantize_rms", 0, kLargestHalf),
          NetSense<&Part::prune_factor>("prune_factor", 0, 0.5)};
}

// Each law looks at some.
std::vector<RatioNumber> DelayAdaptiveNumbers(RatioControllerKind kind) {
  using Part = DelayAdaptiveConfig;
  const std::vector<std::pair<Kinds, RatioNumber>> all = {
      {{RatioControllerKind::kDa2, RatioControllerKind::kDa3},
       DelayAdaptive<&Part::delay_variation>("delay_variation", 0, 1)},
      {{RatioControllerKind::kDa2, RatioControllerKind::kDa3, RatioControllerKind::kDa4, RatioControllerKind::kDa5},
       DelayAdaptive<&Part::increase_step>("increase_step", 0, 1)},
      {{RatioControllerKind::kDa3}, DelayAdaptive<&Part::decrease_step>("decrease_step", 0, 1)},
      {{RatioControllerKind::kDa5}, DelayAdaptive<&Part::delay_slack>("delay_slack", 1, 100)},
      {{RatioControllerKind::kDa4, RatioControllerKind::kDa5},
       DelayAdaptive<&Part::decrease_factor>("decrease_factor", 0, 1)}};
  std::vector<RatioNumber> numbers = {DelayAdaptive<&Part::start_ratio>("start_ratio", kLeastRatio, 1),
                                      DelayAdaptive<&Part::least_ratio>("least_ratio", kLeastRatio, 1),
                                      DelayAdaptive<&Part::greatest_ratio>("greatest_ratio", kLeastRatio, 1),
                                      DelayAdaptive<&Part::window_rounds>("window_rounds", 1, kMostRounds)};
  for (const auto& [kinds, number] : all) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) numbers.push_back(number);
  }
  return numbers;
}

std::vector<RatioNumber> BudgetNumbers() {
  using Part = BudgetConfig;
  return {Budget<&Part::budget>("seconds", 1e-3, 3600), Budget<&Part::start_ratio>("start_ratio", kLeastRatio, 1),
          Budget<&Part::least_ratio>("least_ratio", kLeastRatio, 1),
          Budget<&Part::greatest_ratio>("greatest_ratio", kLeastRatio, 1),
          Budget<&Part::rise_weight>("rise_weight", 0.01, 1)};
}

// The first may not be above the second.
constexpr std::pair<absl::string_view, absl::string_view> kOrders[] = {{"least_ratio", "greatest_ratio"},
                                                                       {"least_ratio", "start_ratio"},
                                                                       {"start_ratio", "greatest_ratio"},
                                                                       {"fill_share", "bdp_share"}};

const RatioNumber* Find(const std::vector<RatioNumber>& numbers, absl::string_view name) {
  const auto found =
      std::find_if(numbers.begin(), numbers.end(), [name](const RatioNumber& number) { return number.name == name; });
  return found == numbers.end() ? nullptr : &*found;
}

std::optional<FieldProblem> FindRangeProblem(const RatioNumber& number, double value) {
  const bool is_within = value >= number.least && value <= number.greatest;
  if (is_within && (!number.is_whole || value == std::floor(value))) return std::nullopt;
  return FieldProblem{
      std::string(number.name),
      absl::StrCat("a ", number.is_whole ? "whole " : "", "number from ", number.least, " to ", number.greatest),
      absl::StrCat(value)};
}

// Of two numbers in the wrong order the one that was given is wrong, since the other one has its default.
std::optional<FieldProblem> FindOrderProblem(const std::vector<RatioNumber>& numbers, const Config& config,
                                             const std::set<absl::string_view>& given) {
  for (const auto& [low, high] : kOrders) {
    const RatioNumber* lower = Find(numbers, low);
    const RatioNumber* upper = Find(numbers, high);
    if (lower == nullptr || upper == nullptr || lower->get(config) <= upper->get(config)) continue;
    const bool lower_is_wrong = given.count(low) > 0;
    const RatioNumber& wrong = lower_is_wrong ? *lower : *upper;
    const RatioNumber& other = lower_is_wrong ? *upper : *lower;
    return FieldProblem{std::string(wrong.name),
                        absl::StrCat(lower_is_wrong ? "at most" : "at least", " the ", other.name, " of ",
                                     other.get(config), given.count(other.name) > 0 ? "" : " (its default)"),
                        absl::StrCat(wrong.get(config))};
  }
  return std::nullopt;
}

absl::Status ToStatus(RatioControllerKind kind, const std::optional<FieldProblem>& problem) {
  if (!problem.has_value()) return absl::OkStatus();
  const absl::string_view name = NameOf(kind);
  return absl::InvalidArgumentError(absl::StrCat(name, name.empty() ? "" : ".", problem->field, ": expected ",
                                                 problem->expected, ", got ", problem->came));
}

std::optional<FieldProblem> FindKindProblem(RatioControllerKind kind) {
  if (!NameOf(kind).empty()) return std::nullopt;
  return FieldProblem{"controller", absl::StrCat("one of ", absl::StrJoin(RatioControllerNames(), ", ")),
                      absl::StrCat("number ", static_cast<int>(kind))};
}

std::vector<std::string> NamesOf(const std::vector<RatioNumber>& numbers) {
  std::vector<std::string> names;
  for (const RatioNumber& number : numbers) names.emplace_back(number.name);
  return names;
}

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

std::vector<RatioNumber> NumbersOf(RatioControllerKind kind) {
  switch (kind) {
    case RatioControllerKind::kFixed:
      return {Number<&Config::fixed, &FixedConfig::ratio>("ratio", kLeastRatio, 1),
              Number<&Config::fixed, &FixedConfig::light_below>(kLightBelow, 0, 1)};
    case RatioControllerKind::kNetSense:
      return NetSenseNumbers();
    case RatioControllerKind::kDa1:
    case RatioControllerKind::kDa2:
    case RatioControllerKind::kDa3:
    case RatioControllerKind::kDa4:
    case RatioControllerKind::kDa5:
      return DelayAdaptiveNumbers(kind);
    case RatioControllerKind::kBudget:
      return BudgetNumbers();
  }
  return {};
}

bool IsRatioNumber(absl::string_view name) {
  for (RatioControllerKind kind : AllRatioControllerKinds()) {
    if (Find(NumbersOf(kind), name) != nullptr) return true;
  }
  return false;
}

bool IsEncodingNumber(absl::string_view name) {
  return name == "quantize_below" || name == "quantize_rms" || name == "prune_factor" || name == kLightBelow;
}

std::optional<FieldProblem> SetRatioNumbers(RatioControllerKind kind, absl::Span<const ControllerNumber> numbers,
                                            RatioControllerConfig* config) {
  *config = {.kind = kind};
  if (auto problem = FindKindProblem(kind); problem.has_value()) return problem;
  const std::vector<RatioNumber> known = NumbersOf(kind);
  std::set<absl::string_view> given;
  for (const ControllerNumber& number : numbers) {
    const RatioNumber* found = Find(known, number.name);
    if (found == nullptr) {
      return FieldProblem{number.name,
                          absl::StrCat("a number of ", NameOf(kind), " (", absl::StrJoin(NamesOf(known), ", "), ")"),
                          "one that it does not have"};
    }
    if (auto problem = FindRangeProblem(*found, number.value); problem.has_value()) return problem;
    if (!given.insert(found->name).second) return FieldProblem{number.name, "each number once", "it twice"};
    found->set(*config, number.value);
  }
  return FindOrderProblem(known, *config, given);
}

absl::StatusOr<RatioControllerConfig> MakeRatioControllerConfig(const CompressionRule& rule) {
  RatioControllerConfig config;
  const std::optional<FieldProblem> problem = SetRatioNumbers(rule.controller, rule.numbers, &config);
  if (problem.has_value()) return ToStatus(rule.controller, problem);
  return config;
}

absl::Status CheckRatioControllerConfig(const RatioControllerConfig& config) {
  std::vector<ControllerNumber> numbers;
  for (const RatioNumber& number : NumbersOf(config.kind)) {
    numbers.push_back({std::string(number.name), number.get(config)});
  }
  RatioControllerConfig same;
  return ToStatus(config.kind, SetRatioNumbers(config.kind, numbers, &same));
}

}  // namespace banyan
