// What a scheduler's status says of low-bit rounds, as values and as text. Part of tools/reports/status_view.h, which
// is what others use. Pure functions.
#ifndef BANYAN_TOOLS_REPORTS_PRECISION_VIEW_H_
#define BANYAN_TOOLS_REPORTS_PRECISION_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/json_value.h"

namespace banyan {

struct PrecisionView {
  // Rounds that have closed, of one key or of all that have candidates.
  struct Rounds {
    std::string key;
    int64_t low_bit = 0;
    int64_t fallback = 0;
    int64_t plain = 0;
    int64_t mixed = 0;
  };
  std::string profile;
  std::string state;
  std::string veto;
  int64_t vetoes = 0;
  std::vector<std::string> ordered;  // scopes that an operator has vetoed
  int64_t violations = 0;
  Rounds candidates;
  double low_bit_share = 0;
  double veto_share = 0;
  double bits_per_element = 0;
  double traffic_ratio = 1;  // modelled, of all keys
  double sent_bytes = 0;     // of all gradients and results
  double full_bytes = 0;     // that FP32 would have taken
  std::vector<Rounds> keys;  // with rounds that were not plain
};

// Throws JsonMismatch where `object` is not what a scheduler writes.
PrecisionView ParsePrecision(const JsonValue& object);

// Returns a few lines.
std::string PrecisionText(const PrecisionView& precision);

}  // namespace banyan

#endif  // BANYAN_TOOLS_REPORTS_PRECISION_VIEW_H_
