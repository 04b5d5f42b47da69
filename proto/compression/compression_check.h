// Checks what a `compression` section may say, whoever says it. The file's reader and the wire's ask here. Pure
// functions.
#ifndef BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_
#define BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_numbers.h"
#include "proto/fields.h"

namespace banyan {

inline constexpr int kMaxCompressionRules = 256;
// More than any controller has.
inline constexpr int kMostControllerNumbers = 64;
// The longest pattern is as long as the longest name of a key.
inline constexpr size_t kMaxKeyPatternBytes = 1024;
inline constexpr int64_t kMostLeastElements = int64_t{1} << 40;

// The first setting of the rule that is impossible or contradicts its codec; a number of the controller is named
// itself. None: the rule's controller can be made.
std::optional<FieldProblem> FindRuleProblem(const CompressionRule& rule);

// ---- what of it travels (proto/fields.h) ----

template <typename Visitor>
void Fields(Visitor& v, ControllerNumber& m) {
  v(1, "name", m.name, kName);
  v(2, "value", m.value, kFinite);
}

template <typename Visitor>
void Fields(Visitor& v, CompressionRule& m) {
  v(1, "keys", m.keys, kName);
  v(2, "codec", m.codec, UpTo{CodecId::kTrimTopK});
  v(3, "controller", m.controller, UpTo{RatioControllerKind::kBudget});
  v(4, "numbers", m.numbers, Entries{0, kMostControllerNumbers});
  v(5, "selection", m.selection, UpTo{TopKSelection::kSampled});
  v(6, "error_feedback", m.error_feedback);
  v.Check([&m](FieldReader& fields) {
    const std::optional<FieldProblem> problem = FindRuleProblem(m);
    if (problem.has_value()) fields.Refuse(problem->field, problem->expected, problem->came);
  });
}

template <typename Visitor>
void Fields(Visitor& v, CompressionConfig& m) {
  v(1, "rules", m.rules, Entries{0, kMaxCompressionRules});
  v(2, "least_elements", m.least_elements, Range{int64_t{0}, kMostLeastElements});
}

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_COMPRESSION_CHECK_H_
