// Reads JSON (RFC 8259). Pure function.
#ifndef BANYAN_CORE_JSON_READER_H_
#define BANYAN_CORE_JSON_READER_H_

#include <nlohmann/json.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace banyan {

// INVALID_ARGUMENT, with what was expected, what came and at which byte, unless `text` is one value, nested at most 64
// deep.
absl::StatusOr<nlohmann::json> ParseJson(absl::string_view text);

}  // namespace banyan

#endif  // BANYAN_CORE_JSON_READER_H_
