#include "proto/status.h"

#include "proto/field_json.h"

namespace banyan {

std::string StatusJson(const JobStatus& status) { return JsonOf(status); }

}  // namespace banyan
