// What trainings with low-bit rounds came to, as a table and as JSON. Plain values; pure functions.
#ifndef BANYAN_EXAMPLES_PRECISION_PRECISION_TABLE_H_
#define BANYAN_EXAMPLES_PRECISION_PRECISION_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/precision/guided_model.h"
#include "precision/audit/route_audit.h"

namespace banyan {

struct GuidedResult {
  ModelQuality quality;  // after the last round
  RouteCounts candidates;
  RouteCounts all;
  int64_t full_bytes = 0;  // payload that the same training would send in full precision
  int64_t triggers = 0;
  int64_t readmissions = 0;
  std::optional<int64_t> damaged_round = std::nullopt;  // the first one
  std::optional<int64_t> noticed_round = std::nullopt;  // of the first trigger from then on
  int64_t false_triggers = 0;                           // before the damage, or without one

  double sent_ratio() const {
    return full_bytes > 0 ? static_cast<double>(all.sent_bytes) / static_cast<double>(full_bytes) : 1;
  }
};

struct GuidedRow {
  std::string setting;
  std::vector<GuidedResult> results;  // by seed
};

std::string PrecisionText(const std::vector<GuidedRow>& rows);
std::string PrecisionJson(const std::vector<GuidedRow>& rows);

}  // namespace banyan

#endif  // BANYAN_EXAMPLES_PRECISION_PRECISION_TABLE_H_
