// The names of the ratio controllers, and the numbers of each by name, with the values that they may have: the one
// place that the file, the wire and the controllers are checked by. Pure functions.
#ifndef BANYAN_PROTO_COMPRESSION_RATIO_NUMBERS_H_
#define BANYAN_PROTO_COMPRESSION_RATIO_NUMBERS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/compression/compression_config.h"
#include "proto/compression/ratio_config.h"

namespace banyan {

// Every kind, in the order of their numbers.
std::vector<RatioControllerKind> AllRatioControllerKinds();

// Fixed, netsense, da1 to da5, budget; empty for a kind that does not exist.
absl::string_view NameOf(RatioControllerKind kind);

// Returns the names of all kinds, in the order of their numbers.
std::vector<std::string> RatioControllerNames();

// The kind of that name; INVALID_ARGUMENT lists the names.
absl::StatusOr<RatioControllerKind> ParseRatioControllerKind(absl::string_view name);

// The number of a codec in levels with a transform: below this share that is cut another, light one takes its place.
inline constexpr absl::string_view kLightBelow = "light_below";

struct RatioNumber {
  absl::string_view name;  // as overlay.yaml has it
  double least = 0;        // that is allowed
  double greatest = 0;     // that is allowed
  bool is_whole = false;
  bool is_time = false;  // in seconds
  double (*get)(const RatioControllerConfig&) = nullptr;
  // REQUIRES: least <= value <= greatest, and a whole number where is_whole.
  void (*set)(RatioControllerConfig&, double value) = nullptr;
};

// Those that a controller of this kind looks at, or whoever encodes with its ratio; none for a kind that does not
// exist.
std::vector<RatioNumber> NumbersOf(RatioControllerKind kind);

// Returns whether any kind has a number named `name`.
bool IsRatioNumber(absl::string_view name);

// Returns whether the number named `name` is one for whoever encodes, and not for the controller.
bool IsEncodingNumber(absl::string_view name);

// A fault in a setting: `field` should have been what was expected.
struct FieldProblem {
  std::string field;
  std::string expected;
  std::string came;
};

// Over the defaults of `kind`, which it names if it exists. A problem names the number.
std::optional<FieldProblem> SetRatioNumbers(RatioControllerKind kind, absl::Span<const ControllerNumber> numbers,
                                            RatioControllerConfig* config);

// The configuration that a rule asks for; INVALID_ARGUMENT names the number, as in "netsense.increase_step: ...".
absl::StatusOr<RatioControllerConfig> MakeRatioControllerConfig(const CompressionRule& rule);

// INVALID_ARGUMENT for a kind that does not exist, or naming the number that is out of range.
absl::Status CheckRatioControllerConfig(const RatioControllerConfig& config);

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_RATIO_NUMBERS_H_
