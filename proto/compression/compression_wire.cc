#include "proto/compression/compression_wire.h"

#include <optional>
#include <string>

#include "proto/compression/compression_check.h"

namespace banyan {
namespace {

static_assert(static_cast<int>(RatioControllerKind::kFixed) == wire::RATIO_CONTROLLER_FIXED);
static_assert(static_cast<int>(RatioControllerKind::kNetSense) == wire::RATIO_CONTROLLER_NET_SENSE);
static_assert(static_cast<int>(RatioControllerKind::kDa1) == wire::RATIO_CONTROLLER_DA1);
static_assert(static_cast<int>(RatioControllerKind::kDa2) == wire::RATIO_CONTROLLER_DA2);
static_assert(static_cast<int>(RatioControllerKind::kDa3) == wire::RATIO_CONTROLLER_DA3);
static_assert(static_cast<int>(RatioControllerKind::kDa4) == wire::RATIO_CONTROLLER_DA4);
static_assert(static_cast<int>(RatioControllerKind::kDa5) == wire::RATIO_CONTROLLER_DA5);
static_assert(static_cast<int>(RatioControllerKind::kBudget) == wire::RATIO_CONTROLLER_BUDGET);
static_assert(static_cast<int>(TopKSelection::kExact) == wire::SELECTION_EXACT);
static_assert(static_cast<int>(TopKSelection::kSampled) == wire::SELECTION_SAMPLED);

// More than any controller has.
constexpr int kMaxNumbers = 64;

void WriteRule(const CompressionRule& from, wire::CompressionRule& to) {
  to.set_keys(from.keys);
  to.set_codec(static_cast<wire::CodecId>(from.codec));
  to.set_controller(static_cast<wire::RatioController>(from.controller));
  for (const ControllerNumber& number : from.numbers) {
    wire::ControllerNumber& written = *to.add_numbers();
    written.set_name(number.name);
    written.set_value(number.value);
  }
  to.set_selection(static_cast<wire::TopKSelection>(from.selection));
  if (from.error_feedback.has_value()) to.set_error_feedback(*from.error_feedback);
}

CompressionRule ReadRule(const wire::CompressionRule& from, FieldReader fields) {
  CompressionRule rule;
  rule.keys = fields.Name("keys", from.keys());
  rule.codec = fields.OneOf("codec", from.codec(), CodecId::kTrimTopK);
  rule.controller = fields.OneOf("controller", from.controller(), RatioControllerKind::kBudget);
  const int count = fields.Count("numbers", from.numbers_size(), 0, kMaxNumbers);
  for (int i = 0; i < count; ++i) {
    FieldReader within = fields.Within("numbers", i);
    rule.numbers.push_back(
        {within.Name("name", from.numbers(i).name()), within.Finite("value", from.numbers(i).value())});
  }
  rule.selection = fields.OneOf("selection", from.selection(), TopKSelection::kSampled);
  if (from.has_error_feedback()) rule.error_feedback = from.error_feedback();
  if (const std::optional<FieldProblem> problem = FindRuleProblem(rule); problem.has_value()) {
    fields.Refuse(problem->field, problem->expected, problem->came);
  }
  return rule;
}

}  // namespace

void WriteCompression(const CompressionConfig& from, wire::CompressionConfig& to) {
  for (const CompressionRule& rule : from.rules) WriteRule(rule, *to.add_rules());
  to.set_least_elements(from.least_elements);
}

CompressionConfig ReadCompression(const wire::CompressionConfig& from, FieldReader fields) {
  CompressionConfig config;
  const int count = fields.Count("rules", from.rules_size(), 0, kMaxCompressionRules);
  for (int i = 0; i < count; ++i) config.rules.push_back(ReadRule(from.rules(i), fields.Within("rules", i)));
  config.least_elements = fields.Between("least_elements", from.least_elements(), int64_t{0}, kMostLeastElements);
  return config;
}

}  // namespace banyan
