// The ratio controllers' names, as users write and read them. Pure functions.
#ifndef BANYAN_PROTO_COMPRESSION_RATIO_CONTROLLER_KIND_H_
#define BANYAN_PROTO_COMPRESSION_RATIO_CONTROLLER_KIND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/compression/compression_config.h"

namespace banyan {

// Every kind, in the order of their numbers.
std::vector<RatioControllerKind> AllRatioControllerKinds();

// Fixed, netsense, da1 to da5, budget; empty for a kind that does not exist.
absl::string_view NameOf(RatioControllerKind kind);

// Returns the names of all kinds, in the order of their numbers.
std::vector<std::string> RatioControllerNames();

// The kind of that name; INVALID_ARGUMENT lists the names.
absl::StatusOr<RatioControllerKind> ParseRatioControllerKind(absl::string_view name);

}  // namespace banyan

#endif  // BANYAN_PROTO_COMPRESSION_RATIO_CONTROLLER_KIND_H_
